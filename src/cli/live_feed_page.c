#include "cli/live_feed_own.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "query/history.h"
#include "query/live_explain.h"

static void tell_state(void *ctx, char *why, size_t room)
{
	struct live_feed *f = ctx;

	pthread_mutex_lock(&f->lock);
	snprintf(why, room, "%s", f->why);
	pthread_mutex_unlock(&f->lock);
}

/* What stands only while somebody measures is of no interest to others. */
static bool is_counting(const struct live_feed *f, uint64_t id)
{
	for (size_t i = 0; f->order && i < f->order->nr_ids; i++)
		if (f->order->ids[i] == id)
			return true;
	return false;
}

static void tell_standing(void *ctx, void (*each)(void *to, const struct live_standing *q),
			  void *to)
{
	struct live_feed *f = ctx;

	pthread_mutex_lock(&f->lock);
	vec_each (&f->queries, at) {
		const struct watched_query *q = *at;
		struct live_standing s = { .id = str_of(q->name),
					   .text = q->text,
					   .who = q->who,
					   .nr_agents = q->nr_agents,
					   .nr_agents_failed = q->failing.nr,
					   .nr_reports = q->nr_reports,
					   .nr_rows = q->nr_rows };

		if (q->history) {
			s.name = history_name(q->history);
			s.since_ns = history_since(q->history);
		}
		if (q->failing.nr)
			s.why = q->failing.v[0].sentence;
		if (!is_counting(f, q->id))
			each(to, &s);
	}
	pthread_mutex_unlock(&f->lock);
}

static void tell_peers(void *ctx, void (*each)(void *to, const struct live_peer *p), void *to)
{
	struct live_feed *f = ctx;

	pthread_mutex_lock(&f->lock);
	vec_each (&f->peers, p)
		each(to, p);
	pthread_mutex_unlock(&f->lock);
}

static void tell_words(void *ctx, void (*each)(void *to, const struct live_word *w), void *to)
{
	struct live_feed *f = ctx;

	live_known_words(&f->options.known, each, to);
}

static int no_query(struct str id, struct error *err)
{
	return error_set(err, ENOENT, "there is no query '%.*s' any more",
			 (int)(id.n < 40 ? id.n : 40), id.p);
}

static int tell_answer(void *ctx, struct str id, const uint64_t *keep, size_t nr,
		       struct arena *arena, struct live_answer *a, struct error *err)
{
	struct live_feed *f = ctx;
	int64_t until = time_now() - HISTORY_WAIT_NS;
	struct watched_query *q = NULL;
	int got = 0;

	pthread_mutex_lock(&f->lock);
	vec_each (&f->queries, at)
		if (str_eq(str_of((*at)->name), id) && (*at)->history)
			q = *at;
	for (size_t i = 0; q && i < nr && got >= 0; i++) {
		got = history_answer(q->history, keep[i], until, arena, &a[i], err);
		if (got >= 0)
			losses_most(&a[i].losses, &q->losses);
	}
	pthread_mutex_unlock(&f->lock);
	return q ? got : no_query(id, err);
}

/* One after the other: the next waits until the one before is done. */
static int give_order(struct live_feed *f, struct order *o, struct error *err)
{
	pthread_mutex_lock(&f->lock);
	while (f->order && !f->is_over)
		pthread_cond_wait(&f->changed, &f->lock);
	f->order = o;
	while (!o->is_done && !f->is_over)
		pthread_cond_wait(&f->changed, &f->lock);
	if (!o->is_done) {
		f->order = NULL;
		o->got = error_set(&o->err, ECANCELED, "the page is being closed");
	}
	pthread_mutex_unlock(&f->lock);
	if (o->got < 0)
		*err = o->err;
	return o->got;
}

static int measure(struct live_feed *f, struct str text, double *per_second, struct error *err)
{
	struct order o = { .kind = ORDER_MEASURE, .text = text };
	struct history *planned = NULL;
	int got = history_new(&planned, STR(""), text, 0, err);

	if (got < 0)
		return got;
	o.plan = history_plan(planned);
	got = give_order(f, &o, err);
	memcpy(per_second, o.per_second, sizeof(o.per_second));
	history_free(planned);
	return got;
}

static void pass_over(void *to, const struct live_advice *a)
{
	(void)to;
	(void)a;
}

static int tell_advice(void *ctx, struct str text, bool is_measured,
		       void (*each)(void *to, const struct live_advice *a), void *to,
		       struct error *err)
{
	struct live_feed *f = ctx;
	double per_second[STAGES_MAX];
	int got = 0;

	if (is_measured) {
		/* what is wrong is told before anything is installed */
		got = live_explain_query(&f->options.known, text, NULL, pass_over, NULL, err);
		if (got >= 0)
			got = measure(f, text, per_second, err);
	}
	if (got >= 0)
		got = live_explain_query(&f->options.known, text, is_measured ? per_second : NULL,
					 each, to, err);
	return got;
}

/* What no agent could run is told before any gets it. */
static int order_install(void *ctx, struct str text, char id[LIVE_ID_MAX], struct error *err)
{
	struct live_feed *f = ctx;
	struct order o = { .kind = ORDER_INSTALL, .text = text };
	int got = live_explain_query(&f->options.known, text, NULL, pass_over, NULL, err);

	if (got >= 0)
		got = give_order(f, &o, err);
	if (got >= 0)
		snprintf(id, LIVE_ID_MAX, "%llu", (unsigned long long)o.id);
	return got;
}

static int order_remove(void *ctx, struct str id, struct error *err)
{
	struct order o = { .kind = ORDER_REMOVE };
	struct str rest = id;

	if (!str_take_uint(&rest, &o.id) || rest.n)
		return no_query(id, err);
	return give_order(ctx, &o, err);
}

struct live_hub live_feed_face(struct live_feed *f)
{
	return (struct live_hub){ f,
				  str_of(f->options.endpoint),
				  tell_state,
				  tell_standing,
				  tell_peers,
				  tell_words,
				  tell_answer,
				  tell_advice,
				  order_install,
				  order_remove };
}
