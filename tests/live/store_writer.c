/*
 * Writes and checks run files for store-kill.bats, which kills it at any moment.
 *
 *	store_writer write PATH NR     a run of NR events and NR / 10 requests
 *	store_writer check PATH        0 and the number of events when the run is whole, 1 when it
 *is absent, 2 and a sentence for anything else
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/store.h"

static int fail(const struct error *err)
{
	fprintf(stderr, "%s\n", err->msg);
	return 2;
}

static int write_events(struct store *s, uint64_t nr, struct error *err)
{
	struct sink sink = store_sink(s);
	int r = 0;

	for (uint64_t i = 0; i < nr && !r; i++) {
		struct event ev = { .ns = (int64_t)(i * 7919 % 100000),
				    .nr_lines = 1,
				    .length = i % 300,
				    .thread = STR("main"),
				    .duration = -1 };

		r = sink.events(sink.to, &ev, 1, err);
	}
	return r;
}

static int write_requests(struct store *s, uint64_t nr, struct error *err)
{
	int r = 0;

	for (uint64_t i = 0; i < nr && !r; i++) {
		struct span span = { .start = (int64_t)i,
				     .end = (int64_t)i + 5,
				     .parent = SPAN_NONE,
				     .confidence = 1,
				     .name = STR("work") };
		struct request_body body = { .spans = &span, .nr_spans = 1 };
		struct request q = { .type = STR("work"),
				     .start = (int64_t)i,
				     .end = (int64_t)i + 5 };
		char key[32];

		snprintf(key, sizeof(key), "%llu", (unsigned long long)i);
		q.key = span.key = str_of(key);
		r = store_add_request(s, &q, &body, err);
	}
	return r;
}

static int write_run(const char *path, uint64_t nr)
{
	struct error err = { 0 };
	struct store *s = NULL;
	int r = store_create(&s, path, &err);

	if (!r)
		r = write_events(s, nr, &err);
	if (!r)
		r = write_requests(s, nr / 10, &err);
	if (!r)
		r = store_finish(s, &err);
	store_close(s);
	return r ? fail(&err) : 0;
}

static int count_event(void *ctx, uint64_t number, const struct event *ev)
{
	++*(uint64_t *)ctx;
	return ev->length == number % 300 ? 0 : 1;
}

static int count_body(void *ctx, const struct request *r, const struct request_body *b)
{
	++*(uint64_t *)ctx;
	return b->nr_spans == 1 && r->end - r->start == 5 ? 0 : 1;
}

static int check_run(const char *path)
{
	uint64_t nr_events = 0, nr_requests = 0;
	struct error err = { .msg = "the run does not hold what was written" };
	struct store *s = NULL;
	int r = store_open(&s, path, &err);

	if (r == -ENOENT)
		return 1;
	if (!r)
		r = store_each_event(s, 0, UINT64_MAX, count_event, &nr_events, &err);
	if (!r)
		r = store_each_body(s, NULL, count_body, &nr_requests, &err);
	store_close(s);
	if (r || nr_requests != nr_events / 10)
		return fail(&err);
	printf("%llu\n", (unsigned long long)nr_events);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "write"))
		return write_run(argv[2], strtoull(argv[3], NULL, 10));
	if (argc == 3 && !strcmp(argv[1], "check"))
		return check_run(argv[2]);
	fprintf(stderr, "usage: store_writer write PATH NR | check PATH\n");
	return 2;
}
