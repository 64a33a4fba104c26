#include "bus/seen.h"

/* The mask moves up; who falls out of it without having come is missing. */
static void advance(struct seen *s, uint64_t by)
{
	/* before the first one nothing is missing */
	uint64_t nr = s->top < SEEN_WIDTH ? s->top : SEEN_WIDTH;
	uint64_t wanted = nr == SEEN_WIDTH ? ~(uint64_t)0 : ((uint64_t)1 << nr) - 1;
	uint64_t absent = wanted & ~s->mask;

	if (by >= SEEN_WIDTH) {
		s->nr_missing += (uint64_t)__builtin_popcountll(absent) + (by - SEEN_WIDTH);
		s->mask = 0;
	} else {
		s->nr_missing += (uint64_t)__builtin_popcountll(absent & ~(~(uint64_t)0 >> by));
		s->mask <<= by;
	}
	s->top += by;
}

enum seen_as seen_take(struct seen *s, uint64_t seq)
{
	/* a hub that has lost its state does not miss what it had acknowledged: the oldest that
	 * is not safe comes first */
	if (!s->top && seq > 1) {
		s->top = seq - 1;
		s->mask = ~(uint64_t)0;
	}
	if (seq > s->top) {
		advance(s, seq - s->top);
		s->mask |= 1;
		return SEEN_NEW;
	}
	if (!seq || s->top - seq >= SEEN_WIDTH)
		return SEEN_TOO_LATE;
	if (s->mask >> (s->top - seq) & 1)
		return SEEN_TWICE;
	s->mask |= (uint64_t)1 << (s->top - seq);
	return SEEN_NEW;
}

uint64_t seen_upto(const struct seen *s)
{
	uint64_t nr = s->top < SEEN_WIDTH ? s->top : SEEN_WIDTH;
	uint64_t wanted = nr == SEEN_WIDTH ? ~(uint64_t)0 : ((uint64_t)1 << nr) - 1;
	uint64_t absent = wanted & ~s->mask;

	return absent ? s->top - (63 - (uint64_t)__builtin_clzll(absent)) - 1 : s->top;
}
