/* How many intervals a second a variance tree takes: 20 nodes each, in a tree of three levels and
 * all below one. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "ask/stats.h"
#include "ask/variance/factors.h"
#include "ask/variance/tree.h"

#define NODES 20
#define INTERVALS 2000000

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void add(struct variance_tree *t, struct variance_part *v, uint64_t noise)
{
	for (int i = NODES - 1; i >= 0; i--)
		v[i].ns = 1000 + (int64_t)(noise >> i & 1023);
	for (int i = NODES - 1; i > 0; i--)
		v[v[i].parent].ns += v[i].ns;
	variance_tree_add(t, v, NODES);
}

static void measure(const char *what, bool flat)
{
	struct variance_options o = { .min_share = 0.01, .nr_what_if = 12, .nr_steps = 10 };
	struct variance_tree *t = variance_tree_new();
	struct variance_part v[NODES];
	struct variance_answer a;
	struct arena arena = { 0 };
	struct dice dice = { 1 };
	char names[NODES][16];
	double began, added;

	for (uint32_t i = 0; i < NODES; i++) {
		snprintf(names[i], sizeof(names[i]), "function_%u", i);
		v[i] = (struct variance_part){ .parent = !i     ? UINT32_MAX
							 : flat ? 0
								: (i - 1) / 3,
					       .name = str_of(names[i]),
					       .work = NAN,
					       .nr_calls = 1 };
	}
	began = seconds();
	for (int i = 0; i < INTERVALS; i++)
		add(t, v, dice_next(&dice));
	added = seconds();
	variance_answer(t, &o, &arena, &a);
	printf("%s: %.2f M intervals/s of a processor, answer of %zu factors in %.3f s\n", what,
	       INTERVALS / (added - began) / 1e6, a.nr_factors, seconds() - added);
	arena_done(&arena);
	variance_tree_free(t);
}

int main(void)
{
	measure("20 nodes, three levels", false);
	measure("20 nodes, one level", true);
	return 0;
}
