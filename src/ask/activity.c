/*
 * Each node has one bit for each tick of the run. The tick is as fine as the room for all allows,
 * so that memory is bounded by the number of nodes, not by that of the lines.
 */
#include "ask/activity.h"

#include <stdlib.h>

#include "ask/length.h"
#include "base/time.h"
#include "store/store.h"

#define FINEST (5 * NS_MS)
#define TICKS_MOST (1u << 22)
#define WARNINGS_KEPT 4096 /* of each node */
#define WAKES_KEPT 4096    /* likewise */
#define KEPT_BYTES ((size_t)32 << 20)

void activity_done(struct activity *a)
{
	vec_each (&a->v, l) {
		free(l->ticks);
		vec_done(&l->warnings);
		vec_done(&l->wakes);
	}
	vec_done(&a->v);
	names_done(&a->nodes);
	peers_done(&a->spent);
	peer_faults_done(&a->spent_faults);
}

size_t activity_tick(const struct activity *a, int64_t ns)
{
	int64_t at = length_ns(a->from, ns) / a->tick;

	return (size_t)at < a->nr_ticks ? (size_t)at : a->nr_ticks - 1;
}

static struct life *life_of(struct activity *a, struct str node)
{
	sym_t sym = names_find(&a->nodes, node);

	if (!sym) {
		if (!node.n || a->v.nr >= ACTIVITY_NODES)
			return NULL;
		sym = names_add(&a->nodes, node);
		vec_push(&a->v, (struct life){ .ticks = mem_zalloc((a->nr_ticks + 63) / 64 * 8) });
	}
	return &a->v.v[sym - 1];
}

static void see(struct activity *a, struct life *l, int64_t ns)
{
	size_t tick = activity_tick(a, ns);

	l->ticks[tick / 64] |= (uint64_t)1 << (tick % 64);
	if (!l->nr_seen || tick < l->first)
		l->first = tick;
	if (!l->nr_seen || tick > l->last)
		l->last = tick;
	l->nr_seen++;
}

static void see_spent(struct activity *a, const struct event *ev)
{
	struct peer_work w = { .name = ev->title, .size = 1 };
	sym_t node = peers_label(&a->spent, ev->node);

	peers_add(&a->spent, &w, &node, 1,
		  &(struct peer_sample){ .at = length_after(ev->ns, -ev->duration),
					 .ns = ev->duration });
}

/* Lines just after a silence may be about it. Who was at work before it and then says how long
 * something took speaks of his work. */
static void see_wake(struct life *l, const struct event *ev, uint64_t number)
{
	uint64_t hash = str_hash(ev->thread);
	size_t at = hash % LIFE_THREADS;
	int64_t before;
	bool knew;

	if (l->nr_tail && length_ns(l->tail_ns, ev->ns) >= ACTIVITY_WAKE_NS) {
		l->silent_from = l->tail_ns;
		l->silent_until = ev->ns;
	}
	before = length_after(l->silent_from, -length_ns(l->silent_from, l->silent_until));
	knew = l->threads[at].hash == hash && l->threads[at].ns >= before;
	if (ev->thread.n && !knew && l->silent_until > l->silent_from &&
	    ev->ns <= length_after(l->silent_until, ACTIVITY_JUST_AFTER_NS) &&
	    l->wakes.nr < WAKES_KEPT)
		vec_push(&l->wakes, (struct wake){ l->silent_from, l->silent_until, number });
	l->threads[at].hash = hash;
	l->threads[at].ns = ev->ns;
}

static int see_event(void *ctx, uint64_t number, const struct event *ev)
{
	struct activity *a = ctx;
	struct life *l;

	if (ev->ns == NS_NONE)
		return 0;
	l = life_of(a, ev->node);
	if (!l) {
		a->nr_unwatched += ev->node.n > 0;
		return 0;
	}
	see_wake(l, ev, number);
	see(a, l, ev->ns);
	if (!l->nr_tail || ev->ns >= l->tail_ns) {
		l->tail[l->nr_tail++ % LIFE_TAIL] = number;
		l->tail_ns = ev->ns;
	}
	if (ev->duration >= 0 && ev->title.n)
		see_spent(a, ev);
	if (ev->level < LEVEL_WARN)
		return 0;
	l->nr_warnings++;
	if (l->warnings.nr < WARNINGS_KEPT)
		vec_push(&l->warnings, (struct warning){ ev->ns, number });
	return 0;
}

static int see_body(void *ctx, const struct request *r, const struct request_body *body)
{
	struct activity *a = ctx;

	(void)r;
	for (size_t i = 0; i < body->nr_spans; i++) {
		const struct span *s = &body->spans[i];
		struct life *l = life_of(a, s->node);

		if (!l)
			continue;
		see(a, l, s->start);
		see(a, l, s->end);
	}
	return 0;
}

static int by_time(const void *x, const void *y)
{
	const struct warning *a = x, *b = y;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->event > b->event) - (a->event < b->event);
}

int activity_collect(struct activity *a, struct store *s, struct error *err)
{
	struct store_totals totals;
	int64_t whole;
	int r = store_totals(s, &totals, err);

	*a = (struct activity){ 0 };
	if (r < 0 || totals.first_ns == NS_NONE)
		return r;
	whole = length_ns(totals.first_ns, totals.last_ns);
	a->from = totals.first_ns;
	a->tick = whole / TICKS_MOST + 1 > FINEST ? whole / TICKS_MOST + 1 : FINEST;
	a->nr_ticks = (size_t)(whole / a->tick) + 1;
	a->is_of_lines = totals.nr_events;
	r = totals.nr_events ? store_each_event(s, 0, totals.nr_events, see_event, a, err)
			     : store_each_body(s, &(struct request_filter){ 0 }, see_body, a, err);
	vec_each (&a->v, l)
		if (l->warnings.nr)
			qsort(l->warnings.v, l->warnings.nr, sizeof(*l->warnings.v), by_time);
	if (r >= 0)
		peers_find(&a->spent, &a->spent_faults);
	return r;
}

void activity_free(struct activity *a)
{
	if (!a)
		return;
	activity_done(a);
	free(a);
}

static void free_memo(void *memo)
{
	activity_free(memo);
}

/* Whether it is worth its room. */
static bool is_small(const struct activity *a)
{
	return a->v.nr * (a->nr_ticks / 8) + a->spent.nr_samples * sizeof(struct peer_sample) <=
	       KEPT_BYTES;
}

int activity_take(const struct activity **a, struct activity **own, struct store *s,
		  struct error *err)
{
	struct activity *made;
	int r;

	*own = NULL;
	*a = store_memo(s, "activity");
	if (*a)
		return 0;
	made = mem_zalloc(sizeof(*made));
	*a = made;
	r = activity_collect(made, s, err);
	if (r < 0 || !made->is_of_lines || !is_small(made) ||
	    !store_set_memo(s, "activity", made, free_memo))
		*own = made;
	return r;
}

size_t activity_count(const struct activity *a, const struct life *l, size_t from, size_t until)
{
	size_t nr = 0;

	if (until > a->nr_ticks)
		until = a->nr_ticks;
	for (size_t i = from; i < until;) {
		uint64_t word = l->ticks[i / 64] >> (i % 64);
		size_t len = 64 - i % 64;

		if (len > until - i) {
			len = until - i;
			word &= ((uint64_t)1 << len) - 1;
		}
		nr += (size_t)__builtin_popcountll(word);
		i += len;
	}
	return nr;
}

/* The first tick at or after i whose bit is as asked, or the end of the life. */
static size_t seek(const struct life *l, size_t i, bool set)
{
	while (i <= l->last) {
		uint64_t word = (set ? l->ticks[i / 64] : ~l->ticks[i / 64]) >> (i % 64);

		if (word) {
			i += (size_t)__builtin_ctzll(word);
			return i <= l->last ? i : l->last + 1;
		}
		i += 64 - i % 64;
	}
	return l->last + 1;
}

bool activity_gap(const struct life *l, size_t from, size_t before, size_t least, struct gap *g)
{
	size_t at = from > l->first ? from : l->first;

	while (at <= l->last && at < before) {
		size_t first = seek(l, at, false), until = seek(l, first, true);

		if (until > l->last || first >= before)
			return false;
		if (until - first >= least) {
			*g = (struct gap){ first, until };
			return true;
		}
		at = until;
	}
	return false;
}
