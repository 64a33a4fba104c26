/* What a weave hands over to other hosts and takes over from them. A run of advice whose bag is not
 * whole yet is made here, by the same code as in the process, when it is. */
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "capture/weave/weave_own.h"
#include "lib/advice/promise.h"
#include "lib/advice/vm.h"

#define TRY_NS (100 * NS_MS) /* also without news: time runs out for some */

static struct weave_query *query_of(const struct weave *w, uint32_t number)
{
	vec_each (&w->queries, q)
		if ((*q)->number == number)
			return *q;
	return NULL;
}

static void tally_add(struct probe_tally *t, const struct advice_out *o)
{
	t->nr_emitted += o->nr_emitted;
	t->nr_lost += o->nr_lost;
	t->nr_incomplete += o->nr_incomplete;
	t->nr_cut += o->nr_cut;
	t->nr_mistyped += o->nr_mistyped;
	t->nr_beyond += o->nr_beyond;
	t->nr_damaged += o->nr_damaged;
	t->nr_dropped += o->nr_dropped;
}

/* False where what stands there is not of this program. */
static bool run_make(struct weave *w, const struct weave_query *q, const struct held_run *r,
		     struct bag *bag)
{
	const struct advice_program *p = &q->advice.v.v[r->which].program;
	struct advice_value inputs[ADVICE_INPUTS] = { 0 };
	struct advice_out out = { .to = w, .emit = weave_emit, .spill = &w->spill };
	struct bag_writer writer;
	size_t nr = 0;

	for (size_t i = 0; i < ADVICE_INPUTS; i++)
		if (p->inputs >> i & 1) {
			if (nr == r->nr_inputs)
				return false;
			inputs[i] = r->inputs[nr++];
		}
	if (!(p->flags & ADVICE_EMITS))
		return false;
	weave_writer_begin(w, &writer);
	advice_run(p, inputs, bag, &writer, r->time_ns, &out);
	tally_add(&w->counts.tally, &out);
	return true;
}

static bool run_try(void *ctx, const struct held_run *r)
{
	struct weave *w = ctx;
	struct weave_query *q = query_of(w, r->query);
	enum far_answer got;
	struct bag bag;

	if (!q)
		return true;
	if (r->which >= q->advice.v.nr || !bag_deserialize(&bag, r->bag, r->bag_bytes)) {
		w->counts.nr_broken++;
		return true;
	}
	got = far_in_redeem(&w->far_in, w->table.here, &bag, r->since, time_tick());
	if (got == FAR_WAITS)
		return false;
	if (got == FAR_LATE)
		q->partial.losses.count[LOSS_BAGS_LATE]++;
	if (got == FAR_MIXED)
		q->partial.losses.count[LOSS_BAGS_MIXED]++;
	if (got == FAR_FOREIGN)
		q->partial.losses.count[LOSS_BAGS_FOREIGN]++;
	if ((got == FAR_WHOLE || got == FAR_FOREIGN) && !run_make(w, q, r, &bag))
		w->counts.nr_broken++;
	return true;
}

static const struct advice_program *advice_of(void *ctx, uint32_t query, uint32_t which)
{
	const struct weave_query *q = query_of(ctx, query);

	return q && which < q->advice.v.nr ? &q->advice.v.v[which].program : NULL;
}

void far_open(struct weave *w, bool reaches_others)
{
	w->table.here->reach = reaches_others ? HANDOVER_REACHES : HANDOVER_ALONE;
	addresses_look(w->table.here, 0);
	w->far_in.advice = advice_of;
	w->far_in.ctx = w;
}

void far_tend(struct weave *w)
{
	int64_t tick = time_tick();

	far_in_trim(&w->far_in, tick);
	if (!w->held.v.nr || (w->news == w->far_in.nr_news && tick - w->tried < TRY_NS))
		return;
	w->news = w->far_in.nr_news;
	w->tried = tick;
	held_try(&w->held, run_try, w);
	w->counts.tally.nr_dropped += w->held.nr_full;
	w->held.nr_full = 0;
}

void far_close(struct weave *w)
{
	held_done(&w->held);
	far_in_done(&w->far_in);
	far_out_done(&w->far_out);
}

void weave_hand_over(struct weave *w, int (*send)(void *ctx, struct str to, struct str bytes),
		     void *ctx)
{
	far_out_collect(&w->far_out, w->table.here, &w->far_in, send, ctx, time_tick());
}

void weave_take_over(struct weave *w, struct str bytes)
{
	far_in_take(&w->far_in, bytes, time_tick());
}

size_t weave_waiting(const struct weave *w, uint64_t id)
{
	vec_each (&w->queries, q)
		if ((*q)->id == id)
			return held_count(&w->held, (*q)->number);
	return 0;
}

static bool run_give_up(void *ctx, const struct held_run *r)
{
	struct weave_query *q = ctx;

	if (r->query != q->number)
		return false;
	q->partial.losses.count[LOSS_BAGS_LATE]++;
	return true;
}

void weave_give_up(struct weave *w, uint64_t id)
{
	vec_each (&w->queries, q)
		if ((*q)->id == id)
			held_try(&w->held, run_give_up, *q);
}

size_t weave_addresses(struct weave *w, const char **to, size_t room)
{
	const struct handover *t = w->table.here;
	size_t nr = 0;

	for (size_t i = 0; i < t->nr_here && nr < room && nr < HANDOVER_HERE; i++) {
		if (addresses_is_common(&t->here[i]))
			continue;
		far_address_text(&t->here[i], w->addresses[nr]);
		to[nr] = w->addresses[nr];
		nr++;
	}
	return nr;
}
