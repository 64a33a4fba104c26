/*
 * What a line costs on its way to the run file, step by step, on one thread:
 *
 *      bench_lines LOGS MODEL|- read|sight|gather|store|all
 *
 * read: layout, keys, titles; sight: also statement and names; gather: also the lines as inference
 * keeps them; store: sight and the run file; all: everything but inference.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/time.h"
#include "infer/requests/gather.h"
#include "infer/requests/match.h"
#include "infer/requests/sight.h"
#include "model/event.h"
#include "model/sink.h"
#include "program/model_file.h"
#include "source/source.h"
#include "store/store.h"

struct bench {
	struct sink store;
	struct gather *gather;
	bool has_store;
	uint64_t nr;
};

static int take_file(void *to, const struct file_seen *f, uint32_t *number, struct error *err)
{
	struct bench *b = to;

	*number = 1;
	if (b->has_store && b->store.file(b->store.to, f, number, err) < 0)
		return -1;
	if (b->gather)
		gather_file(b->gather, *number, f->path);
	return 0;
}

static int take_events(void *to, const struct event *ev, size_t nr, struct error *err)
{
	struct bench *b = to;

	b->nr += nr;
	if (b->gather)
		gather_events(b->gather, ev, nr);
	return b->has_store ? b->store.events(b->store.to, ev, nr, err) : 0;
}

static int take_spans(void *to, const struct span *spans, size_t nr, struct error *err)
{
	(void)to;
	(void)spans;
	(void)nr;
	(void)err;
	return 0;
}

static int read_all(char **argv, struct bench *b, const struct matcher *m, bool sees)
{
	const struct statements st = {
		m, sight_event, m != NULL, sight_remember, sight_forget, sight_event_again
	};
	struct source_options o = { .cores = 1, .zone = "UTC", .statements = sees ? &st : NULL };
	struct losses losses = { 0 };
	struct sink sink = { b, take_file, take_events, take_spans, NULL, &losses };
	struct source_list list = { 0 };
	struct error err = { 0 };
	int r = source_expand(&argv[1], 1, &list, &err);

	for (size_t i = 0; r >= 0 && i < list.nr; i++)
		r = source_read_listed(&list, i, &o, &sink, &err);
	if (r < 0)
		fprintf(stderr, "bench_lines: %s\n", err.msg);
	source_list_done(&list);
	return r;
}

int main(int argc, char **argv)
{
	struct model_file *model = NULL;
	struct matcher *m = NULL;
	struct gather gather = { 0 };
	struct bench b = { 0 };
	struct store *store = NULL;
	struct error err = { 0 };
	int64_t start;
	int r = 0;

	if (argc < 4)
		return 2;
	if (strcmp(argv[2], "-") != 0) {
		const struct model_file *one;

		r = model_open(&model, argv[2], &err);
		one = model;
		if (r >= 0)
			r = matcher_new(&m, &one, 1, &err);
	}
	if (!strcmp(argv[3], "gather") || !strcmp(argv[3], "all"))
		b.gather = &gather;
	if (r >= 0 && (!strcmp(argv[3], "store") || !strcmp(argv[3], "all"))) {
		r = store_create(&store, NULL, &err);
		b.has_store = true;
		if (r >= 0)
			b.store = store_sink(store);
	}
	start = time_tick();
	if (r >= 0)
		r = read_all(argv, &b, m, strcmp(argv[3], "read") != 0);
	if (r < 0)
		fprintf(stderr, "bench_lines: %s\n", err.msg);
	else
		printf("%s: %llu events, %.0f ns each\n", argv[3], (unsigned long long)b.nr,
		       (double)(time_tick() - start) / (double)(b.nr ? b.nr : 1));
	store_close(store);
	gather_done(&gather);
	matcher_free(m);
	model_close(model);
	return r < 0 ? 2 : 0;
}
