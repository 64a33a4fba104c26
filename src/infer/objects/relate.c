#include "infer/objects/relate.h"

#include <stdlib.h>

#include "base/crew.h"
#include "base/map.h"
#include "base/shelf.h"
#include "base/sort.h"
#include "base/time.h"
#include "infer/objects/kept.h"
#include "infer/objects/told.h"
#include "infer/objects/census.h"

#define NO_TEMPLATE UINT32_MAX /* told by a path, a name or a scope, not by a statement */

enum {
	PATH_LINES = 3, /* a path says it once, and for all lines of its log */
	MAX_NAMED = 128,
	MAX_PARTS = 8,
	PART_NOTES = 16384, /* fewer are not worth a thread */
};

/* Lines of one template that name both; a's kind is the lower number. */
struct meeting {
	uint32_t a, b;
	uint32_t template;
	bool is_again; /* more lines of a note that was asked before */
	uint64_t count;
	int64_t first_ns;
};

/* Counted first, then put where those of the same two kinds stand; some of the notes, or what is no
 * note. */
struct meetings {
	const struct census *w;
	const struct keeping *k;
	size_t from, to;   /* of the notes; the same: paths and scopes */
	struct map at;     /* by kinds: how many, then where the next one goes */
	struct meeting *v; /* NULL while they are counted */
};

static bool is_scope_of(const struct census *w, uint32_t kind, uint32_t of)
{
	return w->kinds.v[of].scope == kind + 1;
}

static bool is_within(const struct census *w, uint32_t a, uint32_t b)
{
	return is_scope_of(w, a, b) || is_scope_of(w, b, a);
}

static bool are_settled(const struct census *w, uint32_t a, uint32_t b)
{
	return w->kinds.v[a].is_settled && w->kinds.v[b].is_settled;
}

/* Lines in which things meet. */
struct lines {
	uint32_t template;
	uint64_t count;
	int64_t ns;
	enum { LINES_NEW, LINES_OLD, LINES_AGAIN } age; /* AGAIN: what old ones have more since */
};

/* Of things of which it is kept what old lines told, only what is new is asked. */
static bool is_asked(const struct meetings *m, const struct lines *l, uint32_t a, uint32_t b)
{
	const struct census *w = m->w;
	uint32_t kind_a = w->things.v[a].kind, kind_b = w->things.v[b].kind;

	if (kind_a == kind_b || are_settled(w, kind_a, kind_b) || is_within(w, kind_a, kind_b))
		return false;
	return l->age == LINES_NEW || keeping_holds(m->k, a, b) == (l->age == LINES_AGAIN);
}

/* Notes that were asked at the last settling. */
static size_t nr_asked(const struct keeping *k)
{
	return k->is_known ? k->kept->nr_notes : 0;
}

static void meet(struct meetings *m, const struct census *w, uint32_t a, uint32_t b,
		 const struct lines *l)
{
	uint32_t kind_a = w->things.v[a].kind, kind_b = w->things.v[b].kind;
	uint64_t *at;

	if (kind_a > kind_b) {
		meet(m, w, b, a, l);
		return;
	}
	at = map_at(&m->at, map_pair(kind_a, kind_b));
	if (m->v)
		m->v[*at] = (struct meeting){ a,        b,    l->template, l->age == LINES_AGAIN,
					      l->count, l->ns };
	++*at;
}

/* All pairs of one line; where it lists several of both kinds, who is with whom is not told. */
static void meet_all(struct meetings *m, const struct census *w, const uint32_t *v, size_t nr,
		     const struct lines *l)
{
	uint32_t kinds[MAX_NAMED], thing[MAX_NAMED];
	bool has_more[MAX_NAMED];
	size_t n = 0;

	for (size_t i = 0; i < nr && n < MAX_NAMED; i++) {
		kinds[n] = w->things.v[v[i]].kind;
		thing[n] = v[i];
		n += kind_is_kept(&w->kinds.v[kinds[n]]);
	}
	for (size_t i = 0; i < n; i++) {
		has_more[i] = false;
		for (size_t j = 0; j < n; j++)
			has_more[i] |= i != j && kinds[i] == kinds[j];
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			if (!(has_more[i] && has_more[j]) && is_asked(m, l, thing[i], thing[j]))
				meet(m, w, thing[i], thing[j], l);
}

static void meet_in_note(struct meetings *m, const struct census *w, size_t note,
			 const struct lines *l)
{
	uint32_t begin = w->named_at.v[note];

	meet_all(m, w, w->named.v + begin, w->named_at.v[note + 1] - begin, l);
}

static bool names_other(const struct keeping *k, const struct census *w, size_t note)
{
	for (uint32_t i = w->named_at.v[note]; i < w->named_at.v[note + 1]; i++)
		if (k->is_other[w->named.v[i]])
			return true;
	return false;
}

static void meet_in_notes(struct meetings *m, const struct census *w)
{
	size_t nr_old = nr_asked(m->k);

	for (size_t i = m->from; i < m->to; i++) {
		const struct note *n = &w->told->notes.v[i];
		struct lines l = { n->template, n->count, n->first_ns,
				   i < nr_old ? LINES_OLD : LINES_NEW };

		census_look(w, i);
		if (i >= nr_old || names_other(m->k, w, i))
			meet_in_note(m, w, i, &l);
	}
}

static void meet_again(struct meetings *m, const struct census *w)
{
	for (size_t i = 0; m->k->is_known && i < w->told->again.nr; i++) {
		const struct told_again *again = &w->told->again.v[i];
		const struct note *n = &w->told->notes.v[again->note];
		struct lines l = { n->template, n->count - again->count, n->first_ns, LINES_AGAIN };

		meet_in_note(m, w, again->note, &l);
	}
}

static void meet_elsewhere(struct meetings *m, const struct census *w)
{
	size_t nr_old = m->k->is_known ? m->k->kept->nr_logs : 0;

	for (size_t i = 0; i < w->logs.nr && w->path.nr; i++) {
		struct lines l = { NO_TEMPLATE, PATH_LINES, w->first_ns,
				   i < nr_old ? LINES_OLD : LINES_NEW };

		meet_all(m, w, w->path.v + w->path_at.v[i], w->path_at.v[i + 1] - w->path_at.v[i],
			 &l);
	}
	for (uint32_t i = 0; i < w->things.nr; i++) {
		const struct thing *t = &w->things.v[i];
		struct lines l = { NO_TEMPLATE, t->lines, t->first_ns, LINES_NEW };

		census_look(w, i);
		if (t->scope && kind_is_kept(&w->kinds.v[t->kind]) &&
		    !are_settled(w, t->kind, w->things.v[t->scope - 1].kind))
			meet(m, w, t->scope - 1, i, &l);
	}
}

static void find_meetings(void *ctx, uint32_t item)
{
	struct meetings *m = (struct meetings *)ctx + item;

	if (m->from < m->to) {
		meet_in_notes(m, m->w);
	} else {
		meet_again(m, m->w);
		meet_elsewhere(m, m->w);
	}
}

/* Keeps the templates with the most lines. */
static void note_template(struct tie *t, uint32_t template, uint64_t lines)
{
	size_t least = 0;

	t->nr_templates += lines > 0;
	if (template == NO_TEMPLATE)
		return;
	for (size_t i = 1; i < 4; i++)
		if (t->template_lines[i] < t->template_lines[least])
			least = i;
	if (lines > t->template_lines[least]) {
		t->templates[least] = template;
		t->template_lines[least] = lines;
	}
}

/* Numbers of one scope that are the same whenever a line names both. */
static bool is_equal(const struct census *w, const struct tie *t, const struct pair *p, size_t nr)
{
	const struct kind *a = &w->kinds.v[t->a], *b = &w->kinds.v[t->b];
	struct map values = { .shelf = w->shelf };
	bool is_same = a->traits & b->traits & KIND_SMALL && a->scope == b->scope;
	uint64_t nr_notes = 0;
	size_t nr_values;

	for (size_t i = 0; i < nr && is_same; i++) {
		is_same = w->things.v[p[i].parent].value == w->things.v[p[i].child].value;
		*map_at(&values, w->things.v[p[i].parent].value) = 1;
		nr_notes += p[i].nr_notes;
	}
	nr_values = values.nr;
	map_done(&values);
	return is_same && nr_notes >= 5 && nr_values >= 2;
}

/* What nearly holds does where the other way round is three times as far from it. */
static void settle_loose(struct function *f, const struct function *other)
{
	if (!f->holds && f->is_loose && !other->holds && 3 * f->exceptions <= other->exceptions)
		f->holds = true;
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = ((const struct map_slot *)a)->key, y = ((const struct map_slot *)b)->key;

	return (x > y) - (x < y);
}

struct slots {
	VEC(struct map_slot) v;
};

/* What a table holds, in the order of its keys. */
static void slots_of(struct slots *s, const struct map *m)
{
	for (const struct map_slot *at = NULL; (at = map_next(m, at));)
		vec_push(&s->v, *at);
	if (s->v.nr)
		qsort(s->v.v, s->v.nr, sizeof(*s->v.v), by_key);
}

/* lines: by template. */
static void note_templates(struct tie *t, const struct map *lines)
{
	struct slots templates = { 0 };

	slots_of(&templates, lines);
	vec_each (&templates.v, s)
		note_template(t, (uint32_t)s->key, s->value);
	vec_done(&templates.v);
}

/* All meetings of two kinds, and what they tell. */
struct group {
	const struct census *w;
	const struct keeping *k;
	uint32_t a, b;
	struct meeting *m;
	size_t nr;
	struct kept_tie *kept; /* NULL: nothing is */
	struct relating own;
};

static void swap_ends(struct pair *p, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint32_t child = p[i].parent;

		p[i].parent = p[i].child;
		p[i].child = child;
	}
}

/* By these meetings alone; b's are the children. */
static void test_meetings(struct group *g, struct tie *t, struct pair *pairs)
{
	struct map lines = { 0 };
	uint64_t *at = NULL;

	for (size_t i = 0; i < g->nr; i++) {
		if (!i || pairs[i].template != pairs[i - 1].template)
			at = map_at(&lines, pairs[i].template);
		*at += pairs[i].count;
	}
	note_templates(t, &lines);
	map_done(&lines);
	t->is_equal = is_equal(g->w, t, pairs, g->nr);
	function_test(&t->a_of_b, &g->own, g->w, pairs, g->nr, false);
	swap_ends(pairs, g->nr);
	function_test(&t->b_of_a, &g->own, g->w, pairs, g->nr, true);
}

/* By them and by what is kept. */
static void test_kept(struct group *g, struct tie *t, struct pair *pairs)
{
	struct kept_tie *kept = g->kept;

	kept_tie_add(kept, g->k, pairs, g->nr);
	note_templates(t, &kept->lines);
	t->is_equal = is_equal(g->w, t, kept->of_b.v.v, kept->of_b.v.nr);
	function_weigh(&t->a_of_b, &g->own, g->w, kept->of_b.v.v, kept->of_b.v.nr);
	function_weigh(&t->b_of_a, &g->own, g->w, kept->of_a.v.v, kept->of_a.v.nr);
}

static void test_group(void *ctx, uint32_t item)
{
	struct group *g = (struct group *)ctx + item;
	struct tie t = { .a = g->a, .b = g->b };
	struct pair *pairs = shelf_alloc(g->w->shelf, mem_bytes(g->nr + 1, sizeof(*pairs)));

	t.is_within = is_within(g->w, t.a, t.b);
	for (size_t i = 0; i < g->nr; i++) {
		const struct meeting *m = &g->m[i];

		pairs[i] = (struct pair){ m->b,         m->a,     m->template,
					  !m->is_again, m->count, m->first_ns };
	}
	if (g->kept)
		test_kept(g, &t, pairs);
	else
		test_meetings(g, &t, pairs);
	settle_loose(&t.a_of_b, &t.b_of_a);
	settle_loose(&t.b_of_a, &t.a_of_b);
	shelf_give(g->w->shelf, pairs);
	vec_push(&g->own.ties, t);
}

static void take_group(struct relating *r, struct group *g)
{
	uint32_t base = (uint32_t)r->belongs.nr;

	vec_each (&g->own.ties, t) {
		t->a_of_b.begin += base;
		t->a_of_b.end += base;
		t->b_of_a.begin += base;
		t->b_of_a.end += base;
		vec_push(&r->ties, *t);
	}
	vec_each (&g->own.belongs, v)
		shelf_push(r->shelf, &r->belongs, *v);
	relate_done(&g->own);
}

static int by_pair(const void *a, const void *b)
{
	const struct tie *x = a, *y = b;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return (x->b > y->b) - (x->b < y->b);
}

struct groups {
	VEC(struct group) v;
};

/* Parts of all that may meet, in the order in which it was told; the last one has no notes. */
struct parts {
	struct meetings v[MAX_PARTS + 1];
	uint32_t nr;
	struct meeting *all;
};

static void make_parts(struct parts *p, const struct census *w, const struct keeping *k)
{
	size_t begin = k->is_any_other ? 0 : nr_asked(k), nr_notes = w->told->notes.nr - begin;
	size_t nr = nr_notes / PART_NOTES + 1;

	if (nr > MAX_PARTS)
		nr = MAX_PARTS;
	for (size_t i = 0; i < nr; i++) {
		size_t from = begin + nr_notes * i / nr, to = begin + nr_notes * (i + 1) / nr;

		if (from < to)
			p->v[p->nr++] = (struct meetings){ .w = w, .k = k, .from = from, .to = to };
	}
	p->v[p->nr++] = (struct meetings){ .w = w, .k = k };
	crew_run_with(nr > 1 ? 0 : 1, p->nr, find_meetings, p->v);
}

/* How many of each two kinds there are in all parts. The number of all. */
static size_t count_all(const struct parts *p, struct map *all)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < p->nr; i++) {
		for (const struct map_slot *s = NULL; (s = map_next(&p->v[i].at, s));) {
			*map_at(all, s->key) += s->value;
			nr += s->value;
		}
	}
	return nr;
}

/* Where each part puts those of the two kinds, from there on. */
static void place_parts(struct parts *p, uint64_t kinds, size_t from)
{
	for (uint32_t i = 0; i < p->nr; i++) {
		uint64_t *at = map_find(&p->v[i].at, kinds);
		size_t nr = at ? *at : 0;

		if (at)
			*at = from;
		from += nr;
	}
}

/* One for each two kinds, in their order, each with its place among the meetings. */
static void find_groups(struct groups *g, struct parts *p, const struct census *w,
			const struct keeping *keeping)
{
	struct map all = { 0 };
	struct slots kinds = { 0 };
	size_t sum = 0, nr;

	make_parts(p, w, keeping);
	nr = count_all(p, &all);
	p->all = shelf_alloc(w->shelf, mem_bytes(nr + 1, sizeof(*p->all)));
	slots_of(&kinds, &all);
	vec_each (&kinds.v, k) {
		vec_push(&g->v, (struct group){ .w = w,
						.k = keeping,
						.a = (uint32_t)(k->key >> 32),
						.b = (uint32_t)k->key,
						.m = p->all + sum,
						.nr = k->value,
						.own.shelf = w->shelf });
		place_parts(p, k->key, sum);
		sum += k->value;
	}
	for (uint32_t i = 0; i < p->nr; i++)
		p->v[i].v = p->all;
	crew_run_with(p->nr > 2 ? 0 : 1, p->nr, find_meetings, p->v);
	for (uint32_t i = 0; i < p->nr; i++)
		map_done(&p->v[i].at);
	vec_done(&kinds.v);
	map_done(&all);
}

/* Groups go on from what is kept; what nothing new was told of is a group, too. Things within a
 * scope are told anew each time. */
static void take_kept(struct groups *g, struct keeping *k, const struct census *w)
{
	vec_each (&g->v, group)
		group->kept = keeping_tie(k, w, group->a, group->b,
					  !keeping_has(k, group->a, group->b) ||
						  is_within(w, group->a, group->b));
	vec_each (&k->before->ties, t) {
		struct group group = { .w = w, .k = k, .own.shelf = w->shelf };

		if (!*t || !keeping_kinds(k, *t, &group.a, &group.b) ||
		    is_within(w, group.a, group.b))
			continue;
		group.kept = keeping_tie(k, w, group.a, group.b, false);
		vec_push(&g->v, group);
	}
}

static void take_belongs(struct relating *r, const struct relating *from, struct function *f)
{
	uint32_t begin = (uint32_t)r->belongs.nr;

	for (uint32_t i = f->begin; i < f->end; i++)
		shelf_push(r->shelf, &r->belongs, from->belongs.v[i]);
	f->begin = begin;
	f->end = (uint32_t)r->belongs.nr;
}

/* Whether lines tell of both kinds what they told before. */
static bool is_as_before(const struct census *w, const struct tie *t)
{
	const struct kind *a = &w->kinds.v[t->a], *b = &w->kinds.v[t->b];

	if (!are_settled(w, t->a, t->b))
		return false;
	if (t->is_within)
		return kind_is_kept(is_scope_of(w, t->a, t->b) ? b : a);
	return kind_is_kept(a) && kind_is_kept(b);
}

static void take_before(struct relating *r, const struct census *w, const struct relating *before)
{
	vec_each (&before->shown, t) {
		struct tie kept = *t;

		if (!is_as_before(w, t))
			continue;
		take_belongs(r, before, &kept.a_of_b);
		take_belongs(r, before, &kept.b_of_a);
		vec_push(&r->ties, kept);
	}
}

void relate_make(struct relating *r, struct census *w, const struct relating *before)
{
	struct parts parts = { 0 };
	struct groups groups = { 0 };
	struct keeping k = { 0 };
	bool is_settled = true;

	*r = (struct relating){ .shelf = w->shelf };
	vec_each (&w->kinds, kind)
		is_settled &= kind->is_settled || !kind_is_kept(kind);
	if (before)
		take_before(r, w, before);
	keeping_begin(&k, w, is_settled);
	if (!is_settled)
		find_groups(&groups, &parts, w, &k);
	if (k.is_known)
		take_kept(&groups, &k, w);
	crew_run_with(w->told->notes.nr < PART_NOTES ? 1 : 0, (uint32_t)groups.v.nr, test_group,
		      groups.v.v);
	vec_each (&groups.v, g)
		take_group(r, g);
	if (r->ties.nr)
		qsort(r->ties.v, r->ties.nr, sizeof(*r->ties.v), by_pair);
	vec_each (&r->ties, t)
		vec_push(&r->shown, *t);
	vec_each (&w->kinds, kind)
		kind->is_settled = true;
	keeping_end(&k);
	w->nr_related++;
	vec_done(&groups.v);
	shelf_give(w->shelf, parts.all);
}

void relate_done(struct relating *r)
{
	vec_done(&r->ties);
	vec_done(&r->shown);
	shelf_done(r->shelf, &r->belongs);
}

struct tie *relate_find(const struct relating *r, uint32_t kind, uint32_t other)
{
	uint32_t a = kind < other ? kind : other, b = kind < other ? other : kind;
	size_t low = 0, high = r->ties.nr;

	while (low < high) {
		size_t mid = (low + high) / 2;
		struct tie *t = &r->ties.v[mid];

		if (t->a == a && t->b == b)
			return t;
		if (t->a < a || (t->a == a && t->b < b))
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

static uint64_t child_of(const void *record)
{
	return ((const struct belongs *)record)->child;
}

static struct function function_of(struct relating *r, const struct census *w,
				   const struct belongs *v, size_t nr)
{
	struct function f = { .holds = true, .begin = (uint32_t)r->belongs.nr };
	struct map parents = { .shelf = w->shelf };

	for (size_t i = 0; i < nr; i++) {
		census_look(w, i);
		shelf_push(r->shelf, &r->belongs, v[i]);
		f.lines += w->things.v[v[i].child].lines;
		f.nr_parents += !(*map_at(&parents, v[i].parent))++;
	}
	sort_records_on(r->shelf, r->belongs.v + f.begin, nr, sizeof(*v), child_of);
	f.end = (uint32_t)r->belongs.nr;
	f.nr_children = (uint32_t)nr;
	map_done(&parents);
	return f;
}

void relate_tell(struct relating *r, const struct census *w, const struct belongs *v, size_t nr,
		 struct tie how)
{
	uint32_t child = w->things.v[v[0].child].kind, parent = w->things.v[v[0].parent].kind;
	struct tie *t = relate_find(r, child, parent);
	struct function f = function_of(r, w, v, nr);

	if (!t) {
		how.a = child < parent ? child : parent;
		how.b = child < parent ? parent : child;
		vec_push(&r->ties, how);
		qsort(r->ties.v, r->ties.nr, sizeof(*r->ties.v), by_pair);
		t = relate_find(r, child, parent);
	}
	t->is_embedded |= how.is_embedded;
	t->is_alias |= how.is_alias;
	t->is_near |= how.is_near;
	t->above = parent;
	*(parent == t->a ? &t->a_of_b : &t->b_of_a) = f;
}

enum relation relate_kind(const struct tie *t)
{
	if (t->a_of_b.holds && t->b_of_a.holds)
		return RELATION_ONE;
	return t->a_of_b.holds || t->b_of_a.holds ? RELATION_MANY : RELATION_CROSS;
}

uint32_t relate_parent(const struct relating *r, const struct function *f, uint32_t child)
{
	uint32_t low = f->begin, high = f->end;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (r->belongs.v[mid].child == child)
			return r->belongs.v[mid].parent;
		if (r->belongs.v[mid].child < child)
			low = mid + 1;
		else
			high = mid;
	}
	return UINT32_MAX;
}
