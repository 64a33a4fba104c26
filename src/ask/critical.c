/*
 * The critical path as trace viewers draw it: begin at the end of the root and walk back in time;
 * the child that finished last held its parent up, so the time from its end on is the parent's own,
 * the time before belongs to the child, and at the child's start the walk is back in the parent.
 *
 *	parent  |=====----------======-------====|      = on the path
 *	child 1       |=========|
 *	child 2            |--|       |=======|         (2 ends before 1 does: not on the path)
 *
 * A child that sticks out of its parent is cut to it, one that lies outside is dropped with all
 *that it holds, and so is one that the parent does not wait for. A child that ends in the very
 *moment in which the next one starts counts as before it; viewers ask for a gap there, and give
 *back-to-back calls to the parent, which blames the wrong one.
 *
 * Several roots share the time: each moment goes to the longest root that covers it, and moments
 *that none covers are a wait of no span. Causal graphs (EDGE_AFTER) have no parents to come back
 *to; there the walk follows the latest predecessor.
 *
 * Time n log n, memory linear, no recursion: a trace may be a hundred thousand spans deep.
 */
#include "ask/critical.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct cut {
	int64_t start, end;
	bool alive;
};

struct walk {
	const struct request_body *b;
	struct arena *arena;
	struct cut *cuts;
	uint32_t *first,
		*children; /* children of span i: children[first[i]] … children[first[i+1]] */
	struct critical_section *v; /* newest first until the end */
	size_t nr, room;
};

static int64_t span_end(const struct span *s)
{
	return s->end < s->start ? s->start : s->end;
}

static void emit(struct walk *w, uint32_t span, enum critical_kind kind, int64_t start, int64_t end)
{
	if (start >= end)
		return;
	if (span != SPAN_NONE && w->b->spans[span].kind == SPAN_WAIT)
		kind = CRITICAL_WAIT;
	if (w->nr == w->room) {
		size_t room = w->room ? 2 * w->room : 16;
		struct critical_section *v = arena_array(w->arena, struct critical_section, room);

		if (w->nr)
			memcpy(v, w->v, w->nr * sizeof(*v));
		w->v = v;
		w->room = room;
	}
	w->v[w->nr++] = (struct critical_section){ span, kind, start, end };
}

static bool is_root(const struct request_body *b, uint32_t i)
{
	return b->spans[i].parent >= i; /* SPAN_NONE, or a damaged order */
}

/* Cuts every span to its parent's cut; roots have theirs already. */
static void cut_to_parents(struct walk *w)
{
	for (uint32_t i = 0; i < w->b->nr_spans; i++) {
		const struct span *s = &w->b->spans[i];
		const struct cut *p;
		int64_t end = span_end(s);

		if (is_root(w->b, i))
			continue;
		p = &w->cuts[s->parent];
		if (s->follows || !p->alive || s->start >= p->end || end <= p->start)
			continue;
		w->cuts[i] = (struct cut){ s->start > p->start ? s->start : p->start,
					   end < p->end ? end : p->end, true };
	}
}

static int latest_first(const void *a, const void *b, void *ctx)
{
	const struct span *spans = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int64_t ei = span_end(&spans[i]), ej = span_end(&spans[j]);

	if (ei != ej)
		return ei > ej ? -1 : 1;
	if (spans[i].start != spans[j].start)
		return spans[i].start < spans[j].start ? -1 : 1;
	return i < j ? -1 : 1;
}

/* Lists the living children of every span, the last to finish (before any cut) first. */
static void list_children(struct walk *w)
{
	size_t n = w->b->nr_spans;
	uint32_t *at;

	w->first = arena_array(w->arena, uint32_t, n + 2);
	at = w->first + 1; /* shifted by one while filling, so that no second array is needed */
	for (uint32_t i = 0; i < n; i++)
		if (w->cuts[i].alive && !is_root(w->b, i))
			at[w->b->spans[i].parent + 1]++;
	for (size_t i = 1; i <= n; i++)
		at[i] += at[i - 1];
	w->children = arena_array(w->arena, uint32_t, at[n] + 1);
	for (uint32_t i = 0; i < n; i++)
		if (w->cuts[i].alive && !is_root(w->b, i))
			w->children[at[w->b->spans[i].parent]++] = i;
	for (size_t i = 0; i < n; i++)
		if (w->first[i + 1] - w->first[i] > 1)
			qsort_r(w->children + w->first[i], w->first[i + 1] - w->first[i],
				sizeof(*w->children), latest_first, w->b->spans);
}

struct frame {
	uint32_t span, next; /* the next child to look at */
	int64_t at;          /* everything later is done */
};

/* Walks back through one root's tree. */
static void walk_tree(struct walk *w, uint32_t root)
{
	VEC(struct frame) stack = { 0 };

	vec_push(&stack, (struct frame){ root, w->first[root], w->cuts[root].end });
	while (stack.nr) {
		struct frame *f = &stack.v[stack.nr - 1];
		uint32_t child = SPAN_NONE;

		while (f->next < w->first[f->span + 1] && child == SPAN_NONE) {
			uint32_t c = w->children[f->next++];

			if (w->cuts[c].end <= f->at)
				child = c;
		}
		if (child == SPAN_NONE) {
			emit(w, f->span, CRITICAL_RUN, w->cuts[f->span].start, f->at);
			stack.nr--;
			continue;
		}
		emit(w, f->span, CRITICAL_RUN, w->cuts[child].end, f->at);
		f->at = w->cuts[child].start;
		vec_push(&stack, (struct frame){ child, w->first[child], w->cuts[child].end });
	}
	vec_done(&stack);
}

/* --- sharing the time among roots ---------------------------------------------------------- */

struct piece {
	uint32_t root; /* or SPAN_NONE */
	int64_t start, end;
};

static int earliest_first(const void *a, const void *b, void *ctx)
{
	const struct span *spans = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (spans[i].start != spans[j].start)
		return spans[i].start < spans[j].start ? -1 : 1;
	return i < j ? -1 : 1;
}

static bool root_before(const struct span *spans, uint32_t i, uint32_t j)
{
	uint64_t li = (uint64_t)span_end(&spans[i]) - (uint64_t)spans[i].start;
	uint64_t lj = (uint64_t)span_end(&spans[j]) - (uint64_t)spans[j].start;

	if (li != lj)
		return li > lj;
	if (spans[i].start != spans[j].start)
		return spans[i].start < spans[j].start;
	return i < j;
}

/* A heap of roots, the longest on top. */
static void heap_push(const struct span *spans, uint32_t *heap, size_t *nr, uint32_t root)
{
	size_t i = (*nr)++;

	for (; i && root_before(spans, root, heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = root;
}

static void heap_pop(const struct span *spans, uint32_t *heap, size_t *nr)
{
	uint32_t last = heap[--*nr];
	size_t i = 0;

	for (;;) {
		size_t c = 2 * i + 1;

		if (c >= *nr)
			break;
		if (c + 1 < *nr && root_before(spans, heap[c + 1], heap[c]))
			c++;
		if (!root_before(spans, heap[c], last))
			break;
		heap[i] = heap[c];
		i = c;
	}
	heap[i] = last;
}

/* Gives each moment to the longest root over it. A longer root is never split by a shorter one, so
 * that each root gets one piece at most. */
static size_t share_time(const struct request_body *b, uint32_t *roots, size_t nr_roots,
			 uint32_t *heap, struct piece *pieces)
{
	const struct span *s = b->spans;
	size_t nr_heap = 0, nr = 0, next = 0;
	int64_t at = s[roots[0]].start;

	while (next < nr_roots || nr_heap) {
		int64_t until;

		while (next < nr_roots && s[roots[next]].start <= at)
			heap_push(s, heap, &nr_heap, roots[next++]);
		while (nr_heap && span_end(&s[heap[0]]) <= at)
			heap_pop(s, heap, &nr_heap);
		if (!nr_heap && next == nr_roots)
			break;
		until = next < nr_roots ? s[roots[next]].start : INT64_MAX;
		if (nr_heap && span_end(&s[heap[0]]) < until)
			until = span_end(&s[heap[0]]);
		if (nr && pieces[nr - 1].root == (nr_heap ? heap[0] : SPAN_NONE))
			pieces[nr - 1].end = until;
		else
			pieces[nr++] = (struct piece){ nr_heap ? heap[0] : SPAN_NONE, at, until };
		at = until;
	}
	return nr;
}

static size_t find_roots(const struct request_body *b, uint32_t *roots)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < b->nr_spans; i++)
		if (is_root(b, i))
			roots[nr++] = i;
	qsort_r(roots, nr, sizeof(*roots), earliest_first, b->spans);
	return nr;
}

static void walk_roots(struct walk *w)
{
	size_t n = w->b->nr_spans, nr_pieces;
	uint32_t *roots = arena_array(w->arena, uint32_t, n), *heap;
	size_t nr_roots = find_roots(w->b, roots);
	struct piece *pieces = arena_array(w->arena, struct piece, 2 * nr_roots);

	heap = arena_array(w->arena, uint32_t, nr_roots);
	w->cuts = arena_array(w->arena, struct cut, n);
	nr_pieces = share_time(w->b, roots, nr_roots, heap, pieces);
	for (size_t i = 0; i < nr_pieces; i++)
		if (pieces[i].root != SPAN_NONE)
			w->cuts[pieces[i].root] =
				(struct cut){ pieces[i].start, pieces[i].end, true };
	cut_to_parents(w);
	list_children(w);
	for (size_t i = nr_pieces; i-- > 0;) {
		if (pieces[i].root == SPAN_NONE)
			emit(w, SPAN_NONE, CRITICAL_WAIT, pieces[i].start, pieces[i].end);
		else
			walk_tree(w, pieces[i].root);
	}
}

/* --- causal graphs -------------------------------------------------------------------------- */

static bool is_causal(const struct request_body *b)
{
	for (size_t i = 0; i < b->nr_edges; i++)
		if (b->edges[i].kind == EDGE_AFTER)
			return true;
	return false;
}

/* For every span the predecessor that ended last. */
static uint32_t *latest_predecessors(const struct request_body *b, struct arena *arena)
{
	uint32_t *latest = arena_array(arena, uint32_t, b->nr_spans);

	for (size_t i = 0; i < b->nr_spans; i++)
		latest[i] = SPAN_NONE;
	for (size_t i = 0; i < b->nr_edges; i++) {
		const struct edge *e = &b->edges[i];

		if (e->kind != EDGE_AFTER || e->from >= b->nr_spans || e->to >= b->nr_spans ||
		    e->from == e->to)
			continue;
		if (latest[e->to] == SPAN_NONE ||
		    span_end(&b->spans[e->from]) > span_end(&b->spans[latest[e->to]]))
			latest[e->to] = e->from;
	}
	return latest;
}

static bool same_thread(const struct span *a, const struct span *b)
{
	return str_eq(a->node, b->node) && str_eq(a->thread, b->thread);
}

static void walk_graph(struct walk *w, int64_t begin)
{
	const struct span *s = w->b->spans;
	uint32_t *latest = latest_predecessors(w->b, w->arena), at = 0;
	int64_t t;

	for (uint32_t i = 1; i < w->b->nr_spans; i++)
		if (span_end(&s[i]) >= span_end(&s[at]))
			at = i;
	t = span_end(&s[at]);
	/* A circle of edges cannot hold the walk: it takes no more steps than there are spans. */
	for (size_t steps = 0; at != SPAN_NONE && steps < w->b->nr_spans; steps++) {
		uint32_t before = latest[at];
		int64_t from = s[at].start,
			done = before == SPAN_NONE ? from : span_end(&s[before]);
		bool hop = before != SPAN_NONE && !same_thread(&s[at], &s[before]);

		if (done > from)
			from = done;
		if (from < t) {
			emit(w, at, hop ? CRITICAL_WAIT : CRITICAL_RUN, from, t);
			t = from;
		}
		if (done < t) {
			emit(w, SPAN_NONE, CRITICAL_WAIT, done, t);
			t = done;
		}
		at = before;
	}
	emit(w, SPAN_NONE, CRITICAL_WAIT, begin, t);
}

int critical_path(const struct request_body *b, struct arena *arena, struct critical *out)
{
	struct walk w = { .b = b, .arena = arena };

	*out = (struct critical){ 0 };
	if (!b->nr_spans)
		return 0;
	out->start = b->spans[0].start;
	if (is_causal(b)) {
		for (size_t i = 1; i < b->nr_spans; i++)
			if (b->spans[i].start < out->start)
				out->start = b->spans[i].start;
		walk_graph(&w, out->start);
	} else {
		walk_roots(&w);
	}
	for (size_t i = 0; i < w.nr / 2; i++) {
		struct critical_section swap = w.v[i];

		w.v[i] = w.v[w.nr - 1 - i];
		w.v[w.nr - 1 - i] = swap;
	}
	out->v = w.v;
	out->nr = w.nr;
	if (w.nr)
		out->start = w.v[0].start;
	out->end = w.nr ? w.v[w.nr - 1].end : out->start;
	return 0;
}

const char *critical_kind_name(enum critical_kind kind)
{
	return kind == CRITICAL_WAIT ? "wait" : "run";
}
