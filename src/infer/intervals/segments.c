/*
 * Intervals that marks tell: which are under way, and which thread works for which of them when.
 * Each stretch keeps what its thread did in it, until the interval has ended and calls that were
 * around its end are known.
 */
#include <stdlib.h>
#include <string.h>

#include "infer/intervals/state.h"

static bool is_under_way(const struct way_ref *r)
{
	return r->way && r->way->serial == r->serial && !r->way->is_ended;
}

static struct way_ref ref_of(struct under_way *w)
{
	return (struct way_ref){ w, w ? w->serial : 0 };
}

static struct track *track_of(struct intervals *s, const struct event_of *e)
{
	return &s->tracks.v[e->track];
}

static uint32_t number_of(const struct intervals *s, const struct track *t)
{
	return (uint32_t)(t - s->tracks.v);
}

static void unlist(struct intervals *s, struct under_way *w)
{
	*(w->before ? &w->before->after : &s->oldest) = w->after;
	*(w->after ? &w->after->before : &s->newest) = w->before;
	w->before = w->after = NULL;
	s->nr_under_way--;
}

static void list(struct intervals *s, struct under_way *w)
{
	w->before = s->newest;
	w->after = NULL;
	*(s->newest ? &s->newest->after : &s->oldest) = w;
	s->newest = w;
	s->nr_under_way++;
}

/* The table has no way to forget: a value without intervals has none in its chain. */
static void forget_value(struct intervals *s, struct under_way *w)
{
	struct under_way *first;
	uint64_t *slot;

	if (!w->has_value)
		return;
	slot = map_find(&s->by_value, w->value);
	first = slot ? (struct under_way *)(uintptr_t)*slot : NULL;
	if (first == w) {
		*slot = (uint64_t)(uintptr_t)w->same;
		s->nr_values -= !w->same;
		return;
	}
	while (first && first->same != w)
		first = first->same;
	if (first)
		first->same = w->same;
}

/* Values come and go: now and then those that are gone are thrown out. */
static void keep_values_few(struct intervals *s)
{
	struct map old = s->by_value;
	const struct map_slot *v = NULL;

	if (old.nr < 4096 || old.nr < 4 * s->nr_values)
		return;
	s->by_value = (struct map){ 0 };
	while ((v = map_next(&old, v)))
		if (v->value)
			*map_at(&s->by_value, v->key) = v->value;
	map_done(&old);
}

static void remember_value(struct intervals *s, struct under_way *w)
{
	uint64_t *slot;

	keep_values_few(s);
	slot = map_at(&s->by_value, w->value);
	s->nr_values += !*slot;
	w->same = (struct under_way *)(uintptr_t)*slot;
	*slot = (uint64_t)(uintptr_t)w;
}

static void close_segment(struct intervals *s, struct track *t, int64_t ns)
{
	struct segment *g = t->at;

	if (!g)
		return;
	g->end = ns;
	/* another thread ended the interval, and this one waits: the rest is of no interval */
	if (t->off_ns) {
		track_waited(s, t, ns);
		if (t->woken_ns)
			t->why = WAIT_CPU;
		t->off_ns = ns;
	}
	vec_push(&t->held, g);
	t->at = NULL;
}

/* Its segments are freed when threads are gone through next. */
static void free_way(struct intervals *s, struct under_way *w)
{
	vec_each (&w->segments, g) {
		struct track *t = &s->tracks.v[(*g)->thread];

		if (t->at == *g)
			close_segment(s, t, s->now_ns);
		(*g)->of = NULL;
	}
	vec_clear(&w->segments);
	vec_clear(&w->puts);
	w->serial = ++s->nr_serials;
	w->is_ended = true;
	w->same = s->spare_ways;
	s->spare_ways = w;
}

static void give_up(struct intervals *s, struct under_way *w, enum loss loss)
{
	intervals_lose(s, loss, 1);
	unlist(s, w);
	forget_value(s, w);
	free_way(s, w);
}

static struct under_way *new_way(struct intervals *s)
{
	struct under_way *w = s->spare_ways, empty = { .serial = ++s->nr_serials };

	if (!w) {
		w = mem_zalloc(sizeof(*w));
	} else {
		s->spare_ways = w->same;
		memcpy(&empty.segments, &w->segments, sizeof(empty.segments));
		memcpy(&empty.puts, &w->puts, sizeof(empty.puts));
	}
	*w = empty;
	return w;
}

static struct segment *open_segment(struct intervals *s, struct track *t, struct under_way *w,
				    const struct event_of *e, int64_t ns)
{
	struct segment *g;

	close_segment(s, t, ns);
	thread_log_clear(&t->idle);
	if (w->segments.nr == SEGMENTS_MAX) {
		w->has_gap = true;
		return NULL;
	}
	g = mem_zalloc(sizeof(*g));
	*g = (struct segment){ .of = w,
			       .thread = number_of(s, t),
			       .opener = e->function,
			       .start = ns,
			       .end = INT64_MAX,
			       .idle_ns = INT64_MAX,
			       .from = { NO_THREAD, 0 } };
	if (s->spare.nr)
		g->log = s->spare.v[--s->spare.nr];
	vec_push(&w->segments, g);
	t->at = g;
	return g;
}

/* The interval of that value: of this process, or else the only one. */
static struct under_way *find_value(struct intervals *s, const struct track *t, uint64_t value)
{
	uint64_t *slot = map_find(&s->by_value, value);
	struct under_way *first = slot ? (struct under_way *)(uintptr_t)*slot : NULL, *w;

	for (w = first; w; w = w->same)
		if (s->tracks.v[w->thread].process == t->process)
			return w;
	return first && !first->same ? first : NULL;
}

/* False where the mark has no value, and others of its function have. */
static bool is_readable(struct intervals *s, const struct event_of *e)
{
	while (s->is_valued.nr <= e->function)
		vec_push(&s->is_valued, false);
	if (e->has_value)
		s->is_valued.v[e->function] = true;
	if (e->has_value || !s->is_valued.v[e->function])
		return true;
	intervals_lose(s, LOSS_MARKS_NO_VALUE, 1);
	return false;
}

static struct under_way *find_way(struct intervals *s, const struct track *t,
				  const struct event_of *e)
{
	struct under_way *w = NULL;

	if (e->has_value)
		w = find_value(s, t, e->value);
	else if (is_under_way(&t->own))
		w = t->own.way;
	else if (t->at)
		w = t->at->of;
	if (!w)
		intervals_lose(s, LOSS_MARKS_UNKNOWN, 1);
	return w;
}

static struct under_way *begin(struct intervals *s, struct track *t, const struct event_of *e)
{
	struct under_way *old = NULL, *w;

	if (e->has_value)
		old = find_value(s, t, e->value);
	else if (is_under_way(&t->own))
		old = t->own.way;
	if (old && s->tracks.v[old->thread].process == t->process)
		give_up(s, old, LOSS_INTERVALS_OPEN);
	if (s->nr_under_way == UNDER_WAY_MAX)
		give_up(s, s->oldest, LOSS_INTERVALS_GIVEN_UP);
	w = new_way(s);
	w->value = e->value;
	w->has_value = e->has_value;
	w->function = e->function;
	w->thread = number_of(s, t);
	w->start = e->ns;
	list(s, w);
	if (e->has_value)
		remember_value(s, w);
	else
		t->own = ref_of(w);
	open_segment(s, t, w, e, e->ns);
	return w;
}

/* Who handed the interval to this thread: as marks say, else who woke it while working for it. */
static struct handed_on handed_by(struct under_way *w, const struct track *t)
{
	if (w->next_put < w->puts.nr)
		return w->puts.v[w->next_put++];
	if (t->made_for.way == w && t->made_for.serial == w->serial)
		return t->made_by;
	return (struct handed_on){ NO_THREAD, 0 };
}

static void carry(struct intervals *s, struct track *t, const struct event_of *e, bool is_call)
{
	struct under_way *w = find_way(s, t, e);
	struct segment *g;

	if (is_call)
		vec_push(&t->carries, (struct whole_entry){ e->ns, e->function,
							    ref_of(t->at ? t->at->of : NULL) });
	if (w && t->at && t->at->of == w)
		return;
	if (!w) {
		close_segment(s, t, e->ns);
		return;
	}
	g = open_segment(s, t, w, e, e->ns);
	if (!g)
		return;
	g->is_call = is_call;
	g->from = handed_by(w, t);
}

static void put(struct intervals *s, struct track *t, const struct event_of *e)
{
	struct under_way *w = find_way(s, t, e);

	if (!w)
		return;
	if (w->puts.nr == SEGMENTS_MAX) {
		w->has_gap = true;
		return;
	}
	vec_push(&w->puts, (struct handed_on){ number_of(s, t), e->ns });
}

/* It was not told that the thread works for this interval: since its last mark, or since it went on
 * after its last wait. */
static void guess_segment(struct intervals *s, struct track *t, struct under_way *w,
			  const struct event_of *e)
{
	int64_t ns = t->mark_ns > t->wake_ns ? t->mark_ns : t->wake_ns;
	struct thread_log did = t->idle;
	struct segment *g;

	if (t->at)
		return; /* it works for another one, as marks say */
	if (ns < w->start)
		ns = w->start;
	t->idle = (struct thread_log){ 0 };
	intervals_lose(s, LOSS_HANDOFFS_GUESSED, 1);
	g = open_segment(s, t, w, e, ns);
	if (!g) {
		thread_log_done(&did);
		return;
	}
	vec_push(&s->spare, g->log);
	g->log = did;
	g->from = handed_by(w, t);
}

static void end(struct intervals *s, struct track *t, struct under_way *w, const struct event_of *e)
{
	if (!t->at || t->at->of != w)
		guess_segment(s, t, w, e);
	w->end = e->ns;
	w->end_thread = number_of(s, t);
	vec_each (&w->segments, g) {
		struct track *at = &s->tracks.v[(*g)->thread];

		if (at->at == *g)
			close_segment(s, at, e->ns);
	}
	unlist(s, w);
	forget_value(s, w);
	w->is_ended = true;
	vec_push(&s->ended, w);
}

void segments_mark(struct intervals *s, const struct event_of *e)
{
	struct track *t = track_of(s, e);
	struct under_way *w;

	s->now_ns = e->ns;
	if (!is_readable(s, e))
		return;
	switch (role_of(s, e->function)) {
	case ROLE_NONE:
		return;
	case ROLE_WHOLE:
		if (e->detail == MARK_ENTRY && whole_entered(s, t, e))
			t->whole_of = ref_of(begin(s, t, e));
		break;
	case ROLE_BEGIN:
		begin(s, t, e);
		break;
	case ROLE_END:
		w = find_way(s, t, e);
		if (w)
			end(s, t, w, e);
		break;
	case ROLE_CARRY:
		carry(s, t, e, e->detail == MARK_ENTRY);
		break;
	case ROLE_TAKE:
		carry(s, t, e, false);
		break;
	case ROLE_PUT:
		put(s, t, e);
		break;
	}
	t->mark_ns = e->ns;
}

/* What the thread worked for before it came to the call that ends now. */
static void resume(struct intervals *s, struct track *t, const struct event_of *e)
{
	struct way_ref before = { 0 };
	size_t was = t->carries.nr;

	while (t->carries.nr && t->carries.v[t->carries.nr - 1].ns >= e->start)
		before = t->carries.v[--t->carries.nr].before;
	if (was == t->carries.nr) {
		if (!was || t->carries.v[was - 1].function != e->function)
			return;
		before = t->carries.v[--t->carries.nr].before;
	}
	if (t->at && before.way == t->at->of)
		return;
	if (t->at && !t->at->is_call)
		return; /* a later mark said what it works for */
	if (t->at && !is_under_way(&before)) {
		/* what it tells others now is still of that work, until it waits for more */
		t->at->is_call = false;
		t->at->is_tail = true;
		t->at->idle_ns = INT64_MAX;
		return;
	}
	close_segment(s, t, e->ns);
	if (is_under_way(&before))
		open_segment(s, t, before.way, e, e->ns);
}

void segments_call_end(struct intervals *s, const struct event_of *e)
{
	struct track *t = track_of(s, e);

	s->now_ns = e->ns;
	if (role_of(s, e->function) == ROLE_CARRY) {
		resume(s, t, e);
	} else if (e->function < s->is_marked.nr && s->is_marked.v[e->function] && t->whole.nr &&
		   whole_leave(s, t, e->start, e->function)) {
		if (is_under_way(&t->whole_of))
			end(s, t, t->whole_of.way, e);
		t->whole_of = (struct way_ref){ 0 };
	}
}

void segments_off(struct intervals *s, struct track *t)
{
	if (t->why == WAIT_CPU || t->why == WAIT_LOCK)
		return;
	if (t->at)
		t->at->idle_ns = t->off_ns;
	if (t->at && t->at->is_tail)
		close_segment(s, t, t->off_ns);
}

void segments_woken(struct intervals *s, struct track *t, int64_t ns, uint32_t waker)
{
	const struct segment *g = waker == NO_THREAD ? NULL : s->tracks.v[waker].at;

	if (!g)
		return;
	t->made_by = (struct handed_on){ waker, ns };
	t->made_for = ref_of(g->of);
}

void segments_waited(struct track *t, const struct woken_wait *w)
{
	if (!t->at)
		return;
	if (t->at->waits.nr == WAITS_MAX)
		t->at->of->has_gap = true;
	else
		vec_push(&t->at->waits, *w);
}

void segments_late(struct track *t, const struct function_call *c)
{
	for (size_t i = t->held.nr; i-- > 0;) {
		struct segment *g = t->held.v[i];

		if (g->end <= c->start)
			return;
		if (g->of && c->end <= g->end + HOLD_NS)
			thread_log_call(&g->log, c);
	}
}

void segments_lost(struct intervals *s, struct track *t)
{
	if (is_under_way(&t->whole_of))
		give_up(s, t->whole_of.way, LOSS_CALLS_LATE);
	t->whole_of = (struct way_ref){ 0 };
}

static void free_segment(struct intervals *s, struct segment *g)
{
	vec_done(&g->waits);
	thread_log_clear(&g->log);
	g->log.nr_left = 0;
	if (s->spare.nr < 1024)
		vec_push(&s->spare, g->log);
	else
		thread_log_done(&g->log);
	free(g);
}

static void drop_held(struct intervals *s, struct track *t)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->held.nr; i++) {
		if (t->held.v[i]->of)
			t->held.v[nr++] = t->held.v[i];
		else
			free_segment(s, t->held.v[i]);
	}
	t->held.nr = nr;
}

void segments_settle(struct intervals *s)
{
	size_t nr = 0, left;

	while (nr < s->ended.nr && s->ended.v[nr]->end < s->until - HOLD_NS) {
		struct under_way *w = s->ended.v[nr++];

		vec_push(&s->ready, across_done(s, w));
		free_way(s, w);
	}
	left = s->ended.nr - nr;
	for (size_t i = 0; i < left; i++)
		s->ended.v[i] = s->ended.v[i + nr];
	s->ended.nr = left;
	vec_each (&s->tracks, t)
		drop_held(s, t);
}

void segments_close(struct intervals *s)
{
	while (s->oldest)
		give_up(s, s->oldest, LOSS_INTERVALS_OPEN);
	vec_each (&s->tracks, t)
		drop_held(s, t);
	while (s->spare_ways) {
		struct under_way *w = s->spare_ways;

		s->spare_ways = w->same;
		vec_done(&w->segments);
		vec_done(&w->puts);
		free(w);
	}
}
