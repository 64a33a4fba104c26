#include "query/spills.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/time.h"
#include "lib/advice/cell.h"
#include "lib/advice/vm.h"
#include "query/spills_pile.h"
#include "wire/spill.h"

#define BYTES_MAX ((size_t)64 << 20)
#define WAIT_NS (3 * NS_S)
#define ROWS_MAX (1u << 20)
#define RESULT_WORDS_MAX ((size_t)4 << 20)
#define DEPTH_MAX 64u

/* What came under an id. */
struct record {
	struct spill_record head;
	uint64_t *words; /* cells and entries */
	size_t nr;
	VEC(uint64_t) made; /* of a run that packs: its entries */
	uint64_t round;     /* in which they were made; UINT64_MAX: for good */
	bool is_busy, made_incomplete;
	int64_t ns;
};

struct spills {
	struct spills_use use;
	struct spills_counts counts;
	VEC(struct record *) kept; /* the oldest first, from `first` on */
	size_t first;
	VEC(struct record *) waiting; /* runs that emit */
	struct map by_id;             /* to records; 0: gone */
	size_t bytes, waiting_bytes;
	uint64_t round;
};

/* --- keeping ---------------------------------------------------------------------------------- */

struct spills *spills_new(const struct spills_use *u)
{
	struct spills *s = mem_zalloc(sizeof(*s));

	s->use = *u;
	s->use.bytes_max = u->bytes_max ? u->bytes_max : BYTES_MAX;
	s->use.wait_ns = u->wait_ns ? u->wait_ns : WAIT_NS;
	return s;
}

static void record_free(struct record *r)
{
	free(r->words);
	vec_done(&r->made);
	free(r);
}

void spills_free(struct spills *s)
{
	if (!s)
		return;
	for (size_t i = s->first; i < s->kept.nr; i++)
		record_free(s->kept.v[i]);
	vec_each (&s->waiting, r)
		record_free(*r);
	vec_done(&s->kept);
	vec_done(&s->waiting);
	map_done(&s->by_id);
	free(s);
}

static size_t bytes_of(const struct record *r)
{
	return sizeof(*r) + 8 * (r->nr + r->made.nr);
}

/* Ids that lead nowhere any more are taken out of the table when they are most of it. */
static void forget_ids(struct spills *s)
{
	memmove(s->kept.v, s->kept.v + s->first, (s->kept.nr - s->first) * sizeof(*s->kept.v));
	s->kept.nr -= s->first;
	s->first = 0;
	map_clear(&s->by_id);
	vec_each (&s->kept, r)
		*map_at(&s->by_id, (*r)->head.id) = (uint64_t)(uintptr_t)*r;
}

static void forget_oldest(struct spills *s)
{
	struct record *r = s->kept.v[s->first++];

	*map_at(&s->by_id, r->head.id) = 0;
	s->bytes -= bytes_of(r);
	s->counts.nr_forgotten++;
	record_free(r);
	if (s->first > s->kept.nr / 2)
		forget_ids(s);
}

static struct record *find(const struct spills *s, uint64_t id)
{
	uint64_t *at = map_find(&s->by_id, id);

	return at ? (struct record *)(uintptr_t)*at : NULL;
}

static bool is_sound(const struct spill_record *h, const uint64_t *words, size_t nr)
{
	size_t cells = h->kind == SPILL_RUN ? h->cell_words : 0;

	return h->kind < SPILL_KINDS && h->words == nr && cells <= nr - SPILL_HEAD_WORDS &&
	       (h->id || h->kind == SPILL_RUN) &&
	       bag_entries_make_sense(words + SPILL_HEAD_WORDS + cells,
				      nr - SPILL_HEAD_WORDS - cells);
}

static void keep(struct spills *s, struct record *r)
{
	s->bytes += bytes_of(r);
	s->counts.nr_records += r->head.kind == SPILL_TUPLES;
	vec_push(&s->kept, r);
	*map_at(&s->by_id, r->head.id) = (uint64_t)(uintptr_t)r;
	while (s->bytes > s->use.bytes_max && s->first < s->kept.nr)
		forget_oldest(s);
}

void spills_take(struct spills *s, const uint64_t *words, size_t nr, int64_t now_ns)
{
	struct record *r = mem_zalloc(sizeof(*r));

	if (nr >= SPILL_HEAD_WORDS)
		memcpy(&r->head, words, sizeof(r->head));
	if (nr < SPILL_HEAD_WORDS || nr > SPILL_WORDS || !is_sound(&r->head, words, nr)) {
		s->counts.nr_broken++;
		free(r);
		return;
	}
	r->ns = now_ns;
	r->nr = nr - SPILL_HEAD_WORDS;
	r->words = mem_alloc(mem_bytes(r->nr + 1, 8));
	memcpy(r->words, words + SPILL_HEAD_WORDS, 8 * r->nr);
	if (r->head.id && find(s, r->head.id)) {
		/* told twice */
		record_free(r);
	} else if (r->head.id) {
		keep(s, r);
	} else if (s->waiting_bytes + bytes_of(r) > s->use.bytes_max) {
		s->counts.nr_dropped++;
		record_free(r);
	} else {
		s->waiting_bytes += bytes_of(r);
		vec_push(&s->waiting, r);
	}
}

/* --- what ids lead to ------------------------------------------------------------------------- */

/* A walk from one record. */
struct walk {
	struct spills *s;
	size_t nr_missing;
	bool is_incomplete;
	unsigned depth;
};

static void make_run(struct walk *w, struct record *r, const struct advice_program *p);

struct span {
	const uint64_t *words;
	size_t nr;
};
struct spans {
	VEC(struct span) v;
	struct map seen;
};

/* What a run packs is made when somebody wants it. */
static struct span made_of(struct walk *w, struct record *r)
{
	const struct advice_program *p =
		w->s->use.program(w->s->use.ctx, r->head.query, r->head.piece);

	if (!p || p->flags & ADVICE_EMITS || r->is_busy || w->depth >= DEPTH_MAX) {
		w->s->counts.nr_broken++;
		w->is_incomplete = true;
		return (struct span){ 0 };
	}
	if (r->round != UINT64_MAX && r->round != w->s->round)
		make_run(w, r, p);
	w->is_incomplete |= r->made_incomplete;
	return (struct span){ r->made.v, r->made.nr };
}

static void follow(struct walk *w, struct spans *to, uint64_t id)
{
	struct record *r = find(w->s, id);

	if (*map_at(&to->seen, id))
		return;
	*map_at(&to->seen, id) = 1;
	if (!r)
		w->nr_missing++;
	else if (r->head.kind == SPILL_TUPLES)
		vec_push(&to->v, (struct span){ r->words, r->nr });
	else
		vec_push(&to->v, made_of(w, r));
}

/* All entries of a slot, of a record and of all that it leads to. */
static void gather(struct walk *w, const struct record *r, uint32_t slot, struct pile *p)
{
	struct spans left = { 0 };

	p->v.nr = 0;
	vec_push(&left.v,
		 (struct span){ r->words + r->head.cell_words, r->nr - r->head.cell_words });
	while (left.v.nr) {
		struct span at = left.v.v[--left.v.nr];
		const struct bag_entry *e;

		for (size_t i = 0; i < at.nr; i += e->words) {
			e = (const struct bag_entry *)(const void *)(at.words + i);
			if (e->slot == slot && e->kind == BAG_SPILLED)
				follow(w, &left, e->writer);
			else if (e->slot == slot)
				vec_push(&p->v, e);
		}
	}
	vec_done(&left.v);
	map_done(&left.seen);
}

/* --- runs ------------------------------------------------------------------------------------- */

static bool inputs_read(const struct record *r, const struct advice_program *p,
			struct advice_value *inputs)
{
	const uint64_t *at = r->words, *end = at + r->head.cell_words;

	memset(inputs, 0, ADVICE_INPUTS * sizeof(*inputs));
	for (size_t i = 0; i < ADVICE_INPUTS && at; i++)
		if (p->inputs >> i & 1)
			at = cell_read(at, end, &inputs[i]);
	return at == end;
}

struct piles {
	struct pile v[ADVICE_CHILDREN];
	struct advice_pile as[ADVICE_CHILDREN];
};

static void piles_make(struct walk *w, const struct record *r, const struct advice_program *p,
		       struct piles *to)
{
	for (size_t i = 0; i < p->nr_children; i++) {
		struct walk own = { .s = w->s, .depth = w->depth };

		gather(&own, r, p->children[i].slot, &to->v[i]);
		pile_settle(&to->v[i], &p->children[i]);
		to->as[i] = (struct advice_pile){ to->v[i].words.v, to->v[i].words.nr,
						  own.is_incomplete || own.nr_missing ||
							  r->head.flags & SPILL_INCOMPLETE };
		w->nr_missing += own.nr_missing;
		w->is_incomplete |= to->as[i].is_incomplete;
	}
}

static void piles_done(struct piles *p)
{
	for (size_t i = 0; i < ADVICE_CHILDREN; i++)
		pile_done(&p->v[i]);
}

static void out_add(struct spills_counts *c, const struct advice_out *o)
{
	c->nr_emitted += o->nr_emitted;
	c->nr_mistyped += o->nr_mistyped;
	c->nr_cut += o->nr_cut;
	c->nr_beyond += o->nr_beyond;
	c->nr_broken += o->nr_damaged;
}

struct making {
	struct record *r;
	const struct advice_program *p;
	bool is_full;
};

static void put_head(struct making *m, size_t nr, size_t nr_key_words, bool has_tuple)
{
	static const uint8_t kinds[] = { [ADVICE_ALL] = BAG_ITEM_ALL,
					 [ADVICE_FIRST] = BAG_ITEM_FIRST,
					 [ADVICE_RECENT] = BAG_ITEM_RECENT };
	bool is_group = m->p->flags & ADVICE_GROUPED;
	uint64_t *to = m->r->made.v + m->r->made.nr;
	/* each group is of a writer of its own, whose only one it is */
	uint64_t own = is_group ? m->r->made.nr * 0x9e3779b97f4a7c15u : 0;

	*(struct bag_entry *)(void *)to = (struct bag_entry){
		.slot = m->p->slot,
		.words = (uint16_t)(BAG_HEAD_WORDS + nr),
		.kind = is_group ? BAG_GROUP : kinds[m->p->take],
		.nr_key_words = (uint8_t)nr_key_words,
		.at_most = m->p->at_most,
		.nr = has_tuple,
		.change = (uint32_t)m->r->made.nr,
		.writer = m->r->head.id + own,
		.order = m->r->head.order,
	};
	m->r->made.nr += BAG_HEAD_WORDS + nr;
}

static uint64_t *make_tuple(void *ctx, size_t nr, size_t nr_key_words)
{
	struct making *m = ctx;

	if (m->r->made.nr + BAG_HEAD_WORDS + nr > RESULT_WORDS_MAX) {
		m->is_full = true;
		return NULL;
	}
	vec_reserve(&m->r->made, m->r->made.nr + BAG_HEAD_WORDS + nr);
	put_head(m, nr, nr_key_words, true);
	return m->r->made.v + m->r->made.nr - nr;
}

static void run_over(const struct piles *piles, const struct record *r,
		     const struct advice_program *p, struct making *m, struct advice_out *out)
{
	struct advice_finish how = { piles->as, ROWS_MAX, m, make_tuple };
	struct advice_value inputs[ADVICE_INPUTS];
	bool exists;

	if (!inputs_read(r, p, inputs)) {
		out->nr_damaged++;
		return;
	}
	exists = advice_finish(p, inputs, &how, out);
	if (!m || !exists || m->r->made.nr || p->take == ADVICE_ALL)
		return;
	vec_reserve(&m->r->made, BAG_HEAD_WORDS);
	put_head(m, 0, 0, false);
}

static void make_run(struct walk *w, struct record *r, const struct advice_program *p)
{
	struct walk own = { .s = w->s, .depth = w->depth + 1 };
	struct making m = { r, p, false };
	struct advice_out out = { 0 };
	struct piles piles = { 0 };

	r->is_busy = true;
	w->s->bytes -= 8 * r->made.nr;
	r->made.nr = 0;
	piles_make(&own, r, p, &piles);
	run_over(&piles, r, p, &m, &out);
	w->s->bytes += 8 * r->made.nr;
	r->made_incomplete =
		own.is_incomplete || own.nr_missing || m.is_full || out.nr_beyond || out.nr_damaged;
	r->round = own.nr_missing ? w->s->round : UINT64_MAX;
	r->is_busy = false;
	if (!own.nr_missing)
		out_add(&w->s->counts, &out);
	w->nr_missing += own.nr_missing;
	piles_done(&piles);
}

/* False: something that it needs has not come yet. */
static bool finish_run(struct spills *s, const struct record *r, bool is_due)
{
	const struct advice_program *p = s->use.program(s->use.ctx, r->head.query, r->head.piece);
	struct walk w = { .s = s };
	struct advice_out out = { .to = s->use.ctx, .emit = s->use.emit };
	struct piles piles = { 0 };
	bool is_done;

	if (!p || !(p->flags & ADVICE_EMITS)) {
		s->counts.nr_dropped += !p;
		s->counts.nr_broken += p != NULL;
		return true;
	}
	s->round++;
	piles_make(&w, r, p, &piles);
	is_done = is_due || !w.nr_missing;
	if (is_done) {
		run_over(&piles, r, p, NULL, &out);
		out_add(&s->counts, &out);
		s->counts.nr_finished++;
		s->counts.nr_missing += w.nr_missing;
		s->counts.nr_incomplete += w.is_incomplete || out.nr_beyond;
	}
	piles_done(&piles);
	return is_done;
}

void spills_finish(struct spills *s, int64_t now_ns, uint32_t last)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->waiting.nr; i++) {
		struct record *r = s->waiting.v[i];

		if (finish_run(s, r,
			       last == SPILLS_ALL || last == r->head.query ||
				       now_ns - r->ns > s->use.wait_ns)) {
			s->waiting_bytes -= bytes_of(r);
			record_free(r);
		} else {
			s->waiting.v[nr++] = r;
		}
	}
	s->waiting.nr = nr;
}

size_t spills_waiting(const struct spills *s)
{
	return s->waiting.nr;
}

void spills_tell(struct spills *s, struct spills_counts *c)
{
	*c = s->counts;
	s->counts = (struct spills_counts){ 0 };
}
