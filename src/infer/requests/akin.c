#include "infer/requests/akin.h"

static bool is_compound(const struct work *w, uint32_t kind)
{
	return w->looks[kind].stem && !w->looks[kind].is_numbers;
}

bool akin_dedicated(const struct work *w, const struct unit *u)
{
	const struct seen_line *l = work_line(w, u->from);

	for (unsigned i = l->nr_own; i < l->nr_names; i++)
		if (!w->is_hub[line_names(w, l)[i]] &&
		    is_compound(w, w->g->kind_of.v[line_names(w, l)[i]]))
			return true;
	for (unsigned i = 0; i < l->nr_own; i++) {
		struct str thread = names_str(&w->g->threads, l->thread);

		if (is_compound(w, w->g->kind_of.v[line_names(w, l)[i]]) &&
		    str_find(thread, gather_value(w->g, line_names(w, l)[i])) < thread.n)
			return true;
	}
	return false;
}

/* Compounds that both name in their first lines, of another stem than the thing; hubs count, for a
 * client that does much is still a client. -1: one does, and they differ. */
static int nr_common(const struct work *w, const struct unit *a, const struct unit *b,
		     uint32_t thing)
{
	const struct seen_line *p = work_line(w, a->main), *q = work_line(w, b->main);
	int nr = 0;

	for (unsigned i = 0; i < p->nr_own; i++) {
		uint32_t name = line_names(w, p)[i], kind = w->g->kind_of.v[name];
		bool has_kind = false, is_equal = false;

		if (!is_compound(w, kind))
			continue;
		for (unsigned k = 0; k < q->nr_own; k++) {
			has_kind |= w->g->kind_of.v[line_names(w, q)[k]] == kind;
			is_equal |= line_names(w, q)[k] == name;
		}
		if (has_kind && !is_equal && w->is_hub[name])
			return -1;
		nr += is_equal && !hold_same_stem(w, kind, w->g->kind_of.v[thing]);
	}
	return nr;
}

bool akin_by_the_same(const struct work *w, const struct unit *a, const struct unit *b,
		      uint32_t thing)
{
	int nr = nr_common(w, a, b, thing);

	for (uint32_t i = 0; i < a->nr_held && nr == 0; i++) {
		struct held h = w->held.v[a->held_at + i];

		if (h.depth >= DEPTH_PREFIX || !work_is_path(w, h.thing) || h.thing == thing)
			continue;
		for (uint32_t k = 0; k < b->nr_held; k++)
			nr += w->held.v[b->held_at + k].thing == h.thing;
	}
	return nr > 0;
}

bool akin_names(const struct work *w, const struct unit *u, uint32_t thing)
{
	for (uint32_t i = 0; i < u->nr_held; i++)
		if (w->held.v[u->held_at + i].thing == thing)
			return w->held.v[u->held_at + i].depth < DEPTH_PREFIX;
	return false;
}

bool akin_for_the_same(const struct work *w, const struct owners *o, const struct unit *first,
		       const struct unit *u)
{
	for (uint32_t i = 0; i < first->nr_held; i++) {
		struct held h = w->held.v[first->held_at + i];
		bool is_both = false, is_owned = false;

		for (uint32_t k = 0; k < u->nr_held && !h.depth; k++)
			is_both |= w->held.v[u->held_at + k].thing == h.thing &&
				   !w->held.v[u->held_at + k].depth;
		for (uint32_t k = 0; k < first->nr_held && is_both; k++)
			is_owned |=
				!w->held.v[first->held_at + k].depth &&
				hold_is_owner(o, w->g->kind_of.v[h.thing],
					      w->g->kind_of.v[w->held.v[first->held_at + k].thing]);
		if (is_both && !is_owned)
			return true;
	}
	return false;
}

/* Whether something that the unit names owns such things. */
static bool names_owner(const struct work *w, const struct owners *o, const struct unit *u,
			uint32_t kind)
{
	for (uint32_t i = 0; i < u->nr_held; i++) {
		struct held h = w->held.v[u->held_at + i];

		if (!h.depth && hold_is_owner(o, kind, w->g->kind_of.v[h.thing]) &&
		    !w->looks[w->g->kind_of.v[h.thing]].stem)
			return true;
	}
	return false;
}

bool akin_of_one_caller(const struct work *w, const struct owners *o, const struct unit *first,
			const struct unit *u)
{
	const struct seen_line *p = work_line(w, first->main), *q = work_line(w, u->main);

	for (unsigned i = 0; i < p->nr_own; i++) {
		uint32_t name = line_names(w, p)[i], kind = w->g->kind_of.v[name];

		for (unsigned k = 0; k < q->nr_own && is_compound(w, kind); k++)
			if (line_names(w, q)[k] == name &&
			    (w->is_hub[name] || !names_owner(w, o, first, kind)))
				return true;
	}
	return false;
}

bool akin_called_by_one(const struct work *w, const struct owners *o, const struct unit *a,
			const struct unit *b)
{
	const struct seen_line *p = work_line(w, a->from), *q = work_line(w, b->from);

	for (unsigned i = 0; i < p->nr_names; i++) {
		uint32_t name = line_names(w, p)[i], kind = w->g->kind_of.v[name];

		if (w->is_hub[name] || !o->caller[kind])
			continue;
		for (unsigned k = 0; k < q->nr_names; k++)
			if (line_names(w, q)[k] == name)
				return true;
	}
	return false;
}

static uint32_t path_of(const struct work *w, const struct unit *u)
{
	for (uint32_t i = 0; i < u->nr_held; i++) {
		struct held h = w->held.v[u->held_at + i];

		if (h.depth < DEPTH_PREFIX && work_is_path(w, h.thing))
			return h.thing;
	}
	return 0;
}

bool akin_beside(const struct work *w, const struct unit *a, const struct unit *b)
{
	uint32_t x = path_of(w, a), y = path_of(w, b);
	struct str p, q;

	if (!x || !y)
		return true;
	p = gather_value(w->g, x);
	q = gather_value(w->g, y);
	while (p.n && p.p[p.n - 1] != '/')
		p.n--;
	while (q.n && q.p[q.n - 1] != '/')
		q.n--;
	return str_eq(p, q);
}

bool akin_in_path(const struct work *w, const struct seen_line *l, uint32_t name)
{
	struct str value = gather_value(w->g, name);

	for (unsigned i = 0; i < l->nr_names; i++) {
		struct str path;

		if (!work_is_path(w, line_names(w, l)[i]))
			continue;
		path = gather_value(w->g, line_names(w, l)[i]);
		if (str_find(path, value) < path.n)
			return true;
	}
	return false;
}

/* Whether the name says who calls; what may do so must not be the thing itself. */
static bool is_caller(const struct work *w, const struct owners *o, uint32_t name, uint32_t thing)
{
	uint32_t kind = w->g->kind_of.v[name];

	return o->caller[kind] == CALLER_SURE ||
	       (o->caller[kind] == CALLER_MAYBE && work_numbers(w, name) != thing &&
		!hold_same_stem(w, kind, w->g->kind_of.v[thing]));
}

uint32_t akin_caller(const struct work *w, const struct owners *o, const struct unit *a,
		     const struct unit *b, uint32_t thing)
{
	const struct seen_line *p = work_line(w, a->main), *q = work_line(w, b->main);

	for (unsigned i = 0; i < p->nr_names; i++) {
		uint32_t name = line_names(w, p)[i];

		if (!is_caller(w, o, name, thing))
			continue;
		for (unsigned k = 0; k < q->nr_names; k++)
			if (line_names(w, q)[k] == name && !akin_in_path(w, p, name))
				return name;
	}
	return 0;
}
