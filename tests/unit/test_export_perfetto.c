#include "unit.h"

#include <stdlib.h>

#include "export/perfetto.h"
#include "export_bodies.h"
#include "model/attr.h"

/* A reader of its own, from the public field numbers, so that writer and test cannot agree on a
 * mistake. */
struct field {
	uint64_t number, wire, v;
	struct str bytes;
};

static bool take_field(struct str *s, struct field *f)
{
	uint64_t tag;

	if (!s->n)
		return false;
	*f = (struct field){ 0 };
	assert_true(str_take_varint(s, &tag));
	f->number = tag >> 3;
	f->wire = tag & 7;
	if (f->wire == 0) {
		assert_true(str_take_varint(s, &f->v));
	} else if (f->wire == 2) {
		assert_true(str_take_bytes(s, &f->bytes));
	} else {
		assert_int_equal(f->wire, 1);
		assert_true(s->n >= 8);
		memcpy(&f->v, s->p, 8);
		*s = str_skip(*s, 8);
	}
	return true;
}

static bool find_field(struct str message, uint64_t number, struct field *f)
{
	while (take_field(&message, f))
		if (f->number == number)
			return true;
	return false;
}

/* All of a trace in order of time, stable, as the trace processor sorts it. */
struct seen {
	uint64_t ns, order, track, type;
	struct str event;
};

struct decoded {
	VEC(struct seen) events;
	VEC(uint64_t) tracks, parents; /* uuids that were declared */
	size_t nr_processes, nr_threads, nr_clocks;
};

static int seen_cmp(const void *a, const void *b)
{
	const struct seen *l = a, *r = b;

	if (l->ns != r->ns)
		return l->ns < r->ns ? -1 : 1;
	return l->order < r->order ? -1 : 1;
}

static void decode_event(struct decoded *d, struct str packet, struct str event)
{
	struct seen s = { .order = d->events.nr, .event = event };
	struct field f;

	assert_true(find_field(packet, 8, &f));
	s.ns = f.v;
	assert_true(find_field(event, 9, &f));
	s.type = f.v;
	assert_true(find_field(event, 11, &f));
	s.track = f.v;
	vec_push(&d->events, s);
}

static void decode_track(struct decoded *d, struct str track)
{
	struct field uuid, f;

	assert_true(find_field(track, 1, &uuid));
	for (size_t i = 0; i < d->tracks.nr; i++)
		assert_int_not_equal(d->tracks.v[i], uuid.v);
	vec_push(&d->tracks, uuid.v);
	d->nr_processes += find_field(track, 3, &f);
	d->nr_threads += find_field(track, 4, &f);
	if (find_field(track, 5, &f))
		vec_push(&d->parents, f.v);
}

static void decode(struct decoded *d, struct str trace)
{
	struct field packet, f;

	while (take_field(&trace, &packet)) {
		assert_int_equal(packet.number, 1);
		assert_true(find_field(packet.bytes, 10, &f)); /* a sequence, else it is dropped */
		if (find_field(packet.bytes, 11, &f))
			decode_event(d, packet.bytes, f.bytes);
		else if (find_field(packet.bytes, 60, &f))
			decode_track(d, f.bytes);
		else
			d->nr_clocks += find_field(packet.bytes, 6, &f);
	}
	if (d->events.nr)
		qsort(d->events.v, d->events.nr, sizeof(*d->events.v), seen_cmp);
}

static void decoded_done(struct decoded *d)
{
	vec_done(&d->events);
	vec_done(&d->tracks);
	vec_done(&d->parents);
}

static bool is_declared(const struct decoded *d, uint64_t uuid)
{
	for (size_t i = 0; i < d->tracks.nr; i++)
		if (d->tracks.v[i] == uuid)
			return true;
	return false;
}

static struct buf trace_of(struct request *r, struct request_body *b, size_t nr,
			   struct event *const *events, struct arena *a)
{
	struct perfetto_state p = { 0 };
	struct buf out = { 0 };

	for (size_t i = 0; i < nr; i++) {
		struct fed x;

		fed_init(&x, &r[i], &b[i], NULL, a);
		tracks_measure(&p.tracks, &x, NULL);
	}
	tracks_settle(&p.tracks);
	perfetto_begin(&p, &out);
	for (size_t i = 0; i < nr; i++) {
		struct fed x;

		fed_init(&x, &r[i], &b[i], events ? events[i] : NULL, a);
		perfetto_request(&p, &x, &out);
	}
	perfetto_done(&p);
	return out;
}

/* Whether the debug annotation says this; bytes 10 is its name, 6 its text. */
static bool says(struct str event, struct str name, struct str text)
{
	struct field f, v;

	while (take_field(&event, &f))
		if (f.number == 4 && find_field(f.bytes, 10, &v) && str_eq(v.bytes, name) &&
		    find_field(f.bytes, 6, &v) && str_eq(v.bytes, text))
			return true;
	return false;
}

/* The span that a slice shows, by its annotations. */
static const struct span *span_of(struct str event, const struct request_body *bodies)
{
	uint64_t request = 0, position = 0;
	struct field f, name, v;

	while (take_field(&event, &f)) {
		if (f.number != 4 || !find_field(f.bytes, 10, &name))
			continue;
		if (str_eq(name.bytes, STR("request")) && find_field(f.bytes, 4, &v))
			request = v.v;
		if (str_eq(name.bytes, STR("span_id")) && find_field(f.bytes, 6, &v))
			assert_true(str_take_hex(&v.bytes, &position));
	}
	assert_true(request && position);
	return &bodies[request - 1].spans[position - 1];
}

static void every_slice_ends_at_its_own_end(void **state)
{
	enum { NR = 60 };
	struct request r[NR] = { 0 };
	struct request_body b[NR];
	struct decoded d = { 0 };
	struct arena a = { 0 };
	uint64_t seed = 7;
	struct buf out;
	size_t begins = 0;
	/* per track a stack of the slices that are open, as the trace processor keeps it */
	VEC(struct seen) open = { 0 };

	(void)state;
	for (size_t i = 0; i < NR; i++) {
		r[i].id = i + 1;
		r[i].start = 1000000 + random_next(&seed) % 3000;
		r[i].end = r[i].start + random_next(&seed) % 100;
		b[i] = random_body(&a, &seed, 20, &r[i]);
	}
	out = trace_of(r, b, NR, NULL, &a);
	decode(&d, buf_str(&out));
	assert_int_equal(d.nr_processes, 3);
	assert_int_equal(d.nr_clocks, 1);
	vec_each (&d.parents, p)
		assert_true(is_declared(&d, *p));
	vec_each (&d.events, e) {
		size_t top = open.nr;

		assert_true(is_declared(&d, e->track));
		if (e->type == 1) {
			vec_push(&open, *e);
			begins++;
			continue;
		}
		while (top && open.v[top - 1].track != e->track)
			top--;
		assert_true(top > 0); /* nothing ends that did not begin */
		assert_true(e->ns == (uint64_t)span_of(open.v[top - 1].event, b)->end);
		memmove(open.v + top - 1, open.v + top, (open.nr - top) * sizeof(*open.v));
		open.nr--;
	}
	assert_int_equal(open.nr, 0);
	assert_int_equal(begins, NR * 20);
	vec_done(&open);
	decoded_done(&d);
	buf_done(&out);
	arena_done(&a);
}

static void work_that_changes_track_has_a_flow(void **state)
{
	struct span spans[2] = {
		{ .start = 10, .end = 90, .parent = SPAN_NONE, .node = STR("web"), .id = STR("a") },
		{ .start = 20, .end = 80, .parent = 0, .node = STR("db"), .id = STR("b") },
	};
	struct edge edge = { .from = 1, .to = 0, .kind = EDGE_WAKEUP };
	struct request r = { .id = 5, .start = 10, .end = 90 };
	struct request_body b = { .spans = spans, .nr_spans = 2, .edges = &edge, .nr_edges = 1 };
	struct arena a = { 0 };
	struct buf out = trace_of(&r, &b, 1, NULL, &a);
	struct decoded d = { 0 };
	uint64_t flows[2][2] = { 0 };
	struct field f;

	(void)state;
	decode(&d, buf_str(&out));
	for (size_t i = 0; i < 2; i++) {
		struct str rest = d.events.v[i].event;
		size_t nr = 0;

		while (take_field(&rest, &f))
			if (f.number == 47 && nr < 2)
				flows[i][nr++] = f.v;
		assert_int_equal(nr, 2);
	}
	assert_true(flows[0][0] == flows[1][0] && flows[0][1] == flows[1][1]);
	assert_true(flows[0][0] != flows[0][1]);
	decoded_done(&d);
	buf_done(&out);
	arena_done(&a);
}

static void attributes_are_annotations_and_log_lines_are_instants(void **state)
{
	struct span span = { .start = 10, .end = 90, .parent = SPAN_NONE, .name = STR("n\xff") };
	struct event ev = { .ns = 20, .text = STR("hello"), .level = LEVEL_WARN };
	struct event *events[] = { &ev };
	uint64_t number = 1;
	uint32_t in = SPAN_NONE;
	struct request r = { .id = 5, .start = 10, .end = 90 };
	struct request_body b = {
		.spans = &span, .nr_spans = 1, .events = &number, .event_span = &in, .nr_events = 1
	};
	struct buf attrs = { 0 }, out;
	struct decoded d = { 0 };
	struct arena a = { 0 };
	struct field f;

	(void)state;
	attr_add_str(&attrs, STR("http.route"), STR("/x"));
	span.attrs = buf_str(&attrs);
	out = trace_of(&r, &b, 1, events, &a);
	decode(&d, buf_str(&out));
	assert_int_equal(d.events.nr, 3);
	assert_true(says(d.events.v[0].event, STR("http.route"), STR("/x")));
	assert_true(find_field(d.events.v[0].event, 23, &f));
	assert_str_equal(f.bytes, "n\xef\xbf\xbd"); /* a string of protobuf is UTF-8 */
	assert_int_equal(d.events.v[1].type, 3);
	assert_true(find_field(d.events.v[1].event, 23, &f));
	assert_str_equal(f.bytes, "hello");
	assert_true(says(d.events.v[1].event, STR("level"), STR("warn")));
	decoded_done(&d);
	buf_done(&attrs);
	buf_done(&out);
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_slice_ends_at_its_own_end),
		cmocka_unit_test(work_that_changes_track_has_a_flow),
		cmocka_unit_test(attributes_are_annotations_and_log_lines_are_instants),
	};

	return RUN(tests);
}
