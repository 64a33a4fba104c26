/* What a test program knows of itself: how long each interval took, and each of its functions in
 * it. Written at the end to the file that TRUTH names, for tests/variance/check. */
#ifndef TRUTH_H
#define TRUTH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
#define PROBED __attribute__((noinline)) __attribute__((optimize("no-optimize-sibling-calls")))
#else
#define PROBED __attribute__((noinline, noclone, noipa))
#endif

enum { TRUTH_PARTS = 12, TRUTH_ROWS = 2000000, TRUTH_LEAST = 800 };
#define TRUTH_PATIENCE_NS 180000000000

struct truth_row {
	int64_t start, total; /* CLOCK_REALTIME, ns */
	int64_t ns[TRUTH_PARTS];
};

/* Shared, so that processes that are forked tell as well. */
struct truth {
	uint64_t nr;
	struct truth_row rows[TRUTH_ROWS];
};

static struct truth *truth;

static inline int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline int64_t wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Until the file is there that HOLD names. */
static inline void truth_hold(void)
{
	const char *path = getenv("HOLD");
	int64_t until = now_ns() + TRUTH_PATIENCE_NS;

	while (path && access(path, F_OK) && now_ns() < until)
		usleep(1000);
}

static inline void truth_begin(void)
{
	truth_hold();
	truth = (struct truth *)mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (truth == (void *)MAP_FAILED)
		exit(2);
}

static inline struct truth_row *truth_row(void)
{
	uint64_t nr = __atomic_fetch_add(&truth->nr, 1, __ATOMIC_RELAXED);

	if (nr >= TRUTH_ROWS)
		exit(2);
	truth->rows[nr].start = wall_ns();
	return &truth->rows[nr];
}

/* Where the interval begins, so that its two clocks are read there and not before a pause. */
static inline int64_t truth_enter(struct truth_row *t)
{
	t->start = wall_ns();
	return now_ns();
}

/* names: "parent/name" of each part, the root's children as "/name". */
static inline void truth_write(const char *const *names, int nr_names)
{
	const char *path = getenv("TRUTH");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (!f)
		return;
	fputs("start,total", f);
	for (int i = 0; i < nr_names; i++)
		fprintf(f, ",%s", names[i]);
	fputc('\n', f);
	for (uint64_t r = 0; r < truth->nr; r++) {
		const struct truth_row *row = &truth->rows[r];

		if (!row->total)
			continue; /* under way when the program ended */
		fprintf(f, "%lld,%lld", (long long)row->start, (long long)row->total);
		for (int i = 0; i < nr_names; i++)
			fprintf(f, ",%lld", (long long)row->ns[i]);
		fputc('\n', f);
	}
	fclose(f);
}

/* Numbers at random, the same each time. */
static inline uint32_t roll(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

static inline int64_t roll_between(uint32_t *seed, int64_t low, int64_t high)
{
	return low + (int64_t)(roll(seed) % (uint32_t)(high - low));
}

/* Work of the processor for so long. */
static inline void burn(int64_t ns)
{
	int64_t until = now_ns() + ns;

	while (now_ns() < until)
		;
}

static inline void rest(int64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&t, NULL);
}

/* How long the program shall run: its first argument in seconds, 5 by default. */
static inline int64_t run_until(int argc, char **argv)
{
	return now_ns() + (int64_t)(1e9 * (argc > 1 ? atof(argv[1]) : 5));
}

/* … and longer where the machine has little time for it: until it has been at work so often. */
static inline int goes_on(int64_t until)
{
	int64_t now = now_ns();

	return now < until || (__atomic_load_n(&truth->nr, __ATOMIC_RELAXED) < TRUTH_LEAST &&
			       now < until + TRUTH_PATIENCE_NS);
}

#endif
