/*
 * A word at a place of a statement, "table <word> is dropped", is the name of a thing when other
 * things belong to it: what is named beside it there, time and again, stands beside that word only.
 * A state, a verb or a mode is nothing of the kind, for one thing takes on one after the other.
 * Places with words in common are of one sort, and of all sorts that is taken that most lines
 * name. A few walks over the lines; few words and few things of each line are looked at.
 */
#include "infer/requests/nouns.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "infer/requests/kinds.h"
#include "infer/requests/plain.h"

enum {
	SHAPE_WORDS = 24,       /* of a text that no statement is known of */
	BESIDE_MAX = 6,         /* things of one line */
	PLACES_MAX = 1 << 18,   /* further ones are left out ... */
	MEETINGS_MAX = 1 << 21, /* ... as are further things at places */
	WORDS_MIN = 4,          /* of a sort */
	OWNED_MIN = 2,          /* things at a place, of one kind */
};
#define OWNED 0.9 /* of them belong to one word each */

#define SEVERAL 0x80000000u /* words */
#define AGAIN 0x40000000u   /* in another line */

/* A word at a place. */
struct word_at {
	uint32_t place, word;
};

struct place {
	uint32_t first_word;
	bool has_several; /* words */
	bool is_owner;
};

/* Of a kind of things at a place. */
struct tally {
	uint32_t nr, single, first_owner;
	bool has_several; /* owners */
};

struct chooser {
	const struct gather *g;
	struct kind_look *looks;
	struct names words;
	struct map place_of; /* statement and ordinal, or what is around: 1 + place */
	VEC(struct place) places;
	VEC(struct word_at) mentions; /* of texts that no statement is known of, by type ... */
	VEC(uint32_t) mention_at;     /* ... from where on; one more */
	struct map met;               /* place and thing: the word beside it, and marks */
	VEC(uint32_t) sort;           /* of each word: another one of its sort, or itself */
	uint64_t nr_left;             /* words that were not weighed, there being too many */
};

static uint64_t mixed(uint64_t a, uint64_t b)
{
	a = (a ^ (a >> 29) ^ b) * 0x9e3779b97f4a7c15u;
	return a ^ (a >> 32);
}

/* --- where words stand --------------------------------------------------------------------- */

static uint32_t place_at(struct chooser *c, uint64_t key)
{
	uint64_t *at;

	if (c->places.nr >= PLACES_MAX) {
		at = map_find(&c->place_of, key);
		c->nr_left += !at;
		return at ? (uint32_t)*at : 0;
	}
	at = map_at(&c->place_of, key);
	if (!*at) {
		vec_push(&c->places, (struct place){ 0 });
		*at = c->places.nr;
	}
	return (uint32_t)*at;
}

static void see(struct chooser *c, struct word_at m)
{
	struct place *p = m.place ? &c->places.v[m.place - 1] : NULL;

	if (!p)
		return;
	if (!p->first_word)
		p->first_word = m.word;
	p->has_several |= p->first_word != m.word;
}

/* A word of a text without a statement is told by the words around it. */
static void read_shape(struct chooser *c, struct str type)
{
	size_t bar = str_find_char(type, '|'), at = 0;
	struct str shape = str_skip(type, bar < type.n ? bar + 1 : bar), word;
	uint64_t point = str_hash(str_head(type, bar));
	uint32_t words[SHAPE_WORDS + 2] = { 0 };
	unsigned nr = 0;

	while (nr < SHAPE_WORDS && plain_next(shape, &at, &word))
		words[++nr] = names_add(&c->words, word);
	for (unsigned i = 1; i <= nr; i++) {
		uint64_t key = mixed(point, map_pair(words[i - 1], words[i + 1]));
		struct word_at m = { place_at(c, key), words[i] };

		see(c, m);
		vec_push(&c->mentions, m);
	}
}

static void read_types(struct chooser *c)
{
	const struct gather *g = c->g;

	for (sym_t t = 0; t < g->types.nr; t++) {
		vec_push(&c->mention_at, (uint32_t)c->mentions.nr);
		if (t < g->statement.nr && !g->statement.v[t])
			read_shape(c, names_str(&g->types, t));
	}
	vec_push(&c->mention_at, (uint32_t)c->mentions.nr);
}

/* What the line mentions: to[SHAPE_WORDS]. */
static unsigned mentions_of(struct chooser *c, const struct seen_line *l, struct word_at *to)
{
	const struct gather *g = c->g;
	unsigned nr = 0;

	if (l->type >= g->types.nr)
		return 0;
	for (uint32_t i = c->mention_at.v[l->type]; i < c->mention_at.v[l->type + 1]; i++)
		to[nr++] = c->mentions.v[i];
	for (unsigned i = 0; i < l->nr_words && nr < SHAPE_WORDS; i++) {
		uint32_t thing = g->named.v[l->name_at + l->nr_names + i];
		uint32_t place = place_at(c, mixed(1, map_pair(l->type, i)));

		to[nr++] = (struct word_at){ place, names_add(&c->words, gather_value(g, thing)) };
	}
	return nr;
}

static void read_lines(struct chooser *c)
{
	struct word_at m[SHAPE_WORDS];

	for (size_t i = 0; i < c->g->lines.nr; i++) {
		unsigned nr = c->g->lines.v[i].nr_words ? mentions_of(c, &c->g->lines.v[i], m) : 0;

		for (unsigned k = 0; k < nr; k++)
			see(c, m[k]);
	}
}

/* --- what stands beside them --------------------------------------------------------------- */

static void meet(struct chooser *c, struct word_at m, uint32_t thing)
{
	uint64_t key = map_pair(m.place, thing), *at;

	at = c->met.nr < MEETINGS_MAX ? map_at(&c->met, key) : map_find(&c->met, key);
	if (!at) {
		c->nr_left++;
		return;
	}
	if (!*at)
		*at = m.word;
	else
		*at |= AGAIN | ((uint32_t)*at << 2 >> 2 != m.word ? SEVERAL : 0);
}

/* Whether things of this kind belong to others: amounts and addresses do not. */
static bool can_belong(const struct kind_look *k)
{
	return !k->is_number && !k->is_agreed && !k->is_sender && !k->is_address &&
	       !k->is_numbers && !k->is_word;
}

static void meet_things(struct chooser *c, const struct seen_line *l, struct word_at m)
{
	const struct gather *g = c->g;
	unsigned nr = 0;

	for (unsigned i = 0; i < l->nr_own && nr < BESIDE_MAX; i++) {
		uint32_t thing = g->named.v[l->name_at + i];

		if (!can_belong(&c->looks[g->kind_of.v[thing]]))
			continue;
		meet(c, m, thing);
		nr++;
	}
}

static bool can_tell(const struct chooser *c, struct word_at m)
{
	return m.place && c->places.v[m.place - 1].has_several;
}

static void meet_all(struct chooser *c)
{
	struct word_at m[SHAPE_WORDS];

	for (size_t i = 0; i < c->g->lines.nr; i++) {
		const struct seen_line *l = &c->g->lines.v[i];
		unsigned nr = mentions_of(c, l, m);

		for (unsigned k = 0; k < nr; k++)
			if (can_tell(c, m[k]))
				meet_things(c, l, m[k]);
	}
}

/* Which places own the things of some kind that is named there. */
static void find_owners(struct chooser *c)
{
	struct map at = { 0 };
	VEC(struct tally) tallies = { 0 };
	const struct map_slot *s;

	for (s = NULL; (s = map_next(&c->met, s));) {
		uint32_t place = (uint32_t)(s->key >> 32), met = (uint32_t)s->value;
		uint32_t kind = c->g->kind_of.v[(uint32_t)s->key], owner = met << 2 >> 2;
		uint64_t *nr = map_at(&at, map_pair(place, kind));
		struct tally *t;

		if (!(met & AGAIN))
			continue;
		if (!*nr) {
			vec_push(&tallies, (struct tally){ .first_owner = owner });
			*nr = tallies.nr;
		}
		t = &tallies.v[*nr - 1];
		t->nr++;
		t->single += !(met & SEVERAL);
		t->has_several |= t->first_owner != owner;
	}
	for (s = NULL; (s = map_next(&at, s));) {
		const struct tally *t = s->value ? &tallies.v[s->value - 1] : NULL;

		if (t && t->nr >= OWNED_MIN && t->single >= OWNED * t->nr && t->has_several)
			c->places.v[(s->key >> 32) - 1].is_owner = true;
	}
	vec_done(&tallies);
	map_done(&at);
}

/* --- sorts --------------------------------------------------------------------------------- */

static uint32_t sort_of(struct chooser *c, uint32_t word)
{
	while (c->sort.v[word] != word) {
		c->sort.v[word] = c->sort.v[c->sort.v[word]];
		word = c->sort.v[word];
	}
	return word;
}

static void join(struct chooser *c, uint32_t a, uint32_t b)
{
	a = sort_of(c, a);
	b = sort_of(c, b);
	c->sort.v[a > b ? a : b] = a < b ? a : b;
}

static bool is_owner(const struct chooser *c, struct word_at m)
{
	return m.place && c->places.v[m.place - 1].is_owner;
}

/* The words at one place are of one sort. In how many lines each sort is found: */
static uint32_t *find_sorts(struct chooser *c)
{
	uint32_t *lines = mem_zalloc(mem_bytes(c->words.nr + 1u, sizeof(*lines)));
	struct word_at m[SHAPE_WORDS];

	for (uint32_t w = 0; w <= c->words.nr; w++)
		vec_push(&c->sort, w);
	for (size_t i = 0; i < c->g->lines.nr; i++) {
		unsigned nr = mentions_of(c, &c->g->lines.v[i], m);

		for (unsigned k = 0; k < nr; k++)
			if (is_owner(c, m[k])) {
				join(c, c->places.v[m[k].place - 1].first_word, m[k].word);
				lines[m[k].word]++;
			}
	}
	return lines;
}

/* The sort that most is said of, of those with words enough; 0: there is none. */
static uint32_t best_sort(struct chooser *c, const uint32_t *lines)
{
	uint32_t *nr = mem_zalloc(mem_bytes(c->words.nr + 1u, sizeof(*nr)));
	uint64_t *said = mem_zalloc(mem_bytes(c->words.nr + 1u, sizeof(*said)));
	uint32_t best = 0;

	for (uint32_t w = 1; w < c->words.nr; w++)
		if (lines[w]) {
			nr[sort_of(c, w)]++;
			said[sort_of(c, w)] += lines[w];
		}
	for (uint32_t w = 1; w < c->words.nr; w++)
		if (nr[w] >= WORDS_MIN && said[w] > said[best])
			best = w;
	free(nr);
	free(said);
	return best;
}

uint64_t nouns_choose(const struct gather *g, struct names *chosen)
{
	struct chooser c = { .g = g, .looks = kinds_look(&g->kinds) };
	uint32_t *lines, best;

	read_types(&c);
	read_lines(&c);
	meet_all(&c);
	find_owners(&c);
	lines = find_sorts(&c);
	best = best_sort(&c, lines);
	for (uint32_t w = 1; w < c.words.nr && best; w++)
		if (lines[w] && sort_of(&c, w) == best)
			names_add(chosen, names_str(&c.words, w));
	free(lines);
	free(c.looks);
	names_done(&c.words);
	map_done(&c.place_of);
	map_done(&c.met);
	vec_done(&c.places);
	vec_done(&c.mentions);
	vec_done(&c.mention_at);
	vec_done(&c.sort);
	return c.nr_left;
}

bool nouns_find(struct nouns *n, struct gather *g)
{
	struct names chosen = { 0 };

	n->nr_left = nouns_choose(g, &chosen);
	n->is_on = chosen.nr > WORDS_MIN && nouns_add(n, g, &chosen);
	names_done(&chosen);
	return n->is_on;
}
