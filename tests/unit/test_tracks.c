#include "unit.h"

#include <stdlib.h>

#include "export/tracks.h"
#include "export_bodies.h"

enum { NR_REQUESTS = 120, NR_SPANS = 30 };

struct seen {
	uint32_t lane;
	int64_t start, end;
};

static int seen_cmp(const void *a, const void *b)
{
	const struct seen *l = a, *r = b;

	if (l->lane != r->lane)
		return l->lane < r->lane ? -1 : 1;
	if (l->start != r->start)
		return l->start < r->start ? -1 : 1;
	return l->end > r->end ? -1 : l->end < r->end;
}

/* In one lane, any two either nest or do not meet. */
static void assert_nests(struct seen *v, size_t nr)
{
	VEC(struct seen) open = { 0 };

	qsort(v, nr, sizeof(*v), seen_cmp);
	for (size_t i = 0; i < nr; i++) {
		if (i && v[i].lane != v[i - 1].lane)
			vec_clear(&open);
		while (open.nr && open.v[open.nr - 1].end <= v[i].start)
			open.nr--;
		if (open.nr)
			assert_true(v[i].end <= open.v[open.nr - 1].end);
		vec_push(&open, v[i]);
	}
	vec_done(&open);
}

static void spans_of_random_requests_nest_in_every_lane(void **state)
{
	struct seen *seen = calloc((size_t)NR_REQUESTS * NR_SPANS, sizeof(*seen));
	struct request r[NR_REQUESTS] = { 0 };
	struct request_body b[NR_REQUESTS];
	struct tracks t = { 0 };
	struct arena a = { 0 };
	uint64_t seed = 42;
	size_t nr = 0;

	(void)state;
	/* not in order of time, as the store gives them */
	for (size_t i = 0; i < NR_REQUESTS; i++) {
		struct fed x;

		r[i].start = random_next(&seed) % 2000;
		r[i].end = r[i].start + random_next(&seed) % 200;
		b[i] = random_body(&a, &seed, NR_SPANS, &r[i]);
		fed_init(&x, &r[i], &b[i], NULL, &a);
		tracks_measure(&t, &x, NULL);
	}
	tracks_settle(&t);
	for (size_t i = 0; i < NR_REQUESTS; i++) {
		struct placed p;
		struct fed x;

		fed_init(&x, &r[i], &b[i], NULL, &a);
		p = tracks_place(&t, &x);
		for (size_t k = 0; k < NR_SPANS; k++) {
			const struct span *s = &b[i].spans[k];
			const struct track_thread *th = &t.threads.v[t.lanes.v[p.lane[k]].thread];

			assert_true(str_eq(t.processes.v[th->process].node, s->node));
			assert_true(str_eq(th->name, s->thread));
			seen[nr++] = (struct seen){ p.lane[k], s->start, s->end };
		}
	}
	assert_int_equal(t.processes.nr, 3);
	assert_int_equal(t.threads.nr, 9);
	assert_nests(seen, nr);
	tracks_done(&t);
	arena_done(&a);
	free(seen);
}

static void requests_that_follow_each_other_share_a_lane(void **state)
{
	struct tracks t = { 0 };
	struct arena a = { 0 };

	(void)state;
	for (int i = 0; i < 10; i++) {
		/* the second begins when the first ends, and goes beside it; the third comes after
		 */
		struct request r = { .start = i * 10, .end = i * 10 + 10 };
		struct span s = { .start = r.start, .end = r.end, .parent = SPAN_NONE };
		struct request_body b = { .spans = &s, .nr_spans = 1 };
		struct fed x;

		fed_init(&x, &r, &b, NULL, &a);
		tracks_measure(&t, &x, NULL);
	}
	tracks_settle(&t);
	assert_int_equal(t.lanes.nr, 2);
	assert_int_equal(t.lanes.v[1].number, 1);
	tracks_done(&t);
	arena_done(&a);
}

static void a_wide_request_takes_no_quadratic_time(void **state)
{
	enum { WIDE = 200000 };
	struct request r = { .start = 0, .end = WIDE };
	struct request_body b = { .nr_spans = WIDE };
	struct tracks t = { 0 };
	struct arena a = { 0 };
	struct fed x;

	(void)state;
	b.spans = arena_array(&a, struct span, WIDE);
	for (size_t i = 0; i < WIDE; i++)
		b.spans[i] = (struct span){ .start = (int64_t)i,
					    .end = (int64_t)(WIDE + i),
					    .parent = i ? 0 : SPAN_NONE };
	fed_init(&x, &r, &b, NULL, &a);
	tracks_measure(&t, &x, NULL);
	tracks_settle(&t);
	assert_int_equal(t.lanes.nr, WIDE);
	tracks_done(&t);
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_of_random_requests_nest_in_every_lane),
		cmocka_unit_test(requests_that_follow_each_other_share_a_lane),
		cmocka_unit_test(a_wide_request_takes_no_quadratic_time),
	};

	return RUN(tests);
}
