/*
 * The groups of an aggregated query that is joined, when they are unpacked: equal ones of several
 * writers are added up.
 *
 * A percentile needs every value, so values are packed as if they were keys, with how often each
 * was seen, and told from keys here only. There is no memory to sort them in: the one of the wanted
 * rank is found by halving the range that it lies in, which takes about as many looks at all of
 * them as their number has digits.
 */
#include "lib/advice/cell.h"
#include "lib/advice/run.h"

static uint32_t nr_keys(const struct advice_child *child)
{
	return (uint32_t)child->nr_columns - child->nr_values;
}

/* What is behind the key of an entry, where that is the key at hand. */
static const uint64_t *behind_same(const struct run *r, const struct cursor *c,
				   const struct bag_entry *e, uint32_t to)
{
	const uint64_t *end = (const uint64_t *)(const void *)e + e->words;
	const uint64_t *at = (const uint64_t *)(const void *)(e + 1) + 1;
	struct advice_value v;

	for (uint32_t i = 0; i < nr_keys(&r->p->children[c->child]); i++) {
		at = cell_read(at, end, &v);
		if (!at || advice_cmp(&v, &r->r[to + i]))
			return NULL;
	}
	return at;
}

/* Of the groups that several writers packed, each once: where it stands first. */
static bool was_summed(const struct run *r, const struct cursor *c, uint32_t to)
{
	const struct bag_entry *e = NULL;

	if (r->finish)
		return false;
	while ((e = run_next_entry(r, c->child, e)) && e != c->entry)
		if (behind_same(r, c, e, to))
			return true;
	return false;
}

/* The next entry of the group at hand. Where it is finished, equal ones stand side by side. */
static const struct bag_entry *next_same(const struct run *r, const struct cursor *c,
					 const struct bag_entry *e, uint32_t to)
{
	while ((e = run_next_entry(r, c->child, e)) && !behind_same(r, c, e, to))
		if (r->finish)
			return NULL;
	return e;
}

/* --- aggregates that are small ---------------------------------------------------------------- */

static const uint64_t *behind_values(const struct run *r, const struct cursor *c,
				     const struct bag_entry *e, uint32_t to)
{
	const uint64_t *end = (const uint64_t *)(const void *)e + e->words;
	const uint64_t *at = behind_same(r, c, e, to);
	struct advice_value ignored;

	for (uint32_t i = 0; i < r->p->children[c->child].nr_values && at; i++)
		at = cell_read(at, end, &ignored);
	return at;
}

static void sum_up(struct run *r, const struct cursor *c, uint32_t to)
{
	const struct advice_child *child = &r->p->children[c->child];
	struct advice_total totals[ADVICE_TOTALS], t;

	for (uint32_t i = 0; i < child->nr_totals; i++)
		totals[i].nr = 0;
	for (const struct bag_entry *e = c->entry; e; e = next_same(r, c, e, to)) {
		const uint64_t *end = (const uint64_t *)(const void *)e + e->words;
		const uint64_t *at = behind_values(r, c, e, to);

		for (uint32_t i = 0; i < child->nr_totals && at; i++) {
			at = half_read(at, end, child->functions[i], &t);
			if (at)
				advice_total_add(child->functions[i], &totals[i], &t);
		}
	}
	for (uint32_t i = 0; i < child->nr_totals; i++)
		r->r[to + child->nr_columns + i] =
			advice_total_value(child->functions[i], &totals[i]);
}

/* --- percentiles ------------------------------------------------------------------------------ */

/* The values of one column of the group at hand that lie between two others, which are not among
 * them. */
struct choice {
	struct run *r;
	const struct cursor *c;
	uint32_t to, column;
	bool has_low, has_high;
	struct advice_value low, high;
	const struct bag_entry *entry; /* of the value that was told last */
};

static void choice_rewind(struct choice *x)
{
	x->entry = NULL;
}

/* False where there is none, or where it is no number. */
static bool value_in(const struct choice *x, struct advice_value *v, bool *is_mistyped)
{
	const uint64_t *end = (const uint64_t *)(const void *)x->entry + x->entry->words;
	const uint64_t *at = behind_same(x->r, x->c, x->entry, x->to);
	struct advice_value raw;

	for (uint32_t i = 0; i <= x->column && at; i++)
		at = cell_read(at, end, &raw);
	if (!at || raw.type == ADVICE_NULL)
		return false;
	*is_mistyped = !advice_number(&raw, v);
	return !*is_mistyped;
}

static bool choice_next(struct choice *x, struct advice_value *v, uint64_t *times)
{
	for (;;) {
		bool is_mistyped = false;

		x->entry = x->entry ? next_same(x->r, x->c, x->entry, x->to) : x->c->entry;
		if (!x->entry)
			return false;
		if (value_in(x, v, &is_mistyped) && (!x->has_low || advice_cmp(v, &x->low) > 0) &&
		    (!x->has_high || advice_cmp(v, &x->high) < 0)) {
			*times = *(const uint64_t *)(const void *)(x->entry + 1);
			return true;
		}
		/* the first look is the only one without bounds */
		if (is_mistyped && !x->has_low && !x->has_high)
			x->r->out->nr_mistyped++;
	}
}

/* Any of them will do; always the same one would make sorted values slow. */
static struct advice_value choice_any(struct choice *x, uint64_t nr, uint64_t look)
{
	uint64_t which = (look * 0x9e3779b97f4a7c15u >> 32) % nr, times;
	struct advice_value v = { 0 };

	choice_rewind(x);
	for (uint64_t i = 0; i <= which && choice_next(x, &v, &times); i++)
		;
	return v;
}

/* What lies on either side of a value: how many values, and how often they were seen. */
struct sides {
	uint64_t nr_below, nr_above, below, same;
};

static struct sides choice_part(struct choice *x, const struct advice_value *at)
{
	struct sides s = { 0 };
	struct advice_value v;
	uint64_t times;

	choice_rewind(x);
	while (choice_next(x, &v, &times)) {
		int cmp = advice_cmp(&v, at);

		s.nr_below += cmp < 0;
		s.nr_above += cmp > 0;
		s.below += cmp < 0 ? times : 0;
		s.same += cmp ? 0 : times;
	}
	return s;
}

static struct advice_value choice_ranked(struct choice *x, uint64_t share)
{
	uint64_t nr = 0, all = 0, times, rank;
	struct advice_value v;

	choice_rewind(x);
	for (; choice_next(x, &v, &times); nr++)
		all += times;
	rank = advice_rank(share, all);
	for (uint64_t look = 1; nr; look++) {
		struct sides s;

		v = choice_any(x, nr, look);
		s = choice_part(x, &v);
		if (rank > s.below && rank <= s.below + s.same)
			return v;
		if (rank <= s.below) {
			x->high = v;
			x->has_high = true;
			nr = s.nr_below;
		} else {
			x->low = v;
			x->has_low = true;
			nr = s.nr_above;
			rank -= s.below + s.same;
		}
	}
	return (struct advice_value){ .type = ADVICE_NULL };
}

/* Keys are in their registers still, so that values are found by them. */
static void rank_values(struct run *r, const struct cursor *c, uint32_t to)
{
	const struct advice_child *child = &r->p->children[c->child];

	for (uint32_t i = 0; i < child->nr_values; i++) {
		struct choice x = { .r = r, .c = c, .to = to, .column = i };
		uint64_t share = (uint64_t)r->p->constants[child->shares[i]].number;

		r->r[to + nr_keys(child) + i] = choice_ranked(&x, share);
	}
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Where it is finished, all entries of the group are taken with it. */
static void pass_group(const struct run *r, struct cursor *c, uint32_t to)
{
	const struct bag_entry *e = c->entry;

	while (r->finish && (e = next_same(r, c, e, to)))
		c->entry = e;
}

bool run_next_group(struct run *r, struct cursor *c, uint32_t to)
{
	while (run_next_tuple(r, c, to)) {
		if (was_summed(r, c, to))
			continue;
		c->weight = 1;
		sum_up(r, c, to);
		rank_values(r, c, to);
		pass_group(r, c, to);
		return true;
	}
	return false;
}
