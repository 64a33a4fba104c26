/*
 * Events of a Chrome trace may stand in any order, so they are gathered (a bounded number of them:
 * see chrome.c), sorted by track and time, and walked once with a stack for each track. A slice
 * without one around it is the root of a request of its own. Arrows (flows) become links from the
 * slice that they reach to the slice that they came from.
 */
#include "source/chrome_nest.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/time.h"
#include "model/event.h"
#include "model/link.h"
#include "model/loss.h"
#include "model/span.h"
#include "source/chunks.h"
#include "source/title.h"

#define NR_OPEN_MAX 2000000 /* slices at a time that may wait for their end */

/* An end of an arrow, bound to a slice. */
struct anchor {
	sym_t flow;
	int64_t ns;
	uint64_t nr;
	size_t slice; /* position in items */
};

struct arrow {
	size_t from, to; /* positions in items */
};

struct walk {
	struct chrome_nest *n;
	struct batch *b;
	VEC(size_t) stack;   /* positions of the open slices of the track */
	VEC(size_t) waiting; /* arrows that end in the next slice */
	VEC(struct anchor) anchors;
	VEC(struct arrow) arrows;
	int64_t last_ns;
};

void chrome_nest_done(struct chrome_nest *n)
{
	arena_done(&n->arena);
	arena_done(&n->kept);
	arena_done(&n->carried);
	vec_done(&n->items);
	vec_done(&n->titles);
	names_done(&n->names);
}

void chrome_nest_title(struct chrome_nest *n, sym_t sym, struct str title)
{
	while (n->titles.nr <= sym)
		vec_push(&n->titles, (struct str){ 0 });
	if (!str_eq(n->titles.v[sym], title))
		n->titles.v[sym] = arena_str(&n->kept, title);
}

static struct str title_of(const struct chrome_nest *n, sym_t sym)
{
	if (sym < n->titles.nr && n->titles.v[sym].n)
		return n->titles.v[sym];
	return names_str(&n->names, sym);
}

/* At one moment begins and ends come as they stand in the file, then whole slices, longest first.
 */
static int compare_items(const void *a, const void *b)
{
	const struct chrome_item *x = a, *y = b;
	bool x_whole = x->phase == CHROME_WHOLE, y_whole = y->phase == CHROME_WHOLE;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x_whole != y_whole)
		return x_whole ? 1 : -1;
	if (x_whole && x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

static struct chrome_item *top(struct walk *w)
{
	return w->stack.nr ? &w->n->items.v[w->stack.v[w->stack.nr - 1]] : NULL;
}

static bool is_open(const struct chrome_item *it)
{
	return it->end == NS_NONE;
}

/* Leaves the slices that ended before this moment (or with it, when something new begins). */
static void leave(struct walk *w, int64_t ns, bool with_equal)
{
	struct chrome_item *it;

	while ((it = top(w)) && !is_open(it) && (it->end < ns || (with_equal && it->end == ns)))
		w->stack.nr--;
}

static void anchor(struct walk *w, const struct chrome_item *flow, size_t slice)
{
	vec_push(&w->anchors, (struct anchor){ flow->flow, flow->start, flow->nr, slice });
}

static void enter(struct walk *w, size_t at)
{
	struct chrome_item *it = &w->n->items.v[at], *around;

	leave(w, it->start, it->phase != CHROME_WHOLE || it->end > it->start);
	/* A slice that only overlaps is no child: they share the slice around both. */
	while ((around = top(w)) && !is_open(around) && it->phase == CHROME_WHOLE &&
	       around->end < it->end)
		w->stack.nr--;
	if (it->root == CHROME_NO_SLICE) {
		it->parent = around ? around->nr : CHROME_NO_SLICE;
		it->root = around ? around->root : it->nr;
	}
	vec_push(&w->stack, at);
	for (size_t i = 0; i < w->waiting.nr; i++)
		anchor(w, &w->n->items.v[w->waiting.v[i]], at);
	vec_clear(&w->waiting);
}

/* Arguments may stand at either end of a slice. */
static void join_attrs(struct walk *w, struct chrome_item *begun, struct str more)
{
	struct buf both = { 0 };

	if (!more.n)
		return;
	buf_add(&both, begun->attrs);
	buf_add(&both, more);
	begun->attrs = arena_str(&w->n->arena, buf_str(&both));
	buf_done(&both);
}

/* Closes the innermost slice that was begun. */
static void end(struct walk *w, const struct chrome_item *it)
{
	struct chrome_item *begun;

	while ((begun = top(w)) && !is_open(begun))
		w->stack.nr--;
	if (!begun) {
		w->b->losses.count[LOSS_SPANS_BROKEN]++;
		return;
	}
	begun->end = it->start;
	w->stack.nr--;
	join_attrs(w, begun, it->attrs);
}

static void place(struct walk *w, size_t at)
{
	struct chrome_item *it = &w->n->items.v[at], *around;

	switch (it->phase) {
	case CHROME_BEGIN:
	case CHROME_WHOLE:
		enter(w, at);
		break;
	case CHROME_END:
		end(w, it);
		break;
	case CHROME_FLOW_NEXT:
		vec_push(&w->waiting, at);
		break;
	default:
		leave(w, it->start, false);
		around = top(w);
		it->root = around ? around->root : CHROME_NO_SLICE;
		it->parent = around ? around->nr : CHROME_NO_SLICE;
		if (it->phase == CHROME_FLOW && around)
			anchor(w, it, w->stack.v[w->stack.nr - 1]);
	}
}

static int compare_anchors(const void *a, const void *b)
{
	const struct anchor *x = a, *y = b;

	if (x->flow != y->flow)
		return x->flow < y->flow ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

static int compare_arrows(const void *a, const void *b)
{
	const struct arrow *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static void draw_arrows(struct walk *w)
{
	if (w->anchors.nr > 1)
		qsort(w->anchors.v, w->anchors.nr, sizeof(*w->anchors.v), compare_anchors);
	for (size_t i = 1; i < w->anchors.nr; i++) {
		const struct anchor *from = &w->anchors.v[i - 1], *to = from + 1;

		if (from->flow == to->flow && from->slice != to->slice)
			vec_push(&w->arrows, (struct arrow){ from->slice, to->slice });
	}
	if (w->arrows.nr > 1)
		qsort(w->arrows.v, w->arrows.nr, sizeof(*w->arrows.v), compare_arrows);
}

static struct str key_of(struct walk *w, const struct chrome_item *it)
{
	struct str track = names_str(&w->n->names, it->track);

	return arena_fmt(&w->b->arena, STR_FMT ":" STR_FMT "/%" PRIu64, STR_ARG(w->n->file_name),
			 STR_ARG(track), it->root);
}

static struct str id_of(struct walk *w, uint64_t nr)
{
	return arena_fmt(&w->b->arena, "%" PRIu64, nr);
}

/* The arrows that reach this slice; *next walks along the items. */
static struct str links_of(struct walk *w, size_t at, size_t *next)
{
	struct buf packed = { 0 };
	struct str links;

	while (*next < w->arrows.nr && w->arrows.v[*next].to <= at) {
		const struct chrome_item *from = &w->n->items.v[w->arrows.v[*next].from];
		struct link l = { .kind = LINK_FOLLOWS_FROM };

		if (w->arrows.v[(*next)++].to < at)
			continue;
		l.trace = key_of(w, from);
		l.span = id_of(w, from->nr);
		link_add(&packed, &l);
	}
	links = packed.n ? arena_str(&w->b->arena, buf_str(&packed)) : (struct str){ 0 };
	buf_done(&packed);
	return links;
}

static void hand_out_slice(struct walk *w, const struct chrome_item *it, struct str links)
{
	struct span s = {
		.parent = SPAN_NONE, .confidence = 1, .start = it->start, .end = it->end
	};

	if (s.end < s.start) {
		w->b->losses.count[LOSS_SPANS_NEGATIVE]++;
		s.end = s.start;
	}
	s.key = key_of(w, it);
	s.id = id_of(w, it->nr);
	if (it->parent != CHROME_NO_SLICE)
		s.parent_id = id_of(w, it->parent);
	s.name = arena_str(&w->b->arena, it->name);
	s.node = title_of(w->n, it->process);
	s.thread = title_of(w->n, it->thread);
	s.attrs = arena_str(&w->b->arena, it->attrs);
	s.links = links;
	vec_push(&w->b->spans, s);
}

static void hand_out_instant(struct walk *w, const struct chrome_item *it)
{
	struct event ev = { .kind = EVENT_LOG,
			    .ns = it->start,
			    .file = w->n->file,
			    .nr_lines = 1,
			    .duration = -1 };

	ev.node = title_of(w->n, it->process);
	ev.thread = title_of(w->n, it->thread);
	ev.text = arena_str(&w->b->arena, it->name);
	ev.attrs = arena_str(&w->b->arena, it->attrs);
	if (it->parent != CHROME_NO_SLICE) {
		ev.key_kind = KEY_TRACE;
		ev.key = key_of(w, it);
		ev.span = id_of(w, it->parent);
		ev.title = title_mask(&w->b->arena, ev.text);
	}
	vec_push(&w->b->events, ev);
}

/* Hands out what is finished and moves what is open to the front, for the next round. */
static void hand_out(struct walk *w, bool at_end)
{
	struct chrome_nest *n = w->n;
	struct arena carried = { 0 };
	size_t next = 0, nr_open = 0;

	for (size_t i = 0; i < n->items.nr; i++) {
		struct chrome_item it = n->items.v[i];

		if (it.phase == CHROME_INSTANT)
			hand_out_instant(w, &it);
		if (it.phase != CHROME_BEGIN && it.phase != CHROME_WHOLE)
			continue;
		if (is_open(&it) && !at_end && nr_open < NR_OPEN_MAX) {
			it.name = arena_str(&carried, it.name);
			it.attrs = arena_str(&carried, it.attrs);
			n->items.v[nr_open++] = it;
			continue;
		}
		if (is_open(&it)) {
			w->b->losses.count[LOSS_SPANS_OPEN]++;
			it.end = w->last_ns > it.start ? w->last_ns : it.start;
		}
		hand_out_slice(w, &it, links_of(w, i, &next));
	}
	n->items.nr = n->nr_carried = nr_open;
	arena_done(&n->carried);
	n->carried = carried;
}

void chrome_nest_flush(struct chrome_nest *n, struct batch *b, bool at_end)
{
	struct walk w = { .n = n, .b = b, .last_ns = NS_NONE };
	sym_t track = 0;

	if (n->items.nr > 1)
		qsort(n->items.v, n->items.nr, sizeof(*n->items.v), compare_items);
	for (size_t i = 0; i < n->items.nr; i++) {
		const struct chrome_item *it = &n->items.v[i];
		int64_t ns = it->phase == CHROME_WHOLE ? it->end : it->start;

		if (it->track != track) {
			vec_clear(&w.stack);
			vec_clear(&w.waiting);
			track = it->track;
		}
		if (ns > w.last_ns)
			w.last_ns = ns;
		place(&w, i);
	}
	draw_arrows(&w);
	hand_out(&w, at_end);
	arena_reset(&n->arena);
	n->arena_bytes = 0;
	vec_done(&w.stack);
	vec_done(&w.waiting);
	vec_done(&w.anchors);
	vec_done(&w.arrows);
}
