/* The store against a model in memory: whatever is delivered comes back, at any size and in any
 * mix. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/time.h"
#include "store/store.h"
#include "store_same.h"

struct model {
	struct arena arena;
	struct event *events;
	size_t nr_events;
	struct request *requests; /* in order of id once sorted */
	struct request_body *bodies;
	size_t nr_requests;
	size_t seen;
	uint64_t seed;
};

static uint64_t rnd(struct model *m, uint64_t below)
{
	m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
	return (m->seed >> 33) % below;
}

/* Mostly a name of few, sometimes none, sometimes one of its own; now and then with any bytes. */
static struct str rnd_name(struct model *m, const char *kind)
{
	switch (rnd(m, 8)) {
	case 0:
		return STR("");
	case 1:
		return arena_fmt(&m->arena, "%s-%llx", kind,
				 (unsigned long long)rnd(m, UINT32_MAX));
	case 2: {
		char *p = arena_alloc(&m->arena, 300);
		size_t n = rnd(m, 300);

		for (size_t i = 0; i < n; i++)
			p[i] = (char)rnd(m, 256);
		return (struct str){ p, n };
	}
	default:
		return arena_fmt(&m->arena, "%s-%d", kind, (int)rnd(m, 20));
	}
}

static uint64_t rnd_number(struct model *m)
{
	return rnd(m, 4) ? rnd(m, 1000) : rnd(m, UINT32_MAX) << rnd(m, 33);
}

static void rnd_event(struct model *m, struct event *ev)
{
	*ev = (struct event){ .ns = rnd(m, 10) ? (int64_t)(rnd_number(m) * 1000) : NS_NONE,
			      .kind = rnd(m, 20) ? EVENT_LOG : rnd(m, 3),
			      .level = rnd(m, LEVEL_FATAL + 1),
			      .file = (uint32_t)rnd(m, 5),
			      .nr_lines = (uint32_t)rnd(m, 4),
			      .line = rnd_number(m),
			      .offset = rnd_number(m),
			      .length = rnd_number(m),
			      .node = rnd_name(m, "node"),
			      .thread = rnd_name(m, "thread"),
			      .point = rnd_name(m, "point"),
			      .duration = -1 };
	if (rnd(m, 3))
		return;
	ev->key_kind = rnd(m, KEY_TRACE + 1);
	ev->key = rnd_name(m, "key");
	ev->span = rnd_name(m, "span");
	ev->title = rnd_name(m, "title");
	ev->duration = (int64_t)rnd_number(m) - 1;
	ev->op = rnd(m, 3);
	ev->peer = rnd_name(m, "peer");
	ev->id = rnd_name(m, "id");
	ev->after = rnd_name(m, "after");
	ev->attrs = rnd_name(m, "attrs");
	ev->text = rnd_name(m, "text");
}

static void rnd_span(struct model *m, struct span *s, uint32_t at)
{
	*s = (struct span){ .start = (int64_t)rnd_number(m),
			    .end = (int64_t)rnd_number(m),
			    .parent = at && rnd(m, 10) ? (uint32_t)rnd(m, at) : SPAN_NONE,
			    .kind = rnd(m, SPAN_WAIT + 1),
			    .status = rnd(m, 3),
			    .follows = rnd(m, 2),
			    .confidence = rnd(m, 2) ? 1 : (float)rnd(m, 100) / 100,
			    .key = rnd_name(m, "key"),
			    .id = rnd_name(m, "id"),
			    .parent_id = rnd_name(m, "id"),
			    .name = rnd_name(m, "name"),
			    .node = rnd_name(m, "node"),
			    .host = rnd_name(m, "host"),
			    .thread = rnd_name(m, "thread"),
			    .links = rnd_name(m, "links"),
			    .attrs = rnd_name(m, "attrs") };
}

static void rnd_request(struct model *m, struct request *r, struct request_body *b)
{
	b->nr_spans = rnd(m, 6);
	b->nr_events = rnd(m, 5);
	b->nr_edges = b->nr_spans ? rnd(m, 3) : 0;
	b->spans = arena_array(&m->arena, struct span, b->nr_spans);
	b->edges = arena_array(&m->arena, struct edge, b->nr_edges);
	b->events = arena_array(&m->arena, uint64_t, b->nr_events);
	b->event_span = arena_array(&m->arena, uint32_t, b->nr_events);
	for (size_t i = 0; i < b->nr_spans; i++)
		rnd_span(m, &b->spans[i], (uint32_t)i);
	for (size_t i = 0; i < b->nr_edges; i++)
		b->edges[i] = (struct edge){ (uint32_t)rnd(m, b->nr_spans),
					     (uint32_t)rnd(m, b->nr_spans), rnd(m, 7), 0.5f };
	for (size_t i = 0; i < b->nr_events; i++) {
		b->events[i] = rnd(m, m->nr_events);
		b->event_span[i] = b->nr_spans ? (uint32_t)rnd(m, b->nr_spans) : SPAN_NONE;
	}
	*r = (struct request){ .type = rnd_name(m, "type"),
			       .key = rnd_name(m, "key"),
			       .key_kind = rnd(m, KEY_TRACE + 1),
			       .method = rnd_name(m, "method"),
			       .start = (int64_t)rnd(m, 500),
			       .end = 500 + (int64_t)rnd(m, 3),
			       .sequence = rnd_number(m) << 20,
			       .nr_spans = (uint32_t)b->nr_spans,
			       .nr_events = (uint32_t)b->nr_events,
			       .error = rnd(m, 2),
			       .incomplete = rnd(m, 2),
			       .confidence = (float)rnd(m, 100) / 100 };
}

static int see_event(void *ctx, uint64_t number, const struct event *ev)
{
	struct model *m = ctx;

	assert_int_equal(number, m->seen++);
	assert_same_event(ev, &m->events[number], false);
	return 0;
}

static void assert_same_request(const struct request *a, const struct request *b)
{
	assert_same_str(a->type, b->type);
	assert_same_str(a->key, b->key);
	assert_same_str(a->method, b->method);
	assert_true(a->key_kind == b->key_kind && a->start == b->start && a->end == b->end);
	assert_true(a->sequence == b->sequence && a->nr_spans == b->nr_spans);
	assert_true(a->nr_events == b->nr_events && a->error == b->error);
	assert_true(a->incomplete == b->incomplete && a->confidence == b->confidence);
}

static int see_request(void *ctx, const struct request *r)
{
	struct model *m = ctx;

	m->seen++;
	assert_int_equal(r->id, m->seen);
	assert_same_request(r, &m->requests[r->id - 1]);
	return 0;
}

static int see_body(void *ctx, const struct request *r, const struct request_body *b)
{
	struct model *m = ctx;
	const struct request_body *want;

	m->seen++;
	assert_in_range(r->id, 1, m->nr_requests);

	/* id in the model is the place of delivery, where the body stands too */
	want = &m->bodies[m->requests[r->id - 1].id];
	assert_same_request(r, &m->requests[r->id - 1]);
	assert_int_equal(b->nr_spans, want->nr_spans);
	assert_int_equal(b->nr_edges, want->nr_edges);
	assert_int_equal(b->nr_events, want->nr_events);
	for (size_t i = 0; i < b->nr_spans; i++)
		assert_same_span(&b->spans[i], &want->spans[i]);
	for (size_t i = 0; i < b->nr_edges; i++)
		assert_memory_equal(&b->edges[i], &want->edges[i], sizeof(struct edge));
	for (size_t i = 0; i < b->nr_events; i++) {
		assert_int_equal(b->events[i], want->events[i]);
		assert_int_equal(b->event_span[i], want->event_span[i]);
	}
	return 0;
}

/* Start, end, key, and then as delivered, which the model keeps in id. */
static int compare_requests(const void *x, const void *y)
{
	const struct request *a = x, *b = y;
	int c = str_cmp(a->key, b->key);

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return c ? c : a->id < b->id ? -1 : 1;
}

static void check_parts(struct store *s, struct model *m)
{
	struct arena arena = { 0 };
	struct error err = { 0 };
	size_t nr = 0, want = 0;

	for (unsigned i = 0; i < store_nr_parts(s); i++) {
		struct part part;

		OK(store_part(s, i, &arena, &part, &err));
		nr += part.nr_events;
		for (size_t k = 0; k < part.nr_events; k++) {
			int c = k ? str_cmp(part.events[k - 1].key, part.events[k].key) : -1;

			assert_same_event(&part.events[k], &m->events[part.numbers[k]], true);
			assert_true(c < 0 || (!c && part.numbers[k - 1] < part.numbers[k]));
		}
		arena_reset(&arena);
	}
	for (size_t i = 0; i < m->nr_events; i++)
		want += m->events[i].kind != EVENT_MESSAGE &&
			(m->events[i].key_kind || m->events[i].duration >= 0 || m->events[i].kind);
	assert_int_equal(nr, want);
	arena_done(&arena);
}

static void check_random_access(struct store *s, struct model *m)
{
	struct arena arena = { 0 };
	struct error err = { 0 };

	for (int i = 0; i < 50 && m->nr_requests; i++) {
		uint64_t id = 1 + rnd(m, m->nr_requests);
		struct request_body body;
		struct request r;

		assert_int_equal(store_request(s, id, &arena, &r, &body, &err), 1);
		see_body(m, &r, &body);
		m->seen = rnd(m, m->nr_events);
		OK(store_each_event(s, m->seen, 3, see_event, m, &err));
	}
	arena_done(&arena);
}

static void check_run(struct store *s, struct model *m)
{
	static const struct request_filter subset = { .limit = 100, .order = BY_SLOWEST };
	uint64_t *placed, nr;
	struct error err = { 0 };

	m->seen = 0;
	OK(store_each_event(s, 0, UINT64_MAX, see_event, m, &err));
	assert_int_equal(m->seen, m->nr_events);
	m->seen = 0;
	OK(store_each_request(s, NULL, see_request, m, &err));
	assert_int_equal(m->seen, m->nr_requests);
	m->seen = 0;
	OK(store_each_body(s, NULL, see_body, m, &err));
	assert_int_equal(m->seen, m->nr_requests);
	m->seen = 0;
	OK(store_each_body(s, &subset, see_body, m, &err));
	assert_int_equal(m->seen, m->nr_requests < 100 ? m->nr_requests : 100);
	OK(store_event_requests(s, &placed, &nr, &err));
	assert_int_equal(nr, m->nr_events);
	for (size_t id = m->nr_requests; id; id--) {
		const struct request_body *b = &m->bodies[m->requests[id - 1].id];

		for (size_t k = 0; k < b->nr_events; k++)
			assert_in_range(placed[b->events[k]], 1, id);
	}
	free(placed);
	check_random_access(s, m);
}

static void fill(struct store *s, struct model *m)
{
	struct sink sink = store_sink(s);
	struct error err = { 0 };

	m->events = arena_array(&m->arena, struct event, m->nr_events);
	m->requests = arena_array(&m->arena, struct request, m->nr_requests);
	m->bodies = arena_array(&m->arena, struct request_body, m->nr_requests);
	for (size_t i = 0; i < m->nr_events; i++)
		rnd_event(m, &m->events[i]);
	for (size_t i = 0, n; i < m->nr_events; i += n) {
		n = 1 + rnd(m, m->nr_events - i);
		OK(sink.events(sink.to, m->events + i, n, &err));
	}
	check_parts(s, m);
	for (size_t i = 0; i < m->nr_requests; i++) {
		rnd_request(m, &m->requests[i], &m->bodies[i]);
		m->requests[i].id = i;
		OK(store_add_request(s, &m->requests[i], &m->bodies[i], &err));
	}
	if (m->nr_requests)
		qsort(m->requests, m->nr_requests, sizeof(*m->requests), compare_requests);
}

static void run_model(uint64_t seed, size_t nr_events, size_t nr_requests)
{
	struct model m = { .seed = seed, .nr_events = nr_events, .nr_requests = nr_requests };
	char path[] = "/tmp/culprit-model-XXXXXX";
	struct error err = { 0 };
	struct store *s = NULL;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	OK(store_create(&s, path, &err));
	fill(s, &m);
	OK(store_finish(s, &err));
	check_run(s, &m);
	store_close(s);
	OK(store_open(&s, path, &err));
	check_run(s, &m);
	store_close(s);
	remove(path);
	close(fd);
	arena_done(&m.arena);
}

static void whatever_is_delivered_comes_back(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++)
		run_model(seed, 1 + seed * seed * seed * seed, seed * seed * 10);
}

static void sizes_around_a_block_come_back(void **state)
{
	(void)state;
	for (size_t n = 4095; n <= 4097; n++)
		run_model(n, n, n);
	run_model(99, 3 * 4096, 9000);
}

/* --- what has bounds ------------------------------------------------------------------------- */

static int see_thread(void *ctx, uint64_t number, const struct event *ev)
{
	char want[64];

	(void)ctx;
	snprintf(want, sizeof(want), "a-thread-that-never-comes-again-%llu",
		 (unsigned long long)number);
	assert_str_equal(ev->thread, want);
	assert_str_equal(ev->point, "point");
	return 0;
}

static void names_that_never_repeat_still_come_back(void **state)
{
	struct error err = { 0 };
	struct store *s = NULL;
	struct sink sink;
	char name[64];

	(void)state;
	OK(store_create(&s, NULL, &err));
	sink = store_sink(s);
	for (int i = 0; i < 80000; i++) {
		struct event ev = { .ns = i, .duration = -1, .point = STR("point") };

		snprintf(name, sizeof(name), "a-thread-that-never-comes-again-%d", i);
		ev.thread = str_of(name);
		OK(sink.events(sink.to, &ev, 1, &err));
	}
	OK(store_finish(s, &err));
	OK(store_each_event(s, 0, UINT64_MAX, see_thread, NULL, &err));
	store_close(s);
}

static void a_large_run_has_several_parts_and_every_key_is_whole(void **state)
{
	enum { NR = 200000, KEYS = 5000 };
	struct arena arena = { 0 };
	struct error err = { 0 };
	struct store *s = NULL;
	struct sink sink;
	unsigned char *seen = calloc(KEYS, 1);
	size_t nr = 0;
	char key[32];

	(void)state;
	OK(store_create(&s, NULL, &err));
	sink = store_sink(s);
	for (int i = 0; i < NR; i++) {
		struct event ev = { .ns = i, .duration = -1, .key_kind = KEY_REQUEST };

		snprintf(key, sizeof(key), "%d", i % KEYS);
		ev.key = str_of(key);
		OK(sink.events(sink.to, &ev, 1, &err));
	}
	assert_true(store_nr_parts(s) > 1);
	for (unsigned p = 0; p < store_nr_parts(s); p++) {
		struct part part;

		OK(store_part(s, p, &arena, &part, &err));
		for (size_t i = 0; i < part.nr_events; i++)
			if (!i || !str_eq(part.events[i].key, part.events[i - 1].key)) {
				struct str digits = part.events[i].key;
				uint64_t k = KEYS;

				assert_true(str_take_uint(&digits, &k) && k < KEYS);
				assert_int_equal(seen[k]++, 0);
			} else {
				assert_int_equal(part.numbers[i], part.numbers[i - 1] + KEYS);
			}
		nr += part.nr_events;
		arena_reset(&arena);
	}
	assert_int_equal(nr, NR);
	free(seen);
	arena_done(&arena);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_is_delivered_comes_back),
		cmocka_unit_test(sizes_around_a_block_come_back),
		cmocka_unit_test(names_that_never_repeat_still_come_back),
		cmocka_unit_test(a_large_run_has_several_parts_and_every_key_is_whole),
	};

	return RUN(tests);
}
