#include "infer/requests/work.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/sort.h"

/* Threads of one pool differ in numbers, hexadecimal numbers and what stands in brackets. */
struct masker {
	const struct work *w;
	struct names masked; /* names without any number */
	VEC(uint32_t) mask;  /* of each thread */
	struct map columns;  /* mask and column: 1 + the number there, or MANY when several occur */
};

#define MANY UINT64_MAX

static bool is_numeral(char c)
{
	return (c >= '0' && c <= '9');
}

/* Calls back for every stretch of the name: text, or a run that begins with a digit. Brackets that
 * hold more than a number are left out. */
static void each_run(struct str name, void (*each)(void *to, struct str run, bool is_number),
		     void *to)
{
	size_t at = 0;
	int depth = 0;

	while (at < name.n) {
		size_t from = at;
		bool is_number = is_numeral(name.p[at]);

		if (name.p[at] == '[')
			depth++;
		if (depth) {
			depth -= name.p[at] == ']';
			at++;
			continue;
		}
		while (at < name.n && name.p[at] != '[' &&
		       (is_number ? (is_numeral(name.p[at]) ||
				     (name.p[at] >= 'a' && name.p[at] <= 'f'))
				  : !is_numeral(name.p[at])))
			at++;
		each(to, (struct str){ name.p + from, at - from }, is_number);
	}
}

static void add_masked(void *to, struct str run, bool is_number)
{
	buf_add(to, is_number ? STR("#") : run);
}

struct column {
	struct map *columns;
	uint32_t mask, nr;
	struct buf *out;
};

static void see_column(void *to, struct str run, bool is_number)
{
	struct column *c = to;
	uint64_t *at, hash = str_hash(run) >> 1 | 1;

	if (!is_number)
		return;
	at = map_at(c->columns, map_pair(c->mask, c->nr++));
	*at = !*at || *at == hash ? hash : MANY;
}

static void add_column(void *to, struct str run, bool is_number)
{
	struct column *c = to;

	if (is_number && *map_at(c->columns, map_pair(c->mask, c->nr++)) == MANY)
		buf_char(c->out, '#');
	else
		buf_add(c->out, run);
}

/* Numbers that are the same in all threads of a mask, like a port, stay in the name of the family.
 */
static void find_families(struct work *w)
{
	const struct names *threads = &w->g->threads;
	struct masker m = { .w = w };
	struct names families = { 0 };
	struct buf text = { 0 };

	for (sym_t t = 0; t < (threads->nr ? threads->nr : 1); t++) {
		struct column c = { &m.columns, 0, 0, NULL };

		buf_clear(&text);
		each_run(names_str(threads, t), add_masked, &text);
		c.mask = names_add(&m.masked, buf_str(&text));
		vec_push(&m.mask, c.mask);
		each_run(names_str(threads, t), see_column, &c);
	}
	w->family = mem_realloc(NULL, mem_bytes(m.mask.nr, sizeof(*w->family)));
	for (sym_t t = 0; t < m.mask.nr; t++) {
		struct column c = { &m.columns, m.mask.v[t], 0, &text };

		buf_clear(&text);
		each_run(names_str(threads, t), add_column, &c);
		w->family[t] = names_add(&families, buf_str(&text));
	}
	w->nr_families = families.nr ? families.nr : 1;
	buf_done(&text);
	names_done(&families);
	names_done(&m.masked);
	vec_done(&m.mask);
	map_done(&m.columns);
}

/* Lines by file, thread, order. */
static uint32_t *order_lines(const struct gather *g)
{
	size_t nr = g->lines.nr;
	struct sort_item *v = mem_alloc(mem_bytes(nr + 1, sizeof(*v)));
	uint32_t *order = mem_alloc(mem_bytes(nr + 1, sizeof(*order)));

	for (size_t i = 0; i < nr; i++)
		v[i] = (struct sort_item){ map_pair(g->lines.v[i].file, g->lines.v[i].thread), i };
	sort_items(v, nr);
	for (size_t i = 0; i < nr; i++)
		order[i] = (uint32_t)v[i].at;
	free(v);
	return order;
}

void work_begin(struct work *w, const struct gather *g, struct course *course)
{
	*w = (struct work){ .g = g, .course = course, .looks = kinds_look(&g->kinds) };
	w->by_thread = order_lines(g);
	find_families(w);
}

/* By start, then as they stand in their threads. */
void work_sort(struct work *w)
{
	size_t nr = w->units.nr;
	struct sort_item *v = mem_alloc(mem_bytes(nr + 1, sizeof(*v)));
	struct unit *sorted = mem_alloc(mem_bytes(nr + 1, sizeof(*sorted)));

	for (size_t i = 0; i < nr; i++)
		v[i] = (struct sort_item){ w->units.v[i].from, i };
	sort_items(v, nr);
	for (size_t i = 0; i < nr; i++)
		v[i].key = sort_signed(w->units.v[v[i].at].start);
	sort_items(v, nr);
	for (size_t i = 0; i < nr; i++)
		sorted[i] = w->units.v[v[i].at];
	free(v);
	free(w->units.v);
	w->units.v = sorted;
	w->units.room = nr + 1;
}

void work_fit(const struct work *w, struct unit *u, uint32_t from, uint32_t to)
{
	u->from = from;
	u->to = to;
	if (u->main < from || u->main >= to)
		u->main = from;
	u->type = work_line(w, u->main)->type;
	u->start = u->end = work_line(w, from)->ns;
	u->is_undated = work_line(w, from)->is_undated;
	for (uint32_t at = from + 1; at < to; at++)
		if (work_line(w, at)->ns > u->end)
			u->end = work_line(w, at)->ns;
}

void work_done(struct work *w)
{
	free(w->looks);
	beside_done(&w->met);
	free(w->by_thread);
	free(w->family);
	free(w->seen);
	free(w->bits);
	free(w->is_hub);
	free(w->is_measure);
	free(w->is_family);
	free(w->root);
	free(w->answers);
	free(w->first);
	free(w->last);
	vec_done(&w->units);
	vec_done(&w->held);
}
