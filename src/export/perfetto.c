/*
 * Perfetto's trace: a stream of TracePackets. Each node is a process track, each of its threads a
 * thread track, and lanes beside it (export/tracks.h) are tracks of the process. Spans are slices
 * with their attributes as debug annotations; log lines are instants; edges, and parents on another
 * track, are flows. The field numbers are those of perfetto's public .proto files.
 *
 * Times are those of the wall clock. They are declared as BOOTTIME, the clock of a trace without
 * others, and one snapshot says that REALTIME shows the same, so that the UI can show the date.
 */
#include "export/perfetto.h"

#include "export/attrs.h"
#include "export/base64.h"
#include "export/export.h"
#include "export/ids.h"
#include "export/proto.h"

enum { TRACE_PACKET = 1 };
enum {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_TRACK_DESCRIPTOR = 60,
};
enum { SNAPSHOT_CLOCK = 1, CLOCK_ID = 1, CLOCK_TIME = 2, REALTIME = 1, BOOTTIME = 6 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum {
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	EVENT_FLOW = 47,
};
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3 };
enum { NOTE_BOOL = 2, NOTE_INT = 4, NOTE_DOUBLE = 5, NOTE_STRING = 6, NOTE_NAME = 10 };

#define SEQUENCE 1 /* all packets are of one writer */

void perfetto_done(struct perfetto_state *p)
{
	tracks_done(&p->tracks);
	buf_done(&p->packet);
	buf_done(&p->event);
	buf_done(&p->note);
}

static void end_packet(struct perfetto_state *p, struct buf *out)
{
	proto_uint(&p->packet, PACKET_SEQUENCE, SEQUENCE);
	proto_bytes(out, TRACE_PACKET, buf_str(&p->packet));
	buf_clear(&p->packet);
}

/* uuids: processes first, then lanes; 0 means no track. */
static uint64_t process_uuid(uint32_t process)
{
	return (uint64_t)process + 1;
}

static uint64_t lane_uuid(const struct tracks *t, uint32_t lane)
{
	return t->processes.nr + lane + 1;
}

static void describe_process(struct perfetto_state *p, uint32_t number, struct buf *out)
{
	const struct track_process *process = &p->tracks.processes.v[number];
	struct buf name = { 0 };

	buf_add(&name, process->node.n ? process->node : STR("(no name)"));
	if (process->host.n && !str_eq(process->host, process->node)) {
		buf_add(&name, STR(" @ "));
		buf_add(&name, process->host);
	}
	buf_clear(&p->note);
	proto_uint(&p->note, PROCESS_PID, number + 1);
	proto_text(&p->note, PROCESS_NAME, buf_str(&name));
	buf_clear(&p->event);
	proto_uint(&p->event, TRACK_UUID, process_uuid(number));
	proto_bytes(&p->event, TRACK_PROCESS, buf_str(&p->note));
	proto_bytes(&p->packet, PACKET_TRACK_DESCRIPTOR, buf_str(&p->event));
	end_packet(p, out);
	buf_done(&name);
}

static void describe_lane(struct perfetto_state *p, uint32_t number, struct buf *out)
{
	const struct tracks *t = &p->tracks;
	const struct track_lane *lane = &t->lanes.v[number];
	const struct track_thread *thread = &t->threads.v[lane->thread];
	struct buf name = { 0 };

	buf_add(&name, thread->name.n ? thread->name : STR("spans"));
	buf_clear(&p->event);
	proto_uint(&p->event, TRACK_UUID, lane_uuid(t, number));
	proto_uint(&p->event, TRACK_PARENT, process_uuid(thread->process));
	if (lane->number || !thread->name.n) {
		if (lane->number)
			buf_fmt(&name, " (%u)", lane->number + 1);
		proto_text(&p->event, TRACK_NAME, buf_str(&name));
	} else {
		buf_clear(&p->note);
		proto_uint(&p->note, THREAD_PID, thread->process + 1);
		proto_uint(&p->note, THREAD_TID, t->processes.nr + number + 1);
		proto_text(&p->note, THREAD_NAME, buf_str(&name));
		proto_bytes(&p->event, TRACK_THREAD, buf_str(&p->note));
	}
	proto_bytes(&p->packet, PACKET_TRACK_DESCRIPTOR, buf_str(&p->event));
	end_packet(p, out);
	buf_done(&name);
}

void perfetto_begin(void *state, struct buf *out)
{
	struct perfetto_state *p = state;

	for (uint32_t i = 0; i < p->tracks.processes.nr; i++)
		describe_process(p, i, out);
	for (uint32_t i = 0; i < p->tracks.lanes.nr; i++)
		describe_lane(p, i, out);
}

static uint64_t positive(int64_t ns)
{
	return ns > 0 ? (uint64_t)ns : 0;
}

static void say_clocks(struct perfetto_state *p, int64_t ns, struct buf *out)
{
	static const int ids[] = { REALTIME, BOOTTIME };

	p->began = true;
	buf_clear(&p->event);
	for (size_t i = 0; i < 2; i++) {
		buf_clear(&p->note);
		proto_uint(&p->note, CLOCK_ID, (uint64_t)ids[i]);
		proto_uint(&p->note, CLOCK_TIME, positive(ns));
		proto_bytes(&p->event, SNAPSHOT_CLOCK, buf_str(&p->note));
	}
	proto_uint(&p->packet, PACKET_TIMESTAMP, positive(ns));
	proto_bytes(&p->packet, PACKET_CLOCK_SNAPSHOT, buf_str(&p->event));
	end_packet(p, out);
}

struct perfetto_out {
	struct perfetto_state *p;
	const struct fed *x;
	struct buf *out;
	struct placed placed;
	uint32_t *first_flow; /* per span: a chain of the flows that touch it */
	struct {
		uint64_t id;
		uint32_t next;
	} *flows;
	uint32_t nr_flows;
};

static void note_text(struct perfetto_out *o, struct str key, struct str text)
{
	buf_clear(&o->p->note);
	proto_text(&o->p->note, NOTE_NAME, key);
	proto_text(&o->p->note, NOTE_STRING, text);
	proto_bytes(&o->p->event, EVENT_ANNOTATION, buf_str(&o->p->note));
}

static void note_attr(struct perfetto_out *o, const struct attr *a)
{
	struct buf *note = &o->p->note, text = { 0 };

	if (a->type == ATTR_STRING || a->type == ATTR_JSON) {
		note_text(o, a->key, a->text);
		return;
	}
	buf_clear(note);
	proto_text(note, NOTE_NAME, a->key);
	if (a->type == ATTR_INT) {
		proto_uint(note, NOTE_INT, (uint64_t)a->i);
	} else if (a->type == ATTR_BOOL) {
		proto_uint(note, NOTE_BOOL, a->i != 0);
	} else if (a->type == ATTR_DOUBLE) {
		proto_double(note, NOTE_DOUBLE, a->d);
	} else {
		base64_add(&text, a->text);
		proto_text(note, NOTE_STRING, buf_str(&text));
		buf_done(&text);
	}
	proto_bytes(&o->p->event, EVENT_ANNOTATION, buf_str(note));
}

static void notes_of(struct perfetto_out *o, struct str packed, enum attr_scope scope)
{
	struct attr a;

	while (attrs_take(&packed, scope, &a))
		note_attr(o, &a);
}

static void begin_event(struct perfetto_out *o, unsigned type, uint32_t position)
{
	const struct tracks *t = &o->p->tracks;

	buf_clear(&o->p->event);
	proto_uint(&o->p->event, EVENT_TYPE, type);
	proto_uint(&o->p->event, EVENT_TRACK, lane_uuid(t, o->placed.lane[position]));
}

static void end_event(struct perfetto_out *o, int64_t ns)
{
	proto_uint(&o->p->packet, PACKET_TIMESTAMP, positive(ns));
	proto_bytes(&o->p->packet, PACKET_TRACK_EVENT, buf_str(&o->p->event));
	end_packet(o->p, o->out);
}

static void span_notes(struct perfetto_out *o, uint32_t position)
{
	const struct span *s = &o->x->body->spans[position];
	struct str parent = ids_parent(o->x, position);

	note_attr(o, &(struct attr){
			     .type = ATTR_INT, .key = STR("request"), .i = (int64_t)o->x->r->id });
	note_text(o, STR("trace_id"), ids_trace(o->x, s));
	note_text(o, STR("span_id"), ids_span(o->x, position));
	if (parent.n)
		note_text(o, STR("parent_id"), parent);
	if (s->status != STATUS_UNSET)
		note_text(o, STR("status"), s->status == STATUS_OK ? STR("ok") : STR("error"));
	if (s->confidence < 1)
		note_attr(o, &(struct attr){ .type = ATTR_DOUBLE,
					     .key = STR("confidence"),
					     .d = attrs_sure(s) });
	notes_of(o, s->attrs, ATTR_SPAN);
	notes_of(o, s->attrs, ATTR_LIBRARY);
	notes_of(o, s->attrs, ATTR_RESOURCE);
}

static void open_slice(struct perfetto_out *o, uint32_t position)
{
	const struct span *s = &o->x->body->spans[position];
	const char *kind = span_kind_name(s->kind);

	begin_event(o, SLICE_BEGIN, position);
	proto_text(&o->p->event, EVENT_CATEGORY, *kind ? str_of(kind) : STR("span"));
	proto_text(&o->p->event, EVENT_NAME, s->name);
	for (uint32_t f = o->first_flow[position]; f != FED_END; f = o->flows[f].next)
		proto_fixed64(&o->p->event, EVENT_FLOW, o->flows[f].id);
	span_notes(o, position);
	end_event(o, s->start);
}

static void close_slice(struct perfetto_out *o, uint32_t position)
{
	begin_event(o, SLICE_END, position);
	end_event(o, o->x->body->spans[position].end);
}

static void instants(struct perfetto_out *o, uint32_t position)
{
	const struct fed *x = o->x;

	for (uint32_t i = x->first_event[position]; i != FED_END; i = x->next_event[i]) {
		const struct event *ev = &x->events[i];

		begin_event(o, INSTANT, position);
		proto_text(&o->p->event, EVENT_CATEGORY, STR("log"));
		proto_text(&o->p->event, EVENT_NAME, ev->text.n ? ev->text : ev->point);
		if (ev->level != LEVEL_NONE)
			note_text(o, STR("level"), str_of(level_name(ev->level)));
		notes_of(o, ev->attrs, ATTR_SPAN);
		end_event(o, ev->ns);
	}
}

static void touch(struct perfetto_out *o, uint32_t position, uint64_t id)
{
	o->flows[o->nr_flows].id = id;
	o->flows[o->nr_flows].next = o->first_flow[position];
	o->first_flow[position] = o->nr_flows++;
}

/* A flow is a number that two slices have in common; the viewer draws it by their times. */
static void find_flows(struct perfetto_out *o)
{
	const struct request_body *b = o->x->body;
	uint64_t base = o->x->r->id << 32;

	o->first_flow = arena_array(o->x->arena, uint32_t, b->nr_spans);
	memset(o->first_flow, 0xff, b->nr_spans * sizeof(uint32_t));
	o->flows = arena_alloc(o->x->arena,
			       mem_bytes(2 * (b->nr_spans + b->nr_edges), sizeof(*o->flows)));
	for (uint32_t i = 0; i < b->nr_spans; i++) {
		uint32_t parent = b->spans[i].parent;

		if (parent >= b->nr_spans || o->placed.lane[parent] == o->placed.lane[i])
			continue;
		touch(o, parent, base + i + 1);
		touch(o, i, base + i + 1);
	}
	for (size_t i = 0; i < b->nr_edges; i++) {
		const struct edge *e = &b->edges[i];

		if (e->from >= b->nr_spans || e->to >= b->nr_spans)
			continue;
		touch(o, e->from, base + b->nr_spans + i + 1);
		touch(o, e->to, base + b->nr_spans + i + 1);
	}
}

void perfetto_request(void *state, const struct fed *x, struct buf *out)
{
	struct perfetto_out o = { .p = state, .x = x, .out = out };
	const struct span *spans = x->body->spans;
	uint32_t *top, *under;

	if (!o.p->began)
		say_clocks(o.p, x->r->start, out);
	o.placed = tracks_place(&o.p->tracks, x);
	find_flows(&o);
	top = arena_array(x->arena, uint32_t, o.placed.nr_slots);
	under = arena_array(x->arena, uint32_t, x->body->nr_spans);
	memset(top, 0xff, o.placed.nr_slots * sizeof(*top));
	/* in each lane begins and ends come in the order of time, as a stack would make them */
	for (size_t i = 0; i < x->body->nr_spans; i++) {
		uint32_t position = o.placed.order[i], *t = &top[o.placed.slot[position]];

		for (; *t != SPAN_NONE && spans[*t].end <= spans[position].start; *t = under[*t])
			close_slice(&o, *t);
		open_slice(&o, position);
		instants(&o, position);
		under[position] = *t;
		*t = position;
	}
	for (size_t i = 0; i < o.placed.nr_slots; i++)
		for (; top[i] != SPAN_NONE; top[i] = under[top[i]])
			close_slice(&o, top[i]);
}

static int write_perfetto(struct store *s, FILE *to, struct error *err)
{
	const struct feed first = { .request = tracks_measure };
	const struct feed second = { .events = true,
				     .begin = perfetto_begin,
				     .request = perfetto_request };
	struct perfetto_state state = { 0 };
	int r = feed_run(s, &first, &state.tracks, to, err);

	if (!r) {
		tracks_settle(&state.tracks);
		r = feed_run(s, &second, &state, to, err);
	}
	perfetto_done(&state);
	return r;
}

const struct exporter export_perfetto = {
	.name = "perfetto",
	.summary = "Perfetto's protobuf trace, a track per node and thread",
	.suffix = ".perfetto-trace",
	.write = write_perfetto,
};
