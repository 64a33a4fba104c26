#include "capture/weave/reap.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "wire/spill.h"

#define HEAD_WORDS (sizeof(struct probe_group) / 8)
#define TOTAL_WORDS (sizeof(struct probe_total) / 8)
#define GROUP_MAX \
	(HEAD_WORDS + ADVICE_COLUMNS * (1 + ADVICE_TEXT / 8) + ADVICE_TOTALS * TOTAL_WORDS)
#define ROW_MAX (GROUP_MAX > PROBE_HELD_WORDS ? GROUP_MAX : PROBE_HELD_WORDS)
#define SPINS 2000
#define TALLIES (sizeof(struct probe_tally) / sizeof(uint64_t))

static struct probe_results *results_at(const struct reap *g, uint32_t i)
{
	struct probe_ring *r =
		(void *)((char *)g->view.region + PROBE_RINGS_AT + i * PROBE_RING_BYTES);

	return &r->results;
}

static uint32_t nr_claimed(const struct reap *g)
{
	uint64_t nr = __atomic_load_n(&g->view.region->nr_claimed, __ATOMIC_ACQUIRE);

	return nr < g->view.nr_rings ? (uint32_t)nr : g->view.nr_rings;
}

static void table_clear(struct probe_table *t)
{
	memset(t->slots, 0, sizeof(t->slots));
	t->nr_words = t->nr_groups = 0;
}

/* What is there already was told to others. */
void reap_init(struct reap *g, struct probe_view view)
{
	*g = (struct reap){ .view = view,
			    .nr_unseen = view.region->nr_advice_unseen,
			    .nr_limited = view.region->nr_limited };
	g->seen = mem_zalloc(mem_bytes(view.nr_rings + 1, sizeof(*g->seen)));
	for (uint32_t i = 0; i < nr_claimed(g); i++) {
		struct probe_results *r = results_at(g, i);

		g->seen[i] = r->tally;
		r->row_tail = __atomic_load_n(&r->row_head, __ATOMIC_ACQUIRE);
		for (size_t k = 0; k < 2; k++)
			if (r->tables[k].nr_groups)
				table_clear(&r->tables[k]);
	}
}

void reap_done(struct reap *g)
{
	free(g->seen);
	*g = (struct reap){ 0 };
}

/* How many words of them a column takes; 0: it makes no sense. */
static size_t column_read(const uint64_t *words, size_t nr, struct advice_value *v)
{
	size_t length = words[0] >> 16 & 0xffff, nr_text = (length + 7) / 8;

	*v = (struct advice_value){ .type = (uint8_t)words[0], .flags = (uint8_t)(words[0] >> 8) };
	switch (v->type) {
	case ADVICE_NULL:
		return 1;
	case ADVICE_BOOL:
	case ADVICE_INT:
	case ADVICE_REAL:
		if (nr < 2)
			return 0;
		v->i = (int64_t)words[1];
		return 2;
	case ADVICE_TEXTUAL:
		if (length > ADVICE_TEXT || nr < 1 + nr_text)
			return 0;
		v->length = (uint16_t)length;
		v->text = (const char *)(words + 1);
		return 1 + nr_text;
	}
	return 0;
}

static bool total_is_sound(const struct probe_total *t)
{
	return t->value.type <= ADVICE_TEXTUAL &&
	       (t->value.type != ADVICE_TEXTUAL || t->value.length <= ADVICE_TEXT);
}

/* words: a copy that nobody changes. */
static bool group_read(const uint64_t *words, size_t nr, struct reaped *row)
{
	struct probe_group g;
	size_t at = HEAD_WORDS;

	if (nr < HEAD_WORDS)
		return false;
	memcpy(&g, words, sizeof(g));
	*row = (struct reaped){ .query = g.query,
				.nr_columns = g.nr_columns,
				.nr_totals = g.nr_totals,
				.flags = g.flags,
				.times = g.times,
				.nr_incomplete = g.nr_incomplete };
	if (g.words != nr || g.nr_columns > ADVICE_COLUMNS || g.nr_totals > ADVICE_TOTALS)
		return false;
	for (size_t i = 0; i < g.nr_columns; i++) {
		size_t n = at < nr ? column_read(words + at, nr - at, &row->columns[i]) : 0;

		if (!n)
			return false;
		at += n;
	}
	if (nr - at != g.nr_totals * TOTAL_WORDS)
		return false;
	memcpy(row->totals, words + at, g.nr_totals * sizeof(struct probe_total));
	for (size_t i = 0; i < g.nr_totals; i++) {
		if (!total_is_sound(&row->totals[i]))
			return false;
		if (row->totals[i].value.type == ADVICE_TEXTUAL)
			row->totals[i].value.text = row->totals[i].text;
	}
	return true;
}

/* The same of a run that is held. */
static bool held_read(const uint64_t *words, size_t nr, struct reaped *row, struct reaped_run *run)
{
	struct probe_group g;
	size_t at = HEAD_WORDS;

	memcpy(&g, words, sizeof(g));
	*run = (struct reaped_run){ .which = (uint32_t)g.times,
				    .time_ns = g.hash,
				    .nr_inputs = g.nr_columns,
				    .bag_bytes = g.nr_incomplete };
	*row = (struct reaped){ .query = g.query, .held = run };
	if (g.words != nr || g.nr_columns > ADVICE_INPUTS || g.nr_incomplete > PROBE_BAG_BYTES ||
	    g.nr_incomplete % 8)
		return false;
	for (size_t i = 0; i < g.nr_columns; i++) {
		size_t n = at < nr ? column_read(words + at, nr - at, &run->inputs[i]) : 0;

		if (!n)
			return false;
		at += n;
	}
	run->bag = words + at;
	return nr - at == g.nr_incomplete / 8;
}

static void group_tell(const uint64_t *from, size_t nr, reap_row *row, void *ctx,
		       struct reap_counts *c)
{
	uint64_t words[ROW_MAX];
	struct reaped_run run;
	struct reaped out;
	bool is_held;

	if (nr > ROW_MAX || nr < HEAD_WORDS) {
		c->nr_broken++;
		return;
	}
	memcpy(words, from, nr * 8);
	is_held = ((const struct probe_group *)words)->flags & PROBE_ROW_HELD;
	if (is_held ? held_read(words, nr, &out, &run) : group_read(words, nr, &out))
		row(ctx, &out);
	else
		c->nr_broken++;
}

static void spill_tell(const uint64_t *from, size_t nr, reap_spill *spill, void *ctx)
{
	uint64_t words[SPILL_WORDS];

	memcpy(words, from, nr * 8);
	spill(ctx, words, nr);
}

static void rows_of(struct probe_results *r, reap_row *row, reap_spill *spill, void *ctx,
		    struct reap_counts *c)
{
	uint64_t head = __atomic_load_n(&r->row_head, __ATOMIC_ACQUIRE), tail = r->row_tail;

	if (head - tail > PROBE_ROW_WORDS) {
		c->nr_broken++;
		tail = head;
	}
	while (tail != head) {
		uint64_t at = tail & (PROBE_ROW_WORDS - 1), nr = r->rows[at];
		bool is_spill = nr & PROBE_ROW_SPILL;

		nr &= ~PROBE_ROW_SPILL;
		if (!nr && !is_spill) {
			tail += PROBE_ROW_WORDS - at;
		} else if (!nr || nr > (is_spill ? SPILL_WORDS : ROW_MAX) ||
			   at + 1 + nr > PROBE_ROW_WORDS) {
			c->nr_broken++;
			tail = head;
		} else if (is_spill) {
			spill_tell(r->rows + at + 1, nr, spill, ctx);
			tail += 1 + nr;
		} else {
			group_tell(r->rows + at + 1, nr, row, ctx, c);
			tail += 1 + nr;
		}
		if (head - tail > PROBE_ROW_WORDS)
			tail = head;
		__atomic_store_n(&r->row_tail, tail, __ATOMIC_RELEASE);
	}
}

void reap_rows(struct reap *g, reap_row *row, reap_spill *spill, void *ctx, struct reap_counts *c)
{
	for (uint32_t i = 0; i < nr_claimed(g); i++)
		rows_of(results_at(g, i), row, spill, ctx, c);
}

static void table_read(struct probe_table *t, reap_row *row, void *ctx, struct reap_counts *c)
{
	size_t nr = t->nr_words < PROBE_TABLE_WORDS ? t->nr_words : PROBE_TABLE_WORDS, at = 0;

	if (!nr && !t->nr_groups)
		return;
	while (at + HEAD_WORDS <= nr) {
		size_t words = ((const struct probe_group *)(t->words + at))->words;

		if (words < HEAD_WORDS || words > nr - at) {
			c->nr_broken++;
			break;
		}
		group_tell(t->words + at, words, row, ctx, c);
		at += words;
	}
	table_clear(t);
}

static void tally_take(struct probe_tally *seen, const struct probe_tally *now,
		       struct reap_counts *c)
{
	const uint64_t *from = (const uint64_t *)now;
	uint64_t *was = (uint64_t *)seen, *to = (uint64_t *)&c->tally;

	for (size_t i = 0; i < TALLIES; i++) {
		uint64_t v = __atomic_load_n(&from[i], __ATOMIC_RELAXED);

		to[i] += v > was[i] ? v - was[i] : 0;
		was[i] = v;
	}
}

/* Whether the thread has left the advice that it was in when the epoch changed, if in any. */
static bool is_outside(const struct probe_results *r)
{
	uint64_t was = __atomic_load_n(&r->running, __ATOMIC_SEQ_CST);

	for (int i = 0; i < SPINS && was & 1; i++)
		if (__atomic_load_n(&r->running, __ATOMIC_ACQUIRE) != was)
			return true;
	return !(was & 1);
}

/* By how much, since the last time; a stranger wrote it. */
static uint64_t risen(uint64_t *was, uint64_t now)
{
	uint64_t by = now > *was ? now - *was : 0;

	*was = now;
	return by;
}

void reap_groups(struct reap *g, bool is_over, reap_row *row, void *ctx, struct reap_counts *c)
{
	uint64_t epoch = g->view.region->epoch, unseen = g->view.region->nr_advice_unseen;

	__atomic_store_n(&g->view.region->epoch, epoch + 1, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < nr_claimed(g); i++) {
		struct probe_results *r = results_at(g, i);

		if (!is_over && !is_outside(r)) {
			c->nr_held++;
			continue;
		}
		table_read(&r->tables[epoch & 1], row, ctx, c);
		if (is_over)
			table_read(&r->tables[(epoch + 1) & 1], row, ctx, c);
		tally_take(&g->seen[i], &r->tally, c);
	}
	c->nr_unseen += risen(&g->nr_unseen, unseen);
	c->nr_limited += risen(&g->nr_limited, g->view.region->nr_limited);
}
