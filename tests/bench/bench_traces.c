/*
 * How fast traces are read: whatever format a file is of, into a sink that only counts.
 *
 *	bench_traces FILE [CORES]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/error.h"
#include "base/time.h"
#include "model/event.h"
#include "model/sink.h"
#include "model/span.h"
#include "source/input.h"
#include "source/source.h"

struct counts {
	uint64_t spans, events, attr_bytes, bytes;
};

static int count_file(void *to, const struct file_seen *file, uint32_t *number, struct error *err)
{
	(void)to, (void)err;
	printf("format   %.*s\n", STR_ARG(file->format));
	*number = 1;
	return 0;
}

static int count_events(void *to, const struct event *events, size_t nr, struct error *err)
{
	(void)events, (void)err;
	((struct counts *)to)->events += nr;
	return 0;
}

static int count_spans(void *to, const struct span *spans, size_t nr, struct error *err)
{
	struct counts *c = to;

	(void)err;
	for (size_t i = 0; i < nr; i++)
		c->attr_bytes += spans[i].attrs.n;
	c->spans += nr;
	return 0;
}

static void count_bytes(void *to, uint64_t bytes)
{
	((struct counts *)to)->bytes += bytes;
}

static int bench(const char *path, unsigned cores, struct error *err)
{
	const struct source_options options = { .cores = cores };
	struct losses losses = { 0 };
	struct counts c = { 0 };
	struct sink sink = { &c, count_file, count_events, count_spans, count_bytes, &losses };
	int64_t began = time_tick();
	struct rusage usage = { 0 };
	double seconds;
	int r = source_read(path, &options, &sink, err);

	seconds = (double)(time_tick() - began) / 1e9;
	if (r < 0)
		return r;
	getrusage(RUSAGE_SELF, &usage);
	printf("bytes    %llu\nseconds  %.3f\nMB/s     %.0f\n", (unsigned long long)c.bytes,
	       seconds, (double)c.bytes / 1e6 / seconds);
	printf("spans    %llu\nevents   %llu\n", (unsigned long long)c.spans,
	       (unsigned long long)c.events);
	printf("cpu      %.3f s\npeak     %.1f MiB\n",
	       (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
	       (double)usage.ru_maxrss / 1024);
	for (int i = 0; i < LOSS_NR; i++)
		if (losses.count[i])
			printf("lost     %llu %s\n", (unsigned long long)losses.count[i],
			       loss_text((enum loss)i, losses.count[i]));
	return 0;
}

int main(int argc, char **argv)
{
	struct error err = { 0 };

	if (argc < 2) {
		fprintf(stderr, "usage: bench_traces FILE [CORES]\n");
		return 2;
	}
	if (bench(argv[1], argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0, &err) < 0) {
		fprintf(stderr, "bench_traces: %s\n", err.msg);
		return 2;
	}
	return 0;
}
