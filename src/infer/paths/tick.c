/*
 * Many programs stamp in milliseconds. Then no delay at all is common and says little, while on a
 * scale of small bins it looks like the sharpest of all. The times themselves need not be round
 * (clocks are corrected), but delays within a request are: how long calls last, and for nearly
 * every call how long before it one of the spans around it began.
 */
#include "infer/paths/tick.h"

#include <stdbool.h>

#include "infer/paths/calls.h"
#include "infer/paths/piece.h"

enum { TICKS = 6, TICK_MAX = 1000000000, LOOKED_AT = 2000, SPANS = 32 };

static bool are_round(const struct stretch *s, int64_t tick)
{
	uint32_t nr = 0, round = 0;

	for (uint32_t i = 0; i < s->nr_out && nr < LOOKED_AT; i++) {
		const struct call *c = &s->w->calls.v[s->out[i]];

		nr += c->t4 != CALL_OPEN;
		round += c->t4 != CALL_OPEN && (c->t4 - c->t1) % tick == 0;
	}
	return nr && round >= nr - nr / 100;
}

static bool has_round_delay(const struct stretch *s, uint32_t before, int64_t t, int64_t tick)
{
	for (uint32_t k = before, n = 0; k-- > 0 && n < SPANS; n++) {
		const struct call *c = &s->w->calls.v[s->in[k]];

		if (c->t4 >= t && (t - c->t1) % tick == 0)
			return true;
	}
	return false;
}

static bool begin_round(const struct stretch *s, int64_t tick)
{
	uint32_t nr = 0, round = 0, before = 0;

	for (uint32_t i = 0; i < s->nr_out && nr < LOOKED_AT; i++, nr++) {
		int64_t t = s->w->calls.v[s->out[i]].t1;

		while (before < s->nr_in && s->w->calls.v[s->in[before]].t1 <= t)
			before++;
		round += has_round_delay(s, before, t, tick);
	}
	return round >= nr - nr / 20; /* a few may have lost their span */
}

int64_t tick_of(const struct stretch *s)
{
	int64_t tick = TICK_MAX;

	for (int k = 0; k < TICKS; k++, tick /= 10)
		if (are_round(s, tick) && begin_round(s, tick))
			return tick;
	return 0;
}
