/*
 * What baggage costs: nanoseconds of each call, the best of many rounds.
 *
 *   bench_baggage [ROUNDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/baggage/baggage.h"

#define CALLS 20000

static const struct culprit_query recent = { .id = 1, .keep = CULPRIT_RECENT, .n = 1 };
static const struct culprit_query first = { .id = 2, .keep = CULPRIT_FIRST, .n = 1 };
static const struct culprit_query all = { .id = 3, .keep = CULPRIT_ALL };
static const struct culprit_query sum = {
	.id = 4, .keep = CULPRIT_AGGREGATE, .nr_folds = 1, .folds = { CULPRIT_SUM }
};

/* What the calls work on; result keeps the compiler from leaving them out. */
struct bench {
	struct culprit_baggage *one, *three, *sixty;
	unsigned char bytes[4096];
	size_t n, n_sixty;
	volatile uint64_t result;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int look(void *to, const struct culprit_tuple *t)
{
	*(uint64_t *)to += t->n;
	return 0;
}

/* Ten of what takes less than the call of this. */
static void nothing(struct bench *b)
{
	for (unsigned i = 0; i < 10; i++) {
		b->bytes[i] = (unsigned char)culprit_serialize(b->bytes, sizeof(b->bytes));
		__asm__ volatile("" ::: "memory");
	}
}

static void nothing_in(struct bench *b)
{
	for (unsigned i = 0; i < 10; i++) {
		b->bytes[i] = (unsigned char)culprit_deserialize(b->bytes, 0);
		__asm__ volatile("" ::: "memory");
	}
}

static void pack(struct bench *b)
{
	culprit_baggage_pack(&b->one, &recent, &(uint64_t){ b->result }, 8, NULL);
}

static void pack_first(struct bench *b)
{
	culprit_baggage_pack(&b->three, &first, &(uint64_t){ 1 }, 8, NULL);
}

static void pack_sum(struct bench *b)
{
	const struct culprit_number one = { .integer = 1 };

	culprit_baggage_pack(&b->three, &sum, &(uint64_t){ 1 }, 8, &one);
}

static void pack_new(struct bench *b)
{
	struct culprit_baggage *new = NULL;

	culprit_baggage_pack(&new, &recent, &(uint64_t){ b->result }, 8, NULL);
	culprit_baggage_free(new);
}

static void unpack(struct bench *b)
{
	uint64_t n = 0;

	culprit_baggage_unpack(b->one, &recent, look, &n);
	b->result += n;
}

static void write_one(struct bench *b)
{
	struct culprit_baggage *new = NULL;

	culprit_baggage_pack(&new, &recent, &(uint64_t){ b->result }, 8, NULL);
	b->n = (size_t)culprit_baggage_serialize(new, b->bytes, sizeof(b->bytes));
	culprit_baggage_free(new);
}

static void pass_on(struct bench *b)
{
	struct culprit_baggage *new = NULL;

	culprit_baggage_deserialize(&new, b->bytes, b->n);
	b->result += (uint64_t)culprit_baggage_serialize(new, b->bytes, sizeof(b->bytes));
	culprit_baggage_free(new);
}

static void read_one(struct bench *b)
{
	struct culprit_baggage *new = NULL;
	uint64_t n = 0;

	culprit_baggage_deserialize(&new, b->bytes, b->n);
	culprit_baggage_unpack(new, &recent, look, &n);
	culprit_baggage_free(new);
	b->result += n;
}

static void pack_and_write(struct bench *b)
{
	pack(b);
	b->result += (uint64_t)culprit_baggage_serialize(b->one, b->bytes, sizeof(b->bytes));
}

static void split_and_join(struct bench *b)
{
	struct culprit_baggage *kid = NULL;

	culprit_baggage_split(b->one, &kid);
	culprit_baggage_join(&b->one, kid);
}

static void unpack_sixty(struct bench *b)
{
	uint64_t n = 0;

	culprit_baggage_unpack(b->sixty, &all, look, &n);
	b->result += n;
}

static void write_sixty(struct bench *b)
{
	culprit_baggage_pack(&b->sixty, &recent, "12345678", 8, NULL);
	b->n_sixty = (size_t)culprit_baggage_serialize(b->sixty, b->bytes, sizeof(b->bytes));
}

static void read_sixty(struct bench *b)
{
	struct culprit_baggage *new = NULL;
	uint64_t n = 0;

	culprit_baggage_deserialize(&new, b->bytes, b->n_sixty);
	culprit_baggage_unpack(new, &all, look, &n);
	culprit_baggage_free(new);
	b->result += n;
}

static double measure(struct bench *b, void (*call)(struct bench *), unsigned rounds)
{
	double best = 1e18;

	for (unsigned i = 0; i < rounds; i++) {
		double from = now(), took;

		for (unsigned k = 0; k < CALLS; k++)
			call(b);
		took = (now() - from) / CALLS;
		best = took < best ? took : best;
	}
	return best;
}

static const struct {
	const char *what;
	void (*call)(struct bench *);
	double target;
	unsigned times;
} cases[] = {
	{ "empty: serialize", nothing, 2, 10 },
	{ "empty: deserialize", nothing_in, 2, 10 },
	{ "pack 8 bytes, RECENT", pack, 50 },
	{ "pack 8 bytes, FIRST", pack_first, 50 },
	{ "pack 8 bytes, SUM", pack_sum, 50 },
	{ "unpack 8 bytes", unpack, 50 },
	{ "the first tuple of a request", pack_new, 0 },
	{ "pack one, serialize", pack_and_write, 200 },
	{ "the same of new baggage", write_one, 0 },
	{ "deserialize one, unpack", read_one, 200 },
	{ "deserialize one, pass it on", pass_on, 200 },
	{ "split and join", split_and_join, 0 },
	{ "60 tuples: unpack", unpack_sixty, 0 },
	{ "60 tuples: serialize", write_sixty, 0 },
	{ "60 tuples: deserialize, unpack", read_sixty, 0 },
};

int main(int argc, char **argv)
{
	static struct bench b;
	unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 50;

	for (unsigned i = 0; i < 60; i++)
		culprit_baggage_pack(&b.sixty, &all, "12345678", 8, NULL);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double ns =
			measure(&b, cases[i].call, rounds) / (cases[i].times ? cases[i].times : 1);

		printf("%-32s%8.1f ns", cases[i].what, ns);
		if (cases[i].target > 0)
			printf("   under %.0f ns   %s", cases[i].target,
			       ns < cases[i].target ? "reached" : "MISSED");
		printf("\n");
	}
	printf("%-32s%8zu bytes\n%-32s%8zu bytes\n", "one tuple of 8 bytes", b.n,
	       "60 tuples of 8 bytes", b.n_sixty);
	culprit_baggage_free(b.one);
	culprit_baggage_free(b.three);
	culprit_baggage_free(b.sixty);
	return 0;
}
