#include "capture/probe/ticks.h"

#include <cpuid.h>
#include <errno.h>
#include <time.h>

#include "base/error.h"

#define TRIES 16
#define FIRST_NS 10000000
#define PIECE_NS 1000000000 /* a new piece of the line begins so often */

uint64_t ticks_now(void)
{
	return __builtin_ia32_rdtsc();
}

static int64_t clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Both at the same moment: the narrowest of some tries. */
static void pair(uint64_t *tick, int64_t *ns)
{
	uint64_t best = UINT64_MAX;

	*tick = 0;
	*ns = 0;
	for (int i = 0; i < TRIES; i++) {
		uint64_t before = ticks_now(), after;
		int64_t at = clock_now();

		after = ticks_now();
		if (after - before < best) {
			best = after - before;
			*tick = before + (after - before) / 2;
			*ns = at;
		}
	}
}

int ticks_init(struct ticks *t, struct error *err)
{
	unsigned a, b, c, d = 0;
	uint64_t tick;
	int64_t ns;

	*t = (struct ticks){ 0 };
	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
		return error_set(err, ENOTSUP,
				 "the time stamp counter of this processor does not run evenly");
	pair(&t->first_tick, &t->first_ns);
	nanosleep(&(struct timespec){ .tv_nsec = FIRST_NS }, NULL);
	pair(&tick, &ns);
	t->rate = (double)(ns - t->first_ns) / (double)(tick - t->first_tick);
	vec_push(&t->v, (struct ticks_piece){ t->first_tick, t->first_ns, t->rate });
	return 0;
}

void ticks_done(struct ticks *t)
{
	vec_done(&t->v);
}

int64_t ticks_ns(const struct ticks *t, uint64_t tick)
{
	size_t low = 0, high = t->v.nr;
	const struct ticks_piece *p;

	/* mostly the last, or the one before */
	if (high > 1 && tick >= t->v.v[high - 2].tick)
		low = tick >= t->v.v[high - 1].tick ? high - 1 : high - 2;
	else
		while (high - low > 1) {
			size_t middle = low + (high - low) / 2;

			if (t->v.v[middle].tick <= tick)
				low = middle;
			else
				high = middle;
		}
	p = &t->v.v[low];
	return p->ns + (int64_t)((double)(int64_t)(tick - p->tick) * p->ns_per_tick);
}

/* The next piece begins where the last one is, and meets the clock where it ends. */
void ticks_keep(struct ticks *t)
{
	const struct ticks_piece *last = &t->v.v[t->v.nr - 1];
	struct ticks_piece next;
	int64_t ns, span;

	pair(&next.tick, &ns);
	span = t->v.nr < 4 ? PIECE_NS / 50 : PIECE_NS;
	if (ns - last->ns < span)
		return;
	next.ns = ticks_ns(t, next.tick);
	t->rate = (double)(ns - t->first_ns) / (double)(next.tick - t->first_tick);
	next.ns_per_tick = t->rate * (1 + (double)(ns - next.ns) / PIECE_NS);
	if (next.ns_per_tick < t->rate / 2)
		next.ns_per_tick = t->rate / 2;
	vec_push(&t->v, next);
}
