/*
 * One thread talks to the hub: it takes results, asks every second what stands and who is there,
 * and does what the page orders. Everybody else reads what it knows under one lock.
 */
#include "cli/live_feed_own.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/time.h"
#include "bus/bus.h"
#include "query/live_explain.h"
#include "query/history.h"
#include "query/partial.h"
#include "query/plan.h"

#define POLL_MS 100
#define LOOK_NS NS_S
#define AGAIN_NS (2 * NS_S)
#define AWAY_NS (60 * NS_S)   /* the hub keeps for so long what we have not read */
#define MEASURE_NS (5 * NS_S) /* that tracepoints are counted for */

/* --- what stands ------------------------------------------------------------------------------ */

static struct watched_query *find(struct live_feed *f, uint64_t id)
{
	vec_each (&f->queries, q)
		if ((*q)->id == id)
			return *q;
	return NULL;
}

static void forget(struct watched_query *q)
{
	history_free(q->history);
	vec_done(&q->failing);
	arena_done(&q->arena);
	free(q);
}

static struct watched_query *meet(struct live_feed *f, const struct bus_standing *s)
{
	struct watched_query *q = mem_zalloc(sizeof(*q));
	struct error err;

	q->id = s->query.id;
	snprintf(q->name, sizeof(q->name), "%llu", (unsigned long long)q->id);
	q->text = arena_str(&q->arena, s->query.text);
	q->who = arena_str(&q->arena, s->operator_name);
	/* the hub has planned it: what fails here is a hub that knows more than we do */
	if (history_new(&q->history, str_of(q->name), q->text, time_now(), &err) < 0)
		q->history = NULL;
	vec_push(&f->queries, q);
	return q;
}

static void list_query(void *ctx, const struct bus_standing *s)
{
	struct live_feed *f = ctx;
	struct watched_query *q = find(f, s->query.id);

	if (!q)
		q = meet(f, s);
	q->is_listed = true;
	q->nr_agents = s->nr_agents;
	q->nr_rows = s->nr_groups;
	q->losses = s->losses;
	/* those that are not given up yet, as well */
	if (q->losses.count[LOSS_AGENTS_SILENT] < s->nr_silent)
		q->losses.count[LOSS_AGENTS_SILENT] = s->nr_silent;
}

/* Those that the hub does not list any more are gone. */
static void drop_unlisted(struct live_feed *f)
{
	size_t kept = 0;

	vec_each (&f->queries, q)
		if ((*q)->is_listed)
			f->queries.v[kept++] = *q;
		else
			forget(*q);
	f->queries.nr = kept;
}

static void list_peer(void *ctx, const struct bus_peer *p)
{
	struct live_feed *f = ctx;
	struct live_peer one = {
		.name = arena_str(&f->of_peers, p->name),
		.is_hub = p->role == BUS_HUB,
		.is_silent = !p->is_connected,
		.seen_ns = p->heard_ns,
		.nr_below = p->nr_below,
		.nr_silent_below = p->nr_silent_below,
		.nr_processes = p->health.nr_processes,
		.nr_reports = p->nr_reports,
		.nr_dropped = p->health.losses.count[LOSS_ROWS_DROPPED],
		.nr_late = p->nr_late,
		.nr_twice = p->nr_twice,
		.overhead = (double)p->health.overhead_ppm / 1e6,
	};

	if (p->role == BUS_OPERATOR)
		return;
	one.host = one.name;
	if (one.is_hub)
		one.overhead = -1;
	vec_push(&f->peers, one);
}

static int look(struct live_feed *f, struct error *err)
{
	int got;

	vec_each (&f->queries, q)
		(*q)->is_listed = false;
	got = bus_operator_list(f->hub, list_query, f, err);
	if (got < 0)
		return got;
	drop_unlisted(f);
	vec_clear(&f->peers);
	arena_reset(&f->of_peers);
	got = bus_operator_peers(f->hub, list_peer, f, err);
	for (size_t i = 0; i < f->queries.nr && got >= 0; i++) {
		struct watched_query *q = f->queries.v[i];

		if (q->is_watched || !q->history)
			continue;
		got = bus_operator_watch(f->hub, q->id, err);
		q->is_watched = got >= 0;
	}
	return got;
}

/* --- what the hub tells by itself --------------------------------------------------------------
 */

static void take_result(void *ctx, struct bus_result *r)
{
	struct live_feed *f = ctx;
	struct watched_query *q = find(f, r->query);
	struct error err;

	if (!q || !q->history)
		return;
	q->nr_reports++;
	if (!r->is_whole) {
		history_add(q->history, r->from_ns + NS_S, r->seen, &err);
		return;
	}
	if (!q->has_whole && r->from_ns > 0)
		history_begin(q->history, r->from_ns);
	q->has_whole = true;
	history_set(q->history, r->seen, &err);
}

static void take_told(void *ctx, uint64_t query, struct str agent, struct str sentence)
{
	struct live_feed *f = ctx;
	struct watched_query *q = find(f, query);
	size_t i = 0;

	if (!q)
		return;
	while (i < q->failing.nr && !str_eq(q->failing.v[i].agent, agent))
		i++;
	if (!sentence.n) {
		if (i < q->failing.nr)
			q->failing.v[i] = q->failing.v[--q->failing.nr];
		return;
	}
	if (i == q->failing.nr)
		vec_push(&q->failing, (struct failing){ arena_str(&q->arena, agent), { 0 } });
	if (!str_eq(q->failing.v[i].sentence, sentence))
		q->failing.v[i].sentence = arena_str(&q->arena, sentence);
}

/* --- the thread ------------------------------------------------------------------------------- */

static int install(struct live_feed *f, struct str text, uint64_t *id, struct error *err)
{
	struct history *planned = NULL;
	struct buf points = { 0 };
	int got = history_new(&planned, STR(""), text, 0, err);

	if (got < 0)
		return got;
	live_known_of(&f->options.known, history_plan(planned), &points);
	got = bus_operator_install(f->hub, text, buf_str(&points), 0, false, id, err);
	history_free(planned);
	buf_done(&points);
	return got;
}

static int begin_measure(struct live_feed *f, struct order *o)
{
	struct buf text = { 0 };
	int got = 0;

	for (uint32_t i = 0; i < o->plan->stages.nr && got >= 0; i++) {
		buf_clear(&text);
		live_measure_text(o->plan, i, &text);
		got = install(f, buf_str(&text), &o->ids[i], &o->err);
		o->nr_ids += got >= 0;
	}
	buf_done(&text);
	o->until = time_tick() + MEASURE_NS;
	return got;
}

/* How often a counting query counted in a second; the first one, in which advice came into the
 * processes, is left out. */
static double counted(struct live_feed *f, uint64_t id)
{
	struct watched_query *q = find(f, id);
	struct arena arena = { 0 };
	struct live_answer a = { 0 };
	double sum = 0, nr = 0;
	struct error err;

	if (q && q->history)
		history_answer(q->history, 0, time_now() - NS_S, &arena, &a, &err);
	for (size_t i = 0; a.nr_rows && i < a.nr_steps; i++) {
		double n = a.rows[0].series[i];

		sum += isnan(n) || !nr ? 0 : n;
		nr += !isnan(n);
	}
	arena_done(&arena);
	return nr > 1 ? sum / (nr - 1) : 0;
}

static void end_measure(struct live_feed *f, struct order *o)
{
	struct error err;

	for (size_t i = 0; i < o->nr_ids; i++) {
		o->per_second[i] = counted(f, o->ids[i]);
		bus_operator_remove(f->hub, o->ids[i], &err);
	}
}

/* Whether it is done. */
static bool do_measure(struct live_feed *f, struct order *o)
{
	if (!o->until)
		o->got = begin_measure(f, o);
	if (o->got >= 0 && time_tick() < o->until)
		return false;
	end_measure(f, o);
	return true;
}

static void do_order(struct live_feed *f)
{
	struct order *o = f->order;

	if (!o)
		return;
	if (!f->hub || f->away_tick)
		o->got = error_set(&o->err, EAGAIN, "the hub does not answer: %.400s", f->why);
	else if (o->kind == ORDER_INSTALL)
		o->got = install(f, o->text, &o->id, &o->err);
	else if (o->kind == ORDER_REMOVE)
		o->got = bus_operator_remove(f->hub, o->id, &o->err);
	else if (!do_measure(f, o))
		return;
	o->is_done = true;
	f->order = NULL;
	pthread_cond_broadcast(&f->changed);
}

static int reach(struct live_feed *f, struct error *err)
{
	const struct bus_operator_options o = {
		.endpoint = f->options.endpoint,
		.keys = f->keys,
		.name = "page",
		.calls = { .ctx = f, .result = take_result, .told = take_told },
	};

	return bus_operator_open(&f->hub, &o, err);
}

static void leave(struct live_feed *f)
{
	bus_operator_close(f->hub);
	f->hub = NULL;
	f->away_tick = 0;
	vec_each (&f->queries, q)
		(*q)->is_watched = false;
}

/* One that began anew is found again by itself, and tells the seconds that we have not got. */
static void lose(struct live_feed *f, int why, const struct error *err)
{
	snprintf(f->why, sizeof(f->why), "%s", err->msg);
	vec_each (&f->peers, p)
		p->is_silent = true;
	if (why == -ETIMEDOUT)
		f->away_tick = time_tick();
	else
		leave(f);
}

/* Whether the hub is there, as far as one knows without asking. */
static bool is_heard(struct live_feed *f, int got)
{
	if (f->away_tick && got > 0) {
		f->away_tick = 0;
		f->why[0] = '\0';
	}
	if (f->away_tick && time_tick() - f->away_tick > AWAY_NS)
		leave(f);
	return f->hub && !f->away_tick;
}

/* Under the lock but while it waits. */
static void work(struct live_feed *f, int64_t *due)
{
	struct error err = { 0 };
	int got = 0;

	if (!f->hub && time_tick() >= *due) {
		pthread_mutex_unlock(&f->lock);
		got = reach(f, &err);
		pthread_mutex_lock(&f->lock);
		snprintf(f->why, sizeof(f->why), "%s", got < 0 ? err.msg : "");
		*due = time_tick() + (got < 0 ? AGAIN_NS : 0);
	}
	do_order(f);
	if (!f->hub)
		return;
	got = bus_operator_poll(f->hub, 0, &err);
	if (is_heard(f, got) && got >= 0 && time_tick() >= *due) {
		got = look(f, &err);
		*due = time_tick() + LOOK_NS;
	}
	if (got < 0) {
		lose(f, got, &err);
		*due = time_tick() + AGAIN_NS;
	}
}

static void *run(void *to)
{
	static const struct timespec step = { .tv_nsec = POLL_MS * NS_MS };
	struct live_feed *f = to;
	int64_t due = 0;

	while (!f->is_over) {
		pthread_mutex_lock(&f->lock);
		work(f, &due);
		pthread_mutex_unlock(&f->lock);
		nanosleep(&step, NULL);
	}
	return NULL;
}

/* --- beginning and end ------------------------------------------------------------------------ */

int live_feed_start(struct live_feed **made, const struct live_feed_options *o, struct error *err)
{
	struct live_feed *f = mem_zalloc(sizeof(*f));
	int got = 0;

	f->options = *o;
	if (o->keys)
		got = bus_keys_load(&f->keys, o->keys, err);
	if (got < 0) {
		free(f);
		return got;
	}
	f->face = live_feed_face(f);
	snprintf(f->why, sizeof(f->why), "not reached yet");
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->changed, NULL);
	if (pthread_create(&f->thread, NULL, run, f)) {
		bus_keys_free(f->keys);
		free(f);
		return error_set(err, EAGAIN, "cannot start a thread");
	}
	*made = f;
	return 0;
}

void live_feed_stop(struct live_feed *f)
{
	if (!f)
		return;
	f->is_over = true;
	pthread_mutex_lock(&f->lock);
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
	pthread_join(f->thread, NULL);
	bus_operator_close(f->hub);
	bus_keys_free(f->keys);
	vec_each (&f->queries, q)
		forget(*q);
	vec_done(&f->queries);
	vec_done(&f->peers);
	arena_done(&f->of_peers);
	pthread_cond_destroy(&f->changed);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

const struct live_hub *live_feed_hub(const struct live_feed *f)
{
	return &f->face;
}
