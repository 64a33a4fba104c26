/*
 * SPAN LIKELIHOOD of the note "paths". The state is the multiset of calls made so far, so that
 * calls in parallel may come in any order; its hash is a sum, which makes it one. Each step has one
 * learned reference from which its delay is measured.
 */
#include "infer/paths/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN UINT32_MAX
#define LOG_UNSEEN -9.21034f /* log 1e-4 */

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static uint32_t *slot_of(const struct model *m, uint64_t hash)
{
	uint32_t mask = m->nr_slots - 1, at = (uint32_t)hash & mask;

	while (m->slots[at] && m->states.v[m->slots[at] - 1].hash != hash)
		at = (at + 1) & mask;
	return &m->slots[at];
}

static uint32_t add_state(struct model *m, uint64_t hash, uint32_t type)
{
	uint32_t at = (uint32_t)m->states.nr;

	vec_push(&m->states, (struct state){ hash, type });
	for (uint32_t x = 0; x < m->stride; x++) {
		uint32_t pool = type * m->stride + x;

		vec_push(&m->steps, (struct step){ UNKNOWN, LOG_UNSEEN + m->logq[pool], pool,
						   m->pool_since[pool] });
	}
	*slot_of(m, hash) = at + 1;
	return at;
}

void model_init(struct model *m, const struct bins *bins, const struct view *v)
{
	*m = (struct model){ .bins = bins,
			     .blur = 1,
			     .nr_types = v->nr_types,
			     .nr_callees = v->nr_callees,
			     .stride = v->nr_callees + 1 };
	m->max_states = (1 << 18) / m->stride;
	if (m->max_states > 4096)
		m->max_states = 4096;
	m->max_states += 2 * m->nr_types;
	for (m->nr_slots = 64; m->nr_slots < 2 * m->max_states;)
		m->nr_slots *= 2;
	m->slots = mem_zalloc(mem_bytes(m->nr_slots, sizeof(*m->slots)));
	m->logq = mem_zalloc(mem_bytes((size_t)m->nr_types * m->stride, sizeof(*m->logq)));
	m->pool_since =
		mem_zalloc(mem_bytes((size_t)m->nr_types * m->stride, sizeof(*m->pool_since)));
	for (uint32_t t = 0; t < m->nr_types; t++) { /* "anything" leads only to itself */
		add_state(m, mix(2 * t + 1), t);
		for (uint32_t x = 0; x < m->stride; x++)
			m->steps.v[t * m->stride + x].next = t;
	}
	for (uint32_t t = 0; t < m->nr_types; t++)
		add_state(m, mix(2 * t + 2), t);
	pull_init(&m->pull, v);
	vec_reserve(&m->densities, (size_t)m->nr_types * m->stride * BINS);
	m->densities.nr = (size_t)m->nr_types * m->stride * BINS;
	memset(m->densities.v, 0, m->densities.nr * sizeof(float));
}

void model_done(struct model *m)
{
	vec_done(&m->states);
	vec_done(&m->steps);
	vec_done(&m->densities);
	pull_done(&m->pull);
	free(m->slots);
	free(m->logq);
	free(m->pool_since);
}

static uint32_t next_state(struct model *m, uint32_t state, uint32_t x)
{
	uint32_t type = m->states.v[state].type, found;
	uint64_t hash = m->states.v[state].hash + mix(x + 0x1000);

	if (m->frozen)
		return type;
	found = *slot_of(m, hash);
	if (found)
		found--;
	else if (m->states.nr < m->max_states)
		found = add_state(m, hash, type);
	else
		found = type;
	m->steps.v[(size_t)state * m->stride + x].next = found;
	return found;
}

/* Where a walk along the kids of a span stands. */
struct walk {
	uint32_t state;
	int64_t start, call, all_returns, ret;
};

static inline int64_t last_return(const struct piece *p, const struct pspan *s,
				  const uint32_t *kids, uint32_t nr, int64_t t)
{
	int64_t latest = s->t1, limit = t + (s->t4 - s->t1) / 33;

	for (uint32_t i = 0; i < nr; i++) {
		int64_t r = p->calls[kids[i]].t4;

		if (r <= limit && r > latest)
			latest = r;
	}
	return latest;
}

static inline int64_t since(const struct walk *w, uint32_t reference)
{
	switch (reference) {
	case SINCE_CALL:
		return w->call;
	case SINCE_ALL_RETURNS:
		return w->all_returns;
	case SINCE_RETURN:
		return w->ret;
	default:
		return w->start;
	}
}

static inline void pass(struct walk *w, const struct pcall *c)
{
	w->call = c->t1;
	w->ret = c->t4;
	if (c->t4 > w->all_returns)
		w->all_returns = c->t4;
}

float model_ll(struct model *m, const struct piece *p, const struct pspan *s, const uint32_t *kids,
	       uint32_t nr)
{
	struct walk w = { m->nr_types + s->type, s->t1, s->t1, s->t1, s->t1 };
	float ll = 0;

	for (uint32_t i = 0;; i++) {
		const struct pcall *c = i < nr ? &p->calls[kids[i]] : NULL;
		uint32_t x = c ? c->callee : m->nr_callees, next;
		const struct step *st = &m->steps.v[(size_t)w.state * m->stride + x];
		int64_t t = c ? c->t1 : s->t4, ref = st->since == SINCE_LAST_RETURN
							     ? last_return(p, s, kids, i, t)
							     : since(&w, st->since);

		ll += st->logp +
		      m->densities.v[(size_t)st->density * BINS + bins_of(m->bins, t - ref)];
		if (!c)
			return ll;
		next = st->next;
		w.state = next != UNKNOWN ? next : next_state(m, w.state, x);
		pass(&w, c);
	}
}

void model_ll_all(struct model *m, struct piece *p)
{
	for (uint32_t i = 0; i < p->nr_spans; i++)
		p->spans[i].ll = model_ll(m, p, &p->spans[i], p->spans[i].kids, p->spans[i].nr);
}

void model_see(struct model *m, const struct piece *p, struct sights *out)
{
	for (uint32_t k = 0; k < p->nr_spans; k++) {
		const struct pspan *s = &p->spans[k];
		struct walk w = { m->nr_types + s->type, s->t1, s->t1, s->t1, s->t1 };

		for (uint32_t i = 0; !s->cut && i <= s->nr; i++) {
			const struct pcall *c = i < s->nr ? &p->calls[s->kids[i]] : NULL;
			uint32_t x = c ? c->callee : m->nr_callees;
			int64_t t = c ? c->t1 : s->t4;
			struct sight seen = { .step = w.state * m->stride + x };

			for (uint32_t r = 0; r < SINCE_LAST_RETURN; r++)
				seen.bin[r] = (uint16_t)bins_of(m->bins, t - since(&w, r));
			seen.bin[SINCE_LAST_RETURN] =
				(uint16_t)bins_of(m->bins, t - last_return(p, s, s->kids, i, t));
			vec_push(&out->v, seen);
			if (!c)
				break;
			w.state = m->steps.v[seen.step].next != UNKNOWN ? m->steps.v[seen.step].next
									: next_state(m, w.state, x);
			pass(&w, c);
		}
	}
}
