/*
 * How fast logs are read: the log source over a file into a sink that only counts.
 *
 *      bench_read FILE [CORES] [bare]
 *
 * With "bare" only layout, time and split are done; without, also the ids, durations and titles in
 * the text are found, as the program does it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/error.h"
#include "base/time.h"
#include "model/event.h"
#include "model/sink.h"
#include "source/formats.h"
#include "source/input.h"

struct counts {
	uint64_t events, keyed, lines, bytes;
	int64_t first, last;
};

static int count_file(void *to, const struct file_seen *file, uint32_t *number, struct error *err)
{
	(void)to;
	(void)err;
	printf("layout   %.*s  %.*s\n", STR_ARG(file->format), STR_ARG(file->layout));
	*number = 1;
	return 0;
}

static int count_events(void *to, const struct event *events, size_t nr, struct error *err)
{
	struct counts *c = to;

	(void)err;
	for (size_t i = 0; i < nr; i++) {
		c->keyed += events[i].key_kind != KEY_NONE;
		c->lines += events[i].nr_lines;
		c->last = events[i].ns;
		if (!c->events++)
			c->first = events[i].ns;
	}
	return 0;
}

static int count_spans(void *to, const struct span *spans, size_t nr, struct error *err)
{
	(void)to;
	(void)spans;
	(void)nr;
	(void)err;
	return 0;
}

static void count_bytes(void *to, uint64_t bytes)
{
	((struct counts *)to)->bytes += bytes;
}

static long peak_kib(void)
{
	struct rusage u;

	return getrusage(RUSAGE_SELF, &u) ? 0 : u.ru_maxrss;
}

static void print(const struct counts *c, const struct losses *lost, double seconds)
{
	printf("bytes    %llu\n", (unsigned long long)c->bytes);
	printf("seconds  %.3f\n", seconds);
	printf("MB/s     %.0f\n", (double)c->bytes / 1e6 / seconds);
	printf("events   %llu (%llu with a key, %llu lines, %.3f s of log)\n",
	       (unsigned long long)c->events, (unsigned long long)c->keyed,
	       (unsigned long long)c->lines, (double)(c->last - c->first) / 1e9);
	printf("peak     %.1f MiB\n", (double)peak_kib() / 1024);
	for (int i = 0; i < LOSS_NR; i++)
		if (lost->count[i])
			printf("lost     %llu %s\n", (unsigned long long)lost->count[i],
			       loss_text((enum loss)i, lost->count[i]));
}

int main(int argc, char **argv)
{
	struct source_options o = { .cores = argc > 2 ? (unsigned)atoi(argv[2]) : 0,
				    .is_bare = argc > 3 };
	struct counts counts = { 0 };
	struct losses losses = { 0 };
	struct sink sink = { &counts, count_file, count_events, count_spans, count_bytes, &losses };
	struct error err = { 0 };
	struct input *in = NULL;
	int64_t start = time_tick();
	int r;

	if (argc < 2) {
		fprintf(stderr, "usage: bench_read FILE [CORES] [bare]\n");
		return 2;
	}
	r = input_open(&in, argv[1], &err);
	if (r >= 0)
		r = source_logs.read(in, &o, &sink, &err);
	if (r < 0)
		fprintf(stderr, "bench_read: %s\n", err.msg);
	else
		print(&counts, &losses, (double)(time_tick() - start) / 1e9);
	input_close(in);
	return r < 0 ? 2 : 0;
}
