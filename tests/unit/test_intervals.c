/* Intervals of one call: random programs whose every nanosecond is known, told in random batches.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/vec.h"
#include "infer/intervals/intervals.h"
#include "model/loss.h"

#define ROOT 0
#define NR_FUNCTIONS 6
#define NR_THREADS 3

static const struct interval_function functions[NR_FUNCTIONS] = {
	{ { "root", 4 }, ROLE_WHOLE }, { { "a", 1 }, ROLE_NONE }, { { "b", 1 }, ROLE_NONE },
	{ { "c", 1 }, ROLE_NONE },     { { "d", 1 }, ROLE_NONE }, { { "e", 1 }, ROLE_NONE },
};

/* What is known of one interval: time and waits of every way down, by a hash of it. */
struct truth {
	uint32_t thread;
	int64_t start, end;
	struct map ns, waits[NR_WAITS], nr;
	bool is_seen;
};

struct world {
	uint64_t seed;
	VEC(struct function_call) calls[NR_THREADS];
	VEC(struct mark) marks;
	VEC(struct thread_change) changes;
	VEC(struct truth) truths;
	struct truth *in;
	int64_t now;
	uint32_t thread;
	unsigned budget, nr_seen;
	int64_t last_end;
	struct losses losses;
	bool wants;
};

static uint64_t draw(struct world *w, uint64_t below)
{
	w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
	return (w->seed >> 33) % below;
}

static uint64_t way_down(uint64_t above, uint32_t function, uint32_t site)
{
	uint64_t h = (above ^ function * 0x9e3779b97f4a7c15u ^ (uint64_t)site << 40) *
		     0xbf58476d1ce4e5b9u;

	return h ^ h >> 31;
}

static void spend(struct world *w, const uint64_t *way, size_t depth)
{
	int64_t run = (int64_t)draw(w, 50), off = 1 + (int64_t)draw(w, 50), late;
	enum wait_why why = (enum wait_why)(1 + draw(w, NR_WAITS - 1));

	if (w->in)
		for (size_t i = 0; i < depth; i++)
			*map_at(&w->in->ns, way[i]) += (uint64_t)run;
	w->now += run;
	if (draw(w, 4))
		return;
	late = why == WAIT_CPU ? 0 : (int64_t)draw(w, 10);
	vec_push(&w->changes,
		 (struct thread_change){ w->now, 1, w->thread, 0, 0, THREAD_OFF, why, -1 });
	if (why != WAIT_CPU)
		vec_push(&w->changes, (struct thread_change){ w->now + off, 1, w->thread, 0, 0,
							      THREAD_WOKEN, WAIT_NONE, -1 });
	vec_push(&w->changes, (struct thread_change){ w->now + off + late, 1, w->thread, 0, 0,
						      THREAD_ON, WAIT_NONE, -1 });
	w->now += off + late;
	for (size_t i = 0; i < depth && w->in; i++) {
		/* the machine stands still: that is no part of the function that it meets */
		bool is_own = why != WAIT_GC || !i;

		*map_at(&w->in->ns, way[i]) += (uint64_t)((is_own ? off : 0) + late);
		*map_at(&w->in->waits[why], way[i]) += is_own ? (uint64_t)off : 0;
		*map_at(&w->in->waits[WAIT_CPU], way[i]) += (uint64_t)late;
	}
}

static void call(struct world *w, uint32_t function, uint64_t *way, size_t depth)
{
	uint32_t site = (uint32_t)draw(w, 2);
	struct function_call c = {
		.function = function, .site = site, .process = 1, .thread = w->thread
	};
	bool is_outermost = function == ROOT && !w->in;

	w->now++;
	c.start = w->now;
	if (function == ROOT)
		vec_push(&w->marks,
			 (struct mark){ .ns = w->now, .process = 1, .thread = w->thread });
	if (is_outermost) {
		vec_push(&w->truths, (struct truth){ .thread = w->thread, .start = w->now });
		w->in = &w->truths.v[w->truths.nr - 1];
		depth = 0;
	}
	way[depth] = way_down(depth ? way[depth - 1] : 1, function, site);
	if (w->in)
		++*map_at(&w->in->nr, way[depth]);
	for (uint64_t n = draw(w, 6); n; n--) {
		spend(w, way, depth + 1);
		if (w->budget && depth < 12) {
			w->budget--;
			call(w, (uint32_t)draw(w, NR_FUNCTIONS), way, depth + 1);
		}
	}
	spend(w, way, depth + 1);
	w->now++;
	for (size_t i = 0; i <= depth && w->in; i++)
		*map_at(&w->in->ns, way[i]) += i < depth ? 2 : 1;
	c.end = w->now;
	vec_push(&w->calls[w->thread - 1], c);
	if (is_outermost) {
		w->in->end = w->now;
		w->in = NULL;
	}
}

static struct truth *find_truth(struct world *w, const struct interval *v)
{
	vec_each (&w->truths, t)
		if (t->thread == v->thread && t->start == v->start)
			return t;
	return NULL;
}

static uint64_t known(const struct map *m, uint64_t key)
{
	uint64_t *v = map_find(m, key);

	return v ? *v : 0;
}

/* Children add up to their parent, and so do their waits. */
static void check_sums(const struct interval *v)
{
	for (size_t i = 0; i < v->nr_parts; i++) {
		int64_t ns = 0, waits[NR_WAITS] = { 0 };
		bool has = false;

		for (size_t k = i + 1; k < v->nr_parts; k++) {
			if (v->parts[k].parent != i)
				continue;
			has = true;
			ns += v->parts[k].ns;
			for (int n = 0; n < NR_WAITS; n++)
				waits[n] += v->parts[k].waits[n];
		}
		if (!has)
			continue;
		assert_int_equal(ns, v->parts[i].ns);
		assert_memory_equal(waits, v->parts[i].waits, sizeof(waits));
	}
	assert_int_equal(v->parts[0].ns, v->end - v->start);
}

static int check(void *to, const struct interval *v, struct error *err)
{
	struct world *w = to;
	struct truth *t = find_truth(w, v);
	uint64_t *way = calloc(v->nr_parts, sizeof(*way));
	size_t nr = 0;

	(void)err;
	assert_non_null(t);
	assert_false(t->is_seen);
	t->is_seen = true;
	assert_int_equal(v->end, t->end);
	assert_true(v->end >= w->last_end);
	assert_int_equal(v->id, ++w->nr_seen);
	w->last_end = v->end;
	check_sums(v);
	for (size_t i = 0; i < v->nr_parts; i++) {
		const struct interval_part *p = &v->parts[i];

		if (p->function >= PART_BODY)
			continue;
		way[i] = way_down(i ? way[p->parent] : 1, p->function, p->site);
		nr++;
		assert_int_equal(p->ns, known(&t->ns, way[i]));
		assert_int_equal(p->nr_calls, known(&t->nr, way[i]));
		for (int n = 1; n < NR_WAITS; n++)
			assert_int_equal(p->waits[n], known(&t->waits[n], way[i]));
	}
	assert_int_equal(nr, t->nr.nr);
	if (v->body) {
		assert_true(v->body->nr_spans >= nr);
		assert_int_equal(v->body->spans[0].end - v->body->spans[0].start,
				 v->end - v->start);
	}
	free(way);
	return 0;
}

static bool want(void *to, const struct interval *v)
{
	(void)v;
	return ((struct world *)to)->wants;
}

static void make(struct world *w, unsigned budget)
{
	uint64_t way[16];

	for (w->thread = 1; w->thread <= NR_THREADS; w->thread++) {
		w->now = 1000;
		for (w->budget = budget; w->budget;) {
			w->budget--;
			call(w, (uint32_t)draw(w, NR_FUNCTIONS), way, 0);
			w->now += (int64_t)draw(w, 100);
		}
	}
}

/* Each stream up to a moment that none has passed; records of threads stay in their order. */
static void tell(struct world *w, bool is_marked, int64_t step, bool is_backward)
{
	struct intervals_options o = { .functions = functions,
				       .nr_functions = NR_FUNCTIONS,
				       .losses = &w->losses,
				       .wants_body = want,
				       .interval = check,
				       .to = w };
	size_t at[NR_THREADS] = { 0 };
	struct intervals *s;
	int64_t until = 0, end = 0;

	for (size_t t = 0; t < NR_THREADS; t++)
		end = w->calls[t].v[w->calls[t].nr - 1].end > end
			      ? w->calls[t].v[w->calls[t].nr - 1].end
			      : end;
	assert_int_equal(intervals_open(&s, &o, NULL), 0);
	while (until <= end) {
		int64_t from = until;

		until += step;
		for (size_t k = 0; k < NR_THREADS; k++) {
			size_t t = is_backward ? NR_THREADS - 1 - k : k, first = at[t];

			while (at[t] < w->calls[t].nr && w->calls[t].v[at[t]].end < until)
				at[t]++;
			intervals_call(s, w->calls[t].v + first, at[t] - first, NULL);
		}
		vec_each (&w->changes, c)
			if (c->ns >= from && c->ns < until)
				intervals_change(s, c, 1, NULL);
		vec_each (&w->marks, m)
			if (is_marked && m->ns >= from && m->ns < until)
				intervals_mark(s, m, 1, NULL);
		assert_int_equal(intervals_settle(s, until, NULL), 0);
	}
	assert_int_equal(intervals_close(s, NULL), 0);
}

static void world_done(struct world *w)
{
	vec_each (&w->truths, t) {
		assert_true(t->is_seen);
		map_done(&t->ns);
		map_done(&t->nr);
		for (int n = 0; n < NR_WAITS; n++)
			map_done(&t->waits[n]);
	}
	for (size_t t = 0; t < NR_THREADS; t++)
		vec_done(&w->calls[t]);
	vec_done(&w->truths);
	vec_done(&w->marks);
	vec_done(&w->changes);
}

static void assert_nothing_lost(const struct losses *l)
{
	for (int i = 0; i < LOSS_NR; i++)
		if (l->count[i])
			fail_msg("%s: %lu", loss_name((enum loss)i), (unsigned long)l->count[i]);
}

static void every_interval_has_the_tree_that_it_had(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct world w = { .seed = seed, .wants = seed % 2 };

		make(&w, 300);
		tell(&w, seed % 3, 1 + (int64_t)draw(&w, 5000), seed % 5 == 0);
		assert_nothing_lost(&w.losses);
		world_done(&w);
	}
}

struct sums {
	uint64_t nr, nr_partial;
	int64_t ns_of[8];
	uint64_t nr_of[8], nr_amounts;
	double amount;
	size_t nr_parts;
};

static int add_up(void *to, const struct interval *v, struct error *err)
{
	struct sums *s = to;

	(void)err;
	check_sums(v);
	s->nr++;
	s->nr_partial += v->is_partial;
	s->nr_parts = v->nr_parts;
	for (size_t i = 0; i < v->nr_parts; i++)
		if (v->parts[i].function < 8) {
			s->ns_of[v->parts[i].function] += v->parts[i].ns;
			s->nr_of[v->parts[i].function] += v->parts[i].nr_calls;
			s->nr_amounts += v->parts[i].nr_amounts;
			s->amount += v->parts[i].amount;
		}
	return 0;
}

static struct intervals *open_sums(struct sums *sums, struct losses *losses)
{
	struct intervals_options o = { .functions = functions,
				       .nr_functions = NR_FUNCTIONS,
				       .losses = losses,
				       .interval = add_up,
				       .to = sums };
	struct intervals *s;

	assert_int_equal(intervals_open(&s, &o, NULL), 0);
	return s;
}

static void tell_call(struct intervals *s, uint32_t function, int64_t start, int64_t end)
{
	const struct function_call c = {
		.start = start, .end = end, .function = function, .process = 1, .thread = 1
	};

	intervals_call(s, &c, 1, NULL);
}

static void tell_entry(struct intervals *s, int64_t ns)
{
	const struct mark m = { .ns = ns, .process = 1, .thread = 1 };

	intervals_mark(s, &m, 1, NULL);
}

static void a_million_calls_are_one_tree_and_lose_nothing(void **state)
{
	struct sums sums = { 0 };
	struct losses losses = { 0 };
	struct intervals *s = open_sums(&sums, &losses);
	int64_t now = 100;

	(void)state;
	tell_entry(s, now);
	for (int i = 0; i < 100000; i++) {
		int64_t start = now + 1;

		for (int k = 0; k < 9; k++, now += 10)
			tell_call(s, 2, now + 2, now + 9);
		now += 10;
		tell_call(s, 1, start, now);
		if (i % 1000 == 0)
			intervals_settle(s, now, NULL);
	}
	tell_call(s, ROOT, 100, now + 5);
	assert_int_equal(intervals_close(s, NULL), 0);
	assert_nothing_lost(&losses);
	assert_int_equal(sums.nr, 1);
	assert_int_equal(sums.nr_of[1], 100000);
	assert_int_equal(sums.nr_of[2], 900000);
	assert_int_equal(sums.ns_of[2], 900000 * 7);
	assert_int_equal(sums.ns_of[1], 100000 * 99);
	assert_int_equal(sums.nr_parts, 5); /* root, a, b, and two bodies */
}

/* Calls of one thread from two sources: each is in order, one is told after the other. */
static void two_sources_make_one_tree(void **state)
{
	struct sums sums = { 0 };
	struct losses losses = { 0 };
	struct intervals *s = open_sums(&sums, &losses);

	(void)state;
	tell_entry(s, 100);
	for (int64_t i = 0; i < 10; i++)
		tell_call(s, 1, 100 + 100 * i, 180 + 100 * i);
	tell_call(s, ROOT, 100, 2000);
	for (int64_t i = 0; i < 10; i++)
		tell_call(s, 2, 110 + 100 * i, 180 + 100 * i);
	assert_int_equal(intervals_close(s, NULL), 0);
	assert_nothing_lost(&losses);
	assert_int_equal(sums.nr, 1);
	assert_int_equal(sums.ns_of[1], 800);
	assert_int_equal(sums.ns_of[2], 700);
	assert_int_equal(sums.nr_parts, 5); /* root, a, b in a, and two bodies */
}

/* Also where so many calls are put together. */
static void amounts_of_calls_add_up(void **state)
{
	struct sums sums = { 0 };
	struct losses losses = { 0 };
	struct intervals *s = open_sums(&sums, &losses);
	struct function_call c = { .function = 2, .process = 1, .thread = 1 };

	(void)state;
	tell_entry(s, 100);
	for (int64_t i = 0; i < 50000; i++) {
		c.start = 110 + 10 * i;
		c.end = c.start + 5;
		c.has_amount = i % 2;
		c.amount = c.has_amount ? 7 : 1000;
		intervals_call(s, &c, 1, NULL);
	}
	tell_call(s, ROOT, 100, 1000000);
	assert_int_equal(intervals_close(s, NULL), 0);
	assert_int_equal(sums.nr, 1);
	assert_int_equal(sums.nr_of[2], 50000);
	assert_int_equal(sums.nr_amounts, 25000);
	assert_true(sums.amount == 25000 * 7);
}

static void what_is_lost_is_marked(void **state)
{
	struct sums sums = { 0 };
	struct losses losses = { 0 };
	struct intervals *s = open_sums(&sums, &losses);

	(void)state;
	for (int64_t i = 1; i <= 10; i++) {
		tell_entry(s, i * 1000);
		tell_call(s, 1, i * 1000 + 10, i * 1000 + 100);
		tell_call(s, ROOT, i * 1000, i * 1000 + 500);
	}
	intervals_gap(s, 0, 0, 3200, 4100);
	intervals_gap(s, 1, 1, 7100, 7101);
	intervals_gap(s, 1, 2, 9100, 9101);
	assert_int_equal(intervals_close(s, NULL), 0);
	assert_int_equal(sums.nr, 10);
	assert_int_equal(sums.nr_partial, 3);
	assert_int_equal(losses.count[LOSS_INTERVALS_PARTIAL], 3);
}

/* The record of the first root was dropped: the call around shows it, and later ones are told. */
static void a_call_that_was_never_told_does_not_hide_later_ones(void **state)
{
	struct sums sums = { 0 };
	struct losses losses = { 0 };
	struct intervals *s = open_sums(&sums, &losses);

	(void)state;
	tell_entry(s, 1000);
	tell_call(s, 1, 500, 2000);
	tell_entry(s, 3000);
	tell_call(s, 2, 3010, 3020);
	tell_call(s, ROOT, 3000, 4000);
	tell_entry(s, 5000);
	assert_int_equal(intervals_close(s, NULL), 0);
	assert_int_equal(sums.nr, 1);
	assert_int_equal(losses.count[LOSS_INTERVALS_OPEN], 2);
}

/* Clocks differ: the wait seems to begin before the call that waits, or to end after it. */
static void a_wait_belongs_to_where_most_of_it_is(void **state)
{
	struct sums sums = { 0 };
	struct losses losses = { 0 };
	struct intervals *s = open_sums(&sums, &losses);
	const struct thread_change c[] = {
		{ 1990, 1, 1, 0, 0, THREAD_OFF, WAIT_LOCK, -1 },
		{ 2500, 1, 1, 0, 0, THREAD_ON, WAIT_NONE, -1 },
		{ 3200, 1, 1, 0, 0, THREAD_OFF, WAIT_LOCK, -1 },
		{ 3520, 1, 1, 0, 0, THREAD_ON, WAIT_NONE, -1 },
	};

	(void)state;
	tell_entry(s, 1000);
	tell_call(s, 1, 2000, 3000);
	tell_call(s, 3, 3100, 3510);
	tell_call(s, 2, 3050, 3512);
	tell_call(s, ROOT, 1000, 5000);
	intervals_change(s, c, 4, NULL);
	assert_int_equal(intervals_close(s, NULL), 0);
	assert_int_equal(sums.nr, 1);
	assert_int_equal(sums.nr_parts, 6); /* no wait at the root */
}

/* A process for each client: a hundred thousand threads, one after the other. */
static void threads_that_ended_cost_nothing_and_their_numbers_come_again(void **state)
{
	struct sums sums = { 0 };
	struct losses losses = { 0 };
	struct intervals *s = open_sums(&sums, &losses);

	(void)state;
	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t thread = 1 + i % 30000;
		int64_t ns = (int64_t)i * 1000000 + 1;
		struct mark m = { .ns = ns, .process = thread, .thread = thread };
		struct function_call c = { .start = ns + 10,
					   .end = ns + 20,
					   .function = 1,
					   .process = thread,
					   .thread = thread };
		struct thread_change change = {
			.ns = ns + 200, .process = thread, .thread = thread, .kind = THREAD_GONE
		};

		intervals_mark(s, &m, 1, NULL);
		intervals_call(s, &c, 1, NULL);
		c = (struct function_call){
			.start = ns, .end = ns + 100, .process = thread, .thread = thread
		};
		intervals_call(s, &c, 1, NULL);
		intervals_change(s, &change, 1, NULL);
		if (i % 10 == 0)
			intervals_settle(s, ns, NULL);
	}
	assert_int_equal(intervals_close(s, NULL), 0);
	assert_nothing_lost(&losses);
	assert_int_equal(sums.nr, 100000);
	assert_int_equal(sums.ns_of[1], 100000 * 10);
}

/* Calls that overlap, end before they begin or come late; entries that lead nowhere. */
static void nonsense_adds_up_as_well(void **state)
{
	struct sums sums = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct world w = { .seed = seed * 31337 };
		struct losses losses = { 0 };
		struct intervals *s = open_sums(&sums, &losses);
		int64_t now = 1000;

		for (unsigned i = 0; i < 3000; i++) {
			int64_t start = now - (int64_t)draw(&w, 1000);
			const struct thread_change c = { .ns = now - (int64_t)draw(&w, 50),
							 .process = 1,
							 .thread = 1,
							 .kind = (enum thread_change_kind)draw(&w,
											       5),
							 .why = (enum wait_why)draw(&w, NR_WAITS) };

			now += (int64_t)draw(&w, 100) - 5;
			if (seed % 2 && !draw(&w, 5))
				tell_entry(s, start);
			tell_call(s, (uint32_t)draw(&w, NR_FUNCTIONS + 1), start, now);
			if (!draw(&w, 3))
				intervals_change(s, &c, 1, NULL);
			if (!draw(&w, 50))
				intervals_settle(s, now - (int64_t)draw(&w, 3000), NULL);
		}
		assert_int_equal(intervals_close(s, NULL), 0);
	}
	assert_true(sums.nr > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_interval_has_the_tree_that_it_had),
		cmocka_unit_test(a_million_calls_are_one_tree_and_lose_nothing),
		cmocka_unit_test(two_sources_make_one_tree),
		cmocka_unit_test(amounts_of_calls_add_up),
		cmocka_unit_test(what_is_lost_is_marked),
		cmocka_unit_test(a_call_that_was_never_told_does_not_hide_later_ones),
		cmocka_unit_test(a_wait_belongs_to_where_most_of_it_is),
		cmocka_unit_test(nonsense_adds_up_as_well),
		cmocka_unit_test(threads_that_ended_cost_nothing_and_their_numbers_come_again),
	};

	return RUN(tests);
}
