/*
 * OTLP as JSON lines: one TracesData document per request, as the file exporter and receiver of the
 * OpenTelemetry collector have it. Spans of one process and one library stand together. What OTLP
 * has no field for goes along in attributes (model/carried.h), so that reading it again gives the
 * same model: ids that are not of OTLP's length, references with a kind, waiting.
 */
#include "export/otlp.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/jsonout.h"
#include "export/attrs.h"
#include "export/export.h"
#include "export/ids.h"
#include "export/otlp_value.h"
#include "model/carried.h"
#include "model/link.h"

struct otlp_out {
	struct jsonout j;
	struct json *parser;
	const struct fed *x;
};

/* Where a span stands among its like: by process, then by library, then as it came. */
struct place {
	uint64_t process, library;
	size_t position;
};

static int place_cmp(const void *a, const void *b)
{
	const struct place *l = a, *r = b;

	if (l->process != r->process)
		return l->process < r->process ? -1 : 1;
	if (l->library != r->library)
		return l->library < r->library ? -1 : 1;
	return l->position < r->position ? -1 : l->position > r->position;
}

static uint64_t scope_hash(struct str packed, enum attr_scope scope, struct str more)
{
	struct buf same = { 0 };
	struct attr a;
	uint64_t hash;

	while (attrs_take(&packed, scope, &a))
		attr_add(&same, &a);
	buf_bytes(&same, more);
	hash = str_hash(buf_str(&same));
	buf_done(&same);
	return hash;
}

static struct place *places(const struct fed *x)
{
	struct place *v = arena_array(x->arena, struct place, x->body->nr_spans);

	for (size_t i = 0; i < x->body->nr_spans; i++) {
		const struct span *s = &x->body->spans[i];

		v[i].process = scope_hash(s->attrs, ATTR_RESOURCE, s->node) ^ str_hash(s->host);
		v[i].library = scope_hash(s->attrs, ATTR_LIBRARY, STR(""));
		v[i].position = i;
	}
	qsort(v, x->body->nr_spans, sizeof(*v), place_cmp);
	return v;
}

static void key_text(struct otlp_out *o, const char *key, struct str text)
{
	jsonout_key(&o->j, key);
	jsonout_str(&o->j, text);
}

/* Zero means "no time" in OTLP, and there is none before it; the true one is carried. */
static void key_ns(struct otlp_out *o, const char *key, int64_t ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)(ns > 0 ? ns : 1));
	key_text(o, key, str_of(text));
}

static void say_text(struct otlp_out *o, const char *key, struct str text)
{
	otlp_attr(&o->j, o->parser,
		  &(struct attr){ .type = ATTR_STRING, .key = str_of(key), .text = text });
}

static void carried_ns(struct otlp_out *o, const char *key, int64_t ns)
{
	if (ns <= 0)
		otlp_attr(&o->j, o->parser,
			  &(struct attr){ .type = ATTR_INT, .key = str_of(key), .i = ns });
}

static void scope_attrs(struct otlp_out *o, struct str packed, enum attr_scope scope)
{
	struct attr a;

	while (attrs_take(&packed, scope, &a))
		otlp_attr(&o->j, o->parser, &a);
}

static void resource(struct otlp_out *o, const struct span *s)
{
	struct buf more = { 0 };
	struct attr a;

	jsonout_key(&o->j, "resource");
	jsonout_open(&o->j, '{');
	jsonout_key(&o->j, "attributes");
	jsonout_open(&o->j, '[');
	if (s->node.n && !attr_find(s->attrs, STR("service.name"), &a))
		say_text(o, "service.name", attrs_service(s));
	attrs_of_process(s, &more);
	scope_attrs(o, buf_str(&more), ATTR_RESOURCE);
	scope_attrs(o, s->attrs, ATTR_RESOURCE);
	jsonout_close(&o->j, ']');
	jsonout_close(&o->j, '}');
	buf_done(&more);
}

static bool is_scope_field(const struct attr *a, struct str key)
{
	return a->type == ATTR_STRING && str_eq(a->key, key);
}

static void library(struct otlp_out *o, const struct span *s)
{
	struct str packed = s->attrs;
	struct attr a;

	jsonout_key(&o->j, "scope");
	jsonout_open(&o->j, '{');
	while (attrs_take(&packed, ATTR_LIBRARY, &a)) {
		if (is_scope_field(&a, STR("otel.scope.name")))
			key_text(o, "name", a.text);
		else if (is_scope_field(&a, STR("otel.scope.version")))
			key_text(o, "version", a.text);
	}
	jsonout_key(&o->j, "attributes");
	jsonout_open(&o->j, '[');
	for (packed = s->attrs; attrs_take(&packed, ATTR_LIBRARY, &a);)
		if (!is_scope_field(&a, STR("otel.scope.name")) &&
		    !is_scope_field(&a, STR("otel.scope.version")))
			otlp_attr(&o->j, o->parser, &a);
	jsonout_close(&o->j, ']');
	jsonout_close(&o->j, '}');
}

/* Attributes that our reader makes of fields of the span; they become those again. */
static const struct {
	const char *attr, *field;
	enum attr_type type;
} fields[] = {
	{ "w3c.tracestate", "traceState", ATTR_STRING },
	{ "otel.flags", "flags", ATTR_INT },
	{ "otel.dropped_attributes_count", "droppedAttributesCount", ATTR_INT },
	{ "otel.dropped_events_count", "droppedEventsCount", ATTR_INT },
	{ "otel.dropped_links_count", "droppedLinksCount", ATTR_INT },
};

static const char *field_of(const struct attr *a)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (a->type == fields[i].type && str_eq(a->key, str_of(fields[i].attr)) &&
		    (a->type != ATTR_INT || (a->i > 0 && a->i <= UINT32_MAX)))
			return fields[i].field;
	return NULL;
}

static bool is_status_message(const struct attr *a)
{
	return a->type == ATTR_STRING && str_eq(a->key, STR("otel.status_description"));
}

static void own_fields(struct otlp_out *o, const struct span *s)
{
	struct str packed = s->attrs;
	struct attr a;

	while (attrs_take(&packed, ATTR_SPAN, &a)) {
		if (!field_of(&a))
			continue;
		jsonout_key(&o->j, field_of(&a));
		if (a.type == ATTR_INT)
			jsonout_int(&o->j, a.i);
		else
			jsonout_str(&o->j, a.text);
	}
}

static void status(struct otlp_out *o, const struct span *s)
{
	struct str packed = s->attrs;
	struct attr a;

	jsonout_key(&o->j, "status");
	jsonout_open(&o->j, '{');
	while (attrs_take(&packed, ATTR_SPAN, &a)) {
		if (is_status_message(&a)) {
			key_text(o, "message", a.text);
			break;
		}
	}
	if (s->status != STATUS_UNSET) {
		jsonout_key(&o->j, "code");
		jsonout_int(&o->j, s->status == STATUS_OK ? 1 : 2);
	}
	jsonout_close(&o->j, '}');
}

/* An id in OTLP's form; what it was before is carried when that differs. */
static void carried_id(struct otlp_out *o, const char *key, struct str id, size_t digits)
{
	if (id.n && !str_eq(ids_hex(o->x->arena, id, digits), id))
		say_text(o, key, id);
}

/* Whether OTLP's links say all: those have no kind, and ids of fixed length. */
static bool links_fit(struct otlp_out *o, struct str links)
{
	struct link l;

	while (link_take(&links, &l))
		if (l.kind != LINK_OTHER ||
		    !str_eq(ids_hex(o->x->arena, l.trace, IDS_TRACE_DIGITS), l.trace) ||
		    !str_eq(ids_hex(o->x->arena, l.span, IDS_SPAN_DIGITS), l.span))
			return false;
	return true;
}

static void carried(struct otlp_out *o, size_t position, struct str links)
{
	const struct span *s = &o->x->body->spans[position];

	carried_id(o, CARRIED_TRACE, ids_trace(o->x, s), IDS_TRACE_DIGITS);
	carried_id(o, CARRIED_SPAN, ids_span(o->x, position), IDS_SPAN_DIGITS);
	carried_id(o, CARRIED_PARENT, ids_parent(o->x, position), IDS_SPAN_DIGITS);
	carried_ns(o, CARRIED_START, s->start);
	carried_ns(o, CARRIED_END, s->end);
	if (s->kind == SPAN_WAIT)
		say_text(o, CARRIED_KIND, STR("wait"));
	if (s->follows)
		otlp_attr(&o->j, o->parser,
			  &(struct attr){ .type = ATTR_BOOL, .key = STR(CARRIED_FOLLOWS), .i = 1 });
	if (!links_fit(o, links))
		otlp_attr(&o->j, o->parser,
			  &(struct attr){
				  .type = ATTR_BYTES, .key = STR(CARRIED_LINKS), .text = links });
}

static void span_attrs(struct otlp_out *o, size_t position, struct str links)
{
	const struct span *s = &o->x->body->spans[position];
	struct str packed = s->attrs;
	struct buf more = { 0 };
	bool said = false;
	struct attr a;

	jsonout_key(&o->j, "attributes");
	jsonout_open(&o->j, '[');
	while (attrs_take(&packed, ATTR_SPAN, &a)) {
		if (is_status_message(&a) && !said)
			said = true;
		else if (!field_of(&a))
			otlp_attr(&o->j, o->parser, &a);
	}
	attrs_of_thread(s, &more);
	attrs_of_confidence(s, &more);
	scope_attrs(o, buf_str(&more), ATTR_SPAN);
	carried(o, position, links);
	jsonout_close(&o->j, ']');
	buf_done(&more);
}

static void link_state(struct otlp_out *o, struct str packed)
{
	struct attr a;

	jsonout_key(&o->j, "attributes");
	jsonout_open(&o->j, '[');
	while (attrs_take(&packed, ATTR_SPAN, &a))
		otlp_attr(&o->j, o->parser, &a);
	jsonout_close(&o->j, ']');
}

static void span_links(struct otlp_out *o, struct str links)
{
	struct link l;

	if (!links.n)
		return;
	jsonout_key(&o->j, "links");
	jsonout_open(&o->j, '[');
	while (link_take(&links, &l)) {
		jsonout_open(&o->j, '{');
		key_text(o, "traceId", ids_hex(o->x->arena, l.trace, IDS_TRACE_DIGITS));
		key_text(o, "spanId", ids_hex(o->x->arena, l.span, IDS_SPAN_DIGITS));
		link_state(o, l.attrs);
		jsonout_close(&o->j, '}');
	}
	jsonout_close(&o->j, ']');
}

static void one_event(struct otlp_out *o, const struct event *ev, const struct span *in)
{
	struct buf more = { 0 };

	jsonout_open(&o->j, '{');
	key_ns(o, "timeUnixNano", ev->ns);
	key_text(o, "name", ev->text.n ? ev->text : ev->point);
	jsonout_key(&o->j, "attributes");
	jsonout_open(&o->j, '[');
	scope_attrs(o, ev->attrs, ATTR_SPAN);
	attrs_of_event(ev, in, &more);
	scope_attrs(o, buf_str(&more), ATTR_SPAN);
	carried_ns(o, CARRIED_NS, ev->ns);
	jsonout_close(&o->j, ']');
	jsonout_close(&o->j, '}');
	buf_done(&more);
}

static void span_events(struct otlp_out *o, size_t position)
{
	const struct fed *x = o->x;
	uint32_t i = x->first_event[position];

	if (i == FED_END)
		return;
	jsonout_key(&o->j, "events");
	jsonout_open(&o->j, '[');
	for (; i != FED_END; i = x->next_event[i])
		one_event(o, &x->events[i], &x->body->spans[position]);
	jsonout_close(&o->j, ']');
}

static int kind_number(enum span_kind kind)
{
	return kind == SPAN_WAIT ? 1 : (int)kind; /* the others are numbered alike */
}

static void one_span(struct otlp_out *o, size_t position)
{
	const struct span *s = &o->x->body->spans[position];
	struct str parent = ids_parent(o->x, position), links = attrs_links(o->x, position);

	jsonout_open(&o->j, '{');
	key_text(o, "traceId", ids_hex(o->x->arena, ids_trace(o->x, s), IDS_TRACE_DIGITS));
	key_text(o, "spanId", ids_hex(o->x->arena, ids_span(o->x, position), IDS_SPAN_DIGITS));
	if (parent.n)
		key_text(o, "parentSpanId", ids_hex(o->x->arena, parent, IDS_SPAN_DIGITS));
	key_text(o, "name", s->name);
	jsonout_key(&o->j, "kind");
	jsonout_int(&o->j, kind_number(s->kind));
	key_ns(o, "startTimeUnixNano", s->start);
	key_ns(o, "endTimeUnixNano", s->end);
	own_fields(o, s);
	span_attrs(o, position, links);
	span_events(o, position);
	span_links(o, links);
	status(o, s);
	jsonout_close(&o->j, '}');
}

/* The spans of one process, from *at on. */
static void one_process(struct otlp_out *o, const struct place *v, size_t nr, size_t *at)
{
	uint64_t process = v[*at].process;

	jsonout_open(&o->j, '{');
	resource(o, &o->x->body->spans[v[*at].position]);
	jsonout_key(&o->j, "scopeSpans");
	jsonout_open(&o->j, '[');
	while (*at < nr && v[*at].process == process) {
		uint64_t lib = v[*at].library;

		jsonout_open(&o->j, '{');
		library(o, &o->x->body->spans[v[*at].position]);
		jsonout_key(&o->j, "spans");
		jsonout_open(&o->j, '[');
		for (; *at < nr && v[*at].process == process && v[*at].library == lib; ++*at)
			one_span(o, v[*at].position);
		jsonout_close(&o->j, ']');
		jsonout_close(&o->j, '}');
	}
	jsonout_close(&o->j, ']');
	jsonout_close(&o->j, '}');
}

void otlp_request(void *state, const struct fed *x, struct buf *out)
{
	struct otlp_out o = { .j = { .out = out }, .parser = state, .x = x };
	const struct place *v = places(x);

	jsonout_open(&o.j, '{');
	jsonout_key(&o.j, "resourceSpans");
	jsonout_open(&o.j, '[');
	for (size_t at = 0; at < x->body->nr_spans;)
		one_process(&o, v, x->body->nr_spans, &at);
	jsonout_close(&o.j, ']');
	jsonout_close(&o.j, '}');
	buf_char(out, '\n');
}

static int write_otlp(struct store *s, FILE *to, struct error *err)
{
	const struct feed feed = { .events = true, .request = otlp_request };
	struct json *parser = json_new();
	int r = feed_run(s, &feed, parser, to, err);

	json_free(parser);
	return r;
}

const struct exporter export_otlp = {
	.name = "otlp",
	.summary = "OpenTelemetry traces as JSON lines, one document per request",
	.suffix = ".otlp.jsonl",
	.write = write_otlp,
};
