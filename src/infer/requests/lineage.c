#include "infer/requests/lineage.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "infer/requests/sight.h"

enum { GENERATIONS_MAX = 32, PARENTS_MIN = 3 };

struct lineage {
	struct work *w;
	uint32_t *parent; /* of each kind: that of its parents, or 0 */
	uint32_t *child;  /* of each kind: that whose parents it names, or 0 */
	uint32_t *nr;     /* of each kind: how many of it have a parent */
	uint32_t *of;     /* of each thing: its parent */
};

/* The kind whose name is that of a parent: ppid= of pid=, parentId= of id=; 0: there is none. */
static uint32_t parent_kind(const struct gather *g, uint32_t kind)
{
	static const char *const fronts[] = { "p", "parent", "parent_", "parent." };
	struct str name = names_str(&g->kinds, kind);
	struct buf text = { 0 };
	uint32_t found = 0;

	for (size_t i = 0; i < sizeof(fronts) / sizeof(*fronts) && !found; i++) {
		buf_clear(&text);
		buf_add(&text, str_of(fronts[i]));
		buf_add(&text, name);
		found = names_find(&g->kinds, buf_str(&text));
	}
	buf_done(&text);
	return found;
}

/* The thing of another kind with the same value; 0: it was never named. */
static uint32_t twin_of(const struct gather *g, uint32_t thing, uint32_t kind)
{
	struct buf text = { 0 };
	uint32_t found;

	buf_add(&text, names_str(&g->kinds, kind));
	buf_char(&text, SIGHT_SEPARATOR);
	buf_add(&text, gather_value(g, thing));
	found = names_find(&g->things, buf_str(&text));
	buf_done(&text);
	return found;
}

/* The first of the kind that the line names: what follows may be a list of others. */
static uint32_t first_of(const struct work *w, const struct seen_line *line, uint32_t kind)
{
	for (unsigned i = 0; i < line->nr_own; i++)
		if (w->g->kind_of.v[line_names(w, line)[i]] == kind)
			return line_names(w, line)[i];
	return 0;
}

static void note_line(struct lineage *l, const struct seen_line *line)
{
	const struct gather *g = l->w->g;

	for (unsigned i = 0; i < line->nr_own; i++) {
		uint32_t child = line_names(l->w, line)[i], kind = g->kind_of.v[child];
		uint32_t parent;

		if (!l->parent[kind] || l->of[child] || first_of(l->w, line, kind) != child)
			continue;
		parent = first_of(l->w, line, l->parent[kind]);
		parent = parent ? twin_of(g, parent, kind) : 0;
		if (parent && child != parent) {
			l->of[child] = parent;
			l->nr[kind]++;
		}
	}
}

static uint32_t root_of(const struct lineage *l, uint32_t thing)
{
	for (int i = 0; i < GENERATIONS_MAX && l->of[thing]; i++)
		thing = l->of[thing];
	return thing;
}

static void set_root(struct work *w, uint32_t thing, uint32_t root)
{
	w->root[thing] = root;
	w->is_family[root] = true;
	w->is_hub[thing] = false;
	w->is_measure[w->g->kind_of.v[thing]] = false;
}

static void set_roots(struct lineage *l)
{
	struct work *w = l->w;

	for (uint32_t i = 1; i < w->g->things.nr; i++) {
		uint32_t kind = w->g->kind_of.v[i], child = l->child[kind];
		uint32_t twin = child && l->nr[child] >= PARENTS_MIN ? twin_of(w->g, i, child) : 0;

		if (l->nr[kind] >= PARENTS_MIN)
			set_root(w, i, root_of(l, i));
		else if (twin)
			set_root(w, i, root_of(l, twin));
	}
}

void lineage_find(struct work *w)
{
	const struct gather *g = w->g;
	struct lineage l = { .w = w,
			     .parent = work_counts(3 * (size_t)g->kinds.nr),
			     .of = work_counts(g->things.nr) };
	bool has_any = false;

	l.child = l.parent + g->kinds.nr;
	l.nr = l.child + g->kinds.nr;
	for (uint32_t kind = 1; kind < g->kinds.nr; kind++) {
		if (!str_ends(names_str(&g->kinds, kind), STR("=")))
			continue;
		l.parent[kind] = parent_kind(g, kind);
		if (l.parent[kind])
			l.child[l.parent[kind]] = kind;
		has_any |= l.parent[kind] != 0;
	}
	for (size_t i = 0; i < g->lines.nr && has_any; i++)
		note_line(&l, &g->lines.v[i]);
	if (has_any)
		set_roots(&l);
	free(l.parent);
	free(l.of);
}
