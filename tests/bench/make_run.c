/* Writes a run of many made-up requests, to see how questions and the page bear it: make_run FILE
 * [REQUESTS]. Twenty spans each, forty types, twenty nodes of which one is slow, bursts, and an
 * hour in which one type is slow. The same each time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/time.h"
#include "store/store.h"

#define SPANS 20
#define TYPES 40
#define NODES 20
#define SLOW_NODE 7
#define START (1700000000LL * NS_S)
#define APART (4 * NS_MS) /* requests start so far apart, in the mean */

static uint64_t dice;

static uint64_t roll(void)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return dice;
}

static double chance(void)
{
	return (double)(roll() >> 11) / 0x1p53;
}

/* Most near the mean, few far above it. */
static int64_t vary(int64_t ns)
{
	double d = (double)ns * (0.5 - log(1 - chance()) * 0.5);

	return d < 1 ? 1 : (int64_t)d;
}

static char nodes[NODES][16], types[TYPES][40], calls[SPANS][32];

static void name_all(void)
{
	for (int i = 0; i < NODES; i++)
		snprintf(nodes[i], sizeof(nodes[i]), "node%02d", i);
	for (int i = 0; i < TYPES; i++)
		snprintf(types[i], sizeof(types[i]), "Service%d.operation%d", i % 7, i);
	for (int i = 0; i < SPANS; i++)
		snprintf(calls[i], sizeof(calls[i]), "step%d.call", i);
}

/* Calls one after the other, each third one below the one before it. */
static int64_t fill(struct span *spans, int type, int64_t start, uint64_t i, uint64_t nr)
{
	int64_t at = start;
	int replica = (int)(roll() % 4);

	for (int k = 1; k < SPANS; k++) {
		int node = (type + k * 3 + (k % 5 ? 0 : replica)) % NODES;
		int64_t takes = vary((1 + type % 8) * 400 * NS_US);

		if (node == SLOW_NODE && chance() < 0.05)
			takes *= 20;
		if (type == 3 && i > nr / 2 && i < nr / 2 + nr / 10)
			takes *= 4;
		spans[k] = (struct span){ .start = at,
					  .end = at + takes,
					  .parent = k % 3 == 2 ? (uint32_t)k - 1 : 0,
					  .name = str_of(calls[k]),
					  .node = str_of(nodes[node]),
					  .thread = STR("worker"),
					  .confidence = 1 };
		if (k % 3 != 1)
			at += takes;
	}
	spans[0] = (struct span){ .start = start,
				  .end = at,
				  .parent = SPAN_NONE,
				  .name = str_of(types[type]),
				  .node = str_of(nodes[type % NODES]),
				  .confidence = 1 };
	for (int k = 1; k < SPANS; k++)
		if (spans[k].end > spans[0].end)
			spans[0].end = spans[k].end;
	return spans[0].end;
}

static int add_all(struct store *s, uint64_t nr, struct error *err)
{
	struct span spans[SPANS];
	struct request_body body = { .spans = spans, .nr_spans = SPANS };
	int64_t at = START;
	int r = 0;

	for (uint64_t i = 0; i < nr && r >= 0; i++) {
		int type = (int)(chance() * chance() * TYPES);
		bool is_burst = i / 20000 % 5 == 4;
		struct request q = { .type = str_of(types[type]),
				     .method = STR("made"),
				     .key_kind = KEY_TRACE,
				     .confidence = 1,
				     .error = chance() < 0.003,
				     .sequence = (uint64_t)type };
		char key[24];

		snprintf(key, sizeof(key), "%016llx", (unsigned long long)roll());
		q.key = str_of(key);
		q.start = at;
		q.end = fill(spans, type, at, i, nr);
		at += vary(is_burst ? APART / 8 : APART);
		r = store_add_request(s, &q, &body, err);
	}
	return r;
}

int main(int argc, char **argv)
{
	uint64_t nr = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
	struct error err = { 0 };
	struct store *s = NULL;
	int r;

	if (argc < 2) {
		fprintf(stderr, "usage: make_run FILE [REQUESTS]\n");
		return 2;
	}
	dice = 88172645463325252u;
	name_all();
	r = store_create(&s, argv[1], &err);
	if (r >= 0)
		r = add_all(s, nr, &err);
	if (r >= 0)
		r = store_set_fact(s, "version", STR("made"), &err);
	if (r >= 0)
		r = store_finish(s, &err);
	if (r < 0)
		fprintf(stderr, "%s\n", err.msg);
	store_close(s);
	return r < 0;
}
