/* An edge is a 1:n relation that enough children have and in which parents come first. Names that
 * contain their parent's and numbers within a scope need no such proof. 1:1 relations that did not
 * make two kinds one are edges from the kind that has more to the one that is covered. A circle of
 * 1:n relations is no hierarchy: the paper takes all of its edges as m:n, and so do we. */
#include "infer/objects/stack.h"

#include <stdlib.h>

#include "infer/objects/relate.h"
#include "infer/objects/census.h"
#include "model/object.h"

static bool is_pool(const struct kind *k)
{
	return k->traits & KIND_THREAD;
}

static bool is_certain(const struct tie *t)
{
	return t->is_embedded || t->is_within;
}

/* Whether the function is good enough to draw: of 1:n only. */
static bool is_edge(const struct census *w, const struct tie *t, const struct function *f,
		    const struct kind *child)
{
	if (!f->holds)
		return false;
	if (is_certain(t) || w->is_small)
		return true;
	if (!t->is_near && (f->lines < 3 || f->nr_children < 2))
		return false;
	/* a child that was seen with its parent once proves nothing, unless there are many */
	if (!t->is_near && f->nr_again < 3 && f->nr_children < 10 &&
	    (relate_kind(t) != RELATION_ONE || !child->scope))
		return false;
	/* of what there is one only, everything is */
	if (f->nr_parents < 2)
		return false;
	return 2 * f->nr_children >= child->nr_things && 10 * f->nr_late <= 3 * f->nr_children;
}

/* Numbers mean something within it. */
static bool is_scope(const struct census *w, uint32_t kind)
{
	vec_each (&w->kinds, k)
		if (k->scope == kind + 1 && kind_is_kept(k))
			return true;
	return false;
}

/* Of two kinds that are 1:1 and stay two: 1 a is above b, -1 below, 0 neither. */
static int order_of_equals(const struct census *w, const struct tie *t)
{
	const struct kind *a = &w->kinds.v[t->a], *b = &w->kinds.v[t->b];
	unsigned never = KIND_ADDRESS;
	uint64_t nr = t->a_of_b.nr_children;
	bool a_covered = 10 * nr >= 8 * (uint64_t)a->nr_things;
	bool b_covered = 10 * nr >= 8 * (uint64_t)b->nr_things;
	int order;

	if (w->is_small || (a->traits | b->traits) & never || nr < 5 || (!a_covered && !b_covered))
		return 0;
	if (a->traits & KIND_WORD || b->traits & KIND_WORD)
		return a->traits & KIND_WORD ? 1 : -1;
	order = b->nr_things < a->nr_things ? 1 : -1;
	/* a file is of nothing that merely goes with it */
	if ((order > 0 ? b : a)->traits & KIND_PATH)
		return 0;
	return is_scope(w, order > 0 ? t->b : t->a) ? 0 : order;
}

static void add_edge(struct stack *s, uint32_t from, uint32_t to, uint32_t tie)
{
	vec_push(&s->edges, (struct edge){ .from = from, .to = to, .tie = tie });
}

static void draw(struct stack *s, const struct census *w, const struct tie *t, uint32_t tie)
{
	const struct kind *a = &w->kinds.v[t->a], *b = &w->kinds.v[t->b];

	if (is_pool(a) || is_pool(b) || !kind_is_kept(a) || !kind_is_kept(b))
		return;
	/* the paper draws combinations under their parts only */
	if (w->is_small && (a->scope || b->scope) && !t->is_within)
		return;
	if (t->is_within) {
		bool is_a = b->scope == t->a + 1;

		add_edge(s, is_a ? t->a : t->b, is_a ? t->b : t->a, tie);
	} else if (t->is_embedded || t->is_near) {
		add_edge(s, t->above, t->above == t->a ? t->b : t->a, tie);
	} else if (relate_kind(t) == RELATION_ONE) {
		int order = order_of_equals(w, t);

		if (order && is_edge(w, t, order > 0 ? &t->a_of_b : &t->b_of_a, order > 0 ? b : a))
			add_edge(s, order > 0 ? t->a : t->b, order > 0 ? t->b : t->a, tie);
	} else if (is_edge(w, t, &t->a_of_b, b)) {
		add_edge(s, t->a, t->b, tie);
	} else if (is_edge(w, t, &t->b_of_a, a)) {
		add_edge(s, t->b, t->a, tie);
	}
}

static int by_ends(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/* Marks what can be reached from a kind, by edges other than the direct one to skip. */
static void reach(const struct stack *s, uint32_t from, uint32_t skip, bool *seen)
{
	vec_each (&s->edges, e) {
		if (e->from != from || e->to == skip || seen[e->to])
			continue;
		seen[e->to] = true;
		reach(s, e->to, UINT32_MAX, seen);
	}
}

static void drop_circles(struct stack *s, const struct relating *r, size_t nr_kinds)
{
	bool *seen = mem_alloc(nr_kinds + 1), *is_bad = mem_zalloc(s->edges.nr + 1);
	size_t nr = 0;

	for (size_t i = 0; i < s->edges.nr; i++) {
		memset(seen, 0, nr_kinds);
		reach(s, s->edges.v[i].to, UINT32_MAX, seen);
		is_bad[i] = seen[s->edges.v[i].from] && !is_certain(&r->ties.v[s->edges.v[i].tie]);
	}
	for (size_t i = 0; i < s->edges.nr; i++)
		if (!is_bad[i])
			s->edges.v[nr++] = s->edges.v[i];
	s->edges.nr = nr;
	free(seen);
	free(is_bad);
}

static void reduce(struct stack *s, size_t nr_kinds)
{
	bool *seen = mem_alloc(nr_kinds + 1);

	for (size_t i = 0; i < s->edges.nr; i++) {
		struct edge *e = &s->edges.v[i];

		memset(seen, 0, nr_kinds);
		reach(s, e->from, e->to, seen);
		e->is_reduced = seen[e->to];
	}
	free(seen);
}

/* Names that many lines of many statements use name something, even if it belongs to nothing. Files
 * are known by their look, whoever asks for them. */
static bool stands_alone(const struct kind *k)
{
	unsigned never = KIND_WORD | KIND_THREAD | KIND_LOG | KIND_FOLDER |
			 (k->is_called_id ? KIND_SMALL : KIND_NUMBER);
	bool is_file = k->traits & KIND_PATH;

	return kind_is_kept(k) && !(k->traits & never) && !k->scope && k->nr_things >= 5 &&
	       (is_file || k->nr_templates >= 3) &&
	       2 * k->lines >= (is_file ? 5 : 6) * (uint64_t)k->nr_things;
}

void stack_make(struct stack *s, const struct census *w, const struct relating *r)
{
	*s = (struct stack){ .is_in = mem_zalloc(w->kinds.nr + 1) };
	for (uint32_t i = 0; i < r->ties.nr; i++)
		draw(s, w, &r->ties.v[i], i);
	if (s->edges.nr)
		qsort(s->edges.v, s->edges.nr, sizeof(*s->edges.v), by_ends);
	drop_circles(s, r, w->kinds.nr);
	reduce(s, w->kinds.nr);
	for (uint32_t i = 0; i < w->kinds.nr; i++)
		s->is_in[i] =
			w->is_small && kind_is_kept(&w->kinds.v[i]) && w->kinds.v[i].nr_things;
	for (uint32_t i = 0; i < w->kinds.nr; i++)
		s->is_in[i] |= stands_alone(&w->kinds.v[i]);
	/* what goes by several names is something, whether it belongs to anything or not */
	vec_each (&w->kinds, k)
		if (k->fate == FATE_MERGED && kind_is_kept(&w->kinds.v[k->into]) &&
		    !(w->kinds.v[k->into].traits & KIND_FOLDER) &&
		    w->kinds.v[k->into].nr_things >= 5)
			s->is_in[k->into] = true;
	vec_each (&s->edges, e)
		s->is_in[e->from] = s->is_in[e->to] = true;
}

void stack_done(struct stack *s)
{
	vec_done(&s->edges);
	free(s->is_in);
}
