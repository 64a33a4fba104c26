/*
 * Jaeger's JSON in all its shapes: the answers of its API and the downloads of its page
 * ({"data":[trace …]}, one trace, an array or lines of them), the span documents that it keeps in
 * Elasticsearch, and JSON made from its protobuf model (base64 ids, RFC 3339 times). What holds
 * spans is found up to a few levels down, so a trace wrapped in another object is read as well.
 *
 * Numbers are microseconds. The first CHILD_OF reference into the same trace is the parent; without
 * one the first FOLLOWS_FROM is, and the parent does not wait. All other references are links. What
 * the model has a field for (span.kind, error, otel.status_code) is not kept as an attribute twice.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/time.h"
#include "model/carried.h"
#include "model/link.h"
#include "source/chunks.h"
#include "source/formats.h"
#include "source/jaeger_tag.h"
#include "source/jaeger_time.h"
#include "source/json_attr.h"
#include "source/json_docs.h"
#include "source/title.h"
#include "source/trace_id.h"

#define WRAPPERS_MAX 3

/* In the arena of the batch. */
struct process {
	struct str pid, node, host;
	struct str attrs; /* packed, of the resource */
};

struct jaeger {
	struct batch *b;
	struct json_place at;
	VEC(struct process) processes; /* of the trace being read, sorted by pid */
	struct buf resource, own, links, fields, room, text;
};

/* What is gathered of one span. */
struct reading {
	struct span span;
	struct json_value references, logs, warnings;
	struct str legacy_parent;
	bool has_start, has_duration, has_process;
	int64_t duration;
	struct process process;
};

static struct str keep(struct jaeger *j, struct str s)
{
	return s.n ? arena_str(&j->b->arena, s) : (struct str){ 0 };
}

static struct str text_of(struct json_value v)
{
	struct str s = { 0 };

	json_str(v, &s);
	return s;
}

static bool key_is(struct str key, struct str upper, struct str camel, struct str snake)
{
	return str_eq(key, upper) || str_eq(key, camel) || str_eq(key, snake);
}

#define IS_TRACE_ID(key) key_is(key, STR("traceID"), STR("traceId"), STR("trace_id"))
#define IS_SPAN_ID(key) key_is(key, STR("spanID"), STR("spanId"), STR("span_id"))

static struct jaeger_tags tags_of(struct jaeger *j, struct json_value v, bool is_document)
{
	return (struct jaeger_tags){ json_walk(v), is_document, &j->room, &j->b->arena };
}

/* --- processes ------------------------------------------------------------------------------- */

static void note_host(struct jaeger *j, const struct attr *a, struct process *p, size_t *rank)
{
	static const char *const keys[] = { "hostname", "host.name",    "ip",     "k8s.pod.name",
					    "host.id",  "container.id", "host.ip" };

	for (size_t i = 0; i < *rank && i < sizeof(keys) / sizeof(*keys); i++) {
		if (!str_eq(a->key, str_of(keys[i])))
			continue;
		buf_clear(&j->text);
		attr_text(&j->text, a);
		p->host = keep(j, buf_str(&j->text));
		*rank = i;
	}
}

static struct process process_of(struct jaeger *j, struct str pid, struct json_value v,
				 bool is_document)
{
	struct process p = { .pid = keep(j, pid) };
	struct json_walk w = json_walk(v);
	size_t rank = SIZE_MAX;
	struct attr a;

	buf_clear(&j->resource);
	while (w.is_object && json_next(&w)) {
		struct jaeger_tags tags = tags_of(j, w.value, is_document);

		if (key_is(w.key, STR("serviceName"), STR("service_name"), STR("service"))) {
			p.node = keep(j, text_of(w.value));
		} else if (str_eq(w.key, STR("tags")) || str_eq(w.key, STR("tag"))) {
			while (jaeger_tags_next(&tags, &a)) {
				a.scope = ATTR_RESOURCE;
				attr_add(&j->resource, &a);
				note_host(j, &a, &p, &rank);
			}
		}
	}
	p.attrs = keep(j, buf_str(&j->resource));
	return p;
}

static int compare_processes(const void *a, const void *b)
{
	return str_cmp(((const struct process *)a)->pid, ((const struct process *)b)->pid);
}

/* "processes": {"p1": {…}}, or as protobuf has it "processMap": [{"processId", "process"}]. */
static void take_processes(struct jaeger *j, struct json_value trace)
{
	struct json_walk w = json_walk(json_get(trace, STR("processes")));
	struct json_value id;

	vec_clear(&j->processes);
	while (w.is_object && json_next(&w))
		vec_push(&j->processes, process_of(j, w.key, w.value, false));
	w = json_walk(json_get(trace, STR("processMap")));
	while (!w.is_object && json_next(&w)) {
		id = json_get(w.value, STR("processId"));
		if (json_type(id) == JSON_NONE)
			id = json_get(w.value, STR("process_id"));
		vec_push(&j->processes,
			 process_of(j, text_of(id), json_get(w.value, STR("process")), false));
	}
	if (j->processes.nr > 1)
		qsort(j->processes.v, j->processes.nr, sizeof(*j->processes.v), compare_processes);
}

static void find_process(struct jaeger *j, struct str pid, struct reading *r)
{
	struct process want = { .pid = pid }, *found = NULL;

	if (j->processes.nr)
		found = bsearch(&want, j->processes.v, j->processes.nr, sizeof(want),
				compare_processes);
	if (!found)
		return;
	r->process = *found;
	r->has_process = true;
}

/* --- one span -------------------------------------------------------------------------------- */

static bool kind_of(struct str s, enum span_kind *kind)
{
	static const enum span_kind kinds[] = { SPAN_INTERNAL, SPAN_SERVER, SPAN_CLIENT,
						SPAN_PRODUCER, SPAN_CONSUMER };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!str_eq_nocase(s, str_of(span_kind_name(kinds[i]))))
			continue;
		*kind = kinds[i];
		return true;
	}
	return false;
}

/* A tag that says what the model has a field for; true when nothing is left to keep. */
static bool means_field(struct jaeger *j, const struct attr *a, struct span *s)
{
	if (str_eq(a->key, STR("span.kind")) && a->type == ATTR_STRING)
		return kind_of(a->text, &s->kind);
	if (str_eq(a->key, STR("error"))) {
		bool is_text = a->type == ATTR_STRING && str_eq_nocase(a->text, STR("true"));

		if (!is_text && (a->type != ATTR_BOOL || !a->i))
			return false;
		s->status = STATUS_ERROR;
		return a->type == ATTR_BOOL;
	}
	if (str_eq(a->key, STR("otel.status_code")) && a->type == ATTR_STRING) {
		if (!str_eq(a->text, STR("ERROR")) && !str_eq(a->text, STR("OK")))
			return false;
		s->status = a->text.p[0] == 'E' ? STATUS_ERROR : STATUS_OK;
		return true;
	}
	if (str_eq(a->key, STR("thread.name")) ||
	    (str_eq(a->key, STR("thread.id")) && !s->thread.n)) {
		buf_clear(&j->text);
		attr_text(&j->text, a);
		s->thread = keep(j, buf_str(&j->text));
	}
	return false;
}

static void take_tags(struct jaeger *j, struct json_value v, bool is_document, struct span *s)
{
	struct jaeger_tags tags = tags_of(j, v, is_document);
	struct attr a;

	while (jaeger_tags_next(&tags, &a)) {
		if (means_field(j, &a, s))
			continue;
		if (str_starts(a.key, STR("otel.scope.")))
			a.scope = ATTR_LIBRARY;
		attr_add(&j->own, &a);
	}
}

static void take_member(struct jaeger *j, struct str key, struct json_value v, bool is_document,
			struct reading *r)
{
	struct span *s = &r->span;

	if (IS_TRACE_ID(key))
		s->key = trace_id_of_text(&j->b->arena, text_of(v));
	else if (IS_SPAN_ID(key))
		s->id = trace_id_of_text(&j->b->arena, text_of(v));
	else if (key_is(key, STR("parentSpanID"), STR("parentSpanId"), STR("parent_span_id")))
		r->legacy_parent = text_of(v);
	else if (key_is(key, STR("operationName"), STR("operation_name"), STR("operationname")))
		s->name = keep(j, text_of(v));
	else if (key_is(key, STR("startTime"), STR("start_time"), STR("starttime")))
		r->has_start = jaeger_time_point(v, NS_US, &s->start);
	else if (str_eq(key, STR("startTimeMillis")) && !r->has_start)
		r->has_start = jaeger_time_point(v, NS_MS, &s->start);
	else if (str_eq(key, STR("duration")))
		r->has_duration = jaeger_time_span(v, NS_US, &r->duration);
	else if (str_eq(key, STR("tags")) || str_eq(key, STR("tag")))
		take_tags(j, v, is_document, s);
	else if (str_eq(key, STR("references")))
		r->references = v;
	else if (str_eq(key, STR("logs")))
		r->logs = v;
	else if (str_eq(key, STR("warnings")) && json_count(v))
		json_attr_add(&j->own, ATTR_SPAN, STR("jaeger.warnings"), v);
	else if (str_eq(key, STR("flags")))
		json_attr_add(&j->own, ATTR_SPAN, STR("jaeger.flags"), v);
	else if (key_is(key, STR("processID"), STR("processId"), STR("process_id")))
		find_process(j, text_of(v), r);
	else if (str_eq(key, STR("process")) && json_type(v) == JSON_OBJECT) {
		r->process = process_of(j, STR(""), v, is_document);
		r->has_process = true;
	}
}

static struct link link_of(struct jaeger *j, struct json_value v, struct str own_trace)
{
	struct link l = { .kind = LINK_CHILD_OF, .trace = own_trace };
	struct json_walk w = json_walk(v);

	while (w.is_object && json_next(&w)) {
		if (IS_TRACE_ID(w.key) && text_of(w.value).n)
			l.trace = trace_id_of_text(&j->b->arena, text_of(w.value));
		else if (IS_SPAN_ID(w.key))
			l.span = trace_id_of_text(&j->b->arena, text_of(w.value));
		else if (key_is(w.key, STR("refType"), STR("ref_type"), STR("reftype")) &&
			 str_eq_nocase(text_of(w.value), STR("FOLLOWS_FROM")))
			l.kind = LINK_FOLLOWS_FROM;
	}
	return l;
}

/* Position of the reference that is the parent: the first of its kind into the same trace. */
static size_t find_parent(struct jaeger *j, const struct reading *r, enum link_kind kind)
{
	struct json_walk w = json_walk(r->references);

	for (size_t i = 0; json_next(&w); i++) {
		struct link l = link_of(j, w.value, r->span.key);

		if (l.kind == kind && l.span.n && str_eq(l.trace, r->span.key))
			return i;
	}
	return SIZE_MAX;
}

static void take_references(struct jaeger *j, struct reading *r)
{
	struct json_walk w = json_walk(r->references);
	size_t parent = find_parent(j, r, LINK_CHILD_OF);

	if (parent == SIZE_MAX) {
		parent = find_parent(j, r, LINK_FOLLOWS_FROM);
		r->span.follows = parent != SIZE_MAX;
	}
	for (size_t i = 0; json_next(&w); i++) {
		struct link l = link_of(j, w.value, r->span.key);

		if (i == parent)
			r->span.parent_id = l.span;
		else if (l.span.n)
			link_add(&j->links, &l);
	}
	if (parent == SIZE_MAX && !trace_id_is_none(r->legacy_parent))
		r->span.parent_id = trace_id_of_text(&j->b->arena, r->legacy_parent);
}

/* --- logs ------------------------------------------------------------------------------------ */

/* The text of a log: its "event", else its "message", else all of its fields. */
struct log_text {
	struct buf event, message, all;
	bool event_is_text;
	enum level level;
};

static void take_field(struct jaeger *j, const struct attr *a, struct log_text *t)
{
	bool is_event = str_eq(a->key, STR("event"));

	if (is_event) {
		attr_text(&t->event, a);
		t->event_is_text = a->type == ATTR_STRING;
		if (str_eq(buf_str(&t->event), STR("error")))
			t->level = LEVEL_ERROR;
	} else if (str_eq(a->key, STR("message"))) {
		attr_text(&t->message, a);
	} else if (str_eq(a->key, STR("level")) && a->type == ATTR_STRING) {
		t->level = level_of(a->text);
	}
	buf_add(&t->all, t->all.n ? STR(" ") : STR(""));
	buf_add(&t->all, a->key);
	buf_char(&t->all, '=');
	attr_text(&t->all, a);
	if (!is_event || a->type != ATTR_STRING)
		attr_add(&j->fields, a);
}

static void take_log(struct jaeger *j, struct json_value v, bool is_document, const struct span *s)
{
	struct jaeger_tags fields = tags_of(j, json_get(v, STR("fields")), is_document);
	struct event ev = { .kind = EVENT_LOG, .nr_lines = 1, .duration = -1 };
	struct log_text t = { 0 };
	struct attr a;

	if (!jaeger_time_point(json_get(v, STR("timestamp")), NS_US, &ev.ns)) {
		j->b->losses.count[LOSS_EVENTS_BROKEN]++;
		return;
	}
	buf_clear(&j->fields);
	while (jaeger_tags_next(&fields, &a))
		take_field(j, &a, &t);
	ev.file = j->at.file;
	ev.line = j->at.line;
	ev.level = t.level;
	ev.node = s->node;
	ev.thread = s->thread;
	ev.key_kind = KEY_TRACE;
	ev.key = s->key;
	ev.span = s->id;
	ev.text = keep(j, t.event.n     ? buf_str(&t.event)
			  : t.message.n ? buf_str(&t.message)
					: buf_str(&t.all));
	ev.title = title_mask(&j->b->arena, ev.text);
	ev.attrs = keep(j, buf_str(&j->fields));
	carried_restore_event(&ev, &j->b->arena);
	vec_push(&j->b->events, ev);
	buf_done(&t.event);
	buf_done(&t.message);
	buf_done(&t.all);
}

/* --- documents ------------------------------------------------------------------------------- */

static bool finish_span(struct jaeger *j, struct reading *r)
{
	struct losses *l = &j->b->losses;
	struct span *s = &r->span;

	if (!s->key.n || !s->id.n || !r->has_start) {
		l->count[LOSS_SPANS_BROKEN]++;
		return false;
	}
	if (!r->has_duration)
		l->count[LOSS_SPANS_OPEN]++;
	if (r->duration < 0) {
		l->count[LOSS_SPANS_NEGATIVE]++;
		r->duration = 0;
	}
	if (__builtin_add_overflow(s->start, r->duration, &s->end)) {
		l->count[LOSS_SPANS_BROKEN]++;
		return false;
	}
	take_references(j, r);
	s->node = r->process.node;
	s->host = r->process.host;
	s->links = keep(j, buf_str(&j->links));
	buf_clear(&j->resource);
	buf_add(&j->resource, r->process.attrs);
	buf_add(&j->resource, buf_str(&j->own));
	s->attrs = keep(j, buf_str(&j->resource));
	carried_restore_span(s, &j->b->arena);
	return true;
}

static void take_span(struct jaeger *j, struct json_value v, struct str trace, bool is_document)
{
	struct reading r = { .span = { .parent = SPAN_NONE, .confidence = 1, .key = trace } };
	struct json_walk w = json_walk(v);

	buf_clear(&j->own);
	buf_clear(&j->links);
	while (w.is_object && json_next(&w))
		take_member(j, w.key, w.value, is_document, &r);
	if (!finish_span(j, &r))
		return;
	vec_push(&j->b->spans, r.span);
	for (w = json_walk(r.logs); json_next(&w);)
		take_log(j, w.value, is_document, &r.span);
}

static void take_trace(struct jaeger *j, struct json_value v, struct json_value spans)
{
	struct json_walk w = json_walk(v);
	struct str trace = { 0 };

	while (json_next(&w))
		if (IS_TRACE_ID(w.key))
			trace = trace_id_of_text(&j->b->arena, text_of(w.value));
	take_processes(j, v);
	for (w = json_walk(spans); json_next(&w);)
		take_span(j, w.value, trace, false);
	vec_clear(&j->processes);
}

/* A span that stands alone, with its process inside. */
static bool is_span_document(struct json_value v)
{
	struct json_walk w = json_walk(v);
	unsigned has = 0;

	while (w.is_object && json_next(&w)) {
		has |= IS_SPAN_ID(w.key) ? 1U : 0;
		has |= key_is(w.key, STR("operationName"), STR("operation_name"), STR("")) ? 2U : 0;
		has |= key_is(w.key, STR("startTime"), STR("start_time"), STR("startTimeMillis"))
			       ? 4U
			       : 0;
	}
	return has == 7;
}

/* Finds what holds spans, a few levels down; true when there was any. */
static bool take_any(struct jaeger *j, struct json_value v, unsigned wrappers)
{
	struct json_value spans = json_get(v, STR("spans"));
	struct json_walk w = json_walk(v);
	bool found = false;

	if (json_type(spans) == JSON_ARRAY) {
		take_trace(j, v, spans);
		return true;
	}
	if (is_span_document(v)) {
		/* Elasticsearch has numbers for times and hexadecimal binary tags; protobuf not. */
		bool is_document = json_type(json_get(v, STR("startTime"))) != JSON_STRING;

		take_span(j, v, (struct str){ 0 }, is_document);
		return true;
	}
	while (wrappers && json_next(&w))
		if (json_type(w.value) == JSON_ARRAY || json_type(w.value) == JSON_OBJECT)
			found |= take_any(j, w.value, wrappers - 1);
	return found;
}

static void decode(void *decoder, struct json_value v, const struct json_place *at, struct batch *b)
{
	struct jaeger *j = decoder;
	struct json_value data = json_get(v, STR("data"));

	j->b = b;
	j->at = *at;
	if (!take_any(j, v, WRAPPERS_MAX) && json_count(v) && json_type(data) != JSON_ARRAY)
		b->losses.count[LOSS_JSON_FOREIGN]++;
}

static void *open_decoder(void *ctx)
{
	(void)ctx;
	return mem_zalloc(sizeof(struct jaeger));
}

static void close_decoder(void *decoder)
{
	struct jaeger *j = decoder;

	vec_done(&j->processes);
	buf_done(&j->resource);
	buf_done(&j->own);
	buf_done(&j->links);
	buf_done(&j->fields);
	buf_done(&j->room);
	buf_done(&j->text);
	free(j);
}

static bool has(struct str head, const char *key)
{
	return json_scan_has_key(head, str_of(key));
}

static int sniff(struct str head, bool whole)
{
	(void)whole;
	if (!json_scan_is_json(head))
		return 0;
	if ((has(head, "operationName") || has(head, "operation_name")) &&
	    (has(head, "spanID") || has(head, "spanId") || has(head, "span_id")))
		return 93;
	if (has(head, "spans") && (has(head, "processes") || has(head, "processMap")))
		return 80;
	return has(head, "data") && has(head, "total") && has(head, "limit") && has(head, "errors")
		       ? 60
		       : 0;
}

static int read_jaeger(struct input *in, const struct source_options *options, struct sink *sink,
		       struct error *err)
{
	static const char *const members[] = { "data", NULL };
	static const struct str units[] = { { "spans", 5 } };
	const struct json_docs docs = {
		.format = source_jaeger.name,
		.members = members,
		.units = { units, 1, false },
		.open = open_decoder,
		.close = close_decoder,
		.decode = decode,
	};

	return json_docs_read(in, &docs, options->cores, sink, err);
}

const struct source source_jaeger = {
	.name = "jaeger",
	.summary = "Jaeger traces as JSON: API, page, Elasticsearch documents",
	.sniff = sniff,
	.read = read_jaeger,
};
