/*
 * Tables of names, then the lines column by column, because what stands in one column is alike and
 * packs well. Times and event numbers are differences to the line before.
 */
#include "infer/requests/gather_pack.h"

#include "infer/requests/gather.h"
#include "infer/requests/sight.h"

enum { UNDATED = 1, KEYED = 2, REQUEST = 4 };

static void put_names(struct buf *b, const struct names *t)
{
	buf_varint(b, t->nr);
	for (sym_t i = 1; i < t->nr; i++)
		buf_bytes(b, names_str(t, i));
}

static bool take_names(struct str *s, struct names *t)
{
	struct str name;
	uint64_t nr;

	if (!str_take_varint(s, &nr))
		return false;
	for (uint64_t i = 1; i < nr; i++)
		if (!str_take_bytes(s, &name) || names_add(t, name) != i)
			return false;
	return true;
}

static unsigned flags_of(const struct seen_line *l)
{
	return (l->is_undated ? UNDATED : 0) | (l->is_keyed ? KEYED : 0) |
	       (l->is_request ? REQUEST : 0);
}

static void put_times(struct buf *b, const struct gather *g)
{
	const struct seen_line *before = &(const struct seen_line){ 0 };

	vec_each (&g->lines, l) {
		buf_svarint(b, (int64_t)((uint64_t)l->ns - (uint64_t)before->ns));
		buf_varint(b, l->event - before->event);
		before = l;
	}
}

static void put_lines(struct buf *b, const struct gather *g)
{
	put_times(b, g);
	vec_each (&g->lines, l)
		buf_varint(b, (uint64_t)l->spent);
	vec_each (&g->lines, l)
		buf_varint(b, l->file);
	vec_each (&g->lines, l)
		buf_varint(b, l->node);
	vec_each (&g->lines, l)
		buf_varint(b, l->thread);
	vec_each (&g->lines, l)
		buf_varint(b, l->type);
	vec_each (&g->lines, l) {
		buf_varint(b, l->nr_own);
		buf_varint(b, l->nr_names);
		buf_char(b, (char)l->nr_words);
	}
	vec_each (&g->lines, l) {
		buf_char(b, (char)l->level);
		buf_char(b, (char)flags_of(l));
	}
	vec_each (&g->lines, l)
		for (unsigned i = 0; i < l->nr_names + (unsigned)l->nr_words; i++)
			buf_varint(b, g->named.v[l->name_at + i]);
}

void gather_pack(const struct gather *g, struct buf *b)
{
	put_names(b, &g->logs);
	put_names(b, &g->nodes);
	put_names(b, &g->threads);
	put_names(b, &g->types);
	put_names(b, &g->things);
	for (sym_t i = 0; i < g->types.nr; i++)
		buf_varint(b, i < g->statement.nr ? g->statement.v[i] : 0);
	buf_varint(b, g->lines.nr);
	put_lines(b, g);
}

static bool take_times(struct str *s, struct gather *g)
{
	int64_t ns = 0, step;
	uint64_t event = 0, more;

	vec_each (&g->lines, l) {
		if (!str_take_svarint(s, &step) || !str_take_varint(s, &more))
			return false;
		l->ns = ns = (int64_t)((uint64_t)ns + (uint64_t)step);
		l->event = event += more;
	}
	return true;
}

/* A number below the limit. */
static bool take_below(struct str *s, uint64_t limit, uint32_t *v)
{
	uint64_t n;

	if (!str_take_varint(s, &n) || n >= limit)
		return false;
	*v = (uint32_t)n;
	return true;
}

static bool take_places(struct str *s, struct gather *g)
{
	uint64_t spent;

	vec_each (&g->lines, l) {
		if (!str_take_varint(s, &spent))
			return false;
		l->spent = (int64_t)spent;
	}
	vec_each (&g->lines, l)
		if (!take_below(s, g->logs.nr + 1u, &l->file))
			return false;
	vec_each (&g->lines, l)
		if (!take_below(s, g->nodes.nr + 1u, &l->node))
			return false;
	vec_each (&g->lines, l)
		if (!take_below(s, g->threads.nr + 1u, &l->thread))
			return false;
	vec_each (&g->lines, l)
		if (!take_below(s, g->types.nr + 1u, &l->type))
			return false;
	return true;
}

static bool take_marks(struct str *s, struct gather *g)
{
	uint32_t nr_own, nr_names;

	vec_each (&g->lines, l) {
		if (!take_below(s, UINT16_MAX + 1, &nr_own) ||
		    !take_below(s, UINT16_MAX + 1, &nr_names) || !s->n)
			return false;
		l->nr_words = (uint8_t)s->p[0];
		*s = str_skip(*s, 1);
		if (nr_own > nr_names)
			return false;
		l->nr_own = (uint16_t)nr_own;
		l->nr_names = (uint16_t)nr_names;
	}
	vec_each (&g->lines, l) {
		if (s->n < 2)
			return false;
		l->level = (uint8_t)s->p[0];
		l->is_undated = s->p[1] & UNDATED;
		l->is_keyed = s->p[1] & KEYED;
		l->is_request = s->p[1] & REQUEST;
		*s = str_skip(*s, 2);
	}
	vec_each (&g->lines, l) {
		uint32_t thing;

		l->name_at = (uint32_t)g->named.nr;
		for (unsigned i = 0; i < l->nr_names + (unsigned)l->nr_words; i++) {
			if (!take_below(s, g->things.nr, &thing))
				return false;
			vec_push(&g->named, thing);
		}
	}
	return true;
}

bool gather_unpack(struct gather *g, struct str s)
{
	uint64_t nr;
	uint32_t statement;

	if (!take_names(&s, &g->logs) || !take_names(&s, &g->nodes) ||
	    !take_names(&s, &g->threads) || !take_names(&s, &g->types) ||
	    !take_names(&s, &g->things))
		return false;
	for (sym_t i = 0; i < g->types.nr; i++) {
		if (!take_below(&s, UINT32_MAX, &statement))
			return false;
		vec_push(&g->statement, statement);
	}
	if (!str_take_varint(&s, &nr) || nr > s.n)
		return false;
	for (; g->lines.nr < nr;)
		vec_push(&g->lines, (struct seen_line){ 0 });
	return take_times(&s, g) && take_places(&s, g) && take_marks(&s, g) && !s.n;
}
