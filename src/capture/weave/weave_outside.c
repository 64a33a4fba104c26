/* Places of queries that are watched from outside: who looks is made when the first one is. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "capture/weave/weave_own.h"

void outside_families(struct weave *w)
{
	if (!w->onlooker)
		return;
	vec_each (&w->processes, p)
		vec_each (&p->families, f) {
			if (!f->is_looked_at)
				onlooker_family(w->onlooker, f->reap.view, f->name);
			f->is_looked_at = true;
		}
}

static void writer_begin(void *to, struct bag_writer *writer)
{
	weave_writer_begin(to, writer);
}

static int onlooker_need(struct weave *w, struct error *err)
{
	const struct onlooker_options o = { .host = w->host,
					    .session = w->session,
					    .to = w,
					    .row = weave_row,
					    .emit = weave_emit,
					    .writer = writer_begin,
					    .spill = &w->spill,
					    .counts = &w->counts };
	int got = w->onlooker ? 0 : onlooker_open(&w->onlooker, &o, err);

	outside_families(w);
	return got;
}

static struct probe_advice *advice_of(const struct weave *w, const struct weave_query *q,
				      const struct woven *woven)
{
	const struct tracepoint *t = woven->tracepoint;
	struct probe_advice *a = weave_advice(w, q, t, woven);
	struct advice_taking takings[TRACEPOINT_EXPORTS] = { 0 };

	for (size_t i = 0; i < t->nr_exports; i++)
		takings[i] = t->exports[i].taking;
	places_inputs(takings, a);
	return a;
}

int outside_install(struct weave *w, const struct weave_query *q, struct buf *told)
{
	bool is_open = w->is_of_host && q->is_of_calls;
	struct error err = { 0 };
	int nr = 0;

	vec_each (&q->advice.v, e) {
		const struct tracepoint *t = e->tracepoint;
		struct probe_advice *a = advice_of(w, q, e);

		for (size_t i = 0; i < t->nr_places; i++) {
			if (t->places[i].where != WHERE_SYSCALL)
				continue;
			if (onlooker_need(w, &err) >= 0 &&
			    onlooker_call(w->onlooker, &t->places[i], is_open, a, &err) >= 0)
				nr++;
			else
				buf_fmt(told, STR_FMT ": %s\n", STR_ARG(t->name), err.msg);
		}
		free(a);
	}
	return nr;
}

bool outside_watch(void *to, int pid, const struct probe_function *how, enum piece_moment moment,
		   const struct probe_advice *a, struct error *err)
{
	struct weave *w = to;

	return onlooker_need(w, err) >= 0 &&
	       onlooker_function(w->onlooker, pid, how, moment, a, err) >= 0;
}

int outside_tend(struct weave *w, struct error *err)
{
	outside_families(w);
	return w->onlooker ? onlooker_read(w->onlooker, err) : 0;
}

void outside_losses(struct weave *w, struct weave_query *q)
{
	struct losses lost = { 0 };

	if (!w->onlooker)
		return;
	onlooker_lost(w->onlooker, q->number, &lost);
	losses_add(&w->health.losses, &lost);
	losses_add(&q->partial.losses, &lost);
}

void outside_remove(struct weave *w, struct weave_query *q)
{
	outside_losses(w, q);
	if (w->onlooker)
		onlooker_remove(w->onlooker, q->number);
}
