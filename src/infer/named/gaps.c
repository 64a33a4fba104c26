/*
 * Silences of one kind of identifier mostly fall into two heaps: milliseconds while one request
 * works on the thing, seconds or minutes until the next request does. Otsu's method finds the cut
 * between two heaps of a histogram, here over the logarithm of the silence (four buckets to an
 * octave). Where there is only one heap, nothing is cut.
 */
#include "infer/named/gaps.h"

#include <math.h>
#include <stdlib.h>

#include "base/names.h"
#include "base/time.h"
#include "base/vec.h"

#define NR_BUCKETS 200
#define PER_OCTAVE 4
#define SHORT_NS (50 * NS_MS)
#define APART_MIN 0.7 /* Otsu's separability below which there is but one heap */
#define OCTAVES_MIN 3 /* and the heaps' means must differ by this much */
#define SURE_OF 20    /* silences needed on either side */

struct heap {
	uint64_t count[NR_BUCKETS];
};

struct gaps {
	struct names words;
	VEC(struct heap *) heaps; /* by word */
};

struct gaps *gaps_new(void)
{
	return mem_zalloc(sizeof(struct gaps));
}

void gaps_free(struct gaps *g)
{
	if (!g)
		return;
	vec_each (&g->heaps, h)
		free(*h);
	vec_done(&g->heaps);
	names_done(&g->words);
	free(g);
}

struct str gaps_word(struct str key)
{
	return str_head(key, str_find_char(key, '_'));
}

static unsigned bucket_of(int64_t ns)
{
	double at = ns <= SHORT_NS ? 0 : PER_OCTAVE * log2((double)ns / SHORT_NS);

	return at >= NR_BUCKETS ? NR_BUCKETS - 1 : (unsigned)at;
}

static int64_t bucket_end(unsigned bucket)
{
	return (int64_t)(exp2((double)(bucket + 1) / PER_OCTAVE) * SHORT_NS);
}

void gaps_add(struct gaps *g, struct str word, int64_t ns)
{
	sym_t sym = names_add(&g->words, word);

	while (g->heaps.nr <= sym)
		vec_push(&g->heaps, NULL);
	if (!g->heaps.v[sym])
		g->heaps.v[sym] = mem_zalloc(sizeof(struct heap));
	if (ns >= 0)
		g->heaps.v[sym]->count[bucket_of(ns)]++;
}

struct cut {
	unsigned after; /* the last bucket of the lower heap */
	double apart;   /* share of the variance that lies between the heaps */
	double octaves; /* between their means */
	double lower, upper;
};

static struct cut otsu(const struct heap *h)
{
	double all = 0, sum = 0, squares = 0, below = 0, below_sum = 0, variance;
	struct cut best = { 0 };

	for (unsigned i = 0; i < NR_BUCKETS; i++) {
		all += (double)h->count[i];
		sum += (double)h->count[i] * i;
		squares += (double)h->count[i] * i * i;
	}
	variance = all > 0 ? squares / all - sum / all * (sum / all) : 0;
	for (unsigned i = 0; i + 1 < NR_BUCKETS && variance > 0; i++) {
		double apart, distance;

		below += (double)h->count[i];
		below_sum += (double)h->count[i] * i;
		if (!h->count[i] || below <= 0 || below >= all)
			continue;
		distance = (sum - below_sum) / (all - below) - below_sum / below;
		apart = below / all * (1 - below / all) * distance * distance / variance;
		if (apart > best.apart)
			best = (struct cut){ i, apart, distance / PER_OCTAVE, below, all - below };
	}
	return best;
}

int64_t gaps_limit(const struct gaps *g, struct str word, int64_t idle_ns, double *apart)
{
	sym_t sym = names_find(&g->words, word);
	struct cut cut;
	int64_t ns;

	*apart = 0;
	if (!sym || !g->heaps.v[sym])
		return idle_ns;
	cut = otsu(g->heaps.v[sym]);
	if (cut.apart < APART_MIN || cut.octaves < OCTAVES_MIN || cut.lower < SURE_OF ||
	    cut.upper < SURE_OF)
		return idle_ns;
	*apart = cut.apart;
	ns = bucket_end(cut.after);
	return ns < idle_ns ? ns : idle_ns;
}
