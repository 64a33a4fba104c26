#include "capture/weave/clock.h"

#include "base/time.h"

#define LOOKS 5
#define SET_NS (50 * NS_MS)

int weave_clock_open(struct weave_clock *c, struct error *err)
{
	*c = (struct weave_clock){ 0 };
	return ticks_init(&c->ticks, err);
}

void weave_clock_close(struct weave_clock *c)
{
	ticks_done(&c->ticks);
}

/* Of several looks the quickest. */
int64_t weave_clock_ahead(void)
{
	int64_t best = INT64_MAX, offset = 0;

	for (int i = 0; i < LOOKS; i++) {
		int64_t from = time_tick(), wall = time_now(), took = time_tick() - from;

		if (took < best) {
			best = took;
			offset = wall - from - took / 2;
		}
	}
	return offset;
}

struct probe_clock weave_clock_now(struct weave_clock *c)
{
	uint64_t tick = ticks_now();
	int64_t ns, told, off;
	double rate;

	ticks_keep(&c->ticks);
	if (c->last.rate && tick - c->last.at_tick < (uint64_t)(NS_S / c->ticks.rate))
		return c->last;
	ns = ticks_ns(&c->ticks, tick) + weave_clock_ahead();
	rate = c->ticks.rate;
	if (c->last.rate) {
		told = (int64_t)c->last.at_ns +
		       (int64_t)((unsigned __int128)(tick - c->last.at_tick) * c->last.rate >> 32);
		off = ns - told;
		if (off < SET_NS && off > -SET_NS) {
			ns = told;
			rate *= 1 + (double)off / (double)NS_S;
		}
	}
	c->last = (struct probe_clock){ tick, (uint64_t)ns, (uint64_t)(rate * 0x1p32) };
	return c->last;
}
