/* orders-0, clicks-1, mails-2: each begins with a name of its own, so that each shows a type of its
 * own. Where three of them and more, alike but for the letters in front, stand at one place of the
 * same statements, they are of one kind. Two are not enough: task_1 and job_1 may be two. */
#include <ctype.h>
#include <stdlib.h>

#include "infer/objects/census.h"
#include "infer/objects/kinds.h"
#include "infer/objects/told.h"
#include "model/mention.h"

enum { MIN_FAMILY = 3, MAX_FAMILY = 64, MIN_PLACES = 2 };

/* A kind at a place of a statement, by what it looks like behind the letters in front. */
struct stand {
	uint64_t place; /* template and ordinal */
	uint64_t tail;
	uint32_t kind;
};

static int by_place(const void *a, const void *b)
{
	const struct stand *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (x->tail != y->tail)
		return x->tail < y->tail ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

struct str kinds_tail(struct str shown)
{
	size_t n = 0;

	while (n < shown.n && isalpha((unsigned char)shown.p[n]))
		n++;
	if (!n || (str_find_char(shown, '#') == shown.n && str_find_char(shown, '*') == shown.n))
		return STR("");
	return str_skip(shown, n);
}

struct stands {
	VEC(struct stand) v;
	struct map known;
	struct str *tails; /* by kind */
};

static void note_stand(struct stands *s, const struct census *w, const struct note *n, size_t i)
{
	const struct told_id *id = &w->told->ids.v[n->ids + i];
	uint32_t kind = kinds_root(w, census_kind(w, id));
	struct str tail = s->tails[kind];
	uint64_t place = (uint64_t)n->template << 8 | (i & 255);

	if (!tail.n || id->place & NAMED_IN_THREAD ||
	    w->kinds.v[kind].traits & (KIND_PATH | KIND_ADDRESS | KIND_NUMBER) ||
	    (*map_at(&s->known, place * 0x9e3779b97f4a7c15u ^ kind))++)
		return;
	vec_push(&s->v, (struct stand){ place, str_hash(tail), kind });
}

/* Counts, for each pair of a family, the places where it stands. */
static void pair_up(const struct stands *s, struct map *pairs)
{
	for (size_t i = 0, end; i < s->v.nr; i = end) {
		const struct stand *v = s->v.v;

		for (end = i;
		     end < s->v.nr && v[end].place == v[i].place && v[end].tail == v[i].tail; end++)
			;
		if (end - i < MIN_FAMILY || end - i > MAX_FAMILY)
			continue;
		for (size_t k = i + 1; k < end; k++)
			(*map_at(pairs, map_pair(v[k - 1].kind, v[k].kind)))++;
	}
}

void kinds_families(struct census *w)
{
	struct stands s = { 0 };
	struct map pairs = { 0 };
	const struct map_slot *p = NULL;

	s.tails = mem_alloc(mem_bytes(w->kinds.nr + 1, sizeof(*s.tails)));
	for (size_t i = 0; i < w->kinds.nr; i++)
		s.tails[i] = kinds_tail(w->kinds.v[i].shown);
	vec_each (&w->told->notes, n) {
		census_look(w, (size_t)(n - w->told->notes.v));
		for (size_t i = 0; i < n->nr; i++)
			note_stand(&s, w, n, i);
	}
	if (s.v.nr)
		qsort(s.v.v, s.v.nr, sizeof(*s.v.v), by_place);
	pair_up(&s, &pairs);
	while ((p = map_next(&pairs, p)))
		if (p->value >= MIN_PLACES)
			w->kinds.v[kinds_join(w, (uint32_t)(p->key >> 32), (uint32_t)p->key)]
				.is_family = true;
	free(s.tails);
	vec_done(&s.v);
	map_done(&s.known);
	map_done(&pairs);
}
