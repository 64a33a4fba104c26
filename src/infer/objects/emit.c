#include "infer/objects/emit.h"

#include <stdlib.h>

#include "base/buf.h"
#include "infer/objects/deed.h"
#include "infer/objects/elders.h"
#include "infer/objects/emitting.h"
#include "infer/objects/relate.h"
#include "infer/objects/stack.h"
#include "infer/objects/told.h"
#include "infer/objects/census.h"
#include "model/object.h"

/* Outermost first: the kinds whose values name one thing. */
static size_t chain_of(const struct census *w, uint32_t kind, uint32_t *chain, size_t room)
{
	size_t nr = 0;

	for (uint32_t at = kind; nr < room; at = w->kinds.v[at].scope - 1) {
		chain[nr++] = at;
		if (!w->kinds.v[at].scope)
			break;
	}
	for (size_t i = 0; i < nr / 2; i++) {
		uint32_t swap = chain[i];

		chain[i] = chain[nr - 1 - i];
		chain[nr - 1 - i] = swap;
	}
	return nr;
}

enum { MAX_CHAIN = 8 };

static void set_type(const struct census *w, uint32_t kind, struct object_type *t)
{
	uint32_t chain[MAX_CHAIN];
	struct buf name = { 0 };

	t->nr_signature = chain_of(w, kind, chain, MAX_CHAIN);
	t->signature = arena_array(w->arena, struct str, t->nr_signature);
	for (size_t i = 0; i < t->nr_signature; i++) {
		t->signature[i] = arena_str(w->arena, w->kinds.v[chain[i]].name);
		if (i)
			buf_add(&name, STR("+"));
		buf_add(&name, t->signature[i]);
	}
	t->name = arena_str(w->arena, buf_str(&name));
	buf_done(&name);
}

static bool stands_for(const struct census *w, uint32_t kind, uint32_t other)
{
	while (w->kinds.v[other].fate == FATE_MERGED)
		other = w->kinds.v[other].into;
	return other == kind;
}

static void set_aliases(const struct census *w, uint32_t kind, struct object_type *t)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < w->kinds.nr; i++)
		nr += i != kind && w->kinds.v[i].name.n && stands_for(w, kind, i);
	t->aliases = arena_array(w->arena, struct str, nr);
	for (uint32_t i = 0; i < w->kinds.nr; i++)
		if (i != kind && w->kinds.v[i].name.n && stands_for(w, kind, i))
			t->aliases[t->nr_aliases++] = arena_str(w->arena, w->kinds.v[i].name);
}

static void emit_types(const struct census *w, const struct stack *s, uint32_t *type_of,
		       struct object_graph *g)
{
	g->types = arena_array(w->arena, struct object_type, w->kinds.nr);
	for (uint32_t i = 0; i < w->kinds.nr; i++) {
		const struct kind *k = &w->kinds.v[i];
		struct object_type *t = &g->types[g->nr_types];

		type_of[i] = UINT32_MAX;
		if ((!kind_is_kept(k) && k->fate != FATE_COMBINED) ||
		    (!k->nr_things && !s->is_in[i]))
			continue;
		type_of[i] = (uint32_t)g->nr_types++;
		set_type(w, i, t);
		set_aliases(w, i, t);
		t->nr_objects = k->nr_things;
		t->is_in_graph = s->is_in[i];
	}
}

static enum relation_deed deed_of_tie(const struct census *w, const struct tie *t)
{
	uint64_t lines[DEED_FINISHED + 1] = { 0 };

	for (size_t i = 0; i < 4; i++) {
		sym_t title;

		if (!t->template_lines[i])
			continue;
		title = w->told->templates.v[t->templates[i]].title;
		lines[deed_of(names_str(&w->told->texts, title))] += t->template_lines[i];
	}
	if (lines[DEED_CREATED])
		return DEED_CREATED;
	if (lines[DEED_FINISHED] > lines[DEED_USED])
		return DEED_FINISHED;
	return lines[DEED_USED] ? DEED_USED : DEED_UNKNOWN;
}

static const struct edge *edge_of(const struct stack *s, uint32_t a, uint32_t b)
{
	vec_each (&s->edges, e)
		if ((e->from == a && e->to == b) || (e->from == b && e->to == a))
			return e;
	return NULL;
}

static void emit_relation(const struct census *w, const struct stack *s, const struct tie *t,
			  const uint32_t *type_of, struct object_graph *g)
{
	const struct edge *e = s ? edge_of(s, t->a, t->b) : NULL;
	const struct function *f = &t->a_of_b;
	struct object_relation *r = &g->relations[g->nr_relations];
	uint32_t from = t->a, to = t->b;

	if (type_of[t->a] == UINT32_MAX || type_of[t->b] == UINT32_MAX)
		return;
	if (e ? e->from == t->b : !t->a_of_b.holds && t->b_of_a.holds) {
		f = &t->b_of_a;
		from = t->b;
		to = t->a;
	}
	g->nr_relations++;
	*r = (struct object_relation){ .from = type_of[from], .to = type_of[to] };
	r->relation = e && relate_kind(t) == RELATION_CROSS ? RELATION_MANY : relate_kind(t);
	r->deed = deed_of_tie(w, t);
	r->support = f->lines - f->exceptions;
	r->exceptions = f->holds ? f->exceptions : 0;
	r->is_in_graph = e != NULL;
	r->is_reduced = e && e->is_reduced;
	r->is_inferred = t->is_near;
	/* the rule of succession: what was seen n times without exception holds next time, too */
	r->confidence = (float)(r->support + 1) / (float)(f->lines + 2);
	if (t->is_near)
		r->confidence /= 2;
}

/* Things that belong to others of their kind. */
static void emit_tree(const struct elders *e, uint32_t kind, uint32_t type, struct object_graph *g)
{
	struct object_relation *r = &g->relations[g->nr_relations];

	if (type == UINT32_MAX || !e->lines[kind] || 10 * e->against[kind] > e->lines[kind])
		return;
	g->nr_relations++;
	*r = (struct object_relation){ .from = type, .to = type, .relation = RELATION_MANY };
	r->deed = DEED_CREATED;
	r->support = e->lines[kind] - e->against[kind];
	r->exceptions = e->against[kind];
	r->is_in_graph = g->types[type].is_in_graph;
	r->confidence = (float)(r->support + 1) / (float)(e->lines[kind] + 2);
}

static bool is_combined(const struct census *w, const struct tie *t)
{
	return w->kinds.v[t->a].fate == FATE_COMBINED || w->kinds.v[t->b].fate == FATE_COMBINED;
}

static void emit_texts(const struct census *w, struct object_graph *g)
{
	const struct told *t = w->told;

	g->nr_templates = t->templates.nr;
	g->templates = arena_array(w->arena, struct str, g->nr_templates);
	for (size_t i = 0; i < g->nr_templates; i++)
		g->templates[i] =
			arena_str(w->arena, names_str(&t->texts, t->templates.v[i].title));
	g->nr_logs = w->logs.nr;
	g->logs = arena_array(w->arena, struct str, g->nr_logs);
	for (size_t i = 0; i < g->nr_logs; i++)
		g->logs[i] = arena_str(w->arena, names_str(&t->texts, w->logs.v[i]));
}

static void emit_relations(struct emitting *e, const struct relating *before)
{
	const struct census *w = e->w;
	struct object_graph *g = &e->head;

	g->relations = arena_array(w->arena, struct object_relation,
				   before->ties.nr + e->r->ties.nr + w->kinds.nr);
	vec_each (&e->r->ties, t)
		emit_relation(w, e->s, t, e->type_of, g);
	vec_each (&before->ties, t)
		if (is_combined(w, t))
			emit_relation(w, NULL, t, e->type_of, g);
	for (uint32_t i = 0; e->elders->parent && i < w->kinds.nr; i++)
		emit_tree(e->elders, i, e->type_of[i], g);
}

struct emitting *emit_new(const struct census *w, const struct relating *before,
			  const struct relating *r, const struct stack *s)
{
	struct emitting *e = mem_zalloc(sizeof(*e));
	struct elders elders;

	*e = (struct emitting){ .w = w, .r = r, .s = s, .elders = &elders };
	e->type_of = mem_alloc(mem_bytes(w->kinds.nr + 1, sizeof(*e->type_of)));
	emit_types(w, s, e->type_of, &e->head);
	elders_find(&elders, w);
	emit_relations(e, before);
	emit_texts(w, &e->head);
	emit_find_objects(e);
	elders_done(&elders, w);
	e->elders = NULL;
	return e;
}

void emit_free(struct emitting *e)
{
	if (!e)
		return;
	emit_objects_done(e);
	free(e->type_of);
	free(e);
}
