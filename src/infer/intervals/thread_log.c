#include "infer/intervals/thread_log.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "infer/intervals/call_tree.h"
#include "infer/intervals/intervals.h"

/* What is under way ended lately: so much stays as it is when the rest becomes one. */
#define RECENT (THREAD_LOG_MAX / 8)

void thread_log_done(struct thread_log *l)
{
	vec_done(&l->items);
	*l = (struct thread_log){ 0 };
}

void thread_log_clear(struct thread_log *l)
{
	vec_clear(&l->items);
	l->first = l->fold_at = 0;
}

static bool is_wait(const struct log_item *i)
{
	return i->function >= PART_WAIT;
}

static int64_t overlap(const struct log_item *i, int64_t from, int64_t to)
{
	int64_t a = i->start > from ? i->start : from, b = i->end < to ? i->end : to;

	return b > a ? b - a : 0;
}

/*
 * The last top began before the call and ended in it, which cannot be: clocks differ by a little,
 * or a call that an exception ended was noticed late. A wait goes to where most of it is. Returns
 * whether it is in the call.
 */
static bool settle_overlap(struct log_item *top, int64_t start)
{
	bool is_in = is_wait(top) && 2 * (top->end - start) > top->end - top->start;

	if (is_in)
		top->start = start;
	else
		top->end = start;
	if (top->ns > top->end - top->start)
		top->ns = top->end - top->start;
	return is_in;
}

static void copy_item(struct thread_log *l, const struct tree_node *n, uint32_t size)
{
	struct log_item *i = &l->items.v[l->items.nr++];

	*i = (struct log_item){ .start = n->start,
				.end = n->end,
				.ns = n->ns,
				.function = n->function,
				.site = n->site,
				.nr = n->nr,
				.size = size,
				.nr_amounts = n->nr_amounts,
				.amount = n->amount };
}

struct folding {
	const struct call_tree *t;
	uint32_t *first, *next; /* children of each node, the earliest first */
	struct thread_log *l;
};

/* Children in front of their parent; returns the number of items. Nodes stand behind their parents,
 * so that a walk needs no stack but the way up. */
static void write_tree(struct folding *f, uint32_t top)
{
	uint32_t at = top;
	size_t begin;
	VEC(size_t) begins = { 0 };

	for (;;) {
		vec_push(&begins, f->l->items.nr);
		if (f->first[at] != TREE_NONE) {
			at = f->first[at];
			continue;
		}
		for (;;) {
			begin = begins.v[--begins.nr];
			copy_item(f->l, &f->t->nodes.v[at], (uint32_t)(f->l->items.nr - begin + 1));
			if (at == top || f->next[at] != TREE_NONE)
				break;
			at = f->t->nodes.v[at].parent;
		}
		if (at == top)
			break;
		at = f->next[at];
	}
	vec_done(&begins);
}

/* From the latest start to the earliest, each in front of its siblings. Returns the first top. */
static uint32_t link_nodes(const struct call_tree *t, uint32_t *first, uint32_t *next)
{
	struct sort_item *order = mem_alloc(mem_bytes(t->nodes.nr + 1, sizeof(*order)));
	uint32_t tops = TREE_NONE;

	for (size_t i = 0; i < t->nodes.nr; i++) {
		order[i] = (struct sort_item){ ~sort_signed(t->nodes.v[i].start), i };
		first[i] = TREE_NONE;
	}
	sort_items(order, t->nodes.nr);
	for (size_t i = 0; i < t->nodes.nr; i++) {
		uint32_t node = (uint32_t)order[i].at, parent = t->nodes.v[node].parent;
		uint32_t *at = parent == TREE_NONE ? &tops : &first[parent];

		next[node] = *at;
		*at = node;
	}
	free(order);
	return tops;
}

/* Equal ones below the same parent become one, but for the latest. */
static void fold(struct thread_log *l)
{
	struct call_tree t = { 0 };
	struct folding f = { .t = &t, .l = l };
	const struct tree_measure all = { 0 };
	size_t end = l->items.nr, nr_recent, at;
	struct log_item *recent;

	while (end > l->first && l->items.nr - end < RECENT)
		end -= l->items.v[end - 1].size;
	nr_recent = l->items.nr - end;
	recent = mem_alloc(mem_bytes(nr_recent + 1, sizeof(*recent)));
	memcpy(recent, l->items.v + end, nr_recent * sizeof(*recent));
	call_tree_add(&t, TREE_NONE, INT64_MAX, l->items.v + l->first, end - l->first, &all);
	f.first = mem_alloc(mem_bytes(t.nodes.nr + 1, sizeof(*f.first)));
	f.next = mem_alloc(mem_bytes(t.nodes.nr + 1, sizeof(*f.next)));
	l->nr_left += t.nr_left;
	l->items.nr = l->first = 0;
	for (at = link_nodes(&t, f.first, f.next); at != TREE_NONE; at = f.next[at])
		write_tree(&f, (uint32_t)at);
	vec_reserve(&l->items, l->items.nr + nr_recent);
	memcpy(l->items.v + l->items.nr, recent, nr_recent * sizeof(*recent));
	l->items.nr += nr_recent;
	l->fold_at = 2 * l->items.nr > THREAD_LOG_MAX ? 2 * l->items.nr : THREAD_LOG_MAX;
	free(f.first);
	free(f.next);
	free(recent);
	call_tree_done(&t);
}

/* Before anything is put in, so that positions stay. */
static void keep_small(struct thread_log *l)
{
	if (l->items.nr - l->first >= (l->fold_at ? l->fold_at : THREAD_LOG_MAX))
		fold(l);
}

bool thread_log_call(struct thread_log *l, const struct function_call *c)
{
	struct log_item new = { .start = c->start < c->end ? c->start : c->end,
				.end = c->end,
				.function = c->function,
				.site = c->site,
				.nr = 1,
				.nr_amounts = c->has_amount,
				.amount = c->has_amount ? (double)(int64_t)c->amount : 0 };
	bool is_sure = true;
	size_t at;

	keep_small(l);
	at = l->items.nr;
	while (at > l->first) {
		struct log_item *top = &l->items.v[at - 1];

		if (top->start < new.start) {
			if (top->end <= new.start)
				break;
			is_sure = top->nr == 1;
			if (!settle_overlap(top, new.start))
				break;
		}
		at -= top->size;
	}
	new.ns = new.end - new.start;
	new.size = (uint32_t)(l->items.nr - at + 1);
	vec_push(&l->items, new);
	return is_sure;
}

/* Below the last call, or below the last below that, where most of the wait is in it. */
static void insert_wait(struct thread_log *l, struct log_item wait)
{
	size_t at = l->items.nr, low = l->first;

	while (at > low) {
		struct log_item *i = &l->items.v[at - 1];

		if (is_wait(i) || 2 * overlap(i, wait.start, wait.end) <= wait.ns)
			break;
		low = at - i->size;
		i->size++;
		wait.end = wait.end < i->end ? wait.end : i->end;
		wait.start = wait.start > i->start ? wait.start : i->start;
		wait.ns = wait.end - wait.start;
		at--;
	}
	if (at > low && l->items.v[at - 1].end > wait.start) {
		wait.start = l->items.v[at - 1].end < wait.end ? l->items.v[at - 1].end : wait.end;
		wait.ns = wait.end - wait.start;
	}
	vec_push(&l->items, wait);
	memmove(l->items.v + at + 1, l->items.v + at, (l->items.nr - 1 - at) * sizeof(*l->items.v));
	l->items.v[at] = wait;
}

void thread_log_wait(struct thread_log *l, int64_t start, int64_t end, enum wait_why why)
{
	struct log_item wait = { .start = start,
				 .end = end,
				 .ns = end - start,
				 .function = PART_WAIT + (uint32_t)why,
				 .nr = 1,
				 .size = 1 };

	if (end <= start)
		return;
	keep_small(l);
	if (l->items.nr > l->first && l->items.v[l->items.nr - 1].end > start)
		insert_wait(l, wait);
	else
		vec_push(&l->items, wait);
}

void thread_log_forget(struct thread_log *l, int64_t ns)
{
	size_t keep = l->items.nr;

	while (keep > l->first && l->items.v[keep - 1].end > ns)
		keep -= l->items.v[keep - 1].size;
	l->first = keep;
	if (l->first < l->items.nr / 2 + 1)
		return;
	memmove(l->items.v, l->items.v + l->first, (l->items.nr - l->first) * sizeof(*l->items.v));
	l->items.nr -= l->first;
	l->first = 0;
	l->fold_at = 0;
}
