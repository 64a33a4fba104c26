/*
 * OTLP as JSON: a document, JSON lines as the collector's file exporter writes them, or an array of
 * documents. Keys may be in lowerCamelCase or snake_case, numbers of 64 bits may be strings, ids
 * hexadecimal or base64. A document may also be wrapped one level deep, as the query APIs of trace
 * stores do, or be one item of its outermost array.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/link.h"
#include "source/chunks.h"
#include "source/formats.h"
#include "source/json_attr.h"
#include "source/json_docs.h"
#include "source/otlp.h"
#include "source/trace_id.h"

#define KEY_IS(key, camel, snake) (str_eq((key), STR(camel)) || str_eq((key), STR(snake)))
#define VALUE_DEPTH_MAX 32

static struct json_value get(struct json_value v, struct str camel, struct str snake)
{
	struct json_value found = json_get(v, camel);

	return json_type(found) == JSON_NONE ? json_get(v, snake) : found;
}

static struct str text_of(struct json_value v)
{
	struct str s = { 0 };

	json_str(v, &s);
	return s;
}

static uint64_t number_of(struct json_value v)
{
	uint64_t n = 0;

	json_uint(v, &n);
	return n;
}

/* An enum is a number, or its name in JSON that was made from protobuf: SPAN_KIND_SERVER. */
static uint64_t enum_of(struct json_value v, const char *const *names)
{
	struct str s;

	if (!json_str(v, &s))
		return number_of(v);
	for (uint64_t i = 0; names[i]; i++)
		if (str_ends(s, str_of(names[i])))
			return i;
	return number_of(v);
}

static const char *const kind_names[] = { "_UNSPECIFIED", "_INTERNAL", "_SERVER", "_CLIENT",
					  "_PRODUCER",    "_CONSUMER", NULL };
static const char *const status_names[] = { "_UNSET", "_OK", "_ERROR", NULL };

/* A list or map inside a value, as plain JSON. */
static void write_value(struct jsonout *out, struct json_value any, unsigned depth)
{
	struct json_walk w = json_walk(any), items;
	int64_t n;

	if (!w.is_object || !json_next(&w) || depth > VALUE_DEPTH_MAX) {
		jsonout_null(out);
	} else if (KEY_IS(w.key, "arrayValue", "array_value")) {
		jsonout_open(out, '[');
		for (items = json_walk(json_get(w.value, STR("values"))); json_next(&items);)
			write_value(out, items.value, depth + 1);
		jsonout_close(out, ']');
	} else if (KEY_IS(w.key, "kvlistValue", "kvlist_value")) {
		jsonout_open(out, '{');
		for (items = json_walk(json_get(w.value, STR("values"))); json_next(&items);) {
			jsonout_key_str(out, text_of(json_get(items.value, STR("key"))));
			write_value(out, json_get(items.value, STR("value")), depth + 1);
		}
		jsonout_close(out, '}');
	} else if (KEY_IS(w.key, "intValue", "int_value") && json_int(w.value, &n)) {
		jsonout_int(out, n);
	} else {
		json_attr_write(out, w.value);
	}
}

static void take_composite(struct otlp *o, struct json_value any, struct attr *a)
{
	struct jsonout out = { .out = &o->text };

	buf_clear(&o->text);
	write_value(&out, any, 0);
	a->type = ATTR_JSON;
	a->text = buf_str(&o->text);
}

/* Fills type and value from an AnyValue; text may stand in o->text until the next call. */
static void take_value(struct otlp *o, struct json_value any, struct attr *a)
{
	struct json_walk w = json_walk(any);
	bool b;

	a->type = ATTR_STRING;
	a->text = (struct str){ "", 0 };
	if (!w.is_object || !json_next(&w)) {
		json_str(any, &a->text); /* wrong, but what was meant is plain */
		return;
	}
	if (KEY_IS(w.key, "stringValue", "string_value") && json_str(w.value, &a->text))
		return;
	if (KEY_IS(w.key, "intValue", "int_value") && json_int(w.value, &a->i)) {
		a->type = ATTR_INT;
	} else if (KEY_IS(w.key, "boolValue", "bool_value") && json_bool(w.value, &b)) {
		a->type = ATTR_BOOL;
		a->i = b;
	} else if (KEY_IS(w.key, "doubleValue", "double_value") && json_double(w.value, &a->d)) {
		a->type = ATTR_DOUBLE;
	} else if (KEY_IS(w.key, "bytesValue", "bytes_value") && json_str(w.value, &a->text)) {
		buf_clear(&o->text);
		if (trace_id_take_base64(&o->text, a->text)) {
			a->type = ATTR_BYTES;
			a->text = buf_str(&o->text);
		}
	} else {
		take_composite(o, any, a);
	}
}

/* A KeyValue; false when it has no key. */
static bool take_attr(struct otlp *o, struct json_value kv, struct attr *a)
{
	struct json_value value = { 0 };
	struct json_walk w = json_walk(kv);

	*a = (struct attr){ 0 };
	if (!w.is_object)
		return false;
	while (json_next(&w)) {
		if (str_eq(w.key, STR("key")))
			json_str(w.value, &a->key);
		else if (str_eq(w.key, STR("value")))
			value = w.value;
	}
	if (!a->key.p)
		return false;
	take_value(o, value, a);
	return true;
}

static void take_event_attrs(struct otlp *o, struct json_value list)
{
	struct json_walk w = json_walk(list);
	struct attr a;

	buf_clear(&o->event);
	while (json_next(&w))
		if (take_attr(o, w.value, &a))
			attr_add(&o->event, &a);
}

static void take_own_attrs(struct otlp *o, struct json_value list)
{
	struct json_walk w = json_walk(list);
	struct attr a;

	while (json_next(&w))
		if (take_attr(o, w.value, &a))
			otlp_add_own_attr(o, &a);
}

static struct str id_of(struct otlp *o, struct json_value v)
{
	return trace_id_of_text(&o->b->arena, text_of(v));
}

static void take_links(struct otlp *o, struct json_value list)
{
	struct json_walk w = json_walk(list);

	while (json_next(&w)) {
		struct link l = { .kind = LINK_OTHER };
		struct str state = text_of(get(w.value, STR("traceState"), STR("trace_state")));

		l.trace = id_of(o, get(w.value, STR("traceId"), STR("trace_id")));
		l.span = id_of(o, get(w.value, STR("spanId"), STR("span_id")));
		take_event_attrs(o, json_get(w.value, STR("attributes")));
		if (state.n)
			attr_add_str(&o->event, STR("w3c.tracestate"), state);
		l.attrs = buf_str(&o->event);
		link_add(&o->links, &l);
	}
}

static void take_span_events(struct otlp *o, struct json_value list, const struct otlp_span *s)
{
	struct json_walk w = json_walk(list);

	while (json_next(&w)) {
		struct otlp_record r = { .trace = s->trace, .span = s->id };

		r.ns = number_of(get(w.value, STR("timeUnixNano"), STR("time_unix_nano")));
		r.name = text_of(json_get(w.value, STR("name")));
		r.dropped_attrs = number_of(get(w.value, STR("droppedAttributesCount"),
						STR("dropped_attributes_count")));
		take_event_attrs(o, json_get(w.value, STR("attributes")));
		otlp_add_span_event(o, &r);
	}
}

static void take_status(struct json_value v, struct otlp_span *s)
{
	s->status = enum_of(json_get(v, STR("code")), status_names);
	s->status_message = text_of(json_get(v, STR("message")));
}

/* The members that few spans have. */
static void take_rare_member(const struct json_walk *w, struct otlp_span *s)
{
	if (KEY_IS(w->key, "traceState", "trace_state"))
		s->trace_state = text_of(w->value);
	else if (str_eq(w->key, STR("flags")))
		s->flags = number_of(w->value);
	else if (KEY_IS(w->key, "droppedAttributesCount", "dropped_attributes_count"))
		s->dropped_attrs = number_of(w->value);
	else if (KEY_IS(w->key, "droppedEventsCount", "dropped_events_count"))
		s->dropped_events = number_of(w->value);
	else if (KEY_IS(w->key, "droppedLinksCount", "dropped_links_count"))
		s->dropped_links = number_of(w->value);
}

static void take_span(struct otlp *o, struct json_value v)
{
	struct json_walk w = json_walk(v);
	struct json_value events = { 0 };
	struct otlp_span s = { 0 };

	otlp_begin_item(o);
	while (w.is_object && json_next(&w)) {
		if (KEY_IS(w.key, "traceId", "trace_id"))
			s.trace = id_of(o, w.value);
		else if (KEY_IS(w.key, "spanId", "span_id"))
			s.id = id_of(o, w.value);
		else if (KEY_IS(w.key, "parentSpanId", "parent_span_id"))
			s.parent = id_of(o, w.value);
		else if (str_eq(w.key, STR("name")))
			s.name = text_of(w.value);
		else if (KEY_IS(w.key, "startTimeUnixNano", "start_time_unix_nano"))
			s.start = number_of(w.value);
		else if (KEY_IS(w.key, "endTimeUnixNano", "end_time_unix_nano"))
			s.end = number_of(w.value);
		else if (str_eq(w.key, STR("kind")))
			s.kind = enum_of(w.value, kind_names);
		else if (str_eq(w.key, STR("attributes")))
			take_own_attrs(o, w.value);
		else if (str_eq(w.key, STR("events")))
			events = w.value;
		else if (str_eq(w.key, STR("links")))
			take_links(o, w.value);
		else if (str_eq(w.key, STR("status")))
			take_status(w.value, &s);
		else
			take_rare_member(&w, &s);
	}
	if (otlp_add_span(o, &s))
		take_span_events(o, events, &s);
}

static void take_log(struct otlp *o, struct json_value v)
{
	struct otlp_record r = { 0 };
	struct buf body = { 0 };
	struct attr a = { 0 };

	otlp_begin_item(o);
	r.ns = number_of(get(v, STR("timeUnixNano"), STR("time_unix_nano")));
	r.observed_ns =
		number_of(get(v, STR("observedTimeUnixNano"), STR("observed_time_unix_nano")));
	r.severity_number = number_of(get(v, STR("severityNumber"), STR("severity_number")));
	r.severity = text_of(get(v, STR("severityText"), STR("severity_text")));
	r.name = text_of(get(v, STR("eventName"), STR("event_name")));
	r.trace = id_of(o, get(v, STR("traceId"), STR("trace_id")));
	r.span = id_of(o, get(v, STR("spanId"), STR("span_id")));
	r.flags = number_of(json_get(v, STR("flags")));
	r.dropped_attrs =
		number_of(get(v, STR("droppedAttributesCount"), STR("dropped_attributes_count")));
	take_own_attrs(o, json_get(v, STR("attributes")));
	if (json_type(json_get(v, STR("body"))) == JSON_OBJECT) {
		take_value(o, json_get(v, STR("body")), &a);
		attr_text(&body, &a);
		r.text = buf_str(&body);
	}
	otlp_add_log(o, &r);
	buf_done(&body);
}

static void take_scope(struct otlp *o, struct json_value v)
{
	struct json_value scope = json_get(v, STR("scope"));
	struct json_walk w;
	struct attr a;

	if (json_type(scope) == JSON_NONE)
		scope = get(v, STR("instrumentationLibrary"), STR("instrumentation_library"));
	otlp_begin_scope(o, text_of(json_get(scope, STR("name"))),
			 text_of(json_get(scope, STR("version"))));
	for (w = json_walk(json_get(scope, STR("attributes"))); json_next(&w);)
		if (take_attr(o, w.value, &a))
			otlp_add_scope_attr(o, &a);
	for (w = json_walk(json_get(v, STR("spans"))); json_next(&w);)
		take_span(o, w.value);
	for (w = json_walk(get(v, STR("logRecords"), STR("log_records"))); json_next(&w);)
		take_log(o, w.value);
}

static void count_metrics(struct otlp *o, struct json_value scopes)
{
	struct json_walk w = json_walk(scopes);

	while (json_next(&w))
		o->b->losses.count[LOSS_METRICS_SKIPPED] +=
			json_count(json_get(w.value, STR("metrics")));
}

/* A ResourceSpans, ResourceLogs or ResourceMetrics; false when it is none of them. */
static bool take_resource(struct otlp *o, struct json_value v)
{
	struct json_value resource = json_get(v, STR("resource"));
	struct json_walk m = json_walk(v), w;
	struct attr a;
	bool is_mine = false;

	otlp_begin_resource(o);
	for (w = json_walk(json_get(resource, STR("attributes"))); json_next(&w);)
		if (take_attr(o, w.value, &a))
			otlp_add_resource_attr(o, &a);
	otlp_end_resource(o);
	while (m.is_object && json_next(&m)) {
		if (KEY_IS(m.key, "scopeSpans", "scope_spans") ||
		    KEY_IS(m.key, "scopeLogs", "scope_logs") ||
		    KEY_IS(m.key, "instrumentationLibrarySpans", "instrumentation_library_spans") ||
		    KEY_IS(m.key, "instrumentationLibraryLogs", "instrumentation_library_logs")) {
			for (w = json_walk(m.value); json_next(&w);)
				take_scope(o, w.value);
			is_mine = true;
		} else if (KEY_IS(m.key, "scopeMetrics", "scope_metrics") ||
			   KEY_IS(m.key, "instrumentationLibraryMetrics",
				  "instrumentation_library_metrics")) {
			count_metrics(o, m.value);
			is_mine = true;
		}
	}
	return is_mine;
}

/* One walk over the members of a document: the outermost arrays are taken, true if any was met. */
static bool take_document(struct otlp *o, struct json_value v)
{
	struct json_walk m = json_walk(v), w;
	bool is_mine = false;

	while (m.is_object && json_next(&m)) {
		if (!KEY_IS(m.key, "resourceSpans", "resource_spans") &&
		    !KEY_IS(m.key, "resourceLogs", "resource_logs") &&
		    !KEY_IS(m.key, "resourceMetrics", "resource_metrics") &&
		    !str_eq(m.key, STR("batches")))
			continue;
		for (w = json_walk(m.value); json_next(&w);)
			take_resource(o, w.value);
		is_mine = true;
	}
	return is_mine;
}

static void decode(void *decoder, struct json_value v, const struct json_place *at, struct batch *b)
{
	struct otlp *o = decoder;
	struct json_walk w = json_walk(v);
	bool found = false;

	o->b = b;
	o->file = at->file;
	o->line = at->line;
	if (json_type(v) == JSON_ARRAY) {
		while (json_next(&w))
			found |= take_document(o, w.value) || take_resource(o, w.value);
	} else if (take_document(o, v) || take_resource(o, v)) {
		return;
	} else {
		while (w.is_object && json_next(&w))
			found |= take_document(o, w.value);
	}
	if (!found && json_count(v))
		b->losses.count[LOSS_JSON_FOREIGN]++;
}

static void *open_decoder(void *ctx)
{
	(void)ctx;
	return mem_zalloc(sizeof(struct otlp));
}

static void close_decoder(void *decoder)
{
	otlp_done(decoder);
	free(decoder);
}

static int sniff(struct str head, bool whole)
{
	static const struct str keys[] = {
		{ "resourceSpans", 13 },
		{ "resource_spans", 14 },
		{ "resourceLogs", 12 },
		{ "resource_logs", 13 },
		{ "resourceMetrics", 15 },
		{ "resource_metrics", 16 },
		{ "scopeSpans", 10 },
		{ "scopeLogs", 9 },
		{ "instrumentationLibrarySpans", 27 },
	};

	(void)whole;
	if (!json_scan_is_json(head))
		return 0;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (json_scan_has_key(head, keys[i]))
			return 95;
	return 0;
}

static int read_otlp(struct input *in, const struct source_options *options, struct sink *sink,
		     struct error *err)
{
	static const char *const members[] = { "resourceSpans",   "resource_spans",
					       "resourceLogs",    "resource_logs",
					       "resourceMetrics", "resource_metrics",
					       "batches",         NULL };
	static const struct str units[] = {
		{ "spans", 5 }, { "logRecords", 10 }, { "log_records", 11 }, { "metrics", 7 }
	};
	const struct json_docs docs = {
		.format = source_otlp_json.name,
		.members = members,
		.units = { units, sizeof(units) / sizeof(*units), false },
		.open = open_decoder,
		.close = close_decoder,
		.decode = decode,
	};

	return json_docs_read(in, &docs, options->cores, sink, err);
}

const struct source source_otlp_json = {
	.name = "otlp-json",
	.summary = "OpenTelemetry traces and logs as JSON or JSON lines",
	.sniff = sniff,
	.read = read_otlp,
};
