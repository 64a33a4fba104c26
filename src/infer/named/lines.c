/*
 * Log lines that name their request, with no span around them.
 *
 * The lines of one key, in order of time, make a request. Lines of one node and thread are a lane;
 * a lane is a span, and so is each step from one of its lines to the next, named after both,
 * because that is where time passes between two things that the program said. An identifier of a
 * piece of work (a block, an application) outlives single requests, so its lines are cut where it
 * was silent for long (infer/named/gaps.h); a request id is cut only after the idle time of the
 * options.
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

/* The lines of one request, and the spans that are being made of them. */
struct lines {
	const struct group *group;
	const uint32_t *picked;
	size_t nr;
	VEC(struct span) spans;
	struct names lanes;      /* node and thread; their numbers count from 1 */
	VEC(uint32_t) last;      /* by lane: the line that came last */
	VEC(uint32_t) lane_span; /* by lane: its span */
	uint32_t *lane;          /* by line: its lane */
	uint32_t *span;          /* by line: the span that ends with it */
};

static const struct event *line_at(const struct lines *l, size_t i)
{
	return &l->group->events[l->picked[i]];
}

static struct str text_of(const struct event *ev)
{
	return ev->title.n ? ev->title : ev->point;
}

static struct str step_name(struct named *n, const struct event *from, const struct event *to)
{
	struct str a = utf8_fit(text_of(from), STEP_COLUMNS),
		   b = utf8_fit(text_of(to), STEP_COLUMNS);

	return arena_fmt(&n->arena, STR_FMT " \xe2\x86\x92 " STR_FMT, STR_ARG(a), STR_ARG(b));
}

static struct span span_of(const struct event *ev, struct str name, uint32_t parent)
{
	return (struct span){ .start = ev->ns,
			      .end = ev->ns,
			      .parent = parent,
			      .kind = SPAN_INTERNAL,
			      .status = ev->level >= LEVEL_ERROR ? STATUS_ERROR : STATUS_UNSET,
			      .confidence = 1,
			      .name = name,
			      .node = ev->node,
			      .thread = ev->thread };
}

/* The number of the lane that a line belongs to, from 0, in order of their first lines. */
static uint32_t lane_of(struct named *n, struct lines *l, const struct event *ev)
{
	struct str name =
		arena_fmt(&n->arena, STR_FMT "\n" STR_FMT, STR_ARG(ev->node), STR_ARG(ev->thread));
	sym_t sym = names_add(&l->lanes, name);

	if (sym > l->last.nr)
		vec_push(&l->last, NO_LINE);
	return sym - 1;
}

static void find_lanes(struct named *n, struct lines *l)
{
	for (size_t i = 0; i < l->nr; i++)
		l->lane[i] = lane_of(n, l, line_at(l, i));
}

/* The first line of a lane opens its span; each later one ends a step from the line before. */
static void add_line(struct named *n, struct lines *l, uint32_t i)
{
	const struct event *ev = line_at(l, i);
	uint32_t lane = l->lane[i], before = l->last.v[lane];
	bool is_only = l->last.nr == 1;
	struct span s;

	l->last.v[lane] = i;
	if (before == NO_LINE) {
		l->span[i] = is_only ? 0 : (uint32_t)l->spans.nr;
		vec_push(&l->lane_span, l->span[i]);
		if (is_only)
			return;
		s = span_of(ev, text_of(ev), 0);
		vec_push(&l->spans, s);
		return;
	}
	s = span_of(ev, step_name(n, line_at(l, before), ev), l->lane_span.v[lane]);
	s.start = line_at(l, before)->ns;
	l->span[i] = (uint32_t)l->spans.nr;
	l->spans.v[s.parent].end = ev->ns;
	vec_push(&l->spans, s);
}

/* The root covers everything; a line that tells a duration began so much earlier. */
static void add_root(struct lines *l)
{
	struct span root = span_of(line_at(l, 0), text_of(line_at(l, 0)), SPAN_NONE);

	for (size_t i = 0; i < l->nr; i++) {
		const struct event *ev = line_at(l, i);
		int64_t start = ev->ns - (ev->duration > 0 ? ev->duration : 0);

		if (start < root.start)
			root.start = start;
		if (ev->ns > root.end)
			root.end = ev->ns;
		if (ev->level >= LEVEL_ERROR)
			root.status = STATUS_ERROR;
	}
	vec_push(&l->spans, root);
}

static void name_spans(struct named *n, struct lines *l)
{
	for (size_t i = 0; i < l->spans.nr; i++)
		l->spans.v[i].id = arena_fmt(&n->arena, "%zu", i + 1);
}

static int store_lines(struct named *n, struct lines *l, struct request *r, struct error *err)
{
	struct request_body body = { .spans = l->spans.v,
				     .nr_spans = l->spans.nr,
				     .nr_events = l->nr };

	body.event_span = l->span;
	body.events = arena_array(&n->arena, uint64_t, l->nr);
	for (size_t i = 0; i < l->nr; i++)
		body.events[i] = l->group->numbers[l->picked[i]];
	r->type = type_of_line(&n->arena, line_at(l, 0)->point, line_at(l, 0)->title);
	r->start = l->spans.v[0].start;
	r->end = l->spans.v[0].end;
	return group_store(n, r, &body, err);
}

static int make_request(struct named *n, const struct group *g, const uint32_t *picked, size_t nr,
			float confidence, struct error *err)
{
	struct request r = { .key = g->key, .key_kind = g->key_kind, .confidence = confidence };
	struct lines l = { .group = g, .picked = picked, .nr = nr };
	int got;

	l.lane = arena_array(&n->arena, uint32_t, nr);
	l.span = arena_array(&n->arena, uint32_t, nr);
	add_root(&l);
	find_lanes(n, &l);
	for (uint32_t i = 0; i < nr; i++)
		add_line(n, &l, i);
	name_spans(n, &l);
	got = store_lines(n, &l, &r, err);
	names_done(&l.lanes);
	vec_done(&l.last);
	vec_done(&l.lane_span);
	vec_done(&l.spans);
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
		return 1; /* the line tells all of itself */
	}
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

		if (i < nr && g->events[picked[i]].ns - g->events[picked[i - 1]].ns <= idle)
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
