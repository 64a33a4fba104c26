/*
 * INIT of the note "paths": each call is caused by one event of its node, the arrival of a span
 * that is still open or the return of an earlier call. Which one is found by expectation and
 * maximisation over delay histograms by (kind of event, callee), where an event causes about one
 * call of each callee; then calls are given, in the order of time, to the span of their likeliest
 * event. START_ARRIVALS knows arrivals only.
 */
#include "infer/paths/start.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/paths/bins.h"
#include "infer/paths/piece.h"

enum { CAUSES = 48 };

struct occurrence {
	int64_t ns;
	uint32_t span; /* of an arrival */
	uint32_t call; /* that returned, or NO_SPAN */
	uint32_t kind;
};

struct cause {
	uint32_t event;
	float w;
	uint16_t bin;
};

struct starter {
	struct piece *p;
	const struct bins *bins;
	uint32_t nr_types, nr_callees, nr_kinds;
	bool arrivals_only;
	uint32_t late_type; /* of spans that go on where requests join; NO_SPAN for none */
	VEC(struct occurrence) events; /* in the order of time */
	VEC(struct cause) causes;      /* of all calls */
	uint32_t *first;               /* of each call, in causes */
	float *log_density;            /* by kind and callee, with the chance of it */
	float *load;                   /* by event and callee: a small hash would not be smaller */
};

static int by_time(const void *pa, const void *pb)
{
	const struct occurrence *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	return a->span < b->span ? -1 : a->span > b->span;
}

static void find_events(struct starter *s)
{
	const struct piece *p = s->p;

	for (uint32_t i = 0; i < p->nr_spans; i++)
		vec_push(&s->events,
			 (struct occurrence){ p->spans[i].t1, i, NO_SPAN, p->spans[i].type });
	for (uint32_t i = 0; i < p->nr_calls && !s->arrivals_only; i++)
		vec_push(&s->events, (struct occurrence){ p->calls[i].t4, NO_SPAN, i,
							  s->nr_types + p->calls[i].callee });
	if (s->events.nr)
		qsort(s->events.v, s->events.nr, sizeof(*s->events.v), by_time);
}

static bool may_cause(const struct starter *s, const struct occurrence *e, uint32_t call)
{
	if (e->call == NO_SPAN)
		return piece_candidate(s->p, call, e->span) != NO_SPAN;
	return e->call != call && s->p->calls[e->call].nr;
}

static void find_causes(struct starter *s)
{
	size_t end = 0;

	s->first = mem_alloc(mem_bytes(s->p->nr_calls + 1, sizeof(*s->first)));
	for (uint32_t i = 0; i < s->p->nr_calls; i++) {
		const struct pcall *c = &s->p->calls[i];
		unsigned nr = 0;
		size_t least;

		s->first[i] = (uint32_t)s->causes.nr;
		while (end < s->events.nr && s->events.v[end].ns <= c->t1)
			end++;
		least = end >= 16 * CAUSES ? end - 16 * CAUSES + 1 : 0;
		for (size_t k = end; k > least && nr < CAUSES && c->nr; k--) {
			size_t at = k - 1;

			if (!may_cause(s, &s->events.v[at], i))
				continue;
			vec_push(&s->causes,
				 (struct cause){
					 (uint32_t)at, 0,
					 (uint16_t)bins_of(s->bins, c->t1 - s->events.v[at].ns) });
			nr++;
		}
		for (size_t k = s->first[i]; k < s->causes.nr; k++)
			s->causes.v[k].w = 1.0f / (float)nr;
	}
	s->first[s->p->nr_calls] = (uint32_t)s->causes.nr;
}

/* M-step: histograms and how often an event of a kind causes such a call. */
static void learn(struct starter *s, bool early)
{
	size_t nr = (size_t)s->nr_kinds * s->nr_callees;
	float *h = mem_zalloc(mem_bytes(nr * BINS, sizeof(*h)));
	double *sum = mem_zalloc(mem_bytes(nr, sizeof(*sum)));
	double *events = mem_zalloc(mem_bytes(s->nr_kinds, sizeof(*events)));

	vec_each (&s->events, e)
		events[e->kind]++;
	for (uint32_t i = 0; i < s->p->nr_calls; i++) {
		uint32_t n = s->first[i + 1] - s->first[i], x = s->p->calls[i].callee;
		float trust = early ? 1 / sqrtf((float)(n ? n : 1) / 2) : 1;

		for (uint32_t k = s->first[i]; k < s->first[i + 1]; k++) {
			const struct cause *c = &s->causes.v[k];
			size_t at = (size_t)s->events.v[c->event].kind * s->nr_callees + x;

			h[at * BINS + c->bin] += c->w * trust;
			sum[at] += c->w;
		}
	}
	for (size_t at = 0; at < nr; at++) {
		float blurred[BINS], all = 0, *out = s->log_density + at * BINS;
		double chance = (sum[at] + 1e-3) / (events[at / s->nr_callees] + 1);
		unsigned lo = 0, hi = BINS;

		for (int i = 0; i < BINS; i++)
			all += h[at * BINS + i];
		if (all > 0)
			bins_blur(h + at * BINS, blurred, 2, &lo, &hi);
		for (int i = 0; i < BINS; i++)
			out[i] = logf((all > 0 ? 0.98f * blurred[i] / all : 0) + 0.02f / BINS) -
				 s->bins->log_seconds[i] + (float)log(chance);
	}
	free(h);
	free(sum);
	free(events);
}

static void normalise(struct starter *s, uint32_t call)
{
	float all = 0;

	for (uint32_t k = s->first[call]; k < s->first[call + 1]; k++)
		all += s->causes.v[k].w;
	for (uint32_t k = s->first[call]; k < s->first[call + 1] && all > 0; k++)
		s->causes.v[k].w /= all;
}

/* E-step. */
static void weigh(struct starter *s)
{
	for (uint32_t i = 0; i < s->p->nr_calls; i++) {
		float best = -INFINITY;

		for (uint32_t k = s->first[i]; k < s->first[i + 1]; k++) {
			struct cause *c = &s->causes.v[k];
			size_t at = (size_t)s->events.v[c->event].kind * s->nr_callees +
				    s->p->calls[i].callee;

			c->w = s->log_density[at * BINS + c->bin];
			best = c->w > best ? c->w : best;
		}
		for (uint32_t k = s->first[i]; k < s->first[i + 1]; k++)
			s->causes.v[k].w = expf(s->causes.v[k].w - best);
		normalise(s, i);
	}
}

/* An event causes about one call to each callee: what is claimed more often counts less. */
static void share_out(struct starter *s)
{
	memset(s->load, 0, s->events.nr * s->nr_callees * sizeof(*s->load));
	for (uint32_t i = 0; i < s->p->nr_calls; i++)
		for (uint32_t k = s->first[i]; k < s->first[i + 1]; k++)
			s->load[(size_t)s->causes.v[k].event * s->nr_callees +
				s->p->calls[i].callee] += s->causes.v[k].w;
	for (uint32_t i = 0; i < s->p->nr_calls; i++) {
		for (uint32_t k = s->first[i]; k < s->first[i + 1]; k++) {
			float load = s->load[(size_t)s->causes.v[k].event * s->nr_callees +
					     s->p->calls[i].callee];

			if (load > 1)
				s->causes.v[k].w /= load;
		}
		normalise(s, i);
	}
}

/* In the order of time, so that the span of every earlier call is known. */
static void decode(struct starter *s)
{
	struct piece *p = s->p;

	memset(s->load, 0, s->events.nr * s->nr_callees * sizeof(*s->load));
	for (uint32_t i = 0; i < p->nr_calls; i++) {
		struct pcall *c = &p->calls[i];
		float best = -1;
		uint32_t span = NO_SPAN, event = 0;

		for (uint32_t k = s->first[i]; k < s->first[i + 1]; k++) {
			const struct occurrence *e = &s->events.v[s->causes.v[k].event];
			uint32_t at = e->call == NO_SPAN ? e->span : p->calls[e->call].span;
			float w = s->causes.v[k].w;

			if (at == NO_SPAN || piece_candidate(p, i, at) == NO_SPAN)
				continue;
			if (s->load[(size_t)s->causes.v[k].event * s->nr_callees + c->callee] > 0)
				w *= 0.05f;
			if (s->late_type != NO_SPAN && p->spans[at].type != s->late_type)
				w *= 1e-3f;
			if (w <= best)
				continue;
			best = w;
			span = at;
			event = s->causes.v[k].event;
		}
		if (span == NO_SPAN && c->nr)
			span = p->candidates.v[c->first + c->nr - 1];
		else if (span != NO_SPAN)
			s->load[(size_t)event * s->nr_callees + c->callee] = 1;
		if (c->nr > 1)
			piece_give(p, i, span);
	}
}

void start_assign(struct piece *p, const struct view *v, const struct bins *b, enum start how)
{
	struct starter s = { .p = p,
			     .bins = b,
			     .nr_types = v->nr_types,
			     .nr_callees = v->nr_callees,
			     .nr_kinds = v->nr_types + v->nr_callees,
			     .late_type = v->late ? v->nr_types - 1 : NO_SPAN,
			     .arrivals_only = how == START_ARRIVALS };
	int rounds = how == START_ARRIVALS ? 3 : 12;

	find_events(&s);
	find_causes(&s);
	s.log_density = mem_alloc(
		mem_bytes((size_t)s.nr_kinds * s.nr_callees * BINS, sizeof(*s.log_density)));
	s.load = mem_alloc(mem_bytes(s.events.nr * s.nr_callees + 1, sizeof(*s.load)));
	for (int i = 0; i < rounds; i++) {
		learn(&s, i < rounds / 2);
		weigh(&s);
		share_out(&s);
		share_out(&s);
	}
	decode(&s);
	free(s.log_density);
	free(s.load);
	free(s.first);
	vec_done(&s.events);
	vec_done(&s.causes);
}
