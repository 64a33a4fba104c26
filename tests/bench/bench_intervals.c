/*
 * How fast calls become trees of intervals.
 *
 *   bench_intervals CALLS [marks]     CALLS in millions; with marks: intervals go from thread to
 * thread
 *
 * Four threads; an interval is a call with 60 below it in four levels, and one in ten waits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "infer/intervals/intervals.h"
#include "model/loss.h"

#define NR_THREADS 4
#define BATCH 4096

enum { ROOT, BEGIN, END, TAKE, PUT, FIRST };

struct bench {
	struct intervals *s;
	struct function_call calls[NR_THREADS][2 * BATCH];
	struct mark marks[NR_THREADS][BATCH];
	struct thread_change changes[NR_THREADS][BATCH];
	size_t nr_calls[NR_THREADS], nr_marks[NR_THREADS], nr_changes[NR_THREADS];
	int64_t now[NR_THREADS];
	uint64_t seed, nr_intervals, nr_parts, all, value;
	bool has_marks;
};

static uint64_t draw(struct bench *b, uint64_t below)
{
	b->seed = b->seed * 6364136223846793005u + 1442695040888963407u;
	return (b->seed >> 33) % below;
}

static int count(void *to, const struct interval *v, struct error *err)
{
	struct bench *b = to;

	(void)err;
	b->nr_intervals++;
	b->nr_parts += v->nr_parts;
	return 0;
}

static void mark(struct bench *b, unsigned t, uint32_t function, uint64_t value)
{
	b->marks[t][b->nr_marks[t]++] = (struct mark){ .ns = ++b->now[t],
						       .value = value,
						       .function = function,
						       .process = 1,
						       .thread = t + 1,
						       .has_value = value > 0 };
}

static void wait(struct bench *b, unsigned t)
{
	struct thread_change c = {
		.ns = b->now[t], .process = 1, .thread = t + 1, .kind = THREAD_OFF, .why = WAIT_LOCK
	};

	b->changes[t][b->nr_changes[t]++] = c;
	c.ns += 500;
	c.kind = THREAD_WOKEN;
	c.other = (t + 1) % NR_THREADS + 1;
	c.other_process = 1;
	b->changes[t][b->nr_changes[t]++] = c;
	c.ns += 100;
	c.kind = THREAD_ON;
	b->changes[t][b->nr_changes[t]++] = c;
	b->now[t] = c.ns;
}

static void call(struct bench *b, unsigned t, uint32_t function, unsigned depth)
{
	int64_t start = b->now[t] += 20;

	for (unsigned i = 0; depth < 3 && i < 3 + (depth == 2); i++)
		call(b, t, FIRST + depth * 4 + (uint32_t)draw(b, 4), depth + 1);
	b->now[t] += 20 + (int64_t)draw(b, 20);
	b->calls[t][b->nr_calls[t]++] = (struct function_call){ .start = start,
								.end = b->now[t],
								.function = function,
								.process = 1,
								.thread = t + 1 };
	b->all++;
}

static void interval(struct bench *b, unsigned t)
{
	b->now[t] += 50;
	if (b->has_marks) {
		unsigned next = (t + 1) % NR_THREADS;
		uint64_t value = ++b->value;

		mark(b, t, BEGIN, value);
		call(b, t, FIRST + 12, 1);
		mark(b, t, PUT, value);
		if (b->now[next] < b->now[t])
			b->now[next] = b->now[t];
		b->now[next] += 50;
		mark(b, next, TAKE, value);
		call(b, next, FIRST + 13, 0);
		mark(b, next, END, value);
	} else {
		b->marks[t][b->nr_marks[t]++] = (struct mark){
			.ns = b->now[t] + 20, .function = ROOT, .process = 1, .thread = t + 1
		};
		call(b, t, ROOT, 0);
	}
	if (!draw(b, 10))
		wait(b, t);
}

static void tell(struct bench *b)
{
	int64_t until = INT64_MAX;

	for (unsigned i = 0; i < BATCH / 64; i++)
		for (unsigned t = 0; t < NR_THREADS; t++)
			interval(b, t);
	for (unsigned t = 0; t < NR_THREADS; t++) {
		intervals_call(b->s, b->calls[t], b->nr_calls[t], NULL);
		intervals_mark(b->s, b->marks[t], b->nr_marks[t], NULL);
		intervals_change(b->s, b->changes[t], b->nr_changes[t], NULL);
		b->nr_calls[t] = b->nr_marks[t] = b->nr_changes[t] = 0;
		until = b->now[t] < until ? b->now[t] : until;
	}
	intervals_settle(b->s, until, NULL);
}

int main(int argc, char **argv)
{
	static struct bench b = { .seed = 1 };
	static struct interval_function functions[FIRST + 16];
	struct losses losses = { 0 };
	struct intervals_options o = { .functions = functions,
				       .nr_functions = FIRST + 16,
				       .losses = &losses,
				       .interval = count,
				       .to = &b };
	uint64_t wanted = argc > 1 ? strtoull(argv[1], NULL, 10) * 1000000 : 10000000;
	struct timespec from, to;
	double seconds;

	for (uint32_t i = 0; i < FIRST + 16; i++)
		functions[i].name = STR("f");
	b.has_marks = argc > 2;
	functions[ROOT].role = b.has_marks ? ROLE_NONE : ROLE_WHOLE;
	if (b.has_marks) {
		functions[BEGIN].role = ROLE_BEGIN;
		functions[END].role = ROLE_END;
		functions[TAKE].role = ROLE_TAKE;
		functions[PUT].role = ROLE_PUT;
	}
	intervals_open(&b.s, &o, NULL);
	clock_gettime(CLOCK_MONOTONIC, &from);
	while (b.all < wanted)
		tell(&b);
	intervals_close(b.s, NULL);
	clock_gettime(CLOCK_MONOTONIC, &to);
	seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
	printf("%.1f million calls, %.2f million intervals, %.1f parts each, %.2f s, %.1f million "
	       "calls/s\n",
	       (double)b.all / 1e6, (double)b.nr_intervals / 1e6,
	       (double)b.nr_parts / (double)(b.nr_intervals ? b.nr_intervals : 1), seconds,
	       (double)b.all / 1e6 / seconds);
	for (int i = 0; i < LOSS_NR; i++)
		if (losses.count[i])
			printf("%s %lu\n", loss_name((enum loss)i), (unsigned long)losses.count[i]);
	return 0;
}
