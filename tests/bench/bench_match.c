/* bench_match LOG MODEL... : finds the statement of every line, alone, on one thread; with
 * --lines tells each line's statement instead. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "infer/requests/match.h"
#include "model/event.h"
#include "model/sink.h"
#include "program/model_file.h"
#include "source/source.h"

struct kept {
	struct str point, message, thread;
	enum level level;
	uint64_t line;
};

struct bench {
	struct arena arena;
	VEC(struct kept) lines;
	uint64_t bytes;
};

static int take_file(void *to, const struct file_seen *f, uint32_t *number, struct error *err)
{
	(void)to;
	(void)f;
	(void)err;
	*number = 0;
	return 0;
}

/* The message comes along as the values of the event. */
static int take_events(void *to, const struct event *ev, size_t nr, struct error *err)
{
	struct bench *b = to;

	(void)err;
	for (size_t i = 0; i < nr; i++) {
		struct arena *a = &b->arena;

		b->bytes += ev[i].length + 1;
		vec_push(&b->lines,
			 (struct kept){ arena_str(a, ev[i].point), arena_str(a, ev[i].values),
					arena_str(a, ev[i].thread), ev[i].level, ev[i].line });
	}
	return 0;
}

static int take_spans(void *to, const struct span *spans, size_t nr, struct error *err)
{
	(void)to;
	(void)spans;
	(void)nr;
	(void)err;
	return 0;
}

static void keep_message(const void *ctx, struct event *ev, struct str message, struct arena *arena)
{
	(void)ctx;
	ev->values = arena_str(arena, message);
}

static void fail(const char *why)
{
	fprintf(stderr, "bench_match: %s\n", why);
	exit(2);
}

static struct matcher *open_models(char **paths, unsigned nr, struct model_file **models)
{
	struct matcher *m;
	struct error err;

	for (unsigned i = 0; i < nr; i++) {
		if (model_open(&models[i], paths[i], &err) < 0)
			fail(err.msg);
	}
	if (matcher_new(&m, (const struct model_file *const *)models, nr, &err) < 0)
		fail(err.msg);
	return m;
}

static void tell_line(const struct model_file *const *models, const struct kept *k,
		      const struct match *got, int found)
{
	const struct model_file *f;
	struct model_point p;

	if (!found) {
		printf("%llu\t-\t-\t" STR_FMT "\t" STR_FMT "\n", (unsigned long long)k->line,
		       STR_ARG(k->point),
		       STR_ARG(str_head(k->message, str_find_char(k->message, '\n'))));
		return;
	}
	f = models[got->model];
	p = model_point(f, got->point);
	printf("%llu\t%.2f\t" STR_FMT ":%u\t" STR_FMT "\t" STR_FMT, (unsigned long long)k->line,
	       (double)got->sure, STR_ARG(model_method(f, p.method).class), p.line,
	       STR_ARG(k->point), STR_ARG(str_head(k->message, str_find_char(k->message, '\n'))));
	for (unsigned i = 0; i < got->nr; i++)
		printf("\t" STR_FMT "=" STR_FMT, STR_ARG(model_part(f, got->values[i].part).text),
		       STR_ARG(str_head(got->values[i].text,
					str_find_char(got->values[i].text, '\n'))));
	putchar('\n');
}

/* Of the processor, so that others who work at the same time do not count. */
static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t find_all(const struct bench *b, const struct matcher *m, double *took)
{
	double began = seconds();
	uint64_t found = 0;
	struct match got;

	vec_each (&b->lines, k)
		found += (uint64_t)matcher_find(m, k->point, k->level, k->message, &got);
	*took = seconds() - began;
	return found;
}

static uint64_t find_threads(const struct bench *b, const struct matcher *m, double *took)
{
	double began = seconds();
	uint64_t found = 0;
	struct match got;

	vec_each (&b->lines, k)
		found += (uint64_t)matcher_thread(m, k->thread, &got);
	*took = seconds() - began;
	return found;
}

static void tell_all(const struct bench *b, const struct matcher *m,
		     const struct model_file *const *models)
{
	struct match got;

	vec_each (&b->lines, k) {
		int found = matcher_find(m, k->point, k->level, k->message, &got);

		tell_line(models, k, &got, found);
	}
}

static void measure(const struct bench *b, const struct matcher *m, double build)
{
	double best = 1e9, best_thread = 1e9, took;
	uint64_t found = 0, threads = 0;

	for (int i = 0; i < 3; i++) {
		found = find_all(b, m, &took);
		best = took < best ? took : best;
		threads = find_threads(b, m, &took);
		best_thread = took < best_thread ? took : best_thread;
	}
	printf("%zu lines, %.0f bytes each; %.4f have a statement, %.2f M lines/s; threads %.4f, "
	       "%.2f M/s; built in %.3f s\n",
	       b->lines.nr, (double)b->bytes / (double)b->lines.nr,
	       (double)found / (double)b->lines.nr, (double)b->lines.nr / best / 1e6,
	       (double)threads / (double)b->lines.nr, (double)b->lines.nr / best_thread / 1e6,
	       build);
}

int main(int argc, char **argv)
{
	const struct statements keep = { NULL, keep_message };
	const struct source_options o = { .statements = &keep, .is_bare = true };
	struct model_file *models[16];
	struct bench b = { 0 };
	struct losses losses = { 0 };
	struct sink sink = { .to = &b,
			     .file = take_file,
			     .events = take_events,
			     .spans = take_spans,
			     .losses = &losses };
	bool is_told = argc > 1 && !strcmp(argv[1], "--lines");
	struct matcher *m;
	struct error err;
	double began;

	if (argc < 3 + is_told || argc > 16)
		fail("usage: bench_match [--lines] LOG MODEL...");
	if (source_read(argv[1 + is_told], &o, &sink, &err) < 1)
		fail(err.msg);
	began = seconds();
	m = open_models(argv + 2 + is_told, (unsigned)(argc - 2 - is_told), models);
	if (is_told)
		tell_all(&b, m, (const struct model_file *const *)models);
	else
		measure(&b, m, seconds() - began);
	matcher_free(m);
	for (int i = 0; i < argc - 2 - is_told; i++)
		model_close(models[i]);
	vec_done(&b.lines);
	arena_done(&b.arena);
	return 0;
}
