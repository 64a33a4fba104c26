/*
 * CANDIDATES of the note "paths": a call may belong to every span of its node that was open around
 * it; when there is none, to every one that was open when it was sent; when there is none of those
 * either, it is a root. A call that names its request (a trace id in the message) belongs to a span
 * that names the same one, if there is any, and never to one that names another.
 */
#include "infer/paths/piece.h"

#include <stdlib.h>
#include <string.h>

static uint32_t type_of(const struct stretch *s, uint32_t call)
{
	uint32_t type = s->view->type[s->w->calls.v[call].from];

	return s->view->late && s->view->late[call] ? s->view->nr_types - 1 : type;
}

static void take_calls(struct piece *p, const struct stretch *s, uint32_t from, uint32_t to)
{
	p->calls = arena_array(&p->arena, struct pcall, to - from + 1);
	for (uint32_t i = from; i < to; i++) {
		const struct call *c = &s->w->calls.v[s->out[i]];

		if (c->t4 == CALL_OPEN)
			continue;
		p->calls[p->nr_calls++] = (struct pcall){ .t1 = c->t1,
							  .t4 = c->t4,
							  .call = s->out[i],
							  .trace = c->trace,
							  .callee = s->view->callee[c->to],
							  .span = NO_SPAN,
							  .fixed = c->is_decided,
							  .spare = i < s->from || i >= s->to };
	}
}

/* The first span that may still have been open at the time. */
static uint32_t first_span(const struct stretch *s, int64_t ns)
{
	uint32_t lo = 0, hi = s->nr_in;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (s->w->calls.v[s->in[mid]].t1 < ns - s->longest)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void take_spans(struct piece *p, const struct stretch *s, bool is_front, bool is_back)
{
	int64_t first = p->nr_calls ? p->calls[0].t1 : 0,
		last = p->nr_calls ? p->calls[p->nr_calls - 1].t1 : 0;
	const struct call *calls = s->w->calls.v;
	uint32_t from = first_span(s, first), nr = 0;

	/* at the edges of the time line nothing is missing, and spans without calls teach too */
	if (is_front)
		from = 0;
	for (uint32_t i = from; i < s->nr_in; i++)
		nr += is_back || calls[s->in[i]].t1 <= last;
	p->spans = arena_array(&p->arena, struct pspan, nr + 1);
	for (uint32_t i = from; i < s->nr_in; i++) {
		const struct call *c = &calls[s->in[i]];

		if (c->t1 > last && !is_back)
			break;
		if (c->t4 == CALL_OPEN || (c->t4 < first && !is_front))
			continue;
		p->spans[p->nr_spans++] = (struct pspan){
			.t1 = c->t1,
			.t4 = c->t4,
			.call = s->in[i],
			.trace = c->trace,
			.type = type_of(s, s->in[i]),
			.cut = (c->t1 < first && !is_front) || (c->t4 > last && !is_back),
		};
	}
}

/* How close a span must be to hold a call. */
enum fit {
	FIT_OPEN,  /* was open when it was sent */
	FIT_WHOLE, /* and outlasts it */
	FIT_NAMED, /* and names the same request */
};

static bool fits(const struct pspan *s, const struct pcall *c, enum fit fit)
{
	if ((fit >= FIT_WHOLE && s->t4 < c->t4) || s->call == c->call)
		return false;
	return fit == FIT_NAMED ? s->trace == c->trace : !call_is_foreign(s->trace, c->trace);
}

static void add_candidates(struct piece *p, struct pcall *c, const uint32_t *open, size_t nr,
			   enum fit fit)
{
	size_t first = p->candidates.nr;

	for (size_t i = nr; i-- > 0 && c->nr < CANDIDATES_MAX;) {
		if (!fits(&p->spans[open[i]], c, fit))
			continue;
		vec_push(&p->candidates, open[i]);
		c->nr++;
	}
	for (size_t a = first, b = p->candidates.nr; a + 1 < b; a++, b--) {
		uint32_t moved = p->candidates.v[a];

		p->candidates.v[a] = p->candidates.v[b - 1];
		p->candidates.v[b - 1] = moved;
	}
}

static void find_candidates(struct piece *p, const struct view *v)
{
	VEC(uint32_t) open = { 0 };
	uint32_t next = 0;

	for (uint32_t i = 0; i < p->nr_calls; i++) {
		struct pcall *c = &p->calls[i];
		size_t kept = 0;

		for (; next < p->nr_spans && p->spans[next].t1 <= c->t1; next++)
			vec_push(&open, next);
		for (size_t k = 0; k < open.nr; k++)
			if (p->spans[open.v[k]].t4 >= c->t1)
				open.v[kept++] = open.v[k];
		open.nr = kept;
		c->first = (uint32_t)p->candidates.nr;
		if (c->trace)
			add_candidates(p, c, open.v, open.nr, FIT_NAMED);
		if (!c->nr && !v->outlasts[c->callee])
			add_candidates(p, c, open.v, open.nr, FIT_WHOLE);
		if (!c->nr)
			add_candidates(p, c, open.v, open.nr, FIT_OPEN);
	}
	vec_done(&open);
}

/* What an earlier window decided stays, as far as that span is still here. */
static void keep_decided(struct piece *p, const struct window *w)
{
	for (uint32_t i = 0; i < p->nr_calls; i++) {
		struct pcall *c = &p->calls[i];
		uint32_t *v = p->candidates.v + c->first, nr = 0;

		if (!c->fixed)
			continue;
		/* when it is not, as with work after the reply, it is no span's here */
		for (; nr < c->nr; nr++)
			if (p->spans[v[nr]].call == w->calls.v[c->call].parent)
				break;
		if (nr < c->nr)
			v[0] = v[nr];
		c->nr = nr < c->nr;
	}
}

void piece_init(struct piece *p, const struct stretch *s)
{
	uint32_t from = s->from > s->margin ? s->from - s->margin : 0;
	uint32_t to = s->nr_out - s->to > s->margin ? s->to + s->margin : s->nr_out;

	*p = (struct piece){ .heat = 1, .tries = 1 };
	take_calls(p, s, from, to);
	take_spans(p, s, from == 0, to == s->nr_out);
	find_candidates(p, s->view);
	keep_decided(p, s->w);
	p->marks = arena_array(&p->arena, uint32_t, p->candidates.nr + 1);
	p->pull = arena_array(&p->arena, float, p->candidates.nr + 1);
	p->unsure = arena_array(&p->arena, uint32_t, p->nr_calls + 1);
	for (uint32_t i = 0; i < p->nr_calls; i++) {
		if (p->calls[i].nr > 1)
			p->unsure[p->nr_unsure++] = i;
		if (p->calls[i].nr == 1)
			piece_give(p, i, p->candidates.v[p->calls[i].first]);
	}
}

void piece_done(struct piece *p)
{
	vec_done(&p->candidates);
	arena_done(&p->arena);
}

uint32_t piece_candidate(const struct piece *p, uint32_t call, uint32_t span)
{
	const struct pcall *c = &p->calls[call];
	uint32_t lo = c->first, hi = c->first + c->nr;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (p->candidates.v[mid] < span)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < c->first + c->nr && p->candidates.v[lo] == span ? lo : NO_SPAN;
}

static void reserve(struct piece *p, struct pspan *s, uint32_t nr)
{
	uint32_t *old = s->kids;

	if (nr <= s->room)
		return;
	while (s->room < nr)
		s->room = s->room ? 2 * s->room : 4;
	s->kids = arena_array(&p->arena, uint32_t, s->room);
	if (s->nr)
		memcpy(s->kids, old, s->nr * sizeof(*old));
}

void piece_set_kids(struct piece *p, uint32_t span, const uint32_t *kids, uint32_t nr)
{
	struct pspan *s = &p->spans[span];

	reserve(p, s, nr);
	if (nr)
		memcpy(s->kids, kids, nr * sizeof(*kids));
	s->nr = nr;
	for (uint32_t i = 0; i < nr; i++)
		if (p->calls[kids[i]].span != span) {
			p->calls[kids[i]].span = span;
			p->calls[kids[i]].at = piece_candidate(p, kids[i], span);
		}
}

void piece_give(struct piece *p, uint32_t call, uint32_t span)
{
	struct pcall *c = &p->calls[call];
	uint32_t at = 0;
	struct pspan *s;

	if (c->span != NO_SPAN) {
		s = &p->spans[c->span];
		while (s->kids[at] != call)
			at++;
		memmove(s->kids + at, s->kids + at + 1, (--s->nr - at) * sizeof(*s->kids));
	}
	c->span = span;
	c->at = NO_SPAN;
	if (span == NO_SPAN)
		return;
	c->at = piece_candidate(p, call, span);
	s = &p->spans[span];
	reserve(p, s, s->nr + 1);
	for (at = s->nr; at > 0 && s->kids[at - 1] > call; at--)
		s->kids[at] = s->kids[at - 1];
	s->kids[at] = call;
	s->nr++;
}
