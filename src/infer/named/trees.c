/* Traces: the spans of one trace id are a tree already; log lines with the same id go under their
 * span. */
#include "infer/named/group.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/time.h"
#include "base/vec.h"
#include "infer/clock.h"
#include "infer/inference.h"
#include "infer/named/services.h"
#include "infer/named/tree.h"
#include "infer/named/type.h"
#include "model/link.h"
#include "model/loss.h"

#define SEARCH_MAX 1000 /* spans among which a line without a span id is searched a place */

void tree_survey(struct named *n, const struct group *g)
{
	struct losses unused = { 0 };
	struct tree t;

	tree_build(&t, g->spans, g->nr_spans, &n->arena, &unused);
	for (size_t i = 0; i < t.nr; i++) {
		const struct span *s = &t.spans[i], *p;
		bool is_open;

		services_see(n->services, s->node, s->host);
		if (s->parent == SPAN_NONE) {
			clock_root(n->clock, services_clock(s));
			continue;
		}
		p = &t.spans[s->parent];
		is_open = s->follows || s->kind == SPAN_CONSUMER;
		clock_pair(n->clock, services_clock(p), services_clock(s), p->start,
			   is_open ? CLOCK_OPEN : p->end, s->start, s->end);
	}
}

static void correct(struct named *n, struct tree *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		struct span *s = &t->spans[i];
		int64_t offset = clock_offset(n->clock, services_clock(s));

		s->start += offset;
		s->end += offset;
		s->shift = offset;
	}
	for (size_t i = 0; i < t->nr; i++) {
		struct span *s = &t->spans[i];

		s->node = services_node(n->services, s->node, s->host, &n->arena);
		if (s->parent != SPAN_NONE && !s->follows &&
		    (s->start < t->spans[s->parent].start || s->end > t->spans[s->parent].end))
			n->losses->count[LOSS_SPANS_OUTSIDE]++;
	}
}

/* References to spans of the same trace, beyond the parent, are edges. */
static void link_edges(struct named *n, const struct tree *t, struct str key,
		       struct request_body *body)
{
	VEC(struct edge) edges = { 0 };

	for (uint32_t i = 0; i < t->nr; i++) {
		struct str links = t->spans[i].links;
		struct link l;

		while (link_take(&links, &l)) {
			uint32_t from = tree_find(t, l.span);

			if (from == SPAN_NONE || from == i || (l.trace.n && !str_eq(l.trace, key)))
				continue;
			vec_push(&edges, (struct edge){ from, i, EDGE_LINK, 1 });
		}
	}
	body->nr_edges = edges.nr;
	body->edges = arena_array(&n->arena, struct edge, edges.nr);
	if (edges.nr)
		memcpy(body->edges, edges.v, edges.nr * sizeof(*edges.v));
	vec_done(&edges);
}

/* The innermost span around this moment, on the node of the line if there is one. */
static uint32_t span_around(const struct tree *t, const struct event *ev, int64_t ns)
{
	uint32_t any = SPAN_NONE;

	if (t->nr > SEARCH_MAX)
		return SPAN_NONE;
	for (uint32_t i = (uint32_t)t->nr; i > 0; i--) {
		const struct span *s = &t->spans[i - 1];

		if (ns < s->start || ns > s->end)
			continue;
		if (str_starts(s->node, ev->node))
			return i - 1;
		if (any == SPAN_NONE)
			any = i - 1;
	}
	return any;
}

static void place_lines(struct named *n, const struct group *g, const struct tree *t,
			struct request_body *body)
{
	uint32_t *picked;

	body->nr_events = group_select(g, EVENT_LOG, &n->arena, &picked);
	body->events = arena_array(&n->arena, uint64_t, body->nr_events);
	body->event_span = arena_array(&n->arena, uint32_t, body->nr_events);
	for (size_t i = 0; i < body->nr_events; i++) {
		const struct event *ev = &g->events[picked[i]];
		uint32_t at = tree_find(t, ev->span);

		if (at == SPAN_NONE)
			at = span_around(t, ev, ev->ns + clock_offset(n->clock, ev->node));
		body->events[i] = g->numbers[picked[i]];
		body->event_span[i] = at;
	}
}

/* From the first start of a root to the last end of one: what the caller waited for. */
static void measure(const struct tree *t, struct request *r)
{
	r->start = INT64_MAX;
	r->end = INT64_MIN;
	for (size_t i = 0; i < t->nr; i++) {
		if (t->spans[i].parent != SPAN_NONE)
			continue;
		if (t->spans[i].start < r->start)
			r->start = t->spans[i].start;
		if (t->spans[i].end > r->end)
			r->end = t->spans[i].end;
	}
}

int tree_requests(struct named *n, const struct group *g, struct error *err)
{
	struct request r = { .key = g->key, .key_kind = KEY_TRACE, .confidence = 1 };
	struct request_body body = { 0 };
	struct tree t;

	tree_build(&t, g->spans, g->nr_spans, &n->arena, n->losses);
	r.type = type_of_span(&n->arena, t.spans[0].node, t.spans[0].name);
	correct(n, &t);
	measure(&t, &r);
	r.incomplete = t.is_incomplete;
	body.spans = t.spans;
	body.nr_spans = t.nr;
	link_edges(n, &t, g->key, &body);
	place_lines(n, g, &t, &body);
	return group_store(n, &r, &body, err);
}
