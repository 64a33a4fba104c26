/*
 * Most texts begin with a constant. The distinct beginnings are sorted, and each knows the longest
 * other one that it begins with itself:
 *
 *	"Receiv"  <--  "Received "  <--  "Received block "
 *
 * The last one that is not behind the message in this order, and those that it leads back to, are
 * all that the message can begin with.
 *
 * Texts that begin with a hole are tried one by one, from the wordiest on, where few of them have
 * enough letters to be the best. Otherwise they are found by four letters of their longest
 *constant, those which the fewest others have, looked up at every place of the message, first in a
 *bitmap that nearly always says no.
 */
#include "infer/requests/match_set.h"

#include <stdlib.h>

#include "base/skeleton.h"
#include "base/vec.h"

#define NONE UINT32_MAX

enum {
	GRAM = 4,
	FEW = 24, /* so many are tried one by one */
	MAP_BITS = 1 << 15,
	COUNTS = 1 << 14,
	KEYS = 3,
};

struct beginning {
	uint64_t keys[KEYS]; /* its first letters, eight each, as numbers that sort alike */
	struct str text;
	uint32_t before; /* the longest one that it begins with */
	uint32_t first, nr;
};

struct match_set {
	const struct match_item *items; /* by beginning, the wordiest first */
	const struct beginning *beginnings;
	uint32_t nr_beginnings;
	const uint32_t *digital; /* items with a digit in a constant */
	uint32_t nr_digital;
	uint32_t nr_loose; /* the first items: those that begin with a hole, the wordiest first */

	/* these by four letters; NULL when they are few */
	const uint64_t *map;
	const uint32_t *heads; /* by hash: where the numbers of its items begin; one more */
	const uint32_t *numbers;
	uint32_t mask;
	uint32_t nr_short; /* the first numbers: of items whose constants are too short for it */
};

static uint64_t key_of(struct str s)
{
	uint64_t key = 0;

	if (s.n >= 8)
		memcpy(&key, s.p, 8);
	else if (s.n)
		memcpy(&key, s.p, s.n);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	key = __builtin_bswap64(key);
#endif
	return key;
}

static uint32_t gram_hash(const char *p)
{
	uint32_t v;

	memcpy(&v, p, GRAM);
	return (v * 0x9E3779B1U) >> 7;
}

static struct str begins_with(const struct match_item *it)
{
	const struct match_pattern *p = it->pattern;

	return p->nr && p->parts[0].kind == PART_TEXT ? p->parts[0].text : (struct str){ "", 0 };
}

static int wordiest(const struct match_item *x, const struct match_item *y)
{
	const struct match_pattern *p = x->pattern, *q = y->pattern;

	if (p->letters != q->letters)
		return p->letters > q->letters ? -1 : 1;
	if (p->model != q->model)
		return p->model < q->model ? -1 : 1;
	if (p->version != q->version)
		return p->version < q->version ? -1 : 1;
	return str_cmp(x->logger, y->logger);
}

static int by_beginning(const void *a, const void *b)
{
	int r = str_cmp(begins_with(a), begins_with(b));

	return r ? r : wordiest(a, b);
}

/* What leads back is the one before, or what that one leads back to. */
static uint32_t longest_before(const struct beginning *all, uint32_t nr, struct str text)
{
	uint32_t at = nr ? nr - 1 : NONE;

	while (at != NONE && !str_starts(text, all[at].text))
		at = all[at].before;
	return at;
}

static void add_beginnings(struct match_set *s, struct arena *a, uint32_t from, uint32_t nr)
{
	struct beginning *all = arena_array(a, struct beginning, nr - from + 1);

	s->beginnings = all;
	for (uint32_t i = from; i < nr; i++) {
		struct str text = begins_with(&s->items[i]);

		if (!s->nr_beginnings || !str_eq(all[s->nr_beginnings - 1].text, text)) {
			all[s->nr_beginnings] = (struct beginning){
				.keys = { key_of(text), key_of(str_skip(text, 8)),
					  key_of(str_skip(text, 16)) },
				.text = text,
				.before = longest_before(all, s->nr_beginnings, text),
				.first = i,
			};
			s->nr_beginnings++;
		}
		all[s->nr_beginnings - 1].nr++;
	}
}

/* The four letters by which an item is found; NONE when its constants are too short. */
static uint32_t rarest_gram(const struct match_item *it, const uint32_t *counts)
{
	const struct match_pattern *p = it->pattern;
	struct str text = p->literal < p->nr ? p->parts[p->literal].text : (struct str){ "", 0 };
	uint32_t best = NONE, least = NONE;

	for (size_t i = 0; i + GRAM <= text.n; i++) {
		uint32_t hash = gram_hash(text.p + i);

		if (counts[hash % COUNTS] < least) {
			least = counts[hash % COUNTS];
			best = hash;
		}
	}
	return best;
}

static void count_grams(const struct match_item *items, uint32_t nr, uint32_t *counts)
{
	for (uint32_t k = 0; k < nr; k++) {
		const struct match_pattern *p = items[k].pattern;

		for (uint32_t i = 0; i < p->nr; i++) {
			struct str text = p->parts[i].text;

			for (size_t at = 0; p->parts[i].kind == PART_TEXT && at + GRAM <= text.n;
			     at++)
				counts[gram_hash(text.p + at) % COUNTS]++;
		}
	}
}

struct keyed {
	uint32_t gram; /* its hash and one; 0: there is none */
	uint32_t number;
};

static int by_gram(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	if (x->gram != y->gram)
		return x->gram < y->gram ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Heads and numbers of items that are sorted by hash. */
static void add_heads(struct match_set *s, struct arena *a, const struct keyed *keyed, uint32_t nr)
{
	uint32_t *heads = arena_array(a, uint32_t, s->mask + 2);
	uint32_t *numbers = arena_array(a, uint32_t, nr + 1);
	uint32_t at = s->nr_short;

	for (uint32_t i = 0; i < nr; i++)
		numbers[i] = keyed[i].number;
	for (uint32_t hash = 0; hash <= s->mask; hash++) {
		heads[hash] = at;
		while (at < nr && keyed[at].gram == hash + 1)
			at++;
	}
	heads[s->mask + 1] = at;
	s->heads = heads;
	s->numbers = numbers;
}

/* The loose items by four letters each. */
static void add_grams(struct match_set *s, struct arena *a)
{
	uint32_t *counts = mem_zalloc(mem_bytes(COUNTS, sizeof(*counts)));
	struct keyed *keyed = mem_zalloc(mem_bytes(s->nr_loose, sizeof(*keyed)));
	uint64_t *map = arena_array(a, uint64_t, MAP_BITS / 64);

	s->mask = 1;
	while (s->mask < s->nr_loose)
		s->mask = 2 * s->mask + 1;
	count_grams(s->items, s->nr_loose, counts);
	for (uint32_t i = 0; i < s->nr_loose; i++) {
		uint32_t gram = rarest_gram(&s->items[i], counts);

		keyed[i].number = i;
		if (gram == NONE) {
			s->nr_short++;
			continue;
		}
		map[gram % MAP_BITS / 64] |= 1ULL << (gram % 64);
		keyed[i].gram = (gram & s->mask) + 1;
	}
	qsort(keyed, s->nr_loose, sizeof(*keyed), by_gram);
	add_heads(s, a, keyed, s->nr_loose);
	s->map = map;
	free(keyed);
	free(counts);
}

static bool has_digits(const struct match_pattern *p)
{
	for (uint32_t i = 0; i < p->nr; i++)
		for (size_t at = 0; p->parts[i].kind == PART_TEXT && at < p->parts[i].text.n; at++)
			if (p->parts[i].text.p[at] >= '0' && p->parts[i].text.p[at] <= '9')
				return true;
	return false;
}

static void add_digital(struct match_set *s, struct arena *a, uint32_t nr)
{
	uint32_t *digital = arena_array(a, uint32_t, nr + 1);

	for (uint32_t i = 0; i < nr; i++)
		if (has_digits(s->items[i].pattern))
			digital[s->nr_digital++] = i;
	s->digital = digital;
}

/* Whether all constants stand in the text in their order, any digit being as good as another. */
static bool may_fit(const struct match_pattern *p, struct str skeleton)
{
	struct skeleton constant;
	size_t from = 0;

	for (uint32_t i = 0; i < p->nr_constants; i++) {
		struct str text = p->parts[p->constants[i]].text;

		if (!skeleton_begin(&constant, text))
			return true;
		from = match_search(skeleton, from, (struct str){ constant.text, constant.n });
		if (from == skeleton.n)
			return false;
		from += text.n;
	}
	return true;
}

bool match_set_by_digits(const struct match_set *set, struct str message)
{
	struct skeleton k;

	if (!set->nr_digital)
		return false;
	if (!skeleton_begin(&k, message))
		return true;
	for (uint32_t i = 0; i < set->nr_digital; i++)
		if (may_fit(set->items[set->digital[i]].pattern, (struct str){ k.text, k.n }))
			return true;
	return false;
}

const struct match_set *match_set_new(struct arena *a, struct match_item *items, uint32_t nr)
{
	struct match_set *s = arena_new(a, struct match_set);

	s->items = items;
	if (nr)
		qsort(items, nr, sizeof(*items), by_beginning);
	add_digital(s, a, nr);
	while (s->nr_loose < nr && !begins_with(&items[s->nr_loose]).n)
		s->nr_loose++;
	add_beginnings(s, a, s->nr_loose, nr);
	if (s->nr_loose > FEW)
		add_grams(s, a);
	return s;
}

/* Whether the beginning stands behind the message, whose first letters are the keys. */
static bool is_behind(const struct beginning *b, const uint64_t keys[KEYS], struct str message)
{
	for (unsigned i = 0; i < KEYS; i++)
		if (b->keys[i] != keys[i])
			return b->keys[i] > keys[i];
	return str_cmp(b->text, message) > 0;
}

/* The last beginning that does not stand behind the message, or NONE. */
static uint32_t last_not_behind(const struct match_set *s, struct str message)
{
	const uint64_t keys[KEYS] = { key_of(message), key_of(str_skip(message, 8)),
				      key_of(str_skip(message, 16)) };
	uint32_t low = 0, high = s->nr_beginnings;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (is_behind(&s->beginnings[middle], keys, message))
			high = middle;
		else
			low = middle + 1;
	}
	return low ? low - 1 : NONE;
}

/* Most that do not fit have a letter that does not occur at all. */
static void offer(const struct match_ask *a, const struct match_item *it)
{
	if (!(it->levels & a->levels) ||
	    (it->rarest >= 0 && !memchr(a->message.p, it->rarest, a->message.n)))
		return;
	a->visit(a->ctx, it);
}

static void visit_items(const struct match_set *s, uint32_t first, uint32_t nr,
			const struct match_ask *a)
{
	const struct match_item *it = &s->items[first], *end = it + nr;

	/* those behind one with too few letters have fewer still */
	for (; it < end && it->letters >= a->least; it++)
		offer(a, it);
}

/* The longest beginning of the message; those that it leads back to are beginnings of it, too. */
static uint32_t longest_beginning(const struct match_set *s, struct str message)
{
	uint32_t at = last_not_behind(s, message);

	while (at != NONE && !str_starts(message, s->beginnings[at].text))
		at = s->beginnings[at].before;
	return at;
}

void match_set_visit_begun(const struct match_set *s, const struct match_ask *a)
{
	uint32_t at = longest_beginning(s, a->message);

	for (; at != NONE; at = s->beginnings[at].before)
		for (uint32_t i = 0; i < s->beginnings[at].nr; i++)
			if (s->items[s->beginnings[at].first + i].levels & a->levels)
				a->visit(a->ctx, &s->items[s->beginnings[at].first + i]);
}

static void visit_begun(const struct match_set *s, const struct match_ask *a)
{
	uint32_t at = longest_beginning(s, a->message);

	for (; at != NONE; at = s->beginnings[at].before)
		visit_items(s, s->beginnings[at].first, s->beginnings[at].nr, a);
}

static void visit_numbers(const struct match_set *s, uint32_t from, uint32_t to,
			  const struct match_ask *a)
{
	for (uint32_t i = from; i < to; i++)
		if (s->items[s->numbers[i]].letters >= a->least)
			offer(a, &s->items[s->numbers[i]]);
}

static void visit_grams(const struct match_set *s, const struct match_ask *a)
{
	const struct str message = a->message;

	for (size_t i = 0; i + GRAM <= message.n; i++) {
		uint32_t hash = gram_hash(message.p + i), at = hash & s->mask;

		if (s->map[hash % MAP_BITS / 64] >> (hash % 64) & 1)
			visit_numbers(s, s->heads[at], s->heads[at + 1], a);
	}
	visit_numbers(s, 0, s->nr_short, a);
}

void match_set_visit(const struct match_set *s, const struct match_ask *a)
{
	visit_begun(s, a);
	/* the wordiest stand first: from this one on they have no more letters than it */
	if (s->map && s->items[FEW].letters >= a->least)
		visit_grams(s, a);
	else
		visit_items(s, 0, s->nr_loose, a);
}
