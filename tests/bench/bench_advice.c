/*
 * What advice costs where it runs: nanoseconds of each run, the best of many rounds.
 *
 *   bench_advice [ROUNDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/error.h"
#include "lib/advice/vm.h"
#include "query/advice_compile.h"
#include "query/parse.h"

#define CALLS 20000

static const char points[] =
	"tracepoint Client.Call at function a!a export size = arg0, user = arg1:text\n"
	"tracepoint Disk.Read at function a!b export bytes = arg0, file = arg1:text\n";

static const char *const queries[] = {
	/* the paper's Q1 and Q2 */
	"From d In Disk.Read GroupBy d.host Select d.host, SUM(d.bytes)",
	"From d In Disk.Read Join c In First(Client.Call) On c -> d GroupBy c.procName "
	"Select c.procName, SUM(d.bytes)",
	"From d In Disk.Read Join c In MostRecent(Client.Call) On c -> d Select c.size",
	"From d In Disk.Read Join c In Client.Call On c -> d GroupBy c.user Select c.user, "
	"SUM(c.size), COUNT",
	"From d In Disk.Read Where d.bytes > 4096 and d.file != 'x' GroupBy d.file Select d.file, "
	"AVERAGE(d.bytes / 1000), COUNT",
	"From d In Disk.Read Join s In (From c In Client.Call Select PERCENTILE(c.size, 99) As p) "
	"On s -> d Select s.p",
};
#define NR (sizeof(queries) / sizeof(*queries))

struct bench {
	struct plan plans[NR];
	struct advice_set sets[NR];
	struct advice_value inputs[ADVICE_INPUTS];
	struct bag empty, bag, other, values;
	struct bag_writer writer, writer_other;
	struct advice_out out;
	unsigned char bytes[BAG_BYTES];
	uint64_t time, sum;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void take(void *to, const struct advice_row *row)
{
	*(uint64_t *)to += row->times;
}

static void run_at(struct bench *b, size_t query, const char *tracepoint, struct bag *bag)
{
	vec_each (&b->sets[query].v, w)
		if (str_eq(w->tracepoint->name, str_of(tracepoint)))
			advice_run(&w->program, b->inputs, bag, &b->writer, ++b->time, &b->out);
}

static void q1(struct bench *b)
{
	run_at(b, 0, "Disk.Read", &b->bag);
}

static void q2_packs(struct bench *b)
{
	bag_begin(&b->empty);
	run_at(b, 1, "Client.Call", &b->empty);
}

static void q2_packed(struct bench *b)
{
	run_at(b, 1, "Client.Call", &b->bag);
}

static void q2_emits(struct bench *b)
{
	run_at(b, 1, "Disk.Read", &b->bag);
}

static void recent_packs(struct bench *b)
{
	run_at(b, 2, "Client.Call", &b->bag);
}

static void recent_emits(struct bench *b)
{
	run_at(b, 2, "Disk.Read", &b->bag);
}

static void group_packs(struct bench *b)
{
	run_at(b, 3, "Client.Call", &b->bag);
}

static void group_emits(struct bench *b)
{
	run_at(b, 3, "Disk.Read", &b->bag);
}

static void filters(struct bench *b)
{
	run_at(b, 4, "Disk.Read", &b->bag);
}

static void percentile_packs(struct bench *b)
{
	run_at(b, 5, "Client.Call", &b->values);
}

static void percentile_emits(struct bench *b)
{
	run_at(b, 5, "Disk.Read", &b->values);
}

static void serializes(struct bench *b)
{
	b->sum += (uint64_t)bag_serialize(&b->bag, b->bytes, sizeof(b->bytes));
	b->sum += bag_deserialize(&b->other, b->bytes, bag_bytes(&b->bag));
}

static void joins(struct bench *b)
{
	bag_join(&b->other, &b->bag);
}

static void adopts(struct bench *b)
{
	bag_adopt(&b->other, &b->bag, &b->writer_other);
}

static const struct {
	const char *name;
	void (*call)(struct bench *b);
	double wanted;
	unsigned calls; /* of a round, where they are not CALLS */
} rows[] = {
	{ "Q1 emits, without a bag", q1, 60 },
	{ "Q2 packs its first tuple", q2_packs, 60 },
	{ "Q2 packs when it has one", q2_packed, 60 },
	{ "Q2 unpacks and emits", q2_emits, 60 },
	{ "MostRecent packs 8 bytes", recent_packs, 50 },
	{ "MostRecent unpacks and emits", recent_emits, 50 },
	{ "a group is packed into", group_packs, 0 },
	{ "a group is unpacked and emitted", group_emits, 0 },
	{ "two filters, a division, two aggregates", filters, 0 },
	{ "a value of 100 for a percentile is packed", percentile_packs, 0 },
	{ "the percentile of 100 values is emitted", percentile_emits, 0, 100 },
	{ "a bag of three entries to bytes and back", serializes, 200 },
	{ "the same joined to what it is", joins, 0 },
	{ "the same adopted", adopts, 0 },
};

static void begin(struct bench *b, struct arena *arena)
{
	struct tracepoints *files = arena_new(arena, struct tracepoints);
	struct error err = { 0 };
	struct queries q;

	tracepoints_parse(STR("bench"), str_of(points), arena, files, &err);
	for (size_t i = 0; i < NR; i++)
		if (query_parse(str_of(queries[i]), arena, &q, &err) < 0 ||
		    query_plan(&b->plans[i], &q, REWRITE_ALL, arena, &err) < 0 ||
		    advice_make(&b->sets[i], &b->plans[i], (uint32_t)i, files, 1, arena, &err) <
			    0) {
			fprintf(stderr, "%s\n", err.msg);
			exit(2);
		}
	b->out = (struct advice_out){ .to = &b->sum, .emit = take };
	for (size_t i = 0; i < ADVICE_INPUTS; i++)
		b->inputs[i] = (struct advice_value){ .type = ADVICE_INT, .i = 4711 };
	b->inputs[ADVICE_INPUT_HOST] = b->inputs[ADVICE_INPUT_PROC_NAME] =
		b->inputs[ADVICE_INPUT_OWN + 1] = (struct advice_value){ .type = ADVICE_TEXTUAL,
									 .length = 10,
									 .text = "mapreduce1" };
	bag_begin(&b->bag);
	bag_begin(&b->other);
	bag_writer_begin(&b->writer, (uint64_t)77 << 32);
	bag_writer_begin(&b->writer_other, (uint64_t)78 << 32);
	q2_packed(b);
	recent_packs(b);
	group_packs(b);
	bag_begin(&b->values);
	for (int64_t i = 0; i < 100; i++) {
		b->inputs[ADVICE_INPUT_OWN].i = i * 7919 % 1009;
		percentile_packs(b);
	}
	b->inputs[ADVICE_INPUT_OWN].i = 4711;
}

int main(int argc, char **argv)
{
	long nr = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
	struct bench *b = calloc(1, sizeof(*b));
	struct arena arena = { 0 };

	begin(b, &arena);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		unsigned calls = rows[i].calls ? rows[i].calls : CALLS;
		double best = 1e18;

		for (long k = 0; k < nr; k++) {
			double from = now(), took;

			for (unsigned c = 0; c < calls; c++)
				rows[i].call(b);
			took = (now() - from) / calls;
			best = took < best ? took : best;
		}
		printf("%-44s%8.1f ns", rows[i].name, best);
		if (rows[i].wanted > 0)
			printf("   under %.0f ns   %s", rows[i].wanted,
			       best < rows[i].wanted ? "reached" : "MISSED");
		printf("\n");
	}
	for (size_t i = 0; i < NR; i++) {
		query_plan_done(&b->plans[i]);
		advice_set_done(&b->sets[i]);
	}
	arena_done(&arena);
	free(b);
	return 0;
}
