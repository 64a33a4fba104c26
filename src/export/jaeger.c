/*
 * Jaeger's JSON, as its UI downloads and loads it: {"data":[trace, …]}, one trace a line. Times are
 * microseconds; what is finer, and what else Jaeger has no field for, goes along in tags
 * (model/carried.h) and is put back when such a file is read again.
 */
#include "export/jaeger.h"

#include <math.h>

#include "base/jsonout.h"
#include "base/names.h"
#include "base/time.h"
#include "export/attrs.h"
#include "export/base64.h"
#include "export/export.h"
#include "export/ids.h"
#include "model/carried.h"
#include "model/link.h"

struct jaeger_out {
	struct jsonout j;
	const struct fed *x;
	struct names processes; /* what makes them different; their number is the id */
	uint32_t *process;      /* of each span */
	uint32_t *example;      /* a span of each process */
};

static void key_text(struct jaeger_out *o, const char *key, struct str text)
{
	jsonout_key(&o->j, key);
	jsonout_str(&o->j, text);
}

static void key_us(struct jaeger_out *o, const char *key, int64_t ns)
{
	jsonout_key(&o->j, key);
	jsonout_int(&o->j, ns / NS_US);
}

static void tag_value(struct jaeger_out *o, const struct attr *a)
{
	struct buf base64 = { 0 };

	jsonout_key(&o->j, "value");
	switch (a->type) {
	case ATTR_INT:
		jsonout_int(&o->j, a->i);
		break;
	case ATTR_BOOL:
		jsonout_bool(&o->j, a->i != 0);
		break;
	case ATTR_DOUBLE:
		if (isfinite(a->d))
			jsonout_double(&o->j, a->d);
		else
			jsonout_str(&o->j, isnan(a->d) ? STR("NaN")
					   : a->d > 0  ? STR("Infinity")
						       : STR("-Infinity"));
		break;
	case ATTR_BYTES:
		base64_add(&base64, a->text);
		jsonout_str(&o->j, buf_str(&base64));
		buf_done(&base64);
		break;
	case ATTR_STRING:
	case ATTR_JSON:
		jsonout_str(&o->j, a->text);
		break;
	}
}

static void tag(struct jaeger_out *o, const struct attr *a)
{
	static const char *const types[] = { "string", "int64",  "float64",
					     "bool",   "binary", "string" };

	jsonout_open(&o->j, '{');
	key_text(o, "key", a->key);
	key_text(o, "type", str_of(types[a->type]));
	tag_value(o, a);
	jsonout_close(&o->j, '}');
}

static void tag_text(struct jaeger_out *o, const char *key, struct str text)
{
	tag(o, &(struct attr){ .type = ATTR_STRING, .key = str_of(key), .text = text });
}

static void tag_int(struct jaeger_out *o, const char *key, int64_t v)
{
	tag(o, &(struct attr){ .type = ATTR_INT, .key = str_of(key), .i = v });
}

static void tag_true(struct jaeger_out *o, const char *key)
{
	tag(o, &(struct attr){ .type = ATTR_BOOL, .key = str_of(key), .i = 1 });
}

/* All attributes of a scope; Jaeger has no lists, so these are marked for our reader. */
static void tags_of(struct jaeger_out *o, struct str packed, enum attr_scope scope)
{
	struct attr a;

	while (attrs_take(&packed, scope, &a)) {
		tag(o, &a);
		if (a.type == ATTR_JSON)
			tag_text(o, CARRIED_JSON, a.key);
		if (scope == ATTR_LIBRARY && !str_eq(a.key, STR("otel.scope.name")) &&
		    !str_eq(a.key, STR("otel.scope.version")))
			tag_text(o, CARRIED_LIBRARY, a.key);
	}
}

static void status_tags(struct jaeger_out *o, const struct span *s)
{
	struct attr a;

	if (s->status == STATUS_UNSET)
		return;
	if (s->status == STATUS_ERROR && !attr_find(s->attrs, STR("error"), &a))
		tag_true(o, "error");
	if (!attr_find(s->attrs, STR("otel.status_code"), &a))
		tag_text(o, "otel.status_code", s->status == STATUS_OK ? STR("OK") : STR("ERROR"));
}

/* Whether references say all: they have a kind but no attributes, and no third kind. */
static bool links_fit(struct str links)
{
	struct link l;

	while (link_take(&links, &l))
		if (l.kind == LINK_OTHER || l.attrs.n)
			return false;
	return true;
}

static void carried_tags(struct jaeger_out *o, size_t position, struct str links)
{
	const struct span *s = &o->x->body->spans[position];

	if (s->kind == SPAN_WAIT)
		tag_text(o, CARRIED_KIND, STR("wait"));
	if (s->start % NS_US)
		tag_int(o, CARRIED_START, s->start);
	/* the duration is cut to microseconds, so that the end moves with the start */
	if (s->start % NS_US || s->end % NS_US)
		tag_int(o, CARRIED_END, s->end);
	if (links_fit(links))
		return;
	tag(o, &(struct attr){ .type = ATTR_BYTES, .key = STR(CARRIED_LINKS), .text = links });
	/* a reference of a root must not be taken for its parent */
	tag_text(o, CARRIED_PARENT, ids_parent(o->x, position));
	tag(o, &(struct attr){ .type = ATTR_BOOL, .key = STR(CARRIED_FOLLOWS), .i = s->follows });
}

static void span_tags(struct jaeger_out *o, size_t position, struct str links)
{
	const struct span *s = &o->x->body->spans[position];
	struct buf more = { 0 };
	struct attr a;

	jsonout_key(&o->j, "tags");
	jsonout_open(&o->j, '[');
	tags_of(o, s->attrs, ATTR_LIBRARY);
	tags_of(o, s->attrs, ATTR_SPAN);
	if (s->kind != SPAN_UNKNOWN && !attr_find(s->attrs, STR("span.kind"), &a))
		tag_text(o, "span.kind",
			 s->kind == SPAN_WAIT ? STR("internal") : str_of(span_kind_name(s->kind)));
	status_tags(o, s);
	attrs_of_thread(s, &more);
	attrs_of_confidence(s, &more);
	tags_of(o, buf_str(&more), ATTR_SPAN);
	carried_tags(o, position, links);
	jsonout_close(&o->j, ']');
	buf_done(&more);
}

static void reference(struct jaeger_out *o, const char *type, struct str trace, struct str span)
{
	jsonout_open(&o->j, '{');
	key_text(o, "refType", str_of(type));
	key_text(o, "traceID", trace);
	key_text(o, "spanID", span);
	jsonout_close(&o->j, '}');
}

/* The parent is the first. */
static void references(struct jaeger_out *o, size_t position, struct str links)
{
	const struct span *s = &o->x->body->spans[position];
	struct str parent = ids_parent(o->x, position);
	struct link l;

	jsonout_key(&o->j, "references");
	jsonout_open(&o->j, '[');
	if (parent.n)
		reference(o, s->follows ? "FOLLOWS_FROM" : "CHILD_OF", ids_trace(o->x, s), parent);
	while (link_take(&links, &l))
		reference(o, l.kind == LINK_CHILD_OF ? "CHILD_OF" : "FOLLOWS_FROM", l.trace,
			  l.span);
	jsonout_close(&o->j, ']');
}

static void one_log(struct jaeger_out *o, const struct event *ev, const struct span *in)
{
	struct buf more = { 0 };
	struct attr a;

	jsonout_open(&o->j, '{');
	key_us(o, "timestamp", ev->ns);
	jsonout_key(&o->j, "fields");
	jsonout_open(&o->j, '[');
	/* a field of that name stands among the attributes when the source had it */
	if (ev->text.n && !attr_find(ev->attrs, STR("event"), &a) &&
	    !attrs_key_says(ev->attrs, STR("message"), ev->text))
		tag_text(o, "event", ev->text);
	tags_of(o, ev->attrs, ATTR_SPAN);
	attrs_of_event(ev, in, &more);
	tags_of(o, buf_str(&more), ATTR_SPAN);
	if (ev->ns % NS_US)
		tag_int(o, CARRIED_NS, ev->ns);
	jsonout_close(&o->j, ']');
	jsonout_close(&o->j, '}');
	buf_done(&more);
}

static void logs(struct jaeger_out *o, size_t position)
{
	const struct fed *x = o->x;

	jsonout_key(&o->j, "logs");
	jsonout_open(&o->j, '[');
	for (uint32_t i = x->first_event[position]; i != FED_END; i = x->next_event[i])
		one_log(o, &x->events[i], &x->body->spans[position]);
	jsonout_close(&o->j, ']');
}

static void one_span(struct jaeger_out *o, size_t position)
{
	const struct span *s = &o->x->body->spans[position];
	struct str links = attrs_links(o->x, position);
	char process[16];

	snprintf(process, sizeof(process), "p%u", o->process[position]);
	jsonout_open(&o->j, '{');
	key_text(o, "traceID", ids_trace(o->x, s));
	key_text(o, "spanID", ids_span(o->x, position));
	key_text(o, "operationName", s->name);
	references(o, position, links);
	key_us(o, "startTime", s->start);
	key_us(o, "duration", s->end - s->start);
	span_tags(o, position, links);
	logs(o, position);
	key_text(o, "processID", str_of(process));
	jsonout_key(&o->j, "warnings");
	jsonout_null(&o->j);
	jsonout_close(&o->j, '}');
}

/* Spans with the same service, host and process attributes are of one process. */
static void find_processes(struct jaeger_out *o)
{
	const struct request_body *b = o->x->body;
	struct buf key = { 0 };

	o->process = arena_array(o->x->arena, uint32_t, b->nr_spans);
	o->example = arena_array(o->x->arena, uint32_t, b->nr_spans + 1);
	for (size_t i = 0; i < b->nr_spans; i++) {
		struct str packed = b->spans[i].attrs;
		uint32_t before = o->processes.nr;
		struct attr a;

		buf_clear(&key);
		buf_bytes(&key, b->spans[i].node);
		buf_bytes(&key, b->spans[i].host);
		while (attrs_take(&packed, ATTR_RESOURCE, &a))
			attr_add(&key, &a);
		o->process[i] = names_add(&o->processes, buf_str(&key));
		if (o->processes.nr != before)
			o->example[o->process[i]] = (uint32_t)i;
	}
	buf_done(&key);
}

static void one_process(struct jaeger_out *o, uint32_t number)
{
	const struct span *s = &o->x->body->spans[o->example[number]];
	struct buf more = { 0 };
	char id[16];

	snprintf(id, sizeof(id), "p%u", number);
	jsonout_key(&o->j, id);
	jsonout_open(&o->j, '{');
	key_text(o, "serviceName", attrs_service(s));
	jsonout_key(&o->j, "tags");
	jsonout_open(&o->j, '[');
	tags_of(o, s->attrs, ATTR_RESOURCE);
	attrs_of_process(s, &more);
	tags_of(o, buf_str(&more), ATTR_RESOURCE);
	jsonout_close(&o->j, ']');
	jsonout_close(&o->j, '}');
	buf_done(&more);
}

void jaeger_begin(void *state, struct buf *out)
{
	(void)state;
	buf_add(out, STR("{\"data\":[\n"));
}

void jaeger_request(void *state, const struct fed *x, struct buf *out)
{
	struct jaeger_out o = { .j = { .out = out }, .x = x };
	struct jaeger_state *js = state;

	if (js->any)
		buf_add(out, STR(",\n"));
	js->any = true;
	find_processes(&o);
	jsonout_open(&o.j, '{');
	key_text(&o, "traceID", ids_trace(x, &x->body->spans[0]));
	jsonout_key(&o.j, "spans");
	jsonout_open(&o.j, '[');
	for (size_t i = 0; i < x->body->nr_spans; i++)
		one_span(&o, i);
	jsonout_close(&o.j, ']');
	jsonout_key(&o.j, "processes");
	jsonout_open(&o.j, '{');
	for (size_t i = 0; i < x->body->nr_spans; i++)
		if (o.example[o.process[i]] == i)
			one_process(&o, o.process[i]);
	jsonout_close(&o.j, '}');
	jsonout_key(&o.j, "warnings");
	jsonout_null(&o.j);
	jsonout_close(&o.j, '}');
	names_done(&o.processes);
}

void jaeger_end(void *state, struct buf *out)
{
	(void)state;
	buf_add(out, STR("\n],\"total\":0,\"limit\":0,\"offset\":0,\"errors\":null}\n"));
}

static int write_jaeger(struct store *s, FILE *to, struct error *err)
{
	const struct feed feed = {
		.events = true, .begin = jaeger_begin, .request = jaeger_request, .end = jaeger_end
	};
	struct jaeger_state state = { 0 };

	return feed_run(s, &feed, &state, to, err);
}

const struct exporter export_jaeger = {
	.name = "jaeger",
	.summary = "Jaeger's JSON, which its UI loads",
	.suffix = ".jaeger.json",
	.write = write_jaeger,
};
