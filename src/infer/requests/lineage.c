#include "infer/requests/lineage.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "infer/requests/sight.h"

enum { GENERATIONS_MAX = 32, PARENTS_MIN = 3 };

struct lineage {
	struct work *w;
	uint32_t child, parent; /* kinds */
	uint32_t *of;           /* of each thing: its parent */
	size_t nr;
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

static void note_line(struct lineage *l, const struct seen_line *line)
{
	const struct gather *g = l->w->g;
	uint32_t child = 0, parent = 0;

	for (unsigned i = 0; i < line->nr_own; i++) {
		uint32_t thing = line_names(l->w, line)[i];

		/* the first of each: what follows may be a list of others */
		if (g->kind_of.v[thing] == l->child && !child)
			child = thing;
		else if (g->kind_of.v[thing] == l->parent && !parent)
			parent = thing;
	}
	parent = parent ? twin_of(g, parent, l->child) : 0;
	if (child && parent && child != parent && !l->of[child]) {
		l->of[child] = parent;
		l->nr++;
	}
}

static uint32_t root_of(const struct lineage *l, uint32_t thing)
{
	for (int i = 0; i < GENERATIONS_MAX && l->of[thing]; i++)
		thing = l->of[thing];
	return thing;
}

static void set_roots(struct lineage *l)
{
	struct work *w = l->w;

	for (uint32_t i = 1; i < w->g->things.nr; i++) {
		uint32_t kind = w->g->kind_of.v[i], root = 0;

		if (kind == l->child)
			root = root_of(l, i);
		else if (kind == l->parent && (root = twin_of(w->g, i, l->child)))
			root = root_of(l, root);
		if (!root)
			continue;
		w->root[i] = root;
		w->is_family[root] = true;
		w->is_hub[i] = false;
	}
	w->is_measure[l->child] = w->is_measure[l->parent] = false;
}

void lineage_find(struct work *w)
{
	const struct gather *g = w->g;

	for (uint32_t kind = 1; kind < g->kinds.nr; kind++) {
		struct lineage l = { .w = w, .child = kind };

		if (!str_ends(names_str(&g->kinds, kind), STR("=")))
			continue;
		l.parent = parent_kind(g, kind);
		if (!l.parent)
			continue;
		l.of = mem_realloc(NULL, mem_bytes(g->things.nr + 1, sizeof(*l.of)));
		memset(l.of, 0, (g->things.nr + 1) * sizeof(*l.of));
		for (size_t i = 0; i < g->lines.nr; i++)
			note_line(&l, &g->lines.v[i]);
		if (l.nr >= PARENTS_MIN)
			set_roots(&l);
		free(l.of);
	}
}
