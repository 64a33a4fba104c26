/*
 * Random programs with branches, held against what truly happened before what: each branch knows
 * the set of tuples that it may see, as bits, and every tuple the set that was seen when it was
 * packed. Seeds are the numbers of the programs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/baggage/baggage.h"

#define NR_TUPLES 256
#define NR_BRANCHES 8
#define NR_QUERIES 6
#define NR_STEPS 120
#define NR_PROGRAMS 10000

static const struct culprit_query queries[NR_QUERIES] = {
	{ .id = 1, .keep = CULPRIT_ALL },
	{ .id = 2, .keep = CULPRIT_FIRST, .n = 1 },
	{ .id = 3, .keep = CULPRIT_FIRST, .n = 3 },
	{ .id = 4, .keep = CULPRIT_RECENT, .n = 1 },
	{ .id = 1u << 20, .keep = CULPRIT_RECENT, .n = 3 },
	{ .id = UINT64_MAX,
	  .keep = CULPRIT_AGGREGATE,
	  .nr_folds = 5,
	  .folds = { CULPRIT_COUNT, CULPRIT_SUM, CULPRIT_MIN, CULPRIT_MAX, CULPRIT_AVERAGE } },
};

struct seen {
	uint64_t bits[NR_TUPLES / 64];
};

struct truth {
	struct seen before;
	unsigned query, group;
	int64_t number;
};

struct branch {
	struct culprit_baggage *b;
	struct seen seen;
	bool is_alive;
};

struct program {
	uint64_t seed;
	struct truth tuples[NR_TUPLES];
	unsigned nr;
	struct branch branches[NR_BRANCHES];
};

static uint64_t draw(struct program *p, uint64_t below)
{
	p->seed = p->seed * 6364136223846793005u + 1442695040888963407u;
	return (p->seed >> 33) % below;
}

static bool has(const struct seen *s, unsigned i)
{
	return s->bits[i / 64] >> i % 64 & 1;
}

static void pack(struct program *p, struct branch *at)
{
	struct truth *t = &p->tuples[p->nr];
	char bytes[16];
	struct culprit_number n = { .integer = (int64_t)draw(p, 100) - 50 };
	struct culprit_number numbers[5] = { n, n, n, n, n };
	int len;

	if (p->nr == NR_TUPLES)
		return;
	*t = (struct truth){ at->seen, (unsigned)draw(p, NR_QUERIES), (unsigned)draw(p, 3),
			     n.integer };
	len = snprintf(bytes, sizeof(bytes), "%u", t->query == 5 ? t->group : p->nr);
	assert_int_equal(culprit_baggage_pack(&at->b, &queries[t->query], bytes, (size_t)len,
					      t->query == 5 ? numbers : NULL),
			 0);
	at->seen.bits[p->nr / 64] |= 1ull << p->nr % 64;
	p->nr++;
}

/* What a reader saw of one query. */
struct view {
	struct seen seen;
	unsigned nr, numbers[NR_TUPLES];
	struct culprit_number results[3][5];
	uint64_t counts[3];
};

static int look(void *to, const struct culprit_tuple *t)
{
	struct view *v = to;
	char text[16] = { 0 };
	unsigned i;

	assert_true(t->n < sizeof(text));
	memcpy(text, t->bytes, t->n);
	i = (unsigned)atoi(text);
	assert_false(has(&v->seen, i));
	v->seen.bits[i / 64] |= 1ull << i % 64;
	v->numbers[v->nr++] = i;
	if (t->numbers) {
		memcpy(v->results[i], t->numbers, sizeof(v->results[i]));
		v->counts[i] = t->count;
	}
	return 0;
}

static struct view view(struct culprit_baggage *b, unsigned q)
{
	struct view v = { 0 };
	ssize_t nr = culprit_baggage_unpack(b, &queries[q], look, &v);

	assert_int_equal(nr, v.nr);
	assert_int_equal(culprit_baggage_lost(b, &queries[q]), 0);
	return v;
}

/* No tuple that is left out happened before one that is shown (FIRST), or after one (RECENT). */
static void check_cut(const struct program *p, const struct branch *at, const struct view *v,
		      unsigned q)
{
	bool is_first = queries[q].keep == CULPRIT_FIRST;
	unsigned nr = 0;

	for (unsigned i = 0; i < p->nr; i++) {
		if (has(&v->seen, i))
			assert_true(has(&at->seen, i) && p->tuples[i].query == q);
		if (!has(&at->seen, i) || p->tuples[i].query != q)
			continue;
		nr++;
		for (unsigned k = 0; k < v->nr && !has(&v->seen, i); k++) {
			unsigned j = v->numbers[k];

			assert_false(is_first ? has(&p->tuples[j].before, i)
					      : has(&p->tuples[i].before, j));
		}
	}
	assert_int_equal(v->nr, nr < queries[q].n ? nr : queries[q].n);
}

static void check_all(const struct program *p, const struct branch *at, const struct view *v)
{
	for (unsigned i = 0; i < p->nr; i++)
		assert_int_equal(has(&v->seen, i), has(&at->seen, i) && !p->tuples[i].query);
	for (unsigned i = 0; i < v->nr; i++) /* in an order that agrees with what happened */
		for (unsigned j = i + 1; j < v->nr; j++)
			assert_false(has(&p->tuples[v->numbers[i]].before, v->numbers[j]));
}

static void check_groups(const struct program *p, const struct branch *at, const struct view *v)
{
	for (unsigned g = 0; g < 3; g++) {
		int64_t nr = 0, sum = 0, min = INT64_MAX, max = INT64_MIN;

		for (unsigned i = 0; i < p->nr; i++) {
			const struct truth *t = &p->tuples[i];

			if (!has(&at->seen, i) || t->query != 5 || t->group != g)
				continue;
			nr++;
			sum += t->number;
			min = t->number < min ? t->number : min;
			max = t->number > max ? t->number : max;
		}
		assert_int_equal(has(&v->seen, g), nr > 0);
		if (!nr)
			continue;
		assert_int_equal(v->counts[g], nr);
		assert_int_equal(v->results[g][0].integer, nr);
		assert_int_equal(v->results[g][1].integer, sum);
		assert_int_equal(v->results[g][2].integer, min);
		assert_int_equal(v->results[g][3].integer, max);
		assert_true(v->results[g][4].is_real);
		assert_true(v->results[g][4].real == (double)((long double)sum / nr));
	}
}

static void check(const struct program *p, const struct branch *at)
{
	for (unsigned q = 0; q < NR_QUERIES; q++) {
		struct view v = view(at->b, q);

		if (!q)
			check_all(p, at, &v);
		else if (q == 5)
			check_groups(p, at, &v);
		else
			check_cut(p, at, &v, q);
	}
}

static struct culprit_baggage *copy(struct culprit_baggage *b)
{
	struct culprit_baggage *new = NULL;
	ssize_t n = culprit_baggage_serialize(b, NULL, 0);
	unsigned char *bytes = malloc((size_t)n + 1);

	assert_true(n >= 0);
	assert_int_equal(culprit_baggage_serialize(b, bytes, (size_t)n), n);
	assert_int_equal(culprit_baggage_deserialize(&new, bytes, (size_t)n), 0);
	free(bytes);
	return new;
}

static void join(struct branch *into, struct branch *from)
{
	assert_int_equal(culprit_baggage_join(&into->b, from->b), 0);
	for (unsigned i = 0; i < NR_TUPLES / 64; i++)
		into->seen.bits[i] |= from->seen.bits[i];
	*from = (struct branch){ 0 };
}

static void split(struct branch *from, struct branch *to)
{
	to->seen = from->seen;
	to->is_alive = true;
	assert_int_equal(culprit_baggage_split(from->b, &to->b), 0);
}

static void move(struct branch *at)
{
	struct culprit_baggage *moved = copy(at->b);

	culprit_baggage_free(at->b);
	at->b = moved;
}

static void step(struct program *p)
{
	struct branch *x = &p->branches[draw(p, NR_BRANCHES)];
	struct branch *y = &p->branches[draw(p, NR_BRANCHES)];
	uint64_t what = draw(p, 20);

	if (!x->is_alive)
		return;
	if (what < 8)
		pack(p, x);
	else if (what < 12 && !y->is_alive)
		split(x, y);
	else if (what < 16 && x != y && y->is_alive)
		join(x, y);
	else if (what < 19)
		move(x);
	else if (what == 19 && x != &p->branches[0] && !draw(p, 4)) {
		culprit_baggage_free(x->b);
		*x = (struct branch){ 0 };
	}
	if (x->is_alive && !draw(p, 4))
		check(p, x);
}

static void run(struct program *p, uint64_t seed)
{
	memset(p, 0, sizeof(*p));
	p->seed = seed;
	p->branches[0].is_alive = true;
	for (unsigned i = 0; i < NR_STEPS; i++)
		step(p);
}

static void end(struct program *p)
{
	for (unsigned i = 0; i < NR_BRANCHES; i++)
		culprit_baggage_free(p->branches[i].b);
}

static void a_branch_sees_what_happened_before_and_nothing_else(void **state)
{
	static struct program p;

	(void)state;
	for (uint64_t seed = 0; seed < NR_PROGRAMS; seed++) {
		run(&p, seed);
		for (unsigned i = 0; i < NR_BRANCHES; i++)
			if (p.branches[i].is_alive)
				check(&p, &p.branches[i]);
		for (unsigned i = 1; i < NR_BRANCHES; i++)
			if (p.branches[i].is_alive)
				join(&p.branches[0], &p.branches[i]);
		check(&p, &p.branches[0]);
		end(&p);
	}
}

static struct culprit_baggage *joined(struct culprit_baggage *a, struct culprit_baggage *b)
{
	struct culprit_baggage *j = copy(a);

	assert_int_equal(culprit_baggage_join(&j, copy(b)), 0);
	return j;
}

static void assert_same(struct culprit_baggage *a, struct culprit_baggage *b)
{
	for (unsigned q = 0; q < NR_QUERIES; q++) {
		struct view x = view(a, q), y = view(b, q);

		assert_memory_equal(&x.seen, &y.seen, sizeof(x.seen));
		assert_memory_equal(x.counts, y.counts, sizeof(x.counts));
		assert_memory_equal(x.results, y.results, sizeof(x.results));
		assert_true(q == 5 || !memcmp(x.numbers, y.numbers, sizeof(x.numbers)));
	}
}

static void laws(struct culprit_baggage *a, struct culprit_baggage *b, struct culprit_baggage *c)
{
	struct culprit_baggage *ab = joined(a, b), *ba = joined(b, a), *bc = joined(b, c);
	struct culprit_baggage *left = joined(ab, c), *right = joined(a, bc);
	struct culprit_baggage *aa = joined(a, a), *abb = joined(ab, b), *aab = joined(a, ab);

	assert_same(aa, a);
	assert_same(ab, ba);
	assert_same(left, right);
	assert_same(abb, ab); /* also when a branch is told twice */
	assert_same(aab, ab);
	culprit_baggage_free(ab);
	culprit_baggage_free(ba);
	culprit_baggage_free(bc);
	culprit_baggage_free(left);
	culprit_baggage_free(right);
	culprit_baggage_free(aa);
	culprit_baggage_free(abb);
	culprit_baggage_free(aab);
}

static void join_is_idempotent_commutative_and_associative(void **state)
{
	static struct program p;

	(void)state;
	for (uint64_t seed = 0; seed < NR_PROGRAMS / 5; seed++) {
		struct culprit_baggage *of[NR_BRANCHES];
		unsigned n = 0;

		run(&p, seed + NR_PROGRAMS);
		for (unsigned i = 0; i < NR_BRANCHES; i++)
			if (p.branches[i].is_alive)
				of[n++] = p.branches[i].b;
		for (unsigned i = 0; n > 2 && i < n; i++)
			laws(of[i], of[(i + 1) % n], of[(i + 2) % n]);
		end(&p);
	}
}

static void bytes_say_all_of_it(void **state)
{
	static struct program p;
	static unsigned char one[1 << 16], two[1 << 16];

	(void)state;
	for (uint64_t seed = 0; seed < NR_PROGRAMS / 5; seed++) {
		run(&p, seed + 2 * NR_PROGRAMS);
		for (unsigned i = 0; i < NR_BRANCHES; i++) {
			struct culprit_baggage *b = p.branches[i].b, *again = copy(b);
			ssize_t n = culprit_baggage_serialize(b, one, sizeof(one)), m;

			/* a change that changes nothing, so that it is written anew */
			if (again)
				assert_int_equal(culprit_baggage_join(&again, copy(b)), 0);
			m = culprit_baggage_serialize(again, two, sizeof(two));
			assert_true(n <= (ssize_t)sizeof(one) && n == m);
			assert_memory_equal(one, two, (size_t)n);
			culprit_baggage_free(again);
		}
		end(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_branch_sees_what_happened_before_and_nothing_else),
		cmocka_unit_test(join_is_idempotent_commutative_and_associative),
		cmocka_unit_test(bytes_say_all_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
