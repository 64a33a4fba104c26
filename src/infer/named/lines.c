/*
 * Log lines that name their request, with no span around them.
 *
 * The lines of one key, in order of time, make a request. Each line but the first ends a step: the
 * time since the line before, whoever wrote that, was spent on the way to this one, on its node. So
 * the steps follow each other without gap or overlap, and a node that is late with its line is
 * blamed for just that. A step is named after the node's own line before and this one, because that
 * is where in the program the time passed. An identifier of a piece of work (a block, an
 * application) outlives single requests, so its lines are cut where it was silent for long
 * (infer/named/gaps.h); a request id is cut only after the idle time of the options.
 */
#include "infer/named/group.h"

#include <stdlib.h>

#include "base/names.h"
#include "base/time.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "infer/clock.h"
#include "infer/inference.h"
#include "infer/named/gaps.h"
#include "infer/named/type.h"
#include "model/loss.h"

#define STEP_COLUMNS 60 /* of each end's text in the name of a step */
#define NO_LINE UINT32_MAX
#define STEP_CONFIDENCE \
	0.7f /* that a step waited for the line before it, and not for an earlier one */

void line_survey(struct named *n, const struct group *g)
{
	struct str word = gaps_word(g->key);
	uint32_t *picked;
	size_t nr;

	if (g->key_kind != KEY_WORK)
		return;
	nr = group_select(g, EVENT_LOG, &n->arena, &picked);
	for (size_t i = 1; i < nr; i++)
		gaps_add(n->gaps, word, g->events[picked[i]].ns - g->events[picked[i - 1]].ns);
}

/* The lines of one request, and the spans that are being made of them: the root, then the steps. */
struct lines {
	const struct group *group;
	const uint32_t *picked;
	size_t nr;
	struct span *spans;
	struct names nodes;
	VEC(uint32_t) last; /* by node: its line before the one at hand */
};

static const struct event *line_at(const struct lines *l, size_t i)
{
	return &l->group->events[l->picked[i]];
}

static struct str text_of(const struct event *ev)
{
	return ev->title.n ? ev->title : ev->point.n ? ev->point : STR("(no text)");
}

/* "its line before \xe2\x86\x92 this line"; only the latter when the node says its first word. */
static struct str step_name(struct named *n, struct lines *l, uint32_t i)
{
	const struct event *ev = line_at(l, i);
	sym_t node = names_add(&l->nodes, ev->node);
	struct str from, to = utf8_fit(text_of(ev), STEP_COLUMNS);
	uint32_t before;

	while (l->last.nr <= node)
		vec_push(&l->last, NO_LINE);
	before = l->last.v[node];
	l->last.v[node] = i;
	if (before == NO_LINE)
		return to;
	from = utf8_fit(text_of(line_at(l, before)), STEP_COLUMNS);
	return arena_fmt(&n->arena, STR_FMT " \xe2\x86\x92 " STR_FMT, STR_ARG(from), STR_ARG(to));
}

static struct span span_of(struct named *n, struct lines *l, uint32_t i)
{
	const struct event *ev = line_at(l, i);

	return (struct span){ .start = ev->ns,
			      .end = ev->ns,
			      .parent = SPAN_NONE,
			      .kind = SPAN_INTERNAL,
			      .status = ev->level >= LEVEL_ERROR ? STATUS_ERROR : STATUS_UNSET,
			      .confidence = 1,
			      .id = arena_fmt(&n->arena, "%u", i + 1),
			      .name = step_name(n, l, i),
			      .node = ev->node,
			      .thread = ev->thread };
}

/* The root covers everything; a line that tells a duration began so much earlier. */
static void make_root(struct named *n, struct lines *l)
{
	struct span *root = &l->spans[0];

	*root = span_of(n, l, 0);
	for (size_t i = 0; i < l->nr; i++) {
		const struct event *ev = line_at(l, i);
		int64_t start = ev->ns - (ev->duration > 0 ? ev->duration : 0);

		if (start < root->start)
			root->start = start;
		if (ev->ns > root->end)
			root->end = ev->ns;
		if (ev->level >= LEVEL_ERROR)
			root->status = STATUS_ERROR;
	}
}

static void make_steps(struct named *n, struct lines *l)
{
	for (uint32_t i = 1; i < l->nr; i++) {
		l->spans[i] = span_of(n, l, i);
		l->spans[i].start = line_at(l, i - 1)->ns;
		l->spans[i].parent = 0;
		l->spans[i].confidence = STEP_CONFIDENCE;
	}
}

static int store_lines(struct named *n, struct lines *l, struct request *r, struct error *err)
{
	struct request_body body = { .spans = l->spans, .nr_spans = l->nr, .nr_events = l->nr };

	body.events = arena_array(&n->arena, uint64_t, l->nr);
	body.event_span = arena_array(&n->arena, uint32_t, l->nr);
	for (uint32_t i = 0; i < l->nr; i++) {
		body.events[i] = l->group->numbers[l->picked[i]];
		body.event_span[i] = i;
	}
	r->type = type_of_line(&n->arena, line_at(l, 0)->point, line_at(l, 0)->title);
	r->start = l->spans[0].start;
	r->end = l->spans[0].end;
	return group_store(n, r, &body, err);
}

static int make_request(struct named *n, const struct group *g, const uint32_t *picked, size_t nr,
			float confidence, struct error *err)
{
	struct request r = { .key = g->key, .key_kind = g->key_kind, .confidence = confidence };
	struct lines l = { .group = g, .picked = picked, .nr = nr };
	int got;

	l.spans = arena_array(&n->arena, struct span, nr);
	make_root(n, &l);
	make_steps(n, &l);
	got = store_lines(n, &l, &r, err);
	names_done(&l.nodes);
	vec_done(&l.last);
	return got;
}

/* A lone line that only mentions a piece of work tells nothing of how long anything took. */
static bool is_thin(const struct group *g, const uint32_t *picked, size_t nr)
{
	return g->key_kind == KEY_WORK && nr < 2 && g->events[picked[0]].duration < 0;
}

static float confidence_of(enum key_kind kind, double apart)
{
	switch (kind) {
	case KEY_TRACE:
		return 1;
	case KEY_REQUEST:
		return 0.95f;
	case KEY_WORK:
		return (float)(0.4 + 0.3 * apart);
	default:
		return 0.9f; /* the line tells all of itself, if it was read right */
	}
}

/* The same node says again what it said first, after other things: another piece of work begins. */
static bool begins_again(const struct group *g, const uint32_t *picked, size_t from, size_t i)
{
	const struct event *first = &g->events[picked[from]], *ev = &g->events[picked[i]];

	return g->key_kind == KEY_WORK && first->title.n && str_eq(first->title, ev->title) &&
	       str_eq(first->node, ev->node) && !str_eq(g->events[picked[i - 1]].title, ev->title);
}

int line_requests(struct named *n, const struct group *g, struct error *err)
{
	int64_t idle = g->key_kind == KEY_TRACE ? INT64_MAX : n->options->idle_ns;
	double apart = 0;
	uint32_t *picked;
	size_t nr = group_select(g, EVENT_LOG, &n->arena, &picked), from = 0;

	if (g->key_kind == KEY_WORK)
		idle = gaps_limit(n->gaps, gaps_word(g->key), idle, &apart);
	for (size_t i = 1; i <= nr; i++) {
		int got;

		if (i < nr && g->events[picked[i]].ns - g->events[picked[i - 1]].ns <= idle &&
		    !begins_again(g, picked, from, i))
			continue;
		if (!is_thin(g, picked + from, i - from)) {
			got = make_request(n, g, picked + from, i - from,
					   confidence_of(g->key_kind, apart), err);
			if (got < 0)
				return got;
		}
		from = i;
	}
	return 0;
}
