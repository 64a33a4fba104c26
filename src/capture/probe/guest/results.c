#include "capture/probe/guest/results.h"

#include <stdbool.h>
#include <stddef.h>

#include "lib/advice/vm.h"

#define HEAD_WORDS (sizeof(struct probe_group) / 8)
#define TOTAL_WORDS (sizeof(struct probe_total) / 8)
#define GROUP_MAX \
	(HEAD_WORDS + ADVICE_COLUMNS * (1 + ADVICE_TEXT / 8) + ADVICE_TOTALS * TOTAL_WORDS)
#define GROUPS_MAX (PROBE_TABLE_SLOTS * 3 / 4)

_Static_assert(sizeof(struct probe_group) % 8 == 0 && sizeof(struct probe_total) % 8 == 0 &&
		       offsetof(struct probe_total, value) == offsetof(struct advice_total, value),
	       "groups");

void results_begin(struct results_to *to, struct probe_results *r, const struct probe_region *g)
{
	/* who reads changes the epoch first, and looks at this then: one of us sees the other */
	__atomic_exchange_n(&r->running, (r->running + 1) | 1, __ATOMIC_SEQ_CST);
	to->results = r;
	to->table = &r->tables[__atomic_load_n(&g->epoch, __ATOMIC_SEQ_CST) & 1];
}

void results_end(struct results_to *to)
{
	__atomic_store_n(&to->results->running, to->results->running + 1, __ATOMIC_RELEASE);
}

typedef uint64_t loose_word __attribute__((may_alias, aligned(1)));
typedef uint32_t loose_half __attribute__((may_alias, aligned(1)));
typedef uint16_t loose_pair __attribute__((may_alias, aligned(1)));

/* Fewer than 8 bytes, in few steps: they overlap where that is less. */
static inline uint64_t short_word(const char *text, size_t nr)
{
	if (nr >= 4)
		return *(const loose_half *)text | (uint64_t)*(const loose_half *)(text + nr - 4)
							   << (nr - 4) * 8;
	if (nr >= 2)
		return *(const loose_pair *)text | (uint64_t)*(const loose_pair *)(text + nr - 2)
							   << (nr - 2) * 8;
	return nr ? (uint8_t)*text : 0;
}

/* The 8 bytes of a text from there on, or what is left of it. */
static inline uint64_t text_word(const char *text, size_t at, size_t length)
{
	if (length - at >= 8)
		return *(const loose_word *)(text + at);
	if (length >= 8)
		return *(const loose_word *)(text + length - 8) >> (8 - (length - at)) * 8;
	return short_word(text, length);
}

static void text_put(uint64_t *to, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i += 8)
		*to++ = text_word(text, i, length);
}

static inline size_t length_of(const struct advice_value *v)
{
	return v->type != ADVICE_TEXTUAL ? 0 : v->length < ADVICE_TEXT ? v->length : ADVICE_TEXT;
}

static inline uint64_t head_of(const struct advice_value *v)
{
	return v->type | (uint64_t)v->flags << 8 | (uint64_t)length_of(v) << 16;
}

static inline size_t words_of(const struct advice_value *v)
{
	return v->type == ADVICE_NULL      ? 1
	       : v->type != ADVICE_TEXTUAL ? 2
					   : 1 + (length_of(v) + 7) / 8;
}

static size_t column_put(uint64_t *to, const struct advice_value *v)
{
	to[0] = head_of(v);
	if (v->type == ADVICE_TEXTUAL)
		text_put(to + 1, v->text, length_of(v));
	else if (v->type != ADVICE_NULL)
		to[1] = (uint64_t)v->i;
	return words_of(v);
}

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct advice_row *row)
{
	uint64_t hash = row->program->query;

	for (size_t i = 0; i < row->program->nr_columns; i++) {
		const struct advice_value *v = &row->columns[i];
		size_t length = length_of(v);

		hash = mix(hash,
			   head_of(v) ^ (v->type == ADVICE_TEXTUAL ? 0 : (uint64_t)v->i << 8));
		for (size_t k = 0; k < length; k += 8)
			hash = mix(hash, text_word(v->text, k, length));
	}
	return hash;
}

/* Whether the words are those of the value. */
static bool column_is(const uint64_t *words, const struct advice_value *v)
{
	size_t length = length_of(v);

	if (words[0] != head_of(v))
		return false;
	if (v->type == ADVICE_NULL || v->type != ADVICE_TEXTUAL)
		return v->type == ADVICE_NULL || words[1] == (uint64_t)v->i;
	for (size_t i = 0; i < length; i += 8)
		if (words[1 + i / 8] != text_word(v->text, i, length))
			return false;
	return true;
}

static void total_text(struct probe_total *t, const char *text)
{
	uint64_t *to = (uint64_t *)t->text;

	if (t->value.type == ADVICE_TEXTUAL)
		text_put(to, text, t->value.length);
}

/* At most GROUP_MAX words. */
static struct probe_group *group_put(uint64_t *to, const struct advice_row *row, uint64_t hash)
{
	const struct advice_program *p = row->program;
	struct probe_group *g = (struct probe_group *)to;
	uint64_t *keys = to + HEAD_WORDS;
	size_t nr = 0;

	for (size_t i = 0; i < p->nr_columns; i++)
		nr += column_put(keys + nr, &row->columns[i]);
	for (size_t i = 0; i < p->nr_totals; i++) {
		struct probe_total *t = (struct probe_total *)(keys + nr + i * TOTAL_WORDS);

		t->nr = row->totals[i].nr;
		t->value = row->totals[i].value;
		total_text(t, t->value.text);
	}
	*g = (struct probe_group){ .hash = hash,
				   .query = p->query,
				   .words =
					   (uint16_t)(HEAD_WORDS + nr + p->nr_totals * TOTAL_WORDS),
				   .nr_columns = p->nr_columns,
				   .nr_totals = p->nr_totals,
				   .key_words = (uint32_t)nr,
				   .flags = row->flags,
				   .times = row->times };
	g->nr_incomplete = row->flags & ADVICE_ROW_INCOMPLETE ? row->times : 0;
	return g;
}

static bool is_same(const struct probe_group *g, const struct advice_row *row)
{
	const struct advice_program *p = row->program;
	const uint64_t *at = (const uint64_t *)(g + 1);

	if (g->query != p->query || g->nr_columns != p->nr_columns || g->nr_totals != p->nr_totals)
		return false;
	for (size_t i = 0; i < p->nr_columns; i++) {
		if (!column_is(at, &row->columns[i]))
			return false;
		at += words_of(&row->columns[i]);
	}
	return true;
}

static void group_add(struct probe_group *to, const struct advice_row *row)
{
	struct probe_total *t = (struct probe_total *)((uint64_t *)(to + 1) + to->key_words);

	to->times += row->times;
	to->flags |= row->flags;
	to->nr_incomplete += row->flags & ADVICE_ROW_INCOMPLETE ? row->times : 0;
	for (size_t i = 0; i < to->nr_totals; i++) {
		const struct advice_total *from = &row->totals[i];

		t[i].value.text = t[i].value.type == ADVICE_TEXTUAL ? t[i].text : t[i].value.text;
		if (advice_total_add(row->program->totals[i].function, (struct advice_total *)&t[i],
				     from))
			total_text(&t[i], from->value.text);
	}
}

/* False where the table is full. */
static bool table_add(struct probe_table *t, const struct advice_row *row)
{
	uint64_t hash = hash_of(row);
	struct probe_group *g;
	size_t i;

	for (i = hash & (PROBE_TABLE_SLOTS - 1); t->slots[i];
	     i = (i + 1) & (PROBE_TABLE_SLOTS - 1)) {
		g = (struct probe_group *)(t->words + t->slots[i] - 1);
		if (g->hash == hash && is_same(g, row)) {
			group_add(g, row);
			return true;
		}
	}
	if (t->nr_groups >= GROUPS_MAX || t->nr_words + GROUP_MAX > PROBE_TABLE_WORDS)
		return false;
	g = group_put(t->words + t->nr_words, row, hash);
	t->slots[i] = t->nr_words + 1;
	t->nr_words += g->words;
	t->nr_groups++;
	return true;
}

/* Where a row of at most so many words can be written, behind a word that is its length; NULL when
 * there is no room. It does not go over the end: a word that is 0 says that it begins anew. */
static uint64_t *row_room(struct probe_results *r, size_t most)
{
	uint64_t head = r->row_head, tail = __atomic_load_n(&r->row_tail, __ATOMIC_ACQUIRE);
	uint64_t at = head & (PROBE_ROW_WORDS - 1), skip = 0;

	if (at + 1 + most > PROBE_ROW_WORDS)
		skip = PROBE_ROW_WORDS - at;
	if (head + skip + 1 + most - tail > PROBE_ROW_WORDS)
		return NULL;
	if (skip) {
		r->rows[at] = 0;
		__atomic_store_n(&r->row_head, head + skip, __ATOMIC_RELEASE);
		at = 0;
	}
	return &r->rows[at + 1];
}

static void row_done(struct probe_results *r, uint64_t *row, const struct probe_group *g)
{
	row[-1] = g->words;
	__atomic_store_n(&r->row_head, r->row_head + 1 + g->words, __ATOMIC_RELEASE);
}

static void row_add(struct probe_results *r, const struct advice_row *row)
{
	uint64_t *to = row_room(r, GROUP_MAX);

	if (to)
		row_done(r, to, group_put(to, row, 0));
	else
		r->tally.nr_dropped += row->times;
}

void results_hold(struct results_to *t, const struct probe_advice *a,
		  const struct advice_value *inputs, uint64_t time, const struct bag *bag)
{
	uint64_t *to = row_room(t->results, PROBE_HELD_WORDS), *words = to + HEAD_WORDS;
	size_t nr = 0, nr_inputs = 0, bytes = bag_bytes(bag);
	const uint64_t *from = (const uint64_t *)bag;
	struct probe_group *g = (struct probe_group *)to;

	if (!to) {
		t->results->tally.nr_dropped++;
		return;
	}
	for (size_t i = 0; i < ADVICE_INPUTS; i++)
		if (a->program.inputs >> i & 1) {
			nr += column_put(words + nr, &inputs[i]);
			nr_inputs++;
		}
	for (size_t i = 0; i < bytes / 8; i++) {
		words[nr + i] = from[i];
		__asm__("" : : : "memory");
	}
	*g = (struct probe_group){ .hash = time,
				   .query = a->program.query,
				   .words = (uint16_t)(HEAD_WORDS + nr + bytes / 8),
				   .nr_columns = (uint8_t)nr_inputs,
				   .key_words = (uint32_t)nr,
				   .flags = PROBE_ROW_HELD,
				   .times = a->which,
				   .nr_incomplete = bytes };
	row_done(t->results, to, g);
}

uint64_t *results_spill_begin(void *to, size_t nr)
{
	return row_room(to, nr);
}

void results_spill_end(void *to, size_t nr)
{
	struct probe_results *r = to;

	r->rows[r->row_head & (PROBE_ROW_WORDS - 1)] = nr | PROBE_ROW_SPILL;
	__atomic_store_n(&r->row_head, r->row_head + 1 + nr, __ATOMIC_RELEASE);
}

void results_emit(void *to, const struct advice_row *row)
{
	struct results_to *t = to;

	if (!(row->program->flags & ADVICE_GROUPED) || !table_add(t->table, row))
		row_add(t->results, row);
}
