/* bench_match LOG MODEL... : finds the statement of every line, alone, on one thread; with
 * --lines tells each line's statement instead. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/time.h"
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
		vec_push(&b->lines, (struct kept){ arena_str(a, ev[i].point),
						   arena_str(a, ev[i].values),
						   arena_str(a, ev[i].thread), ev[i].level,
						   ev[i].line });
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

static struct matcher *open_models(char **paths, unsigned nr, const struct model_file **models)
{
	struct matcher *m;
	struct error err;

	for (unsigned i = 0; i < nr; i++) {
		struct model_file *f;

		if (model_open(&f, paths[i], &err) < 0)
			fail(err.msg);
		models[i] = f;
	}
	if (matcher_new(&m, models, nr, &err) < 0)
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
	       STR_ARG(k->point),
	       STR_ARG(str_head(k->message, str_find_char(k->message, '\n'))));
	for (unsigned i = 0; i < got->nr; i++)
		printf("\t" STR_FMT "=" STR_FMT,
		       STR_ARG(model_part(f, got->values[i].part).text),
		       STR_ARG(str_head(got->values[i].text,
					str_find_char(got->values[i].text, '\n'))));
	putchar('\n');
}

int main(int argc, char **argv)
{
	const struct statements keep = { NULL, keep_message };
	const struct source_options o = { .statements = &keep, .is_bare = true };
	const struct model_file *models[16];
	struct bench b = { 0 };
	struct losses losses = { 0 };
	struct sink sink = { &b, take_file, take_events, take_spans, NULL, &losses };
	bool is_told = argc > 1 && !strcmp(argv[1], "--lines");
	struct matcher *m;
	struct match got;
	struct error err;
	uint64_t found = 0, threads = 0;
	int64_t began, took, with;

	if (argc < 3 + is_told || argc > 16)
		fail("usage: bench_match [--lines] LOG MODEL...");
	if (source_read(argv[1 + is_told], &o, &sink, &err) < 1)
		fail(err.msg);
	began = time_tick();
	m = open_models(argv + 2 + is_told, (unsigned)(argc - 2 - is_told), models);
	with = time_tick() - began;
	began = time_tick();
	vec_each (&b.lines, k) {
		int r = matcher_find(m, k->point, k->level, k->message, &got);

		found += (uint64_t)r;
		if (is_told)
			tell_line(models, k, &got, r);
	}
	took = time_tick() - began;
	began = time_tick();
	vec_each (&b.lines, k)
		threads += (uint64_t)matcher_thread(m, k->thread, &got);
	if (!is_told)
		printf("%llu %llu %llu %.6f %.6f %.6f\n", (unsigned long long)b.lines.nr,
		       (unsigned long long)found, (unsigned long long)threads, (double)took / 1e9,
		       (double)(time_tick() - began) / 1e9, (double)with / 1e9);
	matcher_free(m);
	vec_done(&b.lines);
	arena_done(&b.arena);
	return 0;
}
