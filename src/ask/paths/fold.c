/*
 * Two patterns are drawn together when some one-to-one renaming of nodes turns the one into the
 * other, and renames each node to one of the same stem only. Calls of one caller are compared in
 * any order, because those that run side by side have none.
 *
 * The key of a pattern says that without search: from the leaves up each place gets a hash of its
 * stem and of the hashes below it in order of size; in that order the places are walked, and each
 * node is named by its stem and by the how-many-th of that stem it is. Places of two members that
 * stand at the same position of their walks are the same place.
 */
#include "ask/paths/fold.h"

#include <ctype.h>
#include <stdlib.h>

#define NAMED_MOST 6     /* replicas that a name lists; more are counted */
#define FOLDED_MOST 2000 /* larger patterns stay for themselves */

/* "-7d9f8b6c5-x2x1z": what a replica set adds to the name of a pod. */
static size_t pod_mark(struct str s)
{
	size_t at = s.n, mid;
	bool digit = false;

	while (at && isalnum((unsigned char)s.p[at - 1]))
		at--;
	if (s.n - at != 5 || at < 2 || s.p[at - 1] != '-')
		return s.n;
	mid = --at;
	for (; at && isalnum((unsigned char)s.p[at - 1]); at--)
		digit |= isdigit((unsigned char)s.p[at - 1]) != 0;
	return digit && mid - at >= 8 && mid - at <= 10 && at > 1 && s.p[at - 1] == '-' ? at - 1
											: s.n;
}

static size_t number_mark(struct str s)
{
	size_t at = s.n;

	while (at && isdigit((unsigned char)s.p[at - 1]))
		at--;
	if (at == s.n)
		return s.n;
	if (at && isalpha((unsigned char)s.p[at - 1]))
		return at;
	return at > 1 && strchr("-_", s.p[at - 1]) && isalpha((unsigned char)s.p[at - 2]) ? at
											  : s.n;
}

/* "10.0.0.5:5432", "[fd00::5]:5432": where the port begins, or 0. */
static size_t port_mark(struct str s)
{
	size_t at = s.n, marks = 0;

	while (at && isdigit((unsigned char)s.p[at - 1]))
		at--;
	if (at == s.n || at < 2 || s.p[at - 1] != ':')
		return 0;
	for (size_t i = 0; i + 1 < at; i++) {
		bool mark = strchr(".:[]", s.p[i]) != NULL;

		if (!mark && !isxdigit((unsigned char)s.p[i]))
			return 0;
		marks += mark;
	}
	return marks > 1 ? at - 1 : 0;
}

struct str fold_stem(struct str node, struct str *part)
{
	size_t at = str_find_char(node, '@');

	if (!at || at == node.n)
		at = pod_mark(node);
	if (at == node.n)
		at = number_mark(node);
	if (at < node.n) {
		*part = str_skip(node, at);
		return str_head(node, at);
	}
	at = port_mark(node);
	*part = str_head(node, at);
	return str_skip(node, at);
}

/* --- the key of a pattern --------------------------------------------------------------------- */

struct places {
	struct shape_hop *v;
	size_t nr;
	uint64_t *hash;
	uint32_t *order; /* positions as the key walks them */
	sym_t *stem;
};

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ (h >> 29);
}

/* By depth-first walk, brothers in order of hash. Equal ones stand in the order of their nodes, so
 * that a node is compared with itself where it can be, and else in the order of time. */
struct kid {
	uint64_t hash;
	sym_t node;
	uint32_t at;
};

static int by_hash(const void *a, const void *b)
{
	const struct kid *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

struct sorting {
	VEC(struct kid) kids;
	VEC(uint32_t) stack;
	uint32_t *first, *next; /* of the kids of each place, position + 1 */
};

static void link_kids(const struct places *p, struct sorting *s)
{
	for (uint32_t i = (uint32_t)p->nr; i-- > 0;) {
		uint32_t up = p->v[i].parent == SHAPE_NONE ? (uint32_t)p->nr : p->v[i].parent;

		s->next[i] = s->first[up];
		s->first[up] = i + 1;
	}
}

static void sort_kids(const struct places *p, struct sorting *s, uint32_t of)
{
	vec_clear(&s->kids);
	for (uint32_t k = s->first[of]; k; k = s->next[k - 1])
		vec_push(&s->kids, (struct kid){ p->hash[k - 1], p->v[k - 1].node, k - 1 });
	if (s->kids.nr)
		qsort(s->kids.v, s->kids.nr, sizeof(*s->kids.v), by_hash);
}

static void order_places(struct places *p, struct arena *arena)
{
	struct sorting s = { .first = arena_array(arena, uint32_t, p->nr + 1),
			     .next = arena_array(arena, uint32_t, p->nr + 1) };
	size_t nr = 0;

	link_kids(p, &s);
	for (uint32_t i = (uint32_t)p->nr; i-- > 0;) {
		sort_kids(p, &s, i);
		p->hash[i] = mix(mix(s.kids.nr, p->stem[i]), p->v[i].times);
		vec_each (&s.kids, k)
			p->hash[i] = mix(p->hash[i], k->hash);
	}
	vec_push(&s.stack, (uint32_t)p->nr);
	while (s.stack.nr) {
		uint32_t i = s.stack.v[--s.stack.nr];

		if (i < p->nr)
			p->order[nr++] = i;
		sort_kids(p, &s, i);
		for (size_t k = s.kids.nr; k-- > 0;)
			vec_push(&s.stack, s.kids.v[k].at);
	}
	vec_done(&s.kids);
	vec_done(&s.stack);
}

struct numbered {
	sym_t node;
	uint32_t number;
};

/* The how-many-th node of its stem this one is. The list is short: a pattern's different nodes. */
static uint32_t number_of(const struct places *p, uint32_t at, struct numbered *seen, size_t *nr,
			  sym_t *stems)
{
	uint32_t number = 0;

	for (size_t i = 0; i < *nr; i++) {
		if (seen[i].node == p->v[at].node)
			return seen[i].number;
		number += stems[i] == p->stem[at];
	}
	seen[*nr] = (struct numbered){ p->v[at].node, number };
	stems[(*nr)++] = p->stem[at];
	return number;
}

static void add_key(const struct places *p, struct arena *arena, struct buf *key)
{
	struct numbered *seen = arena_array(arena, struct numbered, p->nr + 1);
	sym_t *stems = arena_array(arena, sym_t, p->nr + 1);
	size_t nr = 0;

	for (size_t i = 0; i < p->nr; i++) {
		uint32_t at = p->order[i];

		buf_varint(key, p->v[at].depth);
		buf_varint(key, p->stem[at]);
		buf_varint(key, p->v[at].times);
		buf_varint(key, number_of(p, at, seen, &nr, stems));
	}
}

static void places_make(struct places *p, const struct patterns *from, uint32_t shape,
			struct names *stems, bool replicas, struct arena *arena)
{
	p->nr = from->shapes.v.v[shape].nr_hops - 1;
	p->v = arena_array(arena, struct shape_hop, p->nr + 1);
	p->hash = arena_array(arena, uint64_t, p->nr + 1);
	p->order = arena_array(arena, uint32_t, p->nr + 1);
	p->stem = arena_array(arena, sym_t, p->nr + 1);
	shapes_hops(&from->shapes, shape, p->v);
	for (uint32_t i = 0; i < p->nr; i++) {
		struct str node = names_str(&from->names, p->v[i].node), part;

		p->stem[i] = names_add(stems, replicas ? fold_stem(node, &part) : node);
		p->order[i] = i;
	}
	if (replicas)
		order_places(p, arena);
}

/* --- drawing together ------------------------------------------------------------------------- */

struct folding {
	struct folds *out;
	const struct patterns *from;
	bool replicas;
	struct names stems, keys;
	VEC(uint32_t) of_key;  /* position + 1 of the fold */
	VEC(uint32_t *) order; /* of each fold: the walk of the member it was made from */
	struct arena arena;    /* of the pattern at hand */
};

static void see_replica(struct fold_hop *h, sym_t node, const struct hop_stat *stat)
{
	vec_each (&h->replicas, r)
		if (r->node == node) {
			r->nr += stat->nr;
			r->latency += stat->latency;
			r->self += stat->self;
			return;
		}
	vec_push(&h->replicas, (struct replica){ node, stat->nr, stat->latency, stat->self });
}

static uint32_t new_fold(struct folding *f, const struct places *p)
{
	struct arena *a = &f->out->arena;
	struct fold fold = { .nr_hops = p->nr };
	uint32_t *order = arena_array(a, uint32_t, p->nr + 1);

	fold.hops = arena_array(a, struct fold_hop, p->nr + 1);
	for (size_t i = 0; i < p->nr; i++)
		fold.hops[i].place = p->v[i];
	memcpy(order, p->order, p->nr * sizeof(*order));
	vec_push(&f->order, order);
	vec_push(&f->out->v, fold);
	return (uint32_t)f->out->v.nr - 1;
}

static void add_member(struct folding *f, uint32_t to, const struct pattern *x,
		       const struct places *p)
{
	struct fold *fold = &f->out->v.v[to];

	fold->nr_members++;
	fold->count += x->count;
	fold->errors += x->errors;
	fold->total += x->total;
	fold->confidence += x->confidence;
	sketch_merge(&fold->latencies, &x->latencies);
	for (size_t i = 0; i < p->nr; i++) {
		struct fold_hop *h = &fold->hops[f->order.v[to][i]];
		const struct hop_stat *stat = &f->from->hops.v[x->first_hop + p->order[i]];

		hop_stat_merge(&h->stat, stat);
		see_replica(h, p->v[p->order[i]].node, stat);
	}
}

static void fold_in(struct folding *f, const struct pattern *x)
{
	struct places p;
	struct buf key = { 0 };
	bool replicas = f->replicas && x->nr_hops <= FOLDED_MOST;
	sym_t sym;

	places_make(&p, f->from, x->shape, &f->stems, replicas, &f->arena);
	buf_varint(&key, replicas ? 0 : x->shape + 1);
	if (replicas)
		add_key(&p, &f->arena, &key);
	sym = names_add(&f->keys, buf_str(&key));
	while (f->of_key.nr <= sym)
		vec_push(&f->of_key, 0);
	if (!f->of_key.v[sym])
		f->of_key.v[sym] = new_fold(f, &p) + 1;
	add_member(f, f->of_key.v[sym] - 1, x, &p);
	buf_done(&key);
	arena_reset(&f->arena);
}

/* --- names ------------------------------------------------------------------------------------ */

/* "WS{1|2}"; the host of "cart@h1" and the address of "10.0.0.5:80" likewise. */
static struct str folded_name(const struct patterns *p, const struct fold_hop *h, struct arena *a)
{
	struct str first = names_str(&p->names, h->replicas.v[0].node), part, stem;
	struct buf b = { 0 };
	struct str name;
	bool front;

	if (h->replicas.nr == 1)
		return first;
	stem = fold_stem(first, &part);
	front = part.n && part.p == first.p;
	if (!front)
		buf_add(&b, stem);
	buf_char(&b, '{');
	if (h->replicas.nr > NAMED_MOST)
		buf_fmt(&b, "%zu replicas", h->replicas.nr);
	else
		for (size_t i = 0; i < h->replicas.nr; i++) {
			fold_stem(names_str(&p->names, h->replicas.v[i].node), &part);
			buf_fmt(&b, "%s" STR_FMT, i ? "|" : "", STR_ARG(part));
		}
	buf_char(&b, '}');
	if (front)
		buf_add(&b, stem);
	name = arena_str(a, buf_str(&b));
	buf_done(&b);
	return name;
}

static int by_name(const void *a, const void *b, void *ctx)
{
	const struct names *n = ctx;

	return str_cmp(names_str(n, ((const struct replica *)a)->node),
		       names_str(n, ((const struct replica *)b)->node));
}

static void name_fold(struct folds *f, const struct patterns *p, struct fold *x)
{
	struct shape_hop *places = mem_alloc(mem_bytes(x->nr_hops + 1, sizeof(*places)));
	struct str *names = mem_alloc(mem_bytes(x->nr_hops + 1, sizeof(*names)));
	struct buf path = { 0 };

	for (size_t i = 0; i < x->nr_hops; i++) {
		struct fold_hop *h = &x->hops[i];

		qsort_r(h->replicas.v, h->replicas.nr, sizeof(*h->replicas.v), by_name,
			(void *)&p->names);
		h->name = folded_name(p, h, &f->arena);
		places[i] = h->place;
		names[i] = h->name;
	}
	shapes_path(places, x->nr_hops, names, &path);
	x->path = arena_str(&f->arena, buf_str(&path));
	buf_done(&path);
	free(names);
	free(places);
}

static int by_total(const void *a, const void *b)
{
	const struct fold *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return str_cmp(x->path, y->path);
}

void folds_make(struct folds *f, const struct patterns *p, bool replicas)
{
	struct folding work = { .out = f, .from = p, .replicas = replicas };
	uint32_t *order = patterns_ranked(p);

	for (size_t i = 0; i < p->v.nr; i++)
		fold_in(&work, &p->v.v[order[i]]);
	vec_each (&f->v, x)
		name_fold(f, p, x);
	if (f->v.nr)
		qsort(f->v.v, f->v.nr, sizeof(*f->v.v), by_total);
	free(order);
	vec_done(&work.of_key);
	vec_done(&work.order);
	names_done(&work.stems);
	names_done(&work.keys);
	arena_done(&work.arena);
}

void folds_done(struct folds *f)
{
	vec_each (&f->v, x) {
		for (size_t i = 0; i < x->nr_hops; i++) {
			hop_stat_done(&x->hops[i].stat);
			vec_done(&x->hops[i].replicas);
		}
		sketch_done(&x->latencies);
	}
	vec_done(&f->v);
	arena_done(&f->arena);
}
