/*
 * Puts a query into a running process and takes it out again, as often as it is told to, and says
 * what one round took: the least, the median and the most, in ms.
 *
 * Methods of Java classes are taken out a second later, or with the next order: two queries that
 * take turns are woven and taken out every time.
 *
 * usage: weave_rounds PID ROUNDS TRACEPOINTS QUERY [OTHER_QUERY]
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/time.h"
#include "capture/weave/weave.h"

static int by_size(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool text_read(const char *path, struct buf *to)
{
	FILE *f = fopen(path, "re");
	char bytes[4096];
	size_t n;

	while (f && (n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		buf_add(to, (struct str){ bytes, n });
	if (f)
		fclose(f);
	return f != NULL;
}

static int round_of(struct weave *w, const struct weave_request *r, int64_t took[2],
		    struct error *err)
{
	struct buf told = { 0 };
	int64_t from = time_tick();
	int got = weave_install(w, r, &told, err);

	took[0] = time_tick() - from;
	if (got == 0)
		got = error_set(err, 2, "it is nowhere: " STR_FMT, STR_ARG(buf_str(&told)));
	if (got > 0)
		got = weave_gather(w, true, err);
	from = time_tick();
	if (got >= 0)
		got = weave_remove(w, r->id, err);
	took[1] = time_tick() - from;
	weave_forget(w, r->id);
	buf_done(&told);
	return got;
}

static void times_say(const char *what, int64_t *v, size_t nr)
{
	qsort(v, nr, sizeof(*v), by_size);
	printf("%s %.1f %.1f %.1f ms\n", what, (double)v[0] / NS_MS, (double)v[nr / 2] / NS_MS,
	       (double)v[nr - 1] / NS_MS);
}

int main(int argc, char **argv)
{
	const struct weave_options o = { 0 };
	struct weave_request r = { .file = STR("tracepoints") };
	struct error err = { 0 };
	struct buf points = { 0 }, told = { 0 };
	struct weave *w = NULL;
	size_t nr = argc == 5 || argc == 6 ? (size_t)atoi(argv[2]) : 0;
	int64_t *in = mem_zalloc((nr + 1) * 8), *out = mem_zalloc((nr + 1) * 8);
	int got = nr && text_read(argv[3], &points) ? weave_open(&w, &o, &err) : -2;

	if (got >= 0)
		got = weave_enter(w, atoi(argv[1]), &told, &err);
	r.tracepoints = buf_str(&points);
	for (size_t i = 0; i < nr && got >= 0; i++) {
		int64_t took[2];

		r.id = i + 1;
		r.text = str_of(argv[argc == 6 && i % 2 ? 5 : 4]);
		got = round_of(w, &r, took, &err);
		in[i] = took[0];
		out[i] = took[1];
	}
	weave_close(w);
	if (got >= 0) {
		times_say("in", in, nr);
		times_say("out", out, nr);
	} else {
		fprintf(stderr, "%s\n", err.msg);
	}
	buf_done(&points);
	buf_done(&told);
	free(in);
	free(out);
	return got < 0;
}
