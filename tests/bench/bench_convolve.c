/*
 * Makes a trace of free-form messages after section 7.1.1 of the black-boxes paper, follows it by
 * convolution, and says how long that took and what is right: the causes, and how far the
 * confidence in them can be believed.
 *
 * usage: bench_convolve [REQUESTS [SECONDS [QUANTUM_MS]]]      25000 requests (200,000 messages),
 * 500 s, 10 ms; a quantum of 0 is chosen by the program
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/time.h"
#include "infer/convolve/follow.h"

struct leg {
	const char *to;
	double ms, deviation; /* how long the sender waits */
};

/* A multi-tier system: each leg is sent by the node that got the one before. */
static const struct leg login[] = { { "C1", 0, 0 },   { "WS1", 0, 0 },   { "AUTH", 50, 5 },
				    { "DB1", 50, 5 }, { "AUTH", 10, 1 }, { "WS1", 10, 1 },
				    { "AP1", 50, 5 }, { "DB2", 50, 5 },  { "AP1", 10, 1 },
				    { "WS1", 10, 1 }, { "C1", 10, 1 },   { NULL, 0, 0 } };
static const struct leg order[] = { { "C2", 0, 0 },   { "WS2", 0, 0 },  { "AP1", 50, 5 },
				    { "DB1", 50, 5 }, { "AP1", 10, 1 }, { "WS2", 10, 1 },
				    { "C2", 10, 1 },  { NULL, 0, 0 } };
static const struct leg search[] = { { "C1", 0, 0 },   { "WS1", 0, 0 },  { "AP2", 30, 5 },
				     { "DB2", 20, 5 }, { "AP2", 10, 1 }, { "DB2", 20, 2 },
				     { "AP2", 10, 1 }, { "WS1", 10, 1 }, { "C1", 10, 1 },
				     { NULL, 0, 0 } };
static const struct leg *const patterns[] = { login, order, search };
static const double shares[] = { 0.36, 0.36, 0.28 };

static double uniform(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static double gauss(uint64_t *seed)
{
	double a = uniform(seed), b = uniform(seed);

	return sqrt(-2 * log(a)) * cos(6.283185307179586 * b);
}

/* Positions follow the order of making, so the cause of a message is the one made before it. */
static void make(struct traffic *t, int nr, double seconds)
{
	uint64_t seed = 9;

	for (int i = 0; i < nr; i++) {
		double which = uniform(&seed), ms = uniform(&seed) * seconds * 1000;
		size_t p = which < shares[0] ? 0 : which < shares[0] + shares[1] ? 1 : 2;

		for (const struct leg *l = patterns[p] + 1; l->to; l++) {
			if (l->ms > 0)
				ms += fmax(l->ms + gauss(&seed) * l->deviation, 0.001);
			/* the number of the event says whether it is the first of its request */
			traffic_add(t, str_of(l[-1].to), str_of(l->to),
				    (int64_t)(ms * (double)NS_MS), l == patterns[p] + 1);
		}
	}
}

static void score(const struct traffic *t)
{
	double nr[10] = { 0 }, right[10] = { 0 };
	size_t all = 0;

	vec_each (&t->v, m) {
		uint64_t cause = m->cause == SENT_NONE ? 0 : t->v.v[m->cause].position;
		bool good = m->placed && cause == (m->number ? 0 : m->position - 1);
		int bin = (int)(m->confidence * 10);

		all += good;
		if (!m->placed || m->cause == SENT_NONE)
			continue;
		bin = bin > 9 ? 9 : bin;
		nr[bin]++;
		right[bin] += good;
	}
	printf("right cause: %.1f %%\n", 100 * (double)all / (double)t->v.nr);
	for (int i = 9; i >= 0; i--)
		if (nr[i] > 0)
			printf("confidence %.1f: %7.0f messages, %.1f %% right\n", i / 10.0, nr[i],
			       100 * right[i] / nr[i]);
}

int main(int argc, char **argv)
{
	struct follow_options o = FOLLOW_DEFAULTS;
	struct traffic t = { 0 };
	struct followed f = { 0 };
	int64_t began;
	clock_t worked;

	make(&t, argc > 1 ? atoi(argv[1]) : 25000, argc > 2 ? atof(argv[2]) : 500);
	o.quantum_ns = (int64_t)((argc > 3 ? atof(argv[3]) : 10) * (double)NS_MS);
	began = time_tick();
	worked = clock();
	traffic_settle(&t);
	follow(&t, &o, &f);
	printf("convolution: %zu messages, quantum %.1f ms, %llu correlations, %.2f s, %.2f s of "
	       "processor time\n",
	       t.v.nr, (double)f.quantum_ns / (double)NS_MS, (unsigned long long)f.nr_correlations,
	       (double)(time_tick() - began) / (double)NS_S,
	       (double)(clock() - worked) / CLOCKS_PER_SEC);
	score(&t);
	followed_done(&f);
	traffic_done(&t);
	return 0;
}
