/*
 * Both encodings of OTLP walk resource -> scope -> span, and call here for each thing they find.
 * The attributes of a resource and of a scope are packed once and copied in front of those of each
 * span. What the model has no field for travels as attributes with the names that OpenTelemetry's
 * own mapping to other formats uses (otel.status_description, w3c.tracestate …).
 */
#include "source/otlp.h"

#include <string.h>

#include "model/carried.h"
#include "model/event.h"
#include "model/link.h"
#include "source/chunks.h"
#include "source/title.h"
#include "source/trace_id.h"

/* Which attribute names the node, and which the host whose clock it is; the surest first. */
static const struct str node_keys[OTLP_NR_NODE_KEYS] = {
	{ "service.name", 12 },
	{ "process.executable.name", 23 },
	{ "process.command", 15 },
	{ "k8s.deployment.name", 19 },
};
static const struct str host_keys[OTLP_NR_HOST_KEYS] = {
	{ "host.name", 9 },
	{ "k8s.pod.name", 12 },
	{ "host.id", 7 },
	{ "container.id", 12 },
	{ "container.name", 14 },
	{ "k8s.pod.uid", 11 },
	{ "net.host.ip", 11 },
	{ "net.host.name", 13 },
	{ "host.ip", 7 },
	{ "k8s.node.name", 13 },
	{ "service.instance.id", 19 },
	{ "hostname", 8 },
	{ "ip", 2 },
};

void otlp_done(struct otlp *o)
{
	buf_done(&o->resource);
	buf_done(&o->scope);
	buf_done(&o->node);
	buf_done(&o->host);
	buf_done(&o->own);
	buf_done(&o->links);
	buf_done(&o->event);
	buf_done(&o->text);
	buf_done(&o->thread);
}

static struct str keep(struct otlp *o, struct str s)
{
	return s.n ? arena_str(&o->b->arena, s) : (struct str){ 0 };
}

void otlp_begin_resource(struct otlp *o)
{
	buf_clear(&o->resource);
	buf_clear(&o->scope);
	buf_clear(&o->node);
	buf_clear(&o->host);
	o->node_rank = OTLP_NR_NODE_KEYS;
	o->host_rank = OTLP_NR_HOST_KEYS;
}

static void note(struct buf *b, int *rank, const struct str *keys, const struct attr *a)
{
	for (int i = 0; i < *rank; i++) {
		if (!str_eq(a->key, keys[i]))
			continue;
		buf_clear(b);
		attr_text(b, a);
		if (b->n)
			*rank = i;
		return;
	}
}

void otlp_add_resource_attr(struct otlp *o, struct attr *a)
{
	a->scope = ATTR_RESOURCE;
	attr_add(&o->resource, a);
	note(&o->node, &o->node_rank, node_keys, a);
	note(&o->host, &o->host_rank, host_keys, a);
}

void otlp_end_resource(struct otlp *o)
{
	if (!o->node.n)
		buf_add(&o->node, buf_str(&o->host));
	o->node_kept = keep(o, buf_str(&o->node));
	o->host_kept = keep(o, buf_str(&o->host));
}

void otlp_begin_scope(struct otlp *o, struct str name, struct str version)
{
	struct attr a = { .scope = ATTR_LIBRARY, .type = ATTR_STRING };

	buf_clear(&o->scope);
	if (name.n) {
		a.key = STR("otel.scope.name");
		a.text = name;
		attr_add(&o->scope, &a);
	}
	if (version.n) {
		a.key = STR("otel.scope.version");
		a.text = version;
		attr_add(&o->scope, &a);
	}
}

void otlp_add_scope_attr(struct otlp *o, struct attr *a)
{
	a->scope = ATTR_LIBRARY;
	attr_add(&o->scope, a);
}

void otlp_begin_item(struct otlp *o)
{
	buf_clear(&o->own);
	buf_clear(&o->links);
	buf_clear(&o->thread);
	o->thread_has_name = false;
}

/* Nearly every span has the number of a thread, and printf takes longer than all else of it. */
static void put_number(struct buf *b, uint64_t n)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + n % 10);
	while (n /= 10);
	buf_add(b, (struct str){ digits + at, sizeof(digits) - at });
}

void otlp_add_own_attr(struct otlp *o, const struct attr *a)
{
	bool is_name;

	attr_add(&o->own, a);
	if (a->key.n < 9 || memcmp(a->key.p, "thread.", 7))
		return;
	is_name = str_eq(a->key, STR("thread.name"));
	if (!is_name && (o->thread_has_name || !str_eq(a->key, STR("thread.id"))))
		return;
	buf_clear(&o->thread);
	if (a->type == ATTR_INT && a->i >= 0)
		put_number(&o->thread, (uint64_t)a->i);
	else
		attr_text(&o->thread, a);
	o->thread_has_name = is_name;
}

static void add_text(struct buf *packed, struct str key, struct str value)
{
	if (value.n)
		attr_add_str(packed, key, value);
}

static void add_number(struct buf *packed, struct str key, uint64_t value)
{
	if (value && value <= INT64_MAX)
		attr_add_int(packed, key, (int64_t)value);
}

/* Resource, scope and own attributes in one run of bytes. */
static struct str join(struct otlp *o, const struct buf *own)
{
	size_t n = o->resource.n + o->scope.n + own->n;
	char *p;

	if (!n)
		return (struct str){ 0 };
	p = arena_alloc(&o->b->arena, n);
	if (o->resource.n)
		memcpy(p, o->resource.p, o->resource.n);
	if (o->scope.n)
		memcpy(p + o->resource.n, o->scope.p, o->scope.n);
	if (own->n)
		memcpy(p + o->resource.n + o->scope.n, own->p, own->n);
	return (struct str){ p, n };
}

static enum span_kind kind_of(uint64_t kind)
{
	static const enum span_kind kinds[] = { SPAN_UNKNOWN, SPAN_INTERNAL, SPAN_SERVER,
						SPAN_CLIENT,  SPAN_PRODUCER, SPAN_CONSUMER };

	return kind < sizeof(kinds) / sizeof(*kinds) ? kinds[kind] : SPAN_UNKNOWN;
}

bool otlp_add_span(struct otlp *o, const struct otlp_span *s)
{
	struct losses *l = &o->b->losses;
	struct span span = { .parent = SPAN_NONE, .confidence = 1 };

	if (trace_id_is_none(s->trace) || trace_id_is_none(s->id) || !s->start ||
	    s->start > INT64_MAX || s->end > INT64_MAX) {
		l->count[LOSS_SPANS_BROKEN]++;
		return false;
	}
	span.start = (int64_t)s->start;
	span.end = (int64_t)s->end;
	if (!s->end)
		l->count[LOSS_SPANS_OPEN]++;
	else if (s->end < s->start)
		l->count[LOSS_SPANS_NEGATIVE]++;
	if (span.end < span.start)
		span.end = span.start;
	span.kind = kind_of(s->kind);
	span.status = s->status == 2 ? STATUS_ERROR : s->status == 1 ? STATUS_OK : STATUS_UNSET;
	span.key = s->trace;
	span.id = s->id;
	if (!trace_id_is_none(s->parent))
		span.parent_id = s->parent;
	span.name = keep(o, s->name);
	span.node = o->node_kept;
	span.host = o->host_kept;
	span.thread = keep(o, buf_str(&o->thread));
	add_text(&o->own, STR("otel.status_description"), s->status_message);
	add_text(&o->own, STR("w3c.tracestate"), s->trace_state);
	add_number(&o->own, STR("otel.flags"), s->flags);
	add_number(&o->own, STR("otel.dropped_attributes_count"), s->dropped_attrs);
	add_number(&o->own, STR("otel.dropped_events_count"), s->dropped_events);
	add_number(&o->own, STR("otel.dropped_links_count"), s->dropped_links);
	span.attrs = join(o, &o->own);
	span.links = keep(o, buf_str(&o->links));
	carried_restore_span(&span, &o->b->arena);
	vec_push(&o->b->spans, span);
	return true;
}

static enum level level_of_severity(uint64_t number, struct str text)
{
	static const enum level levels[] = { LEVEL_TRACE, LEVEL_DEBUG, LEVEL_INFO,
					     LEVEL_WARN,  LEVEL_ERROR, LEVEL_FATAL };

	return number >= 1 && number <= 24 ? levels[(number - 1) / 4] : level_of(text);
}

/* What a log record and an event inside a span have in common. */
static struct event event_of(struct otlp *o, const struct otlp_record *r, uint64_t ns)
{
	struct event ev = { .ns = (int64_t)ns,
			    .kind = EVENT_LOG,
			    .file = o->file,
			    .line = o->line,
			    .nr_lines = 1,
			    .duration = -1 };

	ev.node = o->node_kept;
	ev.level = level_of_severity(r->severity_number, r->severity);
	ev.text = keep(o, r->text.n ? r->text : r->name);
	if (!trace_id_is_none(r->trace)) {
		ev.key_kind = KEY_TRACE;
		ev.key = r->trace;
		if (!trace_id_is_none(r->span))
			ev.span = r->span;
		ev.title = title_mask(&o->b->arena, ev.text);
	}
	return ev;
}

void otlp_add_log(struct otlp *o, const struct otlp_record *r)
{
	uint64_t ns = r->ns ? r->ns : r->observed_ns;
	struct str scope = buf_str(&o->scope);
	struct attr name;
	struct event ev;

	if (!ns || ns > INT64_MAX) {
		o->b->losses.count[LOSS_EVENTS_BROKEN]++;
		return;
	}
	ev = event_of(o, r, ns);
	ev.thread = keep(o, buf_str(&o->thread));
	if (attr_find(scope, STR("otel.scope.name"), &name))
		ev.point = keep(o, name.text);
	if (r->text.n)
		add_text(&o->own, STR("event.name"), r->name);
	add_number(&o->own, STR("otel.dropped_attributes_count"), r->dropped_attrs);
	add_number(&o->own, STR("otel.flags"), r->flags);
	ev.attrs = join(o, &o->own);
	vec_push(&o->b->events, ev);
}

void otlp_add_span_event(struct otlp *o, const struct otlp_record *r)
{
	struct event ev;

	if (!r->ns || r->ns > INT64_MAX) {
		o->b->losses.count[LOSS_EVENTS_BROKEN]++;
		return;
	}
	ev = event_of(o, r, r->ns);
	/* the span may have got back ids of its own: model/carried.h */
	if (o->b->spans.nr && ev.key_kind == KEY_TRACE) {
		ev.key = o->b->spans.v[o->b->spans.nr - 1].key;
		ev.span = o->b->spans.v[o->b->spans.nr - 1].id;
	}
	add_number(&o->event, STR("otel.dropped_attributes_count"), r->dropped_attrs);
	if (str_eq(r->name, STR("exception")))
		ev.level = LEVEL_ERROR;
	/* The attributes of the process stand in the span already. */
	ev.attrs = keep(o, buf_str(&o->event));
	carried_restore_event(&ev, &o->b->arena);
	vec_push(&o->b->events, ev);
}
