/*
 * Where only one span was open when a call was sent, the call is that span's, however long it
 * takes. What such calls do tells what to expect of the others: when a tenth of them outlasts its
 * span, a call need not end within the span that made it.
 */
#include "infer/paths/early.h"

#include "infer/paths/piece.h"

enum {
	CALLS_MAX = 4096, /* looked at */
	LEAST = 20,       /* calls that tell anything */
};
#define OFTEN 0.1

struct tally {
	uint32_t nr, nr_longer;
};

/* The only span that was open at the time, or NULL. */
static const struct call *only_open(const struct stretch *s, uint32_t *first, uint32_t *next,
				    int64_t ns)
{
	const struct call *calls = s->w->calls.v, *found = NULL;

	while (*next < s->nr_in && calls[s->in[*next]].t1 <= ns)
		++*next;
	while (*first < *next && calls[s->in[*first]].t4 < ns)
		++*first;
	for (uint32_t i = *first; i < *next; i++) {
		const struct call *c = &calls[s->in[i]];

		if (c->t4 < ns)
			continue;
		if (found)
			return NULL;
		found = c;
	}
	return found;
}

void early_find(const struct stretch *s, const struct view *v, bool *outlasts)
{
	struct tally tallies[KINDS_MAX] = { 0 };
	uint32_t first = 0, next = 0;

	for (uint32_t i = 0; i < s->nr_out && i < CALLS_MAX; i++) {
		const struct call *c = &s->w->calls.v[s->out[i]];
		const struct call *span = only_open(s, &first, &next, c->t1);
		struct tally *t = &tallies[v->callee[c->to]];

		if (!span || span == c || c->no_return || span->no_return)
			continue;
		t->nr++;
		t->nr_longer += span->t4 < c->t4;
	}
	for (uint32_t i = 0; i < KINDS_MAX; i++)
		outlasts[i] =
			tallies[i].nr >= LEAST && tallies[i].nr_longer >= OFTEN * tallies[i].nr;
}
