/*
 * A request as a tree of times: of each span what the critical path spends in it. What no span
 * explains is the request's own. A request with one root span is that span.
 *
 * Waiting inside a span is that span's time, told beside it; only where the request itself waits
 * it is a part by itself, "wait:lock".
 */
#include "ask/variance/spans.h"

#include <math.h>
#include <string.h>

#include "ask/critical.h"
#include "ask/length.h"
#include "model/attr.h"
#include "model/call.h"
#include "model/parts.h"

#define WORKS 8        /* amounts of one span */
#define NODES_MOST 200 /* of a name that are told apart */
#define WAIT STR("wait:")

static void step_done(struct step_nodes *s)
{
	vec_done(&s->v);
	vec_done(&s->now);
}

void variance_spans_done(struct variance_spans *s)
{
	vec_each (&s->steps, x)
		step_done(x);
	vec_done(&s->steps);
	vec_done(&s->parts);
	names_done(&s->names);
	names_done(&s->nodes);
	arena_done(&s->arena);
}

/* --- names ----------------------------------------------------------------------------------- */

/* "service@host" is a replica of "service". */
static struct str service_of(struct str node)
{
	size_t at = node.n;

	while (at > 0 && node.p[at - 1] != '@')
		at--;
	return at > 1 ? str_head(node, at - 1) : node;
}

static struct step_nodes *step_of(struct variance_spans *s, struct str name)
{
	sym_t sym = names_add(&s->names, name);

	while (s->steps.nr <= sym)
		vec_push(&s->steps, (struct step_nodes){ 0 });
	return &s->steps.v[sym];
}

static bool has(const sym_t *v, size_t nr, sym_t sym)
{
	for (size_t i = 0; i < nr; i++)
		if (v[i] == sym)
			return true;
	return false;
}

void variance_spans_learn(struct variance_spans *s, const struct request_body *body)
{
	s->nr_learned++;
	for (size_t i = 0; i < body->nr_spans; i++) {
		struct step_nodes *step = step_of(s, body->spans[i].name);
		sym_t node = names_add(&s->nodes, service_of(body->spans[i].node));

		if (step->seen_request != s->nr_learned) {
			step->seen_request = s->nr_learned;
			step->nr_requests++;
			vec_clear(&step->now);
		}
		if (step->now.nr < NODES_MOST && !has(step->now.v, step->now.nr, node)) {
			vec_push(&step->now, node);
			step->nr_distinct++;
		}
		if (step->v.nr < NODES_MOST && !has(step->v.v, step->v.nr, node))
			vec_push(&step->v, node);
	}
}

void variance_spans_learned(struct variance_spans *s)
{
	vec_each (&s->steps, x)
		x->is_apart = x->v.nr > 1 && x->v.nr * x->nr_requests < 2 * x->nr_distinct;
}

static struct str name_of(struct variance_spans *s, const struct span *span)
{
	sym_t sym = names_find(&s->names, span->name);
	struct str service;

	if (sym >= s->steps.nr || !s->steps.v[sym].is_apart || !span->node.n)
		return span->name.n ? span->name : span->node;
	service = service_of(span->node);
	return arena_fmt(&s->arena, STR_FMT ":" STR_FMT, STR_ARG(service), STR_ARG(span->name));
}

/* "wait:lock", or of "wait for a reply" "wait:a reply". */
static struct str wait_name(struct variance_spans *s, const struct span *span)
{
	struct str name = span->name;

	if (str_take(&name, WAIT))
		return span->name;
	str_take(&name, STR("wait for "));
	return arena_fmt(&s->arena, "wait:" STR_FMT, STR_ARG(name.n ? name : STR("other")));
}

static enum wait_why why_of(const struct span *span)
{
	struct str name = span->name;

	str_take(&name, WAIT);
	for (int why = WAIT_CPU; why < NR_WAITS; why++)
		if (str_eq(name, str_of(wait_why_name((enum wait_why)why))))
			return (enum wait_why)why;
	return WAIT_OTHER;
}

/* --- times ----------------------------------------------------------------------------------- */

/* What each span does itself; returned: what none of them does. */
static int64_t find_selves(struct variance_spans *s, const struct request *r,
			   const struct request_body *body)
{
	int64_t rest = length_ns(r->start, r->end);
	struct critical path;

	s->self = arena_array(&s->arena, int64_t, body->nr_spans + 1);
	critical_path(body, &s->arena, &path);
	for (size_t i = 0; i < path.nr; i++) {
		const struct critical_section *c = &path.v[i];
		int64_t from = c->start > r->start ? c->start : r->start;
		int64_t until = c->end < r->end ? c->end : r->end;
		int64_t ns = length_ns(from, until);

		ns = ns < rest ? ns : rest;
		if (c->span == SPAN_NONE)
			continue;
		s->self[c->span] += ns;
		rest -= ns;
	}
	return rest;
}

static bool is_alone(const struct request_body *body)
{
	size_t nr = 0;

	for (size_t i = 0; i < body->nr_spans && nr < 2; i++)
		nr += body->spans[i].parent >= i;
	return nr == 1;
}

static void add_amounts(struct variance_part *p, struct str attrs, struct variance_work *works)
{
	struct attr a;

	while (p->nr_works < WORKS && attr_take(&attrs, &a)) {
		if (a.scope != ATTR_SPAN || (a.type != ATTR_INT && a.type != ATTR_DOUBLE))
			continue;
		works[p->nr_works++] =
			(struct variance_work){ a.key, a.type == ATTR_INT ? (double)a.i : a.d };
	}
	p->works = works;
}

/* The amounts of the span itself, and those of the whole request. */
static void find_works(struct variance_spans *s, const struct request_body *body, uint32_t span,
		       struct variance_part *p)
{
	struct variance_work *works = arena_array(&s->arena, struct variance_work, WORKS);

	add_amounts(p, body->spans[span].attrs, works);
	if (span)
		add_amounts(p, body->spans[0].attrs, works);
}

static uint32_t add_part(struct variance_spans *s, uint32_t parent, struct str name)
{
	vec_push(&s->parts, (struct variance_part){ .parent = parent, .name = name, .work = NAN });
	return (uint32_t)s->parts.nr - 1;
}

/* Which part the time of a span goes to: of its own, or for a wait in another that one. */
static uint32_t place(struct variance_spans *s, const struct request_body *body, uint32_t i,
		      bool alone)
{
	const struct span *span = &body->spans[i];
	uint32_t above = span->parent < i ? s->part_of[span->parent] : 0;

	if (alone && span->parent >= i)
		return 0;
	if (span->kind != SPAN_WAIT)
		return add_part(s, above, name_of(s, span));
	return above ? above : add_part(s, 0, wait_name(s, span));
}

/* Times of children are in their parents as well. */
static void add_up(struct variance_spans *s)
{
	for (size_t i = s->parts.nr; i-- > 1;) {
		const struct variance_part *p = &s->parts.v[i];
		struct variance_part *above = &s->parts.v[p->parent];

		above->ns += p->ns;
		for (int why = WAIT_CPU; why < NR_WAITS; why++)
			above->wait_ns[why] += p->wait_ns[why];
	}
}

/* What the critical path does not pass took no time: it is as if it were not there. */
static void leave_out(struct variance_spans *s)
{
	uint32_t *now = arena_array(&s->arena, uint32_t, s->parts.nr), nr = 1;

	for (size_t i = 1; i < s->parts.nr; i++) {
		if (!s->parts.v[i].ns)
			continue;
		now[i] = nr;
		s->parts.v[nr] = s->parts.v[i];
		s->parts.v[nr].parent = now[s->parts.v[i].parent];
		nr++;
	}
	s->parts.nr = nr;
}

/* The names stay those of the request's bytes, as the parts' do. */
static void take_works(struct variance_spans *s, const struct part_of *p, struct variance_part *to)
{
	struct variance_work *works;

	if (!p->nr_works)
		return;
	works = arena_array(&s->arena, struct variance_work, p->nr_works);
	for (uint32_t i = 0; i < p->nr_works; i++)
		works[i] = (struct variance_work){ p->works[i].name, p->works[i].amount };
	to->works = works;
	to->nr_works = p->nr_works;
}

bool variance_spans_measured(struct variance_spans *s, const struct request *r,
			     const struct request_body *body)
{
	struct attr a;
	struct part_of p;

	if (!body->nr_spans || !attr_find(body->spans[0].attrs, PARTS_KEY, &a))
		return false;
	arena_reset(&s->arena);
	vec_clear(&s->parts);
	while (parts_take(&a.text, &p)) {
		uint32_t part = add_part(s, p.parent, s->parts.nr ? p.name : r->type);
		struct variance_part *to = &s->parts.v[part];

		to->ns = p.ns;
		to->nr_calls = p.nr_calls;
		to->site = p.site;
		memcpy(to->wait_ns, p.wait_ns, sizeof(p.wait_ns));
		take_works(s, &p, to);
	}
	return s->parts.nr > 0;
}

void variance_spans_make(struct variance_spans *s, const struct request *r,
			 const struct request_body *body, bool with_works)
{
	bool alone = is_alone(body);
	int64_t rest;

	arena_reset(&s->arena);
	vec_clear(&s->parts);
	rest = find_selves(s, r, body);
	s->part_of = arena_array(&s->arena, uint32_t, body->nr_spans + 1);
	add_part(s, UINT32_MAX, r->type);
	s->parts.v[0].ns = rest;
	for (uint32_t i = 0; i < body->nr_spans; i++) {
		const struct span *span = &body->spans[i];
		uint32_t part = s->part_of[i] = place(s, body, i, alone);

		s->parts.v[part].ns += s->self[i];
		if (span->kind == SPAN_WAIT)
			s->parts.v[part].wait_ns[why_of(span)] += s->self[i];
		else
			s->parts.v[part].nr_calls++;
		if (with_works && span->kind != SPAN_WAIT)
			find_works(s, body, i, &s->parts.v[part]);
	}
	add_up(s);
	leave_out(s);
}
