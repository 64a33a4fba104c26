/* Only numbers within the same scope, only lines of the same log and thread, four lines back at the
 * most, and only kinds that never share a line. A child is looked at where it first appears, and
 * parents mostly do so as well: what is begun is begun for something that was begun just before.
 * What comes of it is marked as inferred. */
#include "infer/objects/near.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/shelf.h"
#include "base/sort.h"
#include "infer/objects/relate.h"
#include "infer/objects/told.h"
#include "infer/objects/census.h"

enum { BACK = 4 };

struct line {
	sym_t file, thread;
	int64_t ns;
	uint32_t note;
};

static uint64_t time_of(const void *record)
{
	return sort_signed(((const struct line *)record)->ns);
}

static uint64_t thread_of(const void *record)
{
	const struct line *l = record;

	return map_pair(l->file, l->thread);
}

struct guess {
	uint32_t parent_kind, child_kind;
	int64_t ns;
	bool is_fresh; /* the parent first appears there */
	struct belongs b;
};

struct nearing {
	const struct census *w;
	const struct relating *r;
	VEC(struct line) lines;
	VEC(struct guess) v;
	struct map done; /* (child, kind of the parent): 1 + number of the guess */
};

static bool may_be_near(const struct nearing *n, const struct thing *p, const struct thing *c)
{
	return p->kind != c->kind && p->scope && p->scope == c->scope &&
	       !relate_find(n->r, p->kind, c->kind);
}

/* Whether the thing first appears in the lines that are looked back at. */
static bool is_fresh(const struct nearing *n, size_t at, const struct thing *p)
{
	const struct line *line = &n->lines.v[at], *l = line;

	for (size_t back = 1; back <= BACK && back <= at; back++)
		if (line[-back].file == line->file && line[-back].thread == line->thread)
			l = line - back;
	return p->first_ns >= l->ns;
}

/* The parents that the lines before this one offer to a child, the nearest of each kind. */
static void look_back(struct nearing *n, size_t at, uint32_t child)
{
	const struct census *w = n->w;
	const struct line *line = &n->lines.v[at];

	for (size_t back = 1; back <= BACK && back <= at; back++) {
		const struct line *l = line - back;

		if (l->file != line->file || l->thread != line->thread)
			return;
		for (uint32_t i = w->named_at.v[l->note]; i < w->named_at.v[l->note + 1]; i++) {
			const struct thing *p = &w->things.v[w->named.v[i]];
			struct guess g = { p->kind,
					   w->things.v[child].kind,
					   line->ns,
					   is_fresh(n, at, p),
					   { child, w->named.v[i] } };
			uint64_t *known;

			if (!may_be_near(n, p, &w->things.v[child]))
				continue;
			known = map_at(&n->done, map_pair(child, p->kind));
			if (!*known) {
				shelf_push(w->shelf, &n->v, g);
				*known = n->v.nr;
			} else if (g.ns < n->v.v[*known - 1].ns) {
				n->v.v[*known - 1] = g;
			}
		}
	}
}

static void gather_lines(struct nearing *n)
{
	const struct told *t = n->w->told;

	for (uint32_t i = 0; i < t->notes.nr; i++) {
		census_look(n->w, i);
		if (n->w->named_at.v[i + 1] > n->w->named_at.v[i])
			shelf_push(n->w->shelf, &n->lines,
				   (struct line){ t->notes.v[i].file, t->notes.v[i].thread,
						  t->notes.v[i].first_ns, i });
	}
	sort_records_on(n->w->shelf, n->lines.v, n->lines.nr, sizeof(*n->lines.v), time_of);
	sort_records_on(n->w->shelf, n->lines.v, n->lines.nr, sizeof(*n->lines.v), thread_of);
}

static uint64_t child_of(const void *guess)
{
	return ((const struct guess *)guess)->b.child;
}

static uint64_t kinds_of(const void *guess)
{
	const struct guess *g = guess;

	return map_pair(g->parent_kind, g->child_kind);
}

/* Most children must find a parent, most parents have a child, and there be fewer of them. */
static void decide(struct nearing *n, struct relating *r, const struct guess *g, size_t nr)
{
	const struct census *w = n->w;
	const struct kind *parent = &w->kinds.v[g->parent_kind],
			  *child = &w->kinds.v[g->child_kind];
	VEC(struct belongs) v = { 0 };
	struct map parents = { .shelf = w->shelf };
	size_t nr_fresh = 0;

	for (size_t i = 0; i < nr; i++) {
		shelf_push(w->shelf, &v, g[i].b);
		*map_at(&parents, g[i].b.parent) += 1;
		nr_fresh += g[i].is_fresh;
	}
	if (nr >= 3 && 2 * nr_fresh >= nr && 10 * nr >= 8 * (size_t)child->nr_things &&
	    2 * parents.nr >= parent->nr_things && parent->nr_things < child->nr_things)
		relate_tell(r, w, v.v, v.nr, (struct tie){ .is_near = true });
	shelf_done(w->shelf, &v);
	map_done(&parents);
}

/* Whether there are two kinds with things in scopes of one kind, of which lines tell nothing. */
static bool is_any_near(const struct relating *r, const struct census *w)
{
	uint32_t *scope = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*scope)));
	bool is_any = false;

	vec_each (&w->things, t) {
		uint32_t of = t->scope ? w->things.v[t->scope - 1].kind + 1 : 0;

		census_look(w, (size_t)(t - w->things.v));
		is_any |= of && scope[t->kind] && scope[t->kind] != of;
		scope[t->kind] = of ? of : scope[t->kind];
	}
	for (uint32_t a = 0; a < w->kinds.nr && !is_any; a++)
		for (uint32_t b = a + 1; scope[a] && b < w->kinds.nr && !is_any; b++)
			is_any = scope[a] == scope[b] && !relate_find(r, a, b);
	free(scope);
	return is_any;
}

void near_make(struct relating *r, const struct census *w)
{
	struct nearing n = { .w = w, .r = r, .done.shelf = w->shelf };

	if (!is_any_near(r, w))
		return;
	gather_lines(&n);
	for (size_t i = 0; i < n.lines.nr; i++) {
		uint32_t note = n.lines.v[i].note;

		census_look(w, i);
		for (uint32_t j = w->named_at.v[note]; j < w->named_at.v[note + 1]; j++)
			if (w->things.v[w->named.v[j]].scope &&
			    n.lines.v[i].ns <= w->things.v[w->named.v[j]].first_ns)
				look_back(&n, i, w->named.v[j]);
	}
	sort_records_on(w->shelf, n.v.v, n.v.nr, sizeof(*n.v.v), child_of);
	sort_records_on(w->shelf, n.v.v, n.v.nr, sizeof(*n.v.v), kinds_of);
	for (size_t i = 0, end; i < n.v.nr; i = end) {
		for (end = i; end < n.v.nr && n.v.v[end].parent_kind == n.v.v[i].parent_kind &&
			      n.v.v[end].child_kind == n.v.v[i].child_kind;
		     end++)
			;
		decide(&n, r, n.v.v + i, end - i);
	}
	shelf_done(w->shelf, &n.lines);
	shelf_done(w->shelf, &n.v);
	map_done(&n.done);
}
