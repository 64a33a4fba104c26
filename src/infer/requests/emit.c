#include "infer/requests/emit.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/sort.h"
#include "infer/requests/fragment.h"
#include "infer/requests/makeup.h"
#include "infer/requests/match.h"
#include "infer/requests/match_name.h"
#include "infer/requests/operation.h"
#include "infer/requests/whole.h"
#include "model/request.h"
#include "program/model_file.h"

#define METHOD "requests"
#define SOON_NS INT64_C(200000000)
#define WAIT_NS INT64_C(2000000) /* shorter gaps are the clock's grain */

struct emitting {
	const enum sitting_state *state; /* of each session */
	const struct work *w;
	const struct outlet *out;
	struct arena arena;
	uint32_t *order; /* units by session, then start */
	const struct operations *operations;
	const struct whole *whole;
	const struct makeup *makeup;
	uint32_t *span_of;    /* of each unit, in the request at hand */
	uint64_t *point_hash; /* of each type: its place in the program, or its text */
};

/* Units by session, each in order of start. */
static void order_units(const struct work *w, uint32_t *order)
{
	size_t nr = w->units.nr;
	struct sort_item *v = mem_alloc(mem_bytes(nr + 1, sizeof(*v)));

	for (size_t i = 0; i < nr; i++)
		v[i] = (struct sort_item){ w->units.v[i].session, i };
	sort_items(v, nr);
	for (size_t i = 0; i < nr; i++)
		order[i] = (uint32_t)v[i].at;
	free(v);
}

/* DataXceiver.writeBlock of the statement's place, or the text of the line. */
static struct str name_of(struct emitting *e, uint32_t type)
{
	uint32_t statement = e->w->g->statement.v[type], model, point;
	const struct model_file *m =
		e->out->matcher && statement
			? matcher_point(e->out->matcher, statement, &model, &point)
			: NULL;
	struct model_method method;
	struct str class, text;

	if (!m) {
		text = names_str(&e->w->g->types, type);
		return str_skip(text, str_find_char(text, '|') + 1);
	}
	method = model_method(m, model_point(m, point).method);
	class = method.class;
	for (size_t i = class.n; i-- > 0;)
		if (class.p[i] == '.') {
			class = str_skip(class, i + 1);
			break;
		}
	return arena_fmt(&e->arena, STR_FMT "." STR_FMT, STR_ARG(class), STR_ARG(method.name));
}

/* Whether a line of the unit belongs to its request: what names nothing of its own does not when
 * the work around it is of several. */
static bool is_ours(const struct work *w, const struct unit *u, const struct seen_line *l)
{
	if (l->is_keyed)
		return false;
	if (!u->is_mixed || u->family || u->turn)
		return true;
	for (unsigned i = 0; i < l->nr_own; i++)
		for (uint32_t k = 0; k < u->nr_held; k++)
			if (w->held.v[u->held_at + k].thing == line_names(w, l)[i])
				return true;
	return false;
}

/* A unit alone is a request when it names something. */
static bool is_request(const struct work *w, const uint32_t *units, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct unit *u = &w->units.v[units[i]];

		if (!u->is_undated && !u->is_batch && (nr > 1 || u->nr_held))
			return true;
	}
	return false;
}

struct body {
	VEC(struct span) spans;
	VEC(struct edge) edges;
	VEC(uint64_t) events;
	VEC(uint32_t) event_span;
	VEC(uint32_t) operation; /* of each event */
	struct map numbers;      /* of operations, by what tells them apart */
	VEC(uint64_t) passed;    /* of each unit: the statements that it passed */
	VEC(struct why) why;     /* of each span but the first */
	struct buf attrs;
	int64_t end, served_end, soon_end; /* of all, of what somebody waited for, of what
						   was done at once; ns */
	uint32_t nr_served;
	float sure;
	bool error, is_served;
};

static void add_event(struct emitting *e, struct body *b, const struct unit *u,
		      const struct seen_line *l, uint32_t span)
{
	uint64_t *number = map_at(&b->numbers, operations_of(e->operations, u, l));

	if (!*number)
		*number = b->numbers.nr;
	vec_push(&b->events, l->event);
	vec_push(&b->event_span, span);
	vec_push(&b->operation, (uint32_t)*number);
}

/* The paper's sequence of one top-level method: its statements in their order. */
static void add_passed(struct emitting *e, struct body *b, const struct unit *u)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (uint32_t at = u->from; at < u->to; at++) {
		const struct seen_line *l = work_line(e->w, at);

		if (is_ours(e->w, u, l))
			h = (h ^ e->point_hash[l->type]) * 0x100000001b3ULL;
	}
	vec_push(&b->passed, h);
}

/* Time goes on until the last one is done, and until the last one that somebody waited for. */
static void reach(struct body *b, const struct unit *u)
{
	b->end = u->end > b->end ? u->end : b->end;
	b->nr_served += u->is_served;
	if (u->is_served && u->end > b->served_end)
		b->served_end = u->end;
	if ((u->is_served || u->start <= b->soon_end + SOON_NS) && u->end > b->soon_end)
		b->soon_end = u->end;
}

/* 0 when what it follows is in another request after all, or has no span. */
static uint32_t parent_span(const struct emitting *e, const struct unit *u)
{
	if (u->parent == NO_UNIT || e->w->units.v[u->parent].session != u->session)
		return 0;
	return e->span_of[u->parent];
}

/* When the unit began, by what its lines say their work took. */
static int64_t began(const struct work *w, const struct unit *u)
{
	int64_t start = u->start;

	for (uint32_t at = u->from; at < u->to; at++) {
		const struct seen_line *l = work_line(w, at);
		int64_t ns;

		if (!l->is_undated && !__builtin_sub_overflow(l->ns, l->spent, &ns) && ns < start &&
		    is_ours(w, u, l))
			start = ns;
	}
	return start;
}

static void add_span(struct emitting *e, struct body *b, uint32_t unit)
{
	const struct unit *u = &e->w->units.v[unit];
	const struct seen_line *first = work_line(e->w, u->from);
	uint32_t parent = parent_span(e, u);
	int64_t start = began(e->w, u);
	struct span s = { .start = start > b->spans.v[0].start ? start : b->spans.v[0].start,
			  .shift = first->file < e->w->g->shift.nr ? e->w->g->shift.v[first->file]
								   : 0,
			  .end = u->end,
			  .kind = SPAN_INTERNAL,
			  .confidence = u->sure,
			  .name = name_of(e, u->type),
			  .node = names_str(&e->w->g->nodes, first->node),
			  .thread = names_str(&e->w->g->threads, first->thread) };

	if (u->is_undated) {
		for (uint32_t at = u->from; at < u->to; at++)
			if (!work_line(e->w, at)->is_keyed)
				add_event(e, b, u, work_line(e->w, at), 0);
		return;
	}
	e->span_of[unit] = (uint32_t)b->spans.nr;
	s.id = arena_fmt(&e->arena, "%zu", b->spans.nr + 1);
	/* what is done when its cause is over was handed on: the whole request waits for it, unless
	 * it is over before (close_body) */
	s.parent = parent && b->spans.v[parent].end >= u->end ? parent : 0;
	for (uint32_t at = u->from; at < u->to; at++) {
		const struct seen_line *l = work_line(e->w, at);

		if (l->level >= LEVEL_ERROR)
			s.status = STATUS_ERROR;
		if (!is_ours(e->w, u, l))
			continue;
		add_event(e, b, u, l, (uint32_t)b->spans.nr);
	}
	if (parent)
		vec_push(&b->edges, (struct edge){ .from = parent,
						   .to = (uint32_t)b->spans.nr,
						   .kind = str_eq(b->spans.v[parent].node, s.node)
								   ? EDGE_HANDOFF
								   : EDGE_MESSAGE,
						   .confidence = u->sure });
	vec_push(&b->why,
		 (struct why){ u->why, u->thing ? gather_value(e->w->g, u->thing) : STR("") });
	add_passed(e, b, u);
	reach(b, u);
	b->error |= s.status == STATUS_ERROR;
	b->sure = u->sure < b->sure ? u->sure : b->sure;
	vec_push(&b->spans, s);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The paper's log sequence id: which statements in which order in each thread, and how many
 * threads; the order between threads does not count. */
static uint64_t sequence_of(const struct body *b)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	if (b->passed.nr)
		qsort(b->passed.v, b->passed.nr, sizeof(*b->passed.v), by_number);
	vec_each (&b->passed, one)
		h = (h ^ *one ^ *one >> 32) * 0x100000001b3ULL;
	return h;
}

/* Where somebody waits for the first piece of work a request is over when nobody waits any more;
 * what is done later only follows. Nothing tells when that is if all that they are seen to wait for
 * is the first piece: then what is done at once counts too. */
static int64_t close_body(struct body *b)
{
	int64_t end = !b->is_served ? b->end : b->nr_served > 1 ? b->served_end : b->soon_end;

	b->spans.v[0].end = end;
	for (size_t i = 1; i < b->spans.nr; i++)
		b->spans.v[i].follows |= b->spans.v[i].end > end && !b->spans.v[i].parent;
	why_add(&b->attrs, b->why.v, b->why.nr);
	return end;
}

/* A request is called after the first thing that is done for its caller. */
static const struct unit *first_served(const struct work *w, const uint32_t *units, size_t nr,
				       const struct unit *first)
{
	for (size_t i = 0; i < nr; i++)
		if (w->units.v[units[i]].is_served)
			return &w->units.v[units[i]];
	return first;
}

static const struct unit *first_dated(const struct work *w, const uint32_t *units, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!w->units.v[units[i]].is_undated)
			return &w->units.v[units[i]];
	return &w->units.v[units[0]];
}

/* Between two pieces of work the request waits for the next one: for whoever does it, for its
 * caller, or for what is not logged. */
static void add_waits(struct emitting *e, struct body *b)
{
	size_t nr = b->spans.nr;
	int64_t until = b->spans.v[0].start;

	for (size_t i = 1; i < nr; i++) {
		struct span s = b->spans.v[i];

		if (s.start - until >= WAIT_NS && (!b->is_served || s.start <= b->served_end)) {
			struct span wait = { .start = until,
					     .end = s.start,
					     .kind = SPAN_WAIT,
					     .confidence = s.confidence,
					     .node = s.node };

			wait.name = arena_fmt(&e->arena, "wait for " STR_FMT, STR_ARG(s.name));
			wait.id = arena_fmt(&e->arena, "%zu", b->spans.nr + 1);
			vec_push(&b->spans, wait);
		}
		until = s.end > until ? s.end : until;
	}
}

static int emit_one(struct emitting *e, struct body *b, const uint32_t *units, size_t nr,
		    struct error *err)
{
	const struct unit *first = first_dated(e->w, units, nr);
	struct request r = { .type = name_of(e, first_served(e->w, units, nr, first)->type),
			     .method = STR(METHOD),
			     .start = began(e->w, first) };
	struct fragment f;

	b->sure = 1;
	vec_push(&b->spans, (struct span){ .start = r.start,
					   .parent = SPAN_NONE,
					   .kind = SPAN_SERVER,
					   .confidence = 1,
					   .id = STR("1"),
					   .name = r.type,
					   .node = names_str(&e->w->g->nodes,
							     work_line(e->w, first->from)->node) });
	b->end = b->served_end = b->soon_end = first->start;
	b->nr_served = 0;
	b->is_served = first->is_served;
	for (size_t i = 0; i < nr; i++)
		add_span(e, b, units[i]);
	if (!b->events.nr)
		return 0;
	add_waits(e, b);
	r.end = close_body(b);
	r.error = b->error;
	r.incomplete = whole_is_cut(e->whole, units, nr) || makeup_is_cut(e->makeup, units, nr);
	r.confidence = b->sure;
	r.sequence = sequence_of(b);
	r.nr_spans = (uint32_t)b->spans.nr;
	r.nr_events = (uint32_t)b->events.nr;
	f = (struct fragment){ .r = r,
			       .body = { .spans = b->spans.v,
					 .edges = b->edges.v,
					 .events = b->events.v,
					 .event_span = b->event_span.v,
					 .nr_spans = b->spans.nr,
					 .nr_edges = b->edges.nr,
					 .nr_events = b->events.nr },
			       .operation = b->operation.v,
			       .why = buf_str(&b->attrs) };
	return e->out->take(e->out->to, &f, err);
}

static bool is_over(const struct emitting *e, uint32_t session)
{
	return session && e->state[session] == SITTING_OVER;
}

static int emit_all(struct emitting *e, struct error *err)
{
	const struct work *w = e->w;
	struct body b = { 0 };
	size_t from = 0;
	int got = 0;

	for (size_t i = 1; i <= w->units.nr && got >= 0; i++) {
		if (i < w->units.nr &&
		    w->units.v[e->order[i]].session == w->units.v[e->order[from]].session)
			continue;
		vec_clear(&b.spans);
		vec_clear(&b.edges);
		vec_clear(&b.events);
		vec_clear(&b.event_span);
		vec_clear(&b.operation);
		/* not cleared: that costs as much as the largest request so far */
		map_done(&b.numbers);
		vec_clear(&b.passed);
		vec_clear(&b.why);
		buf_clear(&b.attrs);
		b.error = false;
		arena_reset(&e->arena);
		if (is_over(e, w->units.v[e->order[from]].session) &&
		    is_request(w, e->order + from, i - from))
			got = emit_one(e, &b, e->order + from, i - from, err);
		from = i;
	}
	vec_done(&b.spans);
	vec_done(&b.edges);
	vec_done(&b.events);
	vec_done(&b.event_span);
	vec_done(&b.operation);
	map_done(&b.numbers);
	vec_done(&b.passed);
	vec_done(&b.why);
	buf_done(&b.attrs);
	return got;
}

static void hash_points(struct emitting *e)
{
	const struct gather *g = e->w->g;

	e->point_hash = mem_realloc(NULL, mem_bytes(g->types.nr + 1, sizeof(*e->point_hash)));
	for (uint32_t i = 0; i < g->types.nr; i++) {
		struct str name = e->out->matcher && i < g->statement.nr && g->statement.v[i]
					  ? matcher_point_name(e->out->matcher, g->statement.v[i])
					  : names_str(&g->types, i);

		e->point_hash[i] = str_hash(name);
	}
}

int sessions_emit(const struct work *w, const struct owners *o, const enum sitting_state *state,
		  const struct outlet *out, struct error *err)
{
	struct emitting e = { .w = w, .out = out, .state = state };
	struct operations *operations;
	struct makeup *makeup;
	struct whole *whole;
	int got;

	e.order = mem_realloc(NULL, mem_bytes(2 * (w->units.nr + 1), sizeof(*e.order)));
	e.span_of = e.order + w->units.nr + 1;
	memset(e.span_of, 0, (w->units.nr + 1) * sizeof(*e.span_of));
	order_units(w, e.order);
	operations = operations_new(w, o);
	e.operations = operations;
	e.whole = whole = whole_new(w);
	e.makeup = makeup = makeup_new(w, e.order, w->units.nr);
	hash_points(&e);
	got = emit_all(&e, err);
	operations_free(operations);
	whole_free(whole);
	makeup_free(makeup);
	free(e.point_hash);
	free(e.order);
	arena_done(&e.arena);
	return got;
}
