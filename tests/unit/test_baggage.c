/* What baggage keeps, how much of it, and how it travels. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/baggage/baggage.h"

static const struct culprit_query all = { .id = 1, .keep = CULPRIT_ALL };
static const struct culprit_query recent = { .id = 2, .keep = CULPRIT_RECENT, .n = 2 };
static const struct culprit_query first = { .id = 3, .keep = CULPRIT_FIRST, .n = 2 };
static const struct culprit_query sum = {
	.id = 4, .keep = CULPRIT_AGGREGATE, .nr_folds = 2, .folds = { CULPRIT_SUM, CULPRIT_COUNT }
};

static int write_down(void *to, const struct culprit_tuple *t)
{
	char *text = to;

	strncat(text, t->bytes, t->n);
	if (t->numbers)
		sprintf(text + strlen(text), "=%ld", (long)t->numbers[0].integer);
	strcat(text, " ");
	return 0;
}

#define assert_holds(b, q, expected) \
	do { \
		char text_[512] = ""; \
		assert_true(culprit_baggage_unpack(b, q, write_down, text_) >= 0); \
		assert_string_equal(text_, expected); \
	} while (0)

static void pack(struct culprit_baggage **b, const struct culprit_query *q, const char *text)
{
	const struct culprit_number one[2] = { { .integer = 1 }, { .integer = 1 } };

	assert_int_equal(culprit_baggage_pack(b, q, text, strlen(text), q == &sum ? one : NULL), 0);
}

static struct culprit_baggage *copy(struct culprit_baggage *b)
{
	static unsigned char bytes[1 << 20];
	struct culprit_baggage *new = NULL;
	ssize_t n = culprit_baggage_serialize(b, bytes, sizeof(bytes));

	assert_in_range(n, 0, sizeof(bytes));
	assert_int_equal(culprit_baggage_deserialize(&new, bytes, (size_t)n), 0);
	return new;
}

static void a_query_keeps_what_it_wants(void **state)
{
	struct culprit_baggage *b = NULL, *c;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		char text[2] = { (char)('a' + i), 0 };

		pack(&b, &all, text);
		pack(&b, &recent, text);
		pack(&b, &first, text);
		pack(&b, &sum, i % 2 ? "odd" : "even");
	}
	pack(&b, &sum, "odd");
	c = copy(b);
	for (unsigned i = 0; i < 2; i++) {
		assert_holds(i ? c : b, &all, "a b c d ");
		assert_holds(i ? c : b, &recent, "c d ");
		assert_holds(i ? c : b, &first, "a b ");
		assert_holds(i ? c : b, &sum, "even=2 odd=3 ");
	}
	assert_holds(b, &(struct culprit_query){ .id = 9 }, "");
	culprit_baggage_free(b);
	culprit_baggage_free(c);
}

static void nothing_costs_nothing(void **state)
{
	struct culprit_baggage *b = NULL, *other;
	char value[8] = "x";

	(void)state;
	assert_int_equal(culprit_baggage_serialize(NULL, NULL, 0), 0);
	assert_int_equal(culprit_baggage_deserialize(&b, "", 0), 0);
	assert_null(b);
	assert_int_equal(culprit_baggage_split(NULL, &other), 0);
	assert_null(other);
	assert_int_equal(culprit_baggage_join(&b, NULL), 0);
	assert_int_equal(culprit_baggage_unpack(NULL, &all, write_down, NULL), 0);
	assert_int_equal(culprit_baggage_to_header(NULL, NULL, value, sizeof(value)), 0);
	assert_string_equal(value, "");
	assert_int_equal(culprit_baggage_from_header(&b, "", 0), 0);
}

static void branches_of_nothing_both_count(void **state)
{
	struct culprit_baggage *a = NULL, *b = NULL;

	(void)state;
	pack(&a, &sum, "x"); /* two that began with nothing, and a common request */
	pack(&b, &sum, "x");
	pack(&a, &all, "same");
	pack(&b, &all, "same");
	assert_int_equal(culprit_baggage_join(&a, b), 0);
	assert_holds(a, &sum, "x=2 ");
	assert_holds(a, &all, "same same ");
	culprit_baggage_free(a);
}

static void what_has_no_room_is_counted(void **state)
{
	static const char large[4000];
	struct culprit_baggage *b = NULL, *c;
	uint64_t nr = 0;
	int r;

	(void)state;
	while (!(r = culprit_baggage_pack(&b, &all, large, sizeof(large), NULL)))
		nr++;
	assert_int_equal(r, -E2BIG);
	assert_int_equal(nr, CULPRIT_BAGGAGE_BYTES / (sizeof(large) + 24));
	pack(&b, &recent, "small");
	assert_int_equal(culprit_baggage_pack(&b, &all, large, sizeof(large), NULL), -E2BIG);
	c = copy(b);
	assert_int_equal(culprit_baggage_lost(c, &all), 2);
	assert_int_equal(culprit_baggage_lost(c, &recent), 0);
	assert_int_equal(culprit_baggage_join(&b, c), 0); /* told twice, lost once */
	assert_int_equal(culprit_baggage_lost(b, &all), 2);
	culprit_baggage_free(b);
}

static void what_makes_no_sense_is_refused(void **state)
{
	struct culprit_query q = { .id = 1, .keep = CULPRIT_FIRST };
	struct culprit_baggage *b = NULL;

	(void)state;
	assert_int_equal(culprit_baggage_pack(&b, &q, "x", 1, NULL), -EINVAL);
	q.keep = 9;
	assert_int_equal(culprit_baggage_pack(&b, &q, "x", 1, NULL), -EINVAL);
	assert_int_equal(culprit_baggage_pack(&b, &sum, "x", 1, NULL), -EINVAL);
	assert_int_equal(culprit_baggage_pack(&b, &all, NULL, 1, NULL), -EINVAL);
	assert_null(b);
}

static void forks_and_joins_carry_no_more_than_was_packed(void **state)
{
	struct culprit_baggage *b = NULL, *kid;

	(void)state;
	pack(&b, &sum, "x");
	for (unsigned i = 0; i < 10000; i++) {
		assert_int_equal(culprit_baggage_split(b, &kid), 0);
		pack(&kid, &sum, "x");
		pack(&b, &sum, "x");
		assert_int_equal(culprit_baggage_join(&b, kid), 0);
	}
	assert_holds(b, &sum, "x=20001 ");
	assert_in_range(culprit_baggage_serialize(b, NULL, 0), 1, 64);
	culprit_baggage_free(b);
}

/* A thousand at once, of baggage that has something or nothing when they begin. */
static void many_branches_at_once(void **state)
{
	static struct culprit_baggage *kids[1000];

	(void)state;
	for (unsigned from_nothing = 0; from_nothing < 2; from_nothing++) {
		struct culprit_baggage *b = NULL;

		if (!from_nothing)
			pack(&b, &all, "begin");
		for (unsigned i = 0; i < 1000; i++)
			assert_int_equal(culprit_baggage_split(b, &kids[i]), 0);
		for (unsigned i = 0; i < 1000; i++)
			pack(&kids[i], &sum, "x");
		for (unsigned i = 0; i < 1000; i++)
			assert_int_equal(culprit_baggage_join(&b, kids[i]), 0);
		assert_holds(b, &sum, "x=1000 ");
		assert_holds(b, &all, from_nothing ? "" : "begin ");
		assert_in_range(culprit_baggage_serialize(b, NULL, 0), 1, 1024);
		culprit_baggage_free(b);
	}
}

/* A pipeline without an end: each stage hands on and keeps running. What it cannot take along it
 * says. */
static void an_endless_chain_is_told(void **state)
{
	struct culprit_baggage *b = NULL, *kid;
	unsigned nr = 0;
	int r;

	(void)state;
	do {
		pack(&b, &all, "x");
		r = culprit_baggage_split(b, &kid);
		culprit_baggage_free(b);
		b = kid;
	} while (!r && nr++ < 2000);
	assert_int_equal(r, -E2BIG);
	assert_in_range(nr, 200, 1000);
	b = copy(b);
	assert_true(culprit_baggage_lost(b, &all) >= nr);
	culprit_baggage_free(kid);
	culprit_baggage_free(b);
}

static void copies_that_were_not_split_are_told(void **state)
{
	struct culprit_baggage *a = NULL, *b;

	(void)state;
	pack(&a, &all, "both");
	b = copy(a);
	pack(&a, &all, "one");
	pack(&b, &all, "other");
	assert_int_equal(culprit_baggage_join(&a, b), 1);
	assert_holds(a, &all, "both one other ");
	culprit_baggage_free(a);
}

static void the_answer_replaces_what_was_sent(void **state)
{
	struct culprit_baggage *a = NULL, *b;

	(void)state;
	pack(&a, &all, "asked"); /* a call that is waited for needs no split */
	b = copy(a);
	pack(&b, &all, "served");
	assert_int_equal(culprit_baggage_join(&a, copy(b)), 0);
	assert_holds(a, &all, "asked served ");
	culprit_baggage_free(a);
	culprit_baggage_free(b);
}

static void numbers_fold_the_same_in_any_order(void **state)
{
	static const struct culprit_query q = { .id = 1,
						.keep = CULPRIT_AGGREGATE,
						.nr_folds = 4,
						.folds = { CULPRIT_SUM, CULPRIT_MIN, CULPRIT_MAX,
							   CULPRIT_AVERAGE } };
	static const struct culprit_number v[] = { { .integer = INT64_MAX },
						   { .integer = 2 },
						   { .real = 0.5, .is_real = 1 },
						   { .real = NAN, .is_real = 1 },
						   { .integer = -3 } };

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		for (unsigned j = 0; j < 5; j++) {
			struct culprit_number n[4] = { v[i], v[i], v[i], v[i] };
			struct culprit_number m[4] = { v[j], v[j], v[j], v[j] };
			struct culprit_baggage *a = NULL, *b = NULL;
			char x[2][256] = { "", "" };

			for (unsigned k = 0; k < 2; k++) {
				struct culprit_baggage **of = k ? &b : &a;

				culprit_baggage_pack(of, &q, "", 0, k ? m : n);
				culprit_baggage_pack(of, &q, "", 0, k ? n : m);
				culprit_baggage_unpack(*of, &q, write_down, x[k]);
				culprit_baggage_free(*of);
			}
			if (i != 3 && j != 3) /* a sum that is no number has no bits to compare */
				assert_string_equal(x[0], x[1]);
		}
	}
}

static void groups_beyond_counting_join(void **state)
{
	struct culprit_baggage *a = NULL, *b = NULL;
	char text[16];
	unsigned nr = 0;

	(void)state;
	for (unsigned i = 0; i < 700; i++) {
		sprintf(text, "%u", i);
		pack(&a, &sum, text);
		sprintf(text, "%u", i + 350);
		pack(&b, &sum, text);
	}
	assert_int_equal(culprit_baggage_join(&a, b), 0);
	for (unsigned i = 0; i < 2; i++) {
		static char all_of_it[1 << 16];
		ssize_t n;

		all_of_it[0] = 0;
		n = culprit_baggage_unpack(a, &sum, write_down, all_of_it);
		assert_int_equal(n, 1050);
		assert_non_null(strstr(all_of_it, "349=1 "));
		assert_non_null(strstr(all_of_it, "350=2 "));
		nr++;
	}
	assert_int_equal(nr, 2);
	culprit_baggage_free(a);
}

static void a_header_has_limits(void **state)
{
	char value[CULPRIT_HEADER_BYTES + 1], others[9000] = "", again[CULPRIT_HEADER_BYTES + 1];
	struct culprit_baggage *b = NULL, *c = NULL;
	ssize_t n;

	(void)state;
	pack(&b, &all, "x");
	n = culprit_baggage_to_header(b, "user=1;p=2 , culprit=old,k=%20v", value, sizeof(value));
	assert_true(n > 0 && strlen(value) == (size_t)n);
	assert_memory_equal(value, "user=1;p=2,k=%20v,culprit=", 26);
	assert_int_equal(culprit_baggage_from_header(&c, value, (size_t)n), 1);
	assert_holds(c, &all, "x ");
	assert_int_equal(culprit_baggage_to_header(c, "user=1;p=2,k=%20v", again, sizeof(again)),
			 n);
	assert_string_equal(value, again);
	assert_int_equal(culprit_baggage_to_header(b, NULL, value, 3), n - 18);
	for (unsigned i = 0; i < 63; i++)
		sprintf(others + strlen(others), "k%u=v,", i);
	assert_true(culprit_baggage_to_header(b, others, value, sizeof(value)) > 0);
	strcat(others, "one=more");
	strcpy(value, "untouched");
	assert_int_equal(culprit_baggage_to_header(b, others, value, sizeof(value)), -E2BIG);
	for (unsigned i = 0; i < 700; i++)
		pack(&b, &all, "0123456789");
	assert_int_equal(culprit_baggage_to_header(b, NULL, value, sizeof(value)), -E2BIG);
	assert_string_equal(value, "untouched");
	culprit_baggage_free(b);
	culprit_baggage_free(c);
}

static void a_header_may_be_damaged(void **state)
{
	static const char *bad[] = { "culprit=!", "culprit=A", "culprit=%4", "culprit=AB\"C" };
	struct culprit_baggage *b = NULL;
	char text[512] = "";

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(culprit_baggage_from_header(&b, bad[i], strlen(bad[i])), -EBADMSG);
	assert_int_equal(culprit_baggage_from_header(&b, "a=b, c", 6), 0);
	assert_int_equal(culprit_baggage_from_header(&b, " culprit = %41%41AA ; p", 23), 1);
	assert_int_equal(culprit_baggage_unpack(b, &all, write_down, text), -EBADMSG);
	assert_int_equal(culprit_baggage_pack(&b, &all, "x", 1, NULL), -EBADMSG);
	assert_int_equal(culprit_baggage_serialize(b, text, sizeof(text)), 3); /* as it came */
	culprit_baggage_free(b);
}

static void *work(void *baggage)
{
	assert_null(culprit_baggage_swap(baggage));
	assert_int_equal(culprit_pack(&all, "worker", 6, NULL), 0);
	return culprit_baggage_swap(NULL);
}

static void *forget(void *unused)
{
	(void)unused;
	culprit_pack(&all, "left to the end of the thread", 29, NULL);
	return NULL;
}

static void threads_have_their_own(void **state)
{
	unsigned char bytes[256];
	pthread_t t;
	void *back;
	ssize_t n;

	(void)state;
	assert_int_equal(culprit_serialize(bytes, sizeof(bytes)), 0);
	assert_null(culprit_split());
	assert_int_equal(culprit_pack(&all, "main", 4, NULL), 0);
	pthread_create(&t, NULL, work, culprit_split());
	pthread_join(t, &back);
	assert_holds(culprit_baggage_mine, &all, "main ");
	assert_int_equal(culprit_join(back), 0);
	assert_holds(culprit_baggage_mine, &all, "main worker ");
	n = culprit_serialize(bytes, sizeof(bytes));
	assert_int_equal(culprit_deserialize(bytes, 0), 0);
	assert_null(culprit_baggage_mine);
	assert_int_equal(culprit_deserialize(bytes, (size_t)n), 0);
	assert_holds(culprit_baggage_mine, &all, "main worker ");
	culprit_deserialize(NULL, 0);
	pthread_create(&t, NULL, forget, NULL);
	pthread_join(t, NULL);
}

static void a_child_is_another_branch(void **state)
{
	unsigned char bytes[256];
	struct culprit_baggage *back = NULL;
	int ends[2], status;
	ssize_t n;
	pid_t pid;

	(void)state;
	assert_int_equal(culprit_baggage_follow_forks(), 0);
	culprit_pack(&sum, "x", 1, (struct culprit_number[2]){ { .integer = 1 } });
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		culprit_pack(&sum, "x", 1, (struct culprit_number[2]){ { .integer = 1 } });
		n = culprit_serialize(bytes, sizeof(bytes));
		_exit(write(ends[1], bytes, (size_t)n) != n);
	}
	culprit_pack(&sum, "x", 1, (struct culprit_number[2]){ { .integer = 1 } });
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	n = read(ends[0], bytes, sizeof(bytes));
	assert_int_equal(culprit_baggage_deserialize(&back, bytes, (size_t)n), 0);
	assert_int_equal(culprit_join(back), 0);
	assert_holds(culprit_baggage_mine, &sum, "x=3 ");
	culprit_deserialize(NULL, 0);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_query_keeps_what_it_wants),
		cmocka_unit_test(nothing_costs_nothing),
		cmocka_unit_test(branches_of_nothing_both_count),
		cmocka_unit_test(what_has_no_room_is_counted),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(forks_and_joins_carry_no_more_than_was_packed),
		cmocka_unit_test(many_branches_at_once),
		cmocka_unit_test(an_endless_chain_is_told),
		cmocka_unit_test(copies_that_were_not_split_are_told),
		cmocka_unit_test(the_answer_replaces_what_was_sent),
		cmocka_unit_test(numbers_fold_the_same_in_any_order),
		cmocka_unit_test(groups_beyond_counting_join),
		cmocka_unit_test(a_header_has_limits),
		cmocka_unit_test(a_header_may_be_damaged),
		cmocka_unit_test(threads_have_their_own),
		cmocka_unit_test(a_child_is_another_branch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
