/*
 * How fast captures are read: packets, connections, protocols, into a sink that only counts.
 *
 *      bench_pcap FILE
 */
#include <stdio.h>
#include <sys/resource.h>

#include "base/error.h"
#include "base/time.h"
#include "model/event.h"
#include "model/sink.h"
#include "source/formats.h"
#include "source/input.h"

struct counts {
	uint64_t calls, returns, others;
};

static int count_file(void *to, const struct file_seen *file, uint32_t *number, struct error *err)
{
	(void)to, (void)file, (void)err;
	*number = 1;
	return 0;
}

static int count_events(void *to, const struct event *events, size_t nr, struct error *err)
{
	struct counts *c = to;

	(void)err;
	for (size_t i = 0; i < nr; i++) {
		c->calls += events[i].op == MESSAGE_CALL;
		c->returns += events[i].op == MESSAGE_RETURN;
		c->others += events[i].op == MESSAGE_SENT;
	}
	return 0;
}

static void print(const struct counts *c, const struct losses *lost, uint64_t bytes, double seconds)
{
	const double mb = (double)bytes / 1e6;
	struct rusage u = { 0 };

	getrusage(RUSAGE_SELF, &u);
	printf("%.3f s  %.0f MB/s  %llu calls  %llu returns  %llu others  peak %.1f MiB\n", seconds,
	       mb / seconds, (unsigned long long)c->calls, (unsigned long long)c->returns,
	       (unsigned long long)c->others, (double)u.ru_maxrss / 1024);
	for (int i = 0; i < LOSS_NR; i++)
		if (lost->count[i])
			printf("lost     %llu %s\n", (unsigned long long)lost->count[i],
			       loss_text((enum loss)i, lost->count[i]));
}

int main(int argc, char **argv)
{
	const struct source_options o = { 0 };
	struct counts counts = { 0 };
	struct losses losses = { 0 };
	struct sink sink = { &counts, count_file, count_events, NULL, NULL, &losses };
	struct error err = { 0 };
	struct input *in = NULL;
	int64_t start = time_tick();
	int r;

	if (argc != 2) {
		fprintf(stderr, "usage: bench_pcap FILE\n");
		return 2;
	}
	r = input_open(&in, argv[1], &err);
	if (!r)
		r = source_capture.read(in, &o, &sink, &err);
	if (r < 0)
		fprintf(stderr, "bench_pcap: %s\n", err.msg);
	else
		print(&counts, &losses, input_bytes(in), (double)(time_tick() - start) / NS_S);
	input_close(in);
	return r < 0 ? 2 : 0;
}
