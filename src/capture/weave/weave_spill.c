/* What found no room in the bags of a weave's processes, and runs that need it: taken as they tell
 * it, and finished here (query/spills.h). */
#include <string.h>

#include "base/time.h"
#include "capture/weave/weave_own.h"
#include "lib/advice/vm.h"

static const struct advice_program *program_of(void *ctx, uint32_t query, uint16_t piece)
{
	const struct weave *w = ctx;

	vec_each (&w->queries, q)
		if ((*q)->number == query && piece < (*q)->advice.v.nr)
			return &(*q)->advice.v.v[piece].program;
	return NULL;
}

void weave_emit(void *ctx, const struct advice_row *row)
{
	const struct advice_program *p = row->program;
	struct reaped r = { .query = p->query,
			    .nr_columns = p->nr_columns,
			    .nr_totals = p->nr_totals,
			    .flags = row->flags,
			    .times = row->times };

	r.nr_incomplete = row->flags & ADVICE_ROW_INCOMPLETE ? row->times : 0;
	memcpy(r.columns, row->columns, r.nr_columns * sizeof(*r.columns));
	for (size_t i = 0; i < r.nr_totals; i++) {
		r.totals[i].nr = row->totals[i].nr;
		r.totals[i].value = row->totals[i].value;
	}
	weave_row(ctx, &r);
}

/* --- of runs that are made here --- */

static uint64_t *record_begin(void *to, size_t nr)
{
	struct weave *w = to;

	return nr <= SPILL_WORDS ? w->spill_record : NULL;
}

static void record_end(void *to, size_t nr)
{
	struct weave *w = to;

	weave_spilled(w, w->spill_record, nr);
}

void weave_writer_begin(struct weave *w, struct bag_writer *writer)
{
	bag_writer_begin(writer,
			 (w->host_hash ^ w->session) + ++w->nr_writers * 0xd1342543de82ef95u);
}

/* --- of what processes tell --- */

void spill_open(struct weave *w)
{
	w->spills = spills_new(&(struct spills_use){ w, program_of, weave_emit, 0, 0 });
	w->spill = (struct bag_spill){ w, record_begin, record_end, BAG_WORDS };
}

void spill_close(struct weave *w)
{
	spills_free(w->spills);
}

void weave_spilled(void *ctx, const uint64_t *words, size_t nr)
{
	struct weave *w = ctx;

	spills_take(w->spills, words, nr, time_tick());
}

void spill_tend(struct weave *w, uint32_t last)
{
	struct probe_tally *t = &w->counts.tally;
	struct spills_counts c;

	spills_finish(w->spills, time_tick(), last);
	spills_tell(w->spills, &c);
	t->nr_emitted += c.nr_emitted;
	t->nr_dropped += c.nr_dropped;
	t->nr_lost += c.nr_missing;
	t->nr_mistyped += c.nr_mistyped;
	t->nr_beyond += c.nr_beyond;
	w->counts.nr_broken += c.nr_broken;
	w->health.nr_finished += c.nr_finished;
}
