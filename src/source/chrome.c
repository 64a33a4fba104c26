/*
 * Chrome's trace event JSON, which many tools write: an object with traceEvents or a bare array,
 * which may lack its end. Slices on a thread (B and E, X) and asynchronous ones (b, e, n and the
 * older S, T, F) become spans, each outermost slice a request of its own; instants become events,
 * flows become links, counters are counted and passed over. Times are microseconds.
 *
 * Events stand in no order and names may come last, so a window of them is gathered before they are
 * nested. A file larger than the window is read window by window: a slice that was written after
 * its children by more than a window does not find them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/jsonout.h"
#include "base/time.h"
#include "model/attr.h"
#include "model/sink.h"
#include "source/chrome_nest.h"
#include "source/chunks.h"
#include "source/formats.h"
#include "source/input.h"
#include "source/jaeger_time.h"
#include "source/json_attr.h"
#include "source/json_docs.h"

#define WINDOW_ITEMS 500000
#define WINDOW_BYTES ((size_t)96 << 20)

struct chrome {
	struct chrome_nest nest;
	struct batch *b;
	struct buf attrs, text;
	uint64_t nr;
};

/* The members of one event. */
struct raw {
	char phase;
	struct str name, category;
	struct json_value pid, tid, id, id2, ts, dur, args, bind;
};

static struct str text_of(struct json_value v)
{
	struct str s = { 0 };

	json_str(v, &s);
	return s;
}

static struct raw raw_of(struct json_value v)
{
	struct json_walk w = json_walk(v);
	struct raw r = { 0 };

	while (w.is_object && json_next(&w)) {
		if (str_eq(w.key, STR("ph")))
			r.phase = text_of(w.value).n == 1 ? text_of(w.value).p[0] : 0;
		else if (str_eq(w.key, STR("name")))
			r.name = text_of(w.value);
		else if (str_eq(w.key, STR("cat")))
			r.category = text_of(w.value);
		else if (str_eq(w.key, STR("pid")))
			r.pid = w.value;
		else if (str_eq(w.key, STR("tid")))
			r.tid = w.value;
		else if (str_eq(w.key, STR("ts")))
			r.ts = w.value;
		else if (str_eq(w.key, STR("dur")))
			r.dur = w.value;
		else if (str_eq(w.key, STR("args")))
			r.args = w.value;
		else if (str_eq(w.key, STR("id")))
			r.id = w.value;
		else if (str_eq(w.key, STR("id2")))
			r.id2 = w.value;
		else if (str_eq(w.key, STR("bp")))
			r.bind = w.value;
	}
	return r;
}

/* Ids are numbers or strings; what is neither counts as 0, as the viewer has it. */
static void add_id(struct buf *b, struct json_value v)
{
	struct str s;
	int64_t n = 0;

	if (json_str(v, &s)) {
		buf_add(b, s);
		return;
	}
	json_int(v, &n);
	buf_fmt(b, "%lld", (long long)n);
}

static sym_t intern(struct chrome *c)
{
	return names_add(&c->nest.names, buf_str(&c->text));
}

static sym_t process_of(struct chrome *c, const struct raw *r)
{
	buf_clear(&c->text);
	buf_add(&c->text, STR("pid "));
	add_id(&c->text, r->pid);
	return intern(c);
}

static sym_t thread_of(struct chrome *c, const struct raw *r)
{
	buf_clear(&c->text);
	add_id(&c->text, r->pid);
	buf_char(&c->text, '/');
	add_id(&c->text, r->tid);
	return intern(c);
}

/* What an asynchronous id names: within its process, unless it says that it is global. */
static sym_t id_of(struct chrome *c, const struct raw *r, struct str what)
{
	struct json_value global = json_get(r->id2, STR("global"));
	struct json_value local = json_get(r->id2, STR("local"));

	buf_clear(&c->text);
	if (json_type(global) == JSON_NONE && !what.n)
		add_id(&c->text, r->pid);
	buf_add(&c->text, what);
	buf_char(&c->text, '/');
	buf_add(&c->text, r->category);
	buf_char(&c->text, '/');
	add_id(&c->text, json_type(global) != JSON_NONE  ? global
			 : json_type(local) != JSON_NONE ? local
							 : r->id);
	return intern(c);
}

static void take_metadata(struct chrome *c, const struct raw *r)
{
	struct str name = text_of(json_get(r->args, STR("name")));

	if (!name.n)
		return;
	if (str_eq(r->name, STR("process_name")))
		chrome_nest_title(&c->nest, process_of(c, r), name);
	else if (str_eq(r->name, STR("thread_name")))
		chrome_nest_title(&c->nest, thread_of(c, r), name);
}

/* What the letter means: false when it is nothing that nests. */
static bool phase_of(struct chrome *c, const struct raw *r, struct chrome_item *it)
{
	static const struct {
		const char *letters;
		enum chrome_phase phase;
	} phases[] = { { "BbS", CHROME_BEGIN },
		       { "EeF", CHROME_END },
		       { "X", CHROME_WHOLE },
		       { "iIRnTp", CHROME_INSTANT },
		       { "stf", CHROME_FLOW } };

	for (size_t i = 0; i < sizeof(phases) / sizeof(*phases); i++) {
		if (!strchr(phases[i].letters, r->phase))
			continue;
		it->phase = phases[i].phase;
		if (r->phase == 'f' && !str_eq(text_of(r->bind), STR("e")))
			it->phase = CHROME_FLOW_NEXT;
		it->process = process_of(c, r);
		it->thread = thread_of(c, r);
		it->track = strchr("beSFnTp", r->phase) ? id_of(c, r, STR("")) : it->thread;
		if (it->phase == CHROME_FLOW || it->phase == CHROME_FLOW_NEXT)
			it->flow = id_of(c, r, STR("flow"));
		return true;
	}
	return false;
}

static struct str keep(struct chrome *c, struct str s)
{
	c->nest.arena_bytes += s.n;
	return arena_str(&c->nest.arena, s);
}

static void take_attrs(struct chrome *c, const struct raw *r, struct chrome_item *it)
{
	buf_clear(&c->attrs);
	if (r->category.n && it->phase != CHROME_END)
		attr_add_str(&c->attrs, STR("cat"), r->category);
	json_attr_add_all(&c->attrs, ATTR_SPAN, r->args);
	it->attrs = keep(c, buf_str(&c->attrs));
	it->name = keep(c, r->name);
}

static void take_item(struct chrome *c, const struct raw *r)
{
	struct chrome_item it = {
		.end = NS_NONE, .root = CHROME_NO_SLICE, .parent = CHROME_NO_SLICE, .nr = ++c->nr
	};
	int64_t dur = 0;

	if (!r->phase || !phase_of(c, r, &it)) {
		c->b->losses.count[r->phase && strchr("CPvVOND", r->phase) ? LOSS_METRICS_SKIPPED
									   : LOSS_EVENTS_BROKEN]++;
		return;
	}
	if (!jaeger_time_point(r->ts, NS_US, &it.start) || it.start == NS_NONE) {
		c->b->losses.count[LOSS_EVENTS_BROKEN]++;
		return;
	}
	if (it.phase == CHROME_WHOLE) {
		c->b->losses.count[LOSS_SPANS_OPEN] += json_type(r->dur) == JSON_NONE;
		jaeger_time_span(r->dur, NS_US, &dur);
		if (__builtin_add_overflow(it.start, dur, &it.end)) {
			c->b->losses.count[LOSS_SPANS_BROKEN]++;
			return;
		}
		if (dur < 0) {
			c->b->losses.count[LOSS_SPANS_NEGATIVE]++;
			it.end = it.start;
		}
	}
	take_attrs(c, r, &it);
	vec_push(&c->nest.items, it);
}

static void decode(void *decoder, struct json_value v, const struct json_place *at, struct batch *b)
{
	struct chrome *c = decoder;
	struct json_value list = json_get(v, STR("traceEvents"));
	struct json_walk w = json_walk(json_type(v) == JSON_ARRAY ? v : list);
	struct raw r;

	c->b = b;
	c->nest.file = at->file;
	if (json_type(v) == JSON_ARRAY || json_type(list) == JSON_ARRAY) {
		while (json_next(&w))
			decode(decoder, w.value, at, b);
		return;
	}
	r = raw_of(v);
	if (r.phase == 'M')
		take_metadata(c, &r);
	else
		take_item(c, &r);
}

static void settle(void *decoder, struct batch *b)
{
	struct chrome *c = decoder;
	size_t nr_new = c->nest.items.nr - c->nest.nr_carried;

	/* what is carried is sorted again each time: there must be as much that is new */
	if ((nr_new > WINDOW_ITEMS && nr_new > c->nest.nr_carried) ||
	    c->nest.arena_bytes > WINDOW_BYTES)
		chrome_nest_flush(&c->nest, b, false);
}

static void *open_decoder(void *ctx)
{
	return ctx;
}

static int sniff(struct str head, bool whole)
{
	(void)whole;
	if (!json_scan_is_json(head))
		return 0;
	if (json_scan_has_key(head, STR("traceEvents")))
		return 95;
	return json_scan_has_key(head, STR("ph")) && (json_scan_has_key(head, STR("ts")) ||
						      json_scan_has_key(head, STR("pid")))
		       ? 90
		       : 0;
}

/* What is left when the file ended. */
static int deliver_rest(struct chrome *c, struct sink *sink, struct error *err)
{
	struct batch b = { 0 };
	int r = 0;

	chrome_nest_flush(&c->nest, &b, true);
	losses_add(sink->losses, &b.losses);
	if (b.spans.nr)
		r = sink->spans(sink->to, b.spans.v, b.spans.nr, err);
	if (r >= 0 && b.events.nr)
		r = sink->events(sink->to, b.events.v, b.events.nr, err);
	vec_done(&b.spans);
	vec_done(&b.events);
	arena_done(&b.arena);
	return r < 0 ? r : 0;
}

static int read_chrome(struct input *in, const struct source_options *options, struct sink *sink,
		       struct error *err)
{
	static const char *const members[] = { "traceEvents", NULL };
	static const struct str units[] = { { "traceEvents", 11 } };
	const char *slash = strrchr(input_path(in), '/');
	struct chrome c = { .nest.file_name = str_of(slash ? slash + 1 : input_path(in)) };
	const struct json_docs docs = {
		.format = source_chrome.name,
		.members = members,
		.units = { units, 1, true },
		.may_stay_open = true,
		.in_order = true,
		.ctx = &c,
		.open = open_decoder,
		.decode = decode,
		.settle = settle,
	};
	int r = json_docs_read(in, &docs, options->cores, sink, err);

	if (r >= 0)
		r = deliver_rest(&c, sink, err);
	chrome_nest_done(&c.nest);
	buf_done(&c.attrs);
	buf_done(&c.text);
	return r;
}

const struct source source_chrome = {
	.name = "chrome",
	.summary = "Chrome trace events as JSON, as browsers and many tools write them",
	.sniff = sniff,
	.read = read_chrome,
};
