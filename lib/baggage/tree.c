#include "lib/baggage/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A tree while it is written. */
struct draft {
	uint32_t n;
	bool is_full;
	uint32_t at[TREE_TOKENS];
};

static void put(struct draft *d, uint32_t token)
{
	if (d->n < TREE_TOKENS)
		d->at[d->n++] = token;
	else
		d->is_full = true;
}

/* Two equal leaves of the inner node that began at `from` are one. */
static void fold(struct draft *d, uint32_t from)
{
	if (d->n == from + 3 && d->at[from + 1] == d->at[from + 2] &&
	    d->at[from + 1] != TREE_INNER) {
		d->at[from] = d->at[from + 1];
		d->n = from + 1;
	}
}

void tree_done(struct tree *t)
{
	free(t->more);
	t->more = NULL;
	t->n = 0;
}

void tree_leaf(struct tree *t, uint32_t value)
{
	t->n = 1;
	t->more = NULL;
	t->few[0] = value;
}

const uint32_t *tree_at(const struct tree *t)
{
	return t->more ? t->more : t->few;
}

bool tree_is(const struct tree *t, uint32_t value)
{
	return t->n == 1 && tree_at(t)[0] == value;
}

/* t keeps its old tokens if memory ends. */
static int assign(struct tree *t, const uint32_t *tokens, uint32_t n)
{
	uint32_t *more = NULL;

	if (n > TREE_FEW) {
		more = malloc(n * sizeof(*more));
		if (!more)
			return -ENOMEM;
		memcpy(more, tokens, n * sizeof(*more));
	} else {
		memcpy(t->few, tokens, n * sizeof(*tokens));
	}
	free(t->more);
	t->more = more;
	t->n = n;
	return 0;
}

static int take(struct tree *t, const struct draft *d)
{
	return d->is_full ? -E2BIG : assign(t, d->at, d->n);
}

int tree_copy(struct tree *t, const struct tree *from)
{
	t->more = NULL;
	return assign(t, tree_at(from), from->n);
}

int tree_set(struct tree *t, const uint32_t *tokens, size_t n)
{
	uint8_t sides[TREE_DEPTH + 1];
	unsigned depth = 0;
	size_t i = 0;

	if (!n || n > TREE_TOKENS)
		return -EBADMSG;
	for (sides[0] = 0; i < n; i++) {
		if (tokens[i] == TREE_INNER) {
			if (depth == TREE_DEPTH)
				return -EBADMSG;
			sides[++depth] = 0;
			continue;
		}
		while (depth && sides[depth] == 1)
			depth--;
		if (!depth)
			break;
		sides[depth] = 1;
	}
	if (i + 1 != n)
		return -EBADMSG;
	return assign(t, tokens, (uint32_t)n);
}

static const uint32_t *skip(const uint32_t *at)
{
	for (uint32_t open = 1; open; at++)
		open = *at == TREE_INNER ? open + 1 : open - 1;
	return at;
}

static bool is_right(const struct point *p, unsigned depth)
{
	return depth < TREE_DEPTH && p->bits[depth / 8] & 0x80 >> depth % 8;
}

uint32_t tree_value(const struct tree *t, const struct point *p)
{
	const uint32_t *at = tree_at(t);

	for (unsigned depth = 0; *at == TREE_INNER; depth++)
		at = is_right(p, depth) ? skip(at + 1) : at + 1;
	return *at;
}

/* Of a leaf beside an inner node both halves are the leaf: its cursor stays where it is. */
static void highest(struct draft *d, const uint32_t **a, const uint32_t **b)
{
	const uint32_t *a0 = *a, *b0 = *b;
	uint32_t from = d->n;

	if (*a0 != TREE_INNER && *b0 != TREE_INNER) {
		put(d, *a0 > *b0 ? *a0 : *b0);
		*a = a0 + 1;
		*b = b0 + 1;
		return;
	}
	put(d, TREE_INNER);
	*a += *a0 == TREE_INNER;
	*b += *b0 == TREE_INNER;
	highest(d, a, b);
	if (*a0 != TREE_INNER)
		*a = a0;
	if (*b0 != TREE_INNER)
		*b = b0;
	highest(d, a, b);
	fold(d, from);
}

int tree_highest(struct tree *t, const struct tree *a, const struct tree *b)
{
	const uint32_t *at = tree_at(a), *bt = tree_at(b);
	struct draft d;

	t->more = NULL;
	if (a->n == 1 && b->n == 1) {
		tree_leaf(t, *at > *bt ? *at : *bt);
		return 0;
	}
	d.n = 0;
	d.is_full = false;
	highest(&d, &at, &bt);
	return take(t, &d);
}

/* The first point of the first interval that id owns. */
static bool first_point(const uint32_t **id, struct point *p, unsigned depth)
{
	uint32_t token = *(*id)++;

	if (token != TREE_INNER)
		return token;
	if (first_point(id, p, depth + 1))
		return true;
	p->bits[depth / 8] |= (uint8_t)(0x80 >> depth % 8);
	if (first_point(id, p, depth + 1))
		return true;
	p->bits[depth / 8] &= (uint8_t)~(0x80 >> depth % 8);
	return false;
}

struct raised {
	struct draft d;
	uint32_t value; /* of the first interval that is owned; 0 until it was seen */
};

/* What is owned gets the highest number that is in it, so that it is one leaf again. */
static void raise_owned(struct raised *r, const uint32_t **id, const uint32_t **history)
{
	const uint32_t *i0 = *id, *h0 = *history, *end;
	uint32_t from = r->d.n, top = 0;

	if (*i0 != TREE_INNER) {
		*id = i0 + 1;
		*history = end = skip(h0);
		for (const uint32_t *h = h0; h < end; h++) {
			top = *h != TREE_INNER && *h > top ? *h : top;
			if (!*i0)
				put(&r->d, *h);
		}
		if (*i0 && !r->value)
			r->value = ++top;
		if (*i0)
			put(&r->d, top);
		return;
	}
	put(&r->d, TREE_INNER);
	*id = i0 + 1;
	*history += *h0 == TREE_INNER;
	raise_owned(r, id, history);
	if (*h0 != TREE_INNER)
		*history = h0;
	raise_owned(r, id, history);
	fold(&r->d, from);
}

int tree_raise(struct tree *history, const struct tree *id, struct point *p, uint32_t *value)
{
	const uint32_t *it = tree_at(id), *ht = tree_at(history);
	struct raised r;
	int e;

	memset(p, 0, sizeof(*p));
	if (!first_point(&it, p, 0))
		return -ENOENT;
	it = tree_at(id);
	r.d.n = r.value = 0;
	r.d.is_full = false;
	raise_owned(&r, &it, &ht);
	if (r.value == TREE_INNER)
		return -E2BIG;
	e = take(history, &r.d);
	if (!e)
		*value = r.value;
	return e;
}

struct parting {
	struct draft rest, kid;
	uint32_t nr; /* intervals that are not yet passed */
	bool is_only;
};

/*
 * Of several intervals the last one goes, whole: what came by a join can so go back and be one
 * again. Of a single one a small piece goes, the smaller the more went before (the zeros at the end
 * of its path say how many), so that who branches n times has a tree as deep as the root of n.
 */
static void part(struct parting *s, const uint32_t **id, unsigned depth, unsigned zeros)
{
	uint32_t token = *(*id)++, rest = s->rest.n, kid = s->kid.n;

	if (token == TREE_INNER) {
		put(&s->rest, token);
		put(&s->kid, token);
		part(s, id, depth + 1, zeros + 1);
		part(s, id, depth + 1, 0);
		fold(&s->rest, rest);
		fold(&s->kid, kid);
		return;
	}
	if (!token || --s->nr) {
		put(&s->rest, token);
		put(&s->kid, 0);
		return;
	}
	if (s->is_only && depth + zeros + 1 > TREE_DEPTH)
		s->rest.is_full = true;
	for (unsigned i = 0; s->is_only && i <= zeros; i++) {
		put(&s->rest, TREE_INNER);
		put(&s->rest, 1);
		put(&s->kid, TREE_INNER);
		put(&s->kid, 0);
	}
	put(&s->rest, 0);
	put(&s->kid, 1);
}

int tree_split(struct tree *id, struct tree *kid)
{
	const uint32_t *at = tree_at(id);
	struct parting s;
	int r;

	s.rest.n = s.kid.n = s.nr = 0;
	s.rest.is_full = s.kid.is_full = false;
	for (uint32_t i = 0; i < id->n; i++)
		s.nr += at[i] == 1;
	if (!s.nr)
		return -ENOENT;
	s.is_only = s.nr == 1;
	part(&s, &at, 0, 0);
	kid->more = NULL;
	if (s.rest.is_full)
		return -E2BIG;
	r = take(kid, &s.kid);
	if (!r)
		r = take(id, &s.rest);
	if (r)
		tree_done(kid);
	return r;
}
