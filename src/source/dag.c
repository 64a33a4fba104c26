/*
 * The event DAG of the design: JSON lines, one event each, whose causality is what "after" says.
 * The raw line stays where it is; the event refers to it.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/time.h"
#include "model/event.h"
#include "source/chunks.h"
#include "source/formats.h"
#include "source/json_attr.h"
#include "source/json_docs.h"

struct dag {
	struct batch *b;
	struct buf attrs, after;
};

/* A name; a number is one too. */
static struct str name_of(struct dag *d, struct json_value v)
{
	struct str s;
	int64_t n;

	if (json_str(v, &s))
		return arena_str(&d->b->arena, s);
	if (json_int(v, &n))
		return arena_fmt(&d->b->arena, "%lld", (long long)n);
	return (struct str){ 0 };
}

static void take_after(struct dag *d, struct json_value v)
{
	struct json_walk w = json_walk(v);

	while (!w.is_object && json_next(&w)) {
		struct str id = name_of(d, w.value);

		if (id.n)
			buf_bytes(&d->after, id);
		else
			d->b->losses.count[LOSS_AFTER_MISSING]++;
	}
}

/*
 * Nanoseconds. Some recorders count in smaller units, which 64 bits cannot hold: such a number is
 * brought down by thousands until it can, and counted, as its unit is a guess.
 */
static bool take_time(struct dag *d, struct json_value v, int64_t *ns)
{
	double wide;

	if (json_int(v, ns))
		return true;
	if (!json_double(v, &wide) || !(wide >= 0 && wide < 1e30))
		return false;
	d->b->losses.count[LOSS_TIME_RANGE] += wide >= 9.2e18;
	while (wide >= 9.2e18)
		wide /= 1000;
	*ns = (int64_t)wide;
	return true;
}

static bool take_event(struct dag *d, struct json_value v, struct event *ev)
{
	struct json_walk w = json_walk(v);
	bool has_time = false;

	buf_clear(&d->attrs);
	buf_clear(&d->after);
	while (w.is_object && json_next(&w)) {
		if (str_eq(w.key, STR("id")))
			ev->id = name_of(d, w.value);
		else if (str_eq(w.key, STR("request")))
			ev->key = name_of(d, w.value);
		else if (str_eq(w.key, STR("time")))
			has_time = take_time(d, w.value, &ev->ns);
		else if (str_eq(w.key, STR("node")))
			ev->node = name_of(d, w.value);
		else if (str_eq(w.key, STR("process")))
			ev->peer = name_of(d, w.value);
		else if (str_eq(w.key, STR("thread")))
			ev->thread = name_of(d, w.value);
		else if (str_eq(w.key, STR("point")))
			ev->point = ev->title = name_of(d, w.value);
		else if (str_eq(w.key, STR("attrs")))
			json_attr_add_all(&d->attrs, ATTR_SPAN, w.value);
		else if (str_eq(w.key, STR("after")))
			take_after(d, w.value);
	}
	return has_time && ev->id.n;
}

static void decode(void *decoder, struct json_value v, const struct json_place *at, struct batch *b)
{
	struct event ev = { .kind = EVENT_POINT, .nr_lines = 1, .duration = -1 };
	struct dag *d = decoder;

	d->b = b;
	if (!take_event(d, v, &ev)) {
		b->losses.count[LOSS_EVENTS_BROKEN]++;
		return;
	}
	ev.file = at->file;
	ev.line = at->line;
	ev.offset = at->offset;
	ev.length = at->length;
	ev.key_kind = ev.key.n ? KEY_REQUEST : KEY_NONE;
	ev.attrs = arena_str(&b->arena, buf_str(&d->attrs));
	ev.after = arena_str(&b->arena, buf_str(&d->after));
	vec_push(&b->events, ev);
}

static void *open_decoder(void *ctx)
{
	(void)ctx;
	return mem_zalloc(sizeof(struct dag));
}

static void close_decoder(void *decoder)
{
	struct dag *d = decoder;

	buf_done(&d->attrs);
	buf_done(&d->after);
	free(d);
}

static int sniff(struct str head, bool whole)
{
	struct str line = str_head(head, 64 << 10);

	(void)whole;
	if (!json_scan_is_json(head) || !json_scan_has_key(line, STR("id")) ||
	    !json_scan_has_key(line, STR("time")) || !json_scan_has_key(line, STR("after")))
		return 0;
	return json_scan_has_key(line, STR("point")) || json_scan_has_key(line, STR("request")) ? 92
												: 0;
}

static int read_dag(struct input *in, const struct source_options *options, struct sink *sink,
		    struct error *err)
{
	static const char *const members[] = { NULL };
	const struct json_docs docs = {
		.format = source_dag.name,
		.members = members,
		.units = { NULL, 0, true },
		.open = open_decoder,
		.close = close_decoder,
		.decode = decode,
	};

	return json_docs_read(in, &docs, options->cores, sink, err);
}

const struct source source_dag = {
	.name = "dag",
	.summary = "events with the events that happened before them, as JSON lines",
	.sniff = sniff,
	.read = read_dag,
};
