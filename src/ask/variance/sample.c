#include "ask/variance/sample.h"

void sample_done(struct sample *s)
{
	vec_each (&s->v, i)
		free(i->v);
	vec_done(&s->v);
}

struct sample_interval *sample_place(struct sample *s, uint64_t nr)
{
	size_t at;

	if (s->v.nr < s->most) {
		vec_push(&s->v, (struct sample_interval){ 0 });
		return &s->v.v[s->v.nr - 1];
	}
	at = dice_below(&s->dice, (size_t)nr + 1);
	if (at >= s->v.nr)
		return NULL;
	s->v.v[at].nr = 0;
	s->v.v[at].ns = 0;
	return &s->v.v[at];
}

void sample_put(struct sample_interval *i, uint32_t node, int64_t ns)
{
	if (i->nr == i->room) {
		i->room = i->room ? 2 * i->room : 8;
		i->v = mem_realloc(i->v, mem_bytes(i->room, sizeof(*i->v)));
	}
	i->v[i->nr++] = (struct sample_part){ node, ns };
	i->ns += ns;
}
