/*
 * Chrome's trace event JSON: a process for each node, a thread for each lane (export/tracks.h),
 * complete events (X) for spans, instants for log lines, flow arrows where work goes from one
 * thread to another. One event a line.
 */
#include "export/chrome.h"

#include "base/jsonout.h"
#include "base/time.h"
#include "export/attrs.h"
#include "export/export.h"
#include "export/ids.h"

struct chrome_out {
	struct chrome_state *state;
	struct jsonout j;
	const struct fed *x;
	struct placed placed;
};

static void event_open(struct chrome_out *o, const char *phase, struct str name)
{
	if (o->state->any)
		buf_add(o->j.out, STR(",\n"));
	o->state->any = true;
	o->j = (struct jsonout){ .out = o->j.out };
	jsonout_open(&o->j, '{');
	jsonout_key(&o->j, "ph");
	jsonout_str(&o->j, str_of(phase));
	jsonout_key(&o->j, "name");
	jsonout_str(&o->j, name);
}

static void key_text(struct chrome_out *o, const char *key, struct str text)
{
	jsonout_key(&o->j, key);
	jsonout_str(&o->j, text);
}

static void key_int(struct chrome_out *o, const char *key, int64_t v)
{
	jsonout_key(&o->j, key);
	jsonout_int(&o->j, v);
}

/* Microseconds with the nanoseconds behind the point. */
static void key_us(struct chrome_out *o, const char *key, int64_t ns)
{
	char text[40];
	int n = snprintf(text, sizeof(text), "%lld.%03lld", (long long)(ns / NS_US),
			 (long long)(ns % NS_US));

	jsonout_key(&o->j, key);
	jsonout_raw(&o->j, (struct str){ text, (size_t)n });
}

static int64_t positive(int64_t ns)
{
	return ns > 0 ? ns : 0;
}

static void place_keys(struct chrome_out *o, uint32_t lane)
{
	const struct tracks *t = &o->state->tracks;

	key_int(o, "pid", (int64_t)t->threads.v[t->lanes.v[lane].thread].process + 1);
	key_int(o, "tid", (int64_t)t->processes.nr + lane + 1);
}

static void arg(struct chrome_out *o, const struct attr *a)
{
	struct buf text = { 0 };

	jsonout_key_str(&o->j, a->key);
	if (a->type == ATTR_INT) {
		jsonout_int(&o->j, a->i);
	} else if (a->type == ATTR_DOUBLE) {
		jsonout_double(&o->j, a->d);
	} else if (a->type == ATTR_BOOL) {
		jsonout_bool(&o->j, a->i != 0);
	} else {
		attr_text(&text, a);
		jsonout_str(&o->j, buf_str(&text));
	}
	buf_done(&text);
}

static void span_args(struct chrome_out *o, size_t position)
{
	const struct span *s = &o->x->body->spans[position];
	struct str packed = s->attrs, parent = ids_parent(o->x, position);
	struct attr a;

	jsonout_key(&o->j, "args");
	jsonout_open(&o->j, '{');
	key_int(o, "request", (int64_t)o->x->r->id);
	key_text(o, "trace_id", ids_trace(o->x, s));
	key_text(o, "span_id", ids_span(o->x, position));
	if (parent.n)
		key_text(o, "parent_id", parent);
	if (s->status != STATUS_UNSET)
		key_text(o, "status", s->status == STATUS_OK ? STR("ok") : STR("error"));
	if (s->confidence < 1) {
		jsonout_key(&o->j, "confidence");
		jsonout_double(&o->j, attrs_sure(s));
	}
	while (attrs_take(&packed, ATTR_SPAN, &a))
		arg(o, &a);
	jsonout_close(&o->j, '}');
}

static void one_span(struct chrome_out *o, size_t position)
{
	const struct span *s = &o->x->body->spans[position];
	const char *kind = span_kind_name(s->kind);

	event_open(o, "X", s->name);
	key_text(o, "cat", *kind ? str_of(kind) : STR("span"));
	place_keys(o, o->placed.lane[position]);
	key_us(o, "ts", positive(s->start));
	key_us(o, "dur", positive(s->end - s->start));
	span_args(o, position);
	jsonout_close(&o->j, '}');
}

static void one_event(struct chrome_out *o, const struct event *ev, uint32_t lane)
{
	struct str packed = ev->attrs;
	struct attr a;

	event_open(o, "i", ev->text.n ? ev->text : ev->point);
	key_text(o, "cat", STR("log"));
	key_text(o, "s", STR("t"));
	place_keys(o, lane);
	key_us(o, "ts", positive(ev->ns));
	jsonout_key(&o->j, "args");
	jsonout_open(&o->j, '{');
	if (ev->level != LEVEL_NONE)
		key_text(o, "level", str_of(level_name(ev->level)));
	while (attrs_take(&packed, ATTR_SPAN, &a))
		arg(o, &a);
	jsonout_close(&o->j, '}');
	jsonout_close(&o->j, '}');
}

static void flow_end(struct chrome_out *o, const char *phase, const char *name, size_t position,
		     int64_t ns, uint64_t number)
{
	char id[40];

	snprintf(id, sizeof(id), "%llu.%llu", (unsigned long long)o->x->r->id,
		 (unsigned long long)number);
	event_open(o, phase, str_of(name));
	key_text(o, "cat", STR("flow"));
	key_text(o, "id", str_of(id));
	if (*phase == 'f')
		key_text(o, "bp", STR("e"));
	place_keys(o, o->placed.lane[position]);
	key_us(o, "ts", positive(ns));
	jsonout_close(&o->j, '}');
}

/* An arrow from one span to the start of another; it leaves the first while that is open. */
static void flow(struct chrome_out *o, const char *name, size_t from, size_t to, uint64_t number)
{
	const struct span *a = &o->x->body->spans[from], *b = &o->x->body->spans[to];
	int64_t leaves = b->start < a->start ? a->start : b->start > a->end ? a->end : b->start;

	flow_end(o, "s", name, from, leaves, number);
	flow_end(o, "f", name, to, b->start, number);
}

static void flows(struct chrome_out *o)
{
	const struct request_body *b = o->x->body;

	for (size_t i = 0; i < b->nr_spans; i++) {
		uint32_t parent = b->spans[i].parent;

		if (parent < b->nr_spans && o->placed.lane[parent] != o->placed.lane[i])
			flow(o, "call", parent, i, i);
	}
	for (size_t i = 0; i < b->nr_edges; i++)
		if (b->edges[i].from < b->nr_spans && b->edges[i].to < b->nr_spans)
			flow(o, edge_kind_name(b->edges[i].kind), b->edges[i].from, b->edges[i].to,
			     b->nr_spans + i);
}

static void metadata(struct chrome_out *o, const char *name, int64_t pid, int64_t tid,
		     const char *arg_name, struct str value)
{
	event_open(o, "M", str_of(name));
	key_int(o, "pid", pid);
	if (tid)
		key_int(o, "tid", tid);
	jsonout_key(&o->j, "args");
	jsonout_open(&o->j, '{');
	key_text(o, arg_name, value);
	jsonout_close(&o->j, '}');
	jsonout_close(&o->j, '}');
}

void chrome_begin(void *state, struct buf *out)
{
	struct chrome_out o = { .state = state, .j = { .out = out } };
	const struct tracks *t = &o.state->tracks;
	struct buf name = { 0 };

	buf_add(out, STR("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"));
	for (size_t i = 0; i < t->processes.nr; i++) {
		const struct track_process *p = &t->processes.v[i];

		metadata(&o, "process_name", (int64_t)i + 1, 0, "name", p->node);
		if (p->host.n)
			metadata(&o, "process_labels", (int64_t)i + 1, 0, "labels", p->host);
	}
	for (size_t i = 0; i < t->lanes.nr; i++) {
		const struct track_thread *th = &t->threads.v[t->lanes.v[i].thread];

		buf_clear(&name);
		buf_add(&name, th->name);
		if (t->lanes.v[i].number)
			buf_fmt(&name, "%s(%u)", name.n ? " " : "", t->lanes.v[i].number + 1);
		if (name.n)
			metadata(&o, "thread_name", (int64_t)th->process + 1,
				 (int64_t)(t->processes.nr + i) + 1, "name", buf_str(&name));
	}
	buf_done(&name);
}

void chrome_request(void *state, const struct fed *x, struct buf *out)
{
	struct chrome_out o = { .state = state, .j = { .out = out }, .x = x };

	o.placed = tracks_place(&o.state->tracks, x);
	for (size_t i = 0; i < x->body->nr_spans; i++) {
		uint32_t position = o.placed.order[i];

		one_span(&o, position);
		for (uint32_t e = x->first_event[position]; e != FED_END; e = x->next_event[e])
			one_event(&o, &x->events[e], o.placed.lane[position]);
	}
	flows(&o);
}

void chrome_end(void *state, struct buf *out)
{
	(void)state;
	buf_add(out, STR("\n]}\n"));
}

static int write_chrome(struct store *s, FILE *to, struct error *err)
{
	const struct feed first = { .request = tracks_measure };
	const struct feed second = {
		.events = true, .begin = chrome_begin, .request = chrome_request, .end = chrome_end
	};
	struct chrome_state state = { 0 };
	int r = feed_run(s, &first, &state.tracks, to, err);

	if (!r) {
		tracks_settle(&state.tracks);
		r = feed_run(s, &second, &state, to, err);
	}
	tracks_done(&state.tracks);
	return r;
}

const struct exporter export_chrome = {
	.name = "chrome",
	.summary = "Chrome's trace event JSON, for chrome://tracing and Perfetto",
	.suffix = ".trace.json",
	.write = write_chrome,
};
