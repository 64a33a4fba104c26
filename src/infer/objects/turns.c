#include "infer/objects/turns.h"

#include "base/shelf.h"
#include "base/str.h"
#include "base/time.h"
#include "model/mention.h"

enum {
	MAX_LIFE = 4095, /* of one identifier in one log */
	MAX_DIGITS = 7,  /* of numbers that are given out again; process ids have seven */
	MIN_LULLS = 8,   /* silences before a usual one is known */
	TIMES_LONG = 16, /* a long silence is so many usual ones */
};

void turns_done(struct turns *t)
{
	map_done(&t->turn_at);
	map_done(&t->lulls_at);
	shelf_done(t->shelf, &t->v);
	vec_done(&t->lulls);
	*t = (struct turns){ .shelf = t->shelf, .turn_at.shelf = t->shelf };
}

static size_t nr_digits(struct str s)
{
	size_t nr = 0;

	for (size_t i = 0; i < s.n; i++)
		nr += s.p[i] >= '0' && s.p[i] <= '9';
	return nr;
}

bool turns_may(const struct named *n)
{
	size_t hash;

	if (n->place & (NAMED_WORD | NAMED_WITHIN))
		return false;
	if (n->place & NAMED_NUMBER)
		return n->value.n <= MAX_DIGITS;
	if (str_eq(n->type, STR("ip:port")))
		return true;
	hash = str_find_char(n->type, '#');
	return hash + 1 == n->type.n && hash && str_find_char(n->type, '*') == n->type.n &&
	       nr_digits(n->value) <= MAX_DIGITS;
}

void lulls_add(struct lulls *g, int64_t ns)
{
	uint64_t ms = ns > 0 ? (uint64_t)ns / NS_MS : 0;
	size_t at = ms ? 64 - (size_t)__builtin_clzll(ms) : 0;

	g->nr[at < NR_LULLS ? at : NR_LULLS - 1]++;
	g->all++;
}

int64_t lulls_usual(const struct lulls *g)
{
	uint64_t sum = 0;
	size_t at = 0;

	if (g->all < MIN_LULLS)
		return 3600 * NS_S;
	while (at + 1 < NR_LULLS && 2 * (sum += g->nr[at]) < g->all)
		at++;
	return ((int64_t)1 << at) * NS_MS;
}

bool lulls_is_long(const struct lulls *g, int64_t ns)
{
	return ns >= NS_S && ns > TIMES_LONG * lulls_usual(g);
}

/* By the number of the value: what comes for the first time stands beside what came before it. */
static uint64_t key_of(uint64_t of, sym_t value)
{
	return map_three((uint32_t)(of >> 32), (uint32_t)of, value);
}

static struct turn *turn_of(struct turns *t, uint64_t of, sym_t value, bool *is_new)
{
	uint64_t *at = map_at(&t->turn_at, key_of(of, value));

	*is_new = !*at;
	if (!*at) {
		shelf_push(t->shelf, &t->v,
			   (struct turn){ .last_ns = NS_NONE, .of = of, .value = value });
		*at = t->v.nr;
	}
	return &t->v.v[*at - 1];
}

static struct lulls *lulls_of(struct turns *t, uint64_t type)
{
	uint64_t *at = map_at(&t->lulls_at, type);

	if (!*at) {
		vec_push(&t->lulls, (struct lulls){ 0 });
		*at = t->lulls.nr;
	}
	return &t->lulls.v[*at - 1];
}

static void next_life(struct turns *t, struct turn *turn)
{
	turn->has_ended = false;
	if (turn->life < MAX_LIFE)
		turn->life++;
	else
		t->nr_left++;
}

uint16_t turns_life(struct turns *t, uint64_t log, const struct named *n, sym_t value,
		    enum relation_deed deed, const struct mention *m)
{
	uint64_t type = str_hash(n->type);
	struct lulls *lulls = lulls_of(t, type);
	bool is_new;
	struct turn *turn = turn_of(t, log ^ type, value, &is_new);

	if (m->first_ns == NS_NONE)
		return turn->life;
	if (!is_new && deed == DEED_CREATED && turn->has_ended)
		next_life(t, turn);
	else if (!is_new && turn->last_ns != NS_NONE) {
		int64_t gap = m->first_ns - turn->last_ns;

		if (gap >= NS_S && lulls_is_long(lulls, gap))
			next_life(t, turn);
		lulls_add(lulls, gap);
	}
	if (m->count > 1)
		lulls_add(lulls, (m->last_ns - m->first_ns) / (int64_t)(m->count - 1));
	if (deed == DEED_FINISHED)
		turn->has_ended = true;
	turn->last_ns = m->last_ns;
	return turn->life;
}

size_t turns_bytes(const struct turns *t)
{
	return t->v.nr * (sizeof(*t->v.v) + 2 * sizeof(struct map_slot)) +
	       t->lulls.nr * sizeof(*t->lulls.v);
}

void turns_forget(struct turns *t, int64_t before_ns, const struct names *old, struct names *values)
{
	struct map kept = { .shelf = t->shelf };
	VEC(struct turn) v = { 0 };

	vec_each (&t->v, turn) {
		if (turn->last_ns == NS_NONE || turn->last_ns < before_ns)
			continue;
		turn->value = names_add(values, names_str(old, turn->value));
		shelf_push(t->shelf, &v, *turn);
		*map_at(&kept, key_of(turn->of, turn->value)) = v.nr;
	}
	map_done(&t->turn_at);
	shelf_done(t->shelf, &t->v);
	t->turn_at = kept;
	t->v.v = v.v;
	t->v.nr = v.nr;
	t->v.room = v.room;
}
