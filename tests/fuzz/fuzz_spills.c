/* Records of a stranger about tuples that found no room, and runs that need them: refused, or
 * finished; either way it ends, and what waited is told. Words: a length, then a record. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "lib/advice/vm.h"
#include "query/advice_compile.h"
#include "query/parse.h"
#include "query/spills.h"
#include "wire/spill.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define QUERIES 3

static struct advice_set sets[QUERIES];
static struct arena arena;

static void make(void)
{
	static const char points_text[] =
		"tracepoint A at function a!a export x = arg0, n = arg1, g = arg2:text\n"
		"tracepoint B at function a!b export x = arg0, n = arg1, g = arg2:text\n"
		"tracepoint C at function a!c export x = arg0, n = arg1, g = arg2:text\n";
	static const char *const texts[QUERIES] = {
		"From b In B Join a In A On a -> b Join c In FirstN(2, C) On c -> a "
		"Select b.n, a.x, c.g",
		"From b In B Join s In (From a In A GroupBy a.g Select a.g, COUNT As c, MAX(a.g) "
		"As m) On s -> b Where s.c > 0 Select b.n, s.g, s.m",
		"From b In B Join a In MostRecentN(3, A) On a -> b Join c In C On c -> a "
		"GroupBy c.g Select c.g, SUM(c.x), MIN(a.g), COUNT"
	};
	struct tracepoints points;
	struct error err;

	if (tracepoints_parse(STR("a"), str_of(points_text), &arena, &points, &err) < 0)
		abort();
	for (uint32_t i = 0; i < QUERIES; i++) {
		struct queries q;
		struct plan p;

		if (query_parse(str_of(texts[i]), &arena, &q, &err) < 0 ||
		    query_plan(&p, &q, REWRITE_ALL, &arena, &err) < 0 ||
		    advice_make(&sets[i], &p, i + 1, &points, 1, &arena, &err) < 0)
			abort();
		query_plan_done(&p);
	}
}

static const struct advice_program *program_of(void *ctx, uint32_t query, uint16_t piece)
{
	(void)ctx;
	if (query - 1 >= QUERIES || piece >= sets[query - 1].v.nr)
		return NULL;
	return &sets[query - 1].v.v[piece].program;
}

static void take(void *ctx, const struct advice_row *row)
{
	volatile uint64_t *sum = ctx;

	for (size_t i = 0; i < row->program->nr_columns; i++)
		*sum += advice_value_hash(&row->columns[i]);
	for (size_t i = 0; i < row->program->nr_totals; i++)
		*sum += row->totals[i].nr + advice_value_hash(&row->totals[i].value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t *words = malloc(size + 8), sum = 0;
	size_t nr = size / 8, at = 0;
	struct spills_use use = { &sum, program_of, take, 20000, 1 };
	struct spills_counts c;
	struct spills *s;

	if (!sets[0].v.nr)
		make();
	s = spills_new(&use);
	memcpy(words, data, size);
	while (at < nr) {
		size_t length = words[at++] % (SPILL_WORDS + 2);

		length = length < nr - at ? length : nr - at;
		spills_take(s, words + at, length, 0);
		at += length;
	}
	spills_finish(s, 0, 0);
	spills_finish(s, 1, SPILLS_ALL);
	if (spills_waiting(s))
		abort();
	spills_tell(s, &c);
	spills_free(s);
	free(words);
	return 0;
}
