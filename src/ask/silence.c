/*
 * A node that was busy, then gave no sign of life for much longer than it ever did around that
 * time, then was busy again: its process was stopped (a collection of garbage, a signal, a machine
 * that hung). That requests waited through it is what makes it a finding: idle nodes are silent,
 * too. When one node stops, the others soon wait for it and fall silent in turn, but later, and go
 * on later: of silences that overlap the one that began first is told, unless it is much
 * shorter. When all clients wait for it,
 * there is no other sign of life at all: then it must have been the first, and all must have waited
 * for it.
 *
 * A node that is never heard again may have ended as it should: only when others complain from
 * then on, or requests went wrong with it, is it called dead.
 */
#include "ask/silence.h"

#include <math.h>
#include <stdlib.h>

#include "ask/alike.h"
#include "ask/length.h"
#include "base/time.h"

#define LEAST_NS (300 * NS_MS)
#define LEAST_DOUBTFUL_NS NS_S
#define TAKEN_AT_ITS_WORD 0.95
#define LEAST_GONE_NS (2 * NS_S)
#define AROUND_NS (2 * NS_S) /* at least so much before and after is looked at */
#define TIMES_LONGER 3       /* than any other silence around */
#define LEAST_EXPECTED 15
#define LEAST_GONE_EXPECTED 20
#define LEAST_ABRUPT 100 /* signs of life missing, where nobody complains */
#define GO_ON 0.3        /* of what they did before, at least, by peers that go on */
#define LEAST_OTHERS 3   /* signs of life of others in the middle of it */
#define COMPLAINTS_NS (15 * NS_S)
#define LEAST_COMPLAINTS 5
#define COMPLAINTS_MORE 3 /* times as many as before */
#define TOGETHER 20       /* silences begin together within one part of so many of their length */
#define NEARLY_ALL 0.9    /* of the waiting, where all nodes fell silent */
#define LEAST_WAITING 3   /* requests, where none is known to have been there */
#define WAITED 0.4        /* of the silence, by a request that was held up by it */
#define WAITED_TIMES 2    /* its usual time */
#define STILL 20 /* one part of so many of a silence before its end nothing has gone on yet */
#define CANDIDATES_MOST 4096
#define SHUTDOWN_NS NS_S /* nodes that end within so long of each other end together */

void silences_done(struct silences *s)
{
	vec_done(&s->v);
	vec_done(&s->ends);
	vec_done(&s->for_good);
}

static size_t ticks_of(const struct activity *a, int64_t ns)
{
	return (size_t)(ns / a->tick) + 1;
}

static size_t largest_gap(const struct life *l, size_t from, size_t until)
{
	size_t largest = 0;
	struct gap g;

	while (activity_gap(l, from, until, largest + 1, &g)) {
		size_t end = g.until < until ? g.until : until;

		if (end - g.first > largest)
			largest = end - g.first;
		from = g.until;
	}
	return largest;
}

/* How dense the signs of life are in a window, per tick; 0 where the window is no evidence. */
static double density(const struct activity *a, const struct life *l, size_t from, size_t until,
		      size_t gap)
{
	if (until <= from || (until - from) * 2 < gap)
		return 0;
	if (largest_gap(l, from, until) * TIMES_LONGER > gap)
		return 0;
	return (double)activity_count(a, l, from, until) / (double)(until - from);
}

static size_t others_inside(const struct activity *a, const struct life *l, size_t from,
			    size_t until)
{
	size_t margin = (until - from) / 10, nr = 0;

	vec_each (&a->v, other)
		if (other != l)
			nr += activity_count(a, other, from + margin, until - margin);
	return nr;
}

static uint64_t warnings_in(const struct life *l, int64_t from, int64_t until)
{
	uint64_t nr = 0;

	vec_each (&l->warnings, w)
		nr += w->ns >= from && w->ns < until;
	return nr;
}

static void count_complaints(const struct activity *a, const struct life *l, struct silence *s)
{
	int64_t whole = length_ns(s->begin, s->end);
	int64_t len = whole < COMPLAINTS_NS ? whole : COMPLAINTS_NS;

	vec_each (&a->v, other) {
		if (other == l)
			continue;
		s->complaints += warnings_in(other, s->begin, length_after(s->begin, len));
		s->complaints_before += warnings_in(other, length_after(s->begin, -len), s->begin);
	}
}

static void look_at_gap(struct silences *s, const struct activity *a, size_t node,
			const struct gap *g)
{
	const struct life *l = &a->v.v[node];
	size_t len = g->until - g->first;
	size_t around = 2 * len > ticks_of(a, AROUND_NS) ? 2 * len : ticks_of(a, AROUND_NS);
	size_t from = g->first > l->first + around ? g->first - around : l->first;
	size_t until = g->until + around < l->last ? g->until + around : l->last;
	double before = density(a, l, from, g->first, len);
	double after = density(a, l, g->until, until, len);
	struct silence one = { .node = (sym_t)node + 1 };

	one.expected = (before < after ? before : after) * (double)len;
	if (one.expected < LEAST_EXPECTED) {
		one.doubtful = true;
		one.expected = (before > after ? before : after) * (double)len;
	}
	if (one.expected < LEAST_EXPECTED || (one.doubtful && len < ticks_of(a, LEAST_DOUBTFUL_NS)))
		return;
	one.alone = others_inside(a, l, g->first, g->until) >= LEAST_OTHERS;
	one.begin = activity_ns(a, g->first);
	one.end = activity_ns(a, g->until);
	count_complaints(a, l, &one);
	vec_push(&s->v, one);
}

static int by_size(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

/* When half of the other nodes had ended: up to there one should have heard of this one. */
static size_t end_of_others(const struct activity *a, const struct life *l)
{
	size_t lasts[ACTIVITY_NODES], nr = 0;

	vec_each (&a->v, other)
		if (other != l)
			lasts[nr++] = other->last;
	if (!nr)
		return 0;
	qsort(lasts, nr, sizeof(*lasts), by_size);
	return lasts[nr / 2];
}

/* Whether each node of its kind was as busy after this one's last word as before, about: then it
 * was not the load that ended. */
static bool peers_go_on(const struct activity *a, size_t node, size_t from, size_t until)
{
	const struct life *l = &a->v.v[node];
	size_t nr = 0;

	for (size_t i = 0; i < a->v.nr; i++) {
		const struct life *other = &a->v.v[i];
		double before, after;

		if (i == node || !alike_names(names_str(&a->nodes, (sym_t)i + 1),
					      names_str(&a->nodes, (sym_t)node + 1)))
			continue;
		before = (double)activity_count(a, other, from, l->last) /
			 (double)(l->last - from + 1);
		after = (double)activity_count(a, other, l->last, until) /
			(double)(until - l->last + 1);
		if (before <= 0 || after < GO_ON * before)
			return false;
		nr++;
	}
	return nr > 0;
}

/* A node that never was silent for nearly as long while it was at work, and then for good. */
static void look_at_end(struct silences *s, const struct activity *a, size_t node)
{
	const struct life *l = &a->v.v[node];
	size_t end = end_of_others(a, l), len, around, from;
	struct silence one = { .node = (sym_t)node + 1, .for_good = true };

	if (end <= l->last + ticks_of(a, LEAST_GONE_NS + SHUTDOWN_NS))
		return;
	end -= ticks_of(a, SHUTDOWN_NS);
	len = end - l->last;
	around = len > ticks_of(a, COMPLAINTS_NS) ? len : ticks_of(a, COMPLAINTS_NS);
	from = l->last > l->first + around ? l->last - around : l->first;
	if (largest_gap(l, from, l->last + 1) * TIMES_LONGER > len)
		return;
	one.expected = (double)activity_count(a, l, from, l->last + 1) * (double)len /
		       (double)(l->last + 1 - from);
	if (one.expected < LEAST_GONE_EXPECTED)
		return;
	one.abrupt = one.expected >= LEAST_ABRUPT && peers_go_on(a, node, from, end);
	one.begin = activity_ns(a, l->last + 1);
	one.end = activity_ns(a, end);
	count_complaints(a, l, &one);
	vec_push(&s->v, one);
}

static int by_end(const void *a, const void *b)
{
	const struct silence_end *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* Many requests are shown to many silences: each is to find those that it can have met. */
static void put_in_order(struct silences *s)
{
	for (uint32_t i = 0; i < s->v.nr; i++)
		if (s->v.v[i].for_good)
			vec_push(&s->for_good, i);
		else
			vec_push(&s->ends, (struct silence_end){ s->v.v[i].end, i });
	if (s->ends.nr)
		qsort(s->ends.v, s->ends.nr, sizeof(*s->ends.v), by_end);
}

void silences_find(struct silences *s, const struct activity *a)
{
	for (size_t i = 0; i < a->v.nr && a->v.nr > 1; i++) {
		const struct life *l = &a->v.v[i];
		struct gap g;

		for (size_t at = 0; s->v.nr < CANDIDATES_MOST &&
				    activity_gap(l, at, SIZE_MAX, ticks_of(a, LEAST_NS), &g);
		     at = g.until)
			look_at_gap(s, a, i, &g);
		look_at_end(s, a, i);
	}
	put_in_order(s);
}

static bool visits(const struct request_body *body, struct str node)
{
	for (size_t i = 0; i < body->nr_spans; i++)
		if (str_eq(body->spans[i].node, node))
			return true;
	return false;
}

/* The time around a moment in which nothing of the request begins or ends. */
static void still_around(const struct request *r, const struct request_body *body, int64_t at,
			 int64_t *from, int64_t *until)
{
	*from = r->start;
	*until = r->end;
	for (size_t i = 0; i < body->nr_spans; i++) {
		const int64_t times[] = { body->spans[i].start, body->spans[i].end };

		for (int k = 0; k < 2; k++) {
			if (times[k] <= at && times[k] > *from)
				*from = times[k];
			if (times[k] > at && times[k] < *until)
				*until = times[k];
		}
	}
}

/* Whether the request was held up until the node went on: for a good part of the silence, and much
 * longer than its like take. Clients run into it one after the other. What stood still long before
 * and still does long after it waits for something else. */
static bool waited(const struct silence *s, const struct request *r,
		   const struct request_body *body, int64_t median)
{
	int64_t len = length_ns(s->begin, s->end), from = r->start, until, held;

	from = from > s->begin ? from : s->begin;
	held = length_ns(from, s->end);
	if (r->end < s->end || (double)held < WAITED * (double)len ||
	    (double)held < WAITED_TIMES * (double)median)
		return false;
	still_around(r, body, length_after(s->end, -len / STILL), &from, &until);
	return (double)length_ns(from, s->end) >= WAITED * (double)len &&
	       from >= length_after(s->begin, -len / 2) && until <= length_after(s->end, len / 2);
}

/* Under way when the node was heard last, and not well since; or begun since, and failed. */
static bool went_wrong(const struct silence *s, const struct request *r, int64_t median)
{
	if (r->start >= s->begin)
		return r->error;
	return r->end >= length_after(s->begin, -NS_S) &&
	       (r->error || r->incomplete || length_ns(r->start, r->end) / 3 > median);
}

static void meet(struct silence *one, const struct activity *a, const struct request *r,
		 const struct request_body *body, int64_t median)
{
	int64_t ns = length_ns(r->start, r->end);

	one->requests++;
	one->visitors += visits(body, names_str(&a->nodes, one->node));
	one->lost += ns > median ? (double)(ns - median) : 0;
	one->usual += (double)median;
	anomaly_example(&one->found, r->id);
}

/* The first silence that ends after that time. */
static size_t first_after(const struct silences *s, int64_t ns)
{
	size_t low = 0, high = s->ends.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->ends.v[mid].ns <= ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void silences_see(struct silences *s, const struct activity *a, const struct request *r,
		  const struct request_body *body, int64_t median)
{
	vec_each (&s->for_good, at)
		if (went_wrong(&s->v.v[*at], r, median))
			meet(&s->v.v[*at], a, r, body, median);
	/* who was held up by a silence was there when it ended */
	for (size_t i = first_after(s, r->start); i < s->ends.nr && s->ends.v[i].ns <= r->end; i++)
		if (waited(&s->v.v[s->ends.v[i].at], r, body, median))
			meet(&s->v.v[s->ends.v[i].at], a, r, body, median);
}

static bool overlap(const struct silence *a, const struct silence *b)
{
	int64_t from = a->begin > b->begin ? a->begin : b->begin;
	int64_t until = a->end < b->end ? a->end : b->end;
	int64_t x = length_ns(a->begin, a->end), y = length_ns(b->begin, b->end);

	return length_ns(from, until) > (x < y ? x : y) / 2;
}

/* Who waits for another stops later than it; of those that stop together the cause goes on first.
 */
static bool earlier(const struct silence *a, const struct silence *b)
{
	int64_t begins = length_signed(b->begin, a->begin), ends = length_signed(b->end, a->end);
	int64_t together = length_ns(b->begin, b->end) / TOGETHER;

	if (begins < -together || begins > together)
		return begins < 0;
	return ends < 0 || (ends == 0 && a < b);
}

/* Of a silence that may be mere lack of work, only the node itself can tell otherwise. */
static bool is_idle(const struct silence *s)
{
	return s->doubtful && !s->said.n;
}

/* Whether another silence is the likelier reason of the same waiting. */
static bool is_shadow(const struct silences *s, const struct silence *one)
{
	vec_each (&s->v, other) {
		int64_t x = length_ns(one->begin, one->end);
		int64_t y = length_ns(other->begin, other->end);

		if (other == one || other->node == one->node || other->for_good != one->for_good ||
		    is_idle(other) || !overlap(one, other) || (!other->requests && one->requests))
			continue;
		if (y < x / 2)
			continue;
		if (x < y / 2 || earlier(other, one))
			return true;
	}
	return false;
}

/* Where all fall silent, as every client waits: whether it was this node that they wait for. It was
 * the first to be silent, and nearly all that waited have to do with it. */
static bool is_first(const struct silences *s, const struct silence *one)
{
	vec_each (&s->v, other)
		if (other != one && !is_idle(other) && overlap(one, other) &&
		    other->begin <= one->begin)
			return false;
	return one->visitors >= LEAST_WAITING &&
	       (double)one->visitors >= NEARLY_ALL * (double)one->requests;
}

static bool has_complaints(const struct silence *s)
{
	return s->complaints >= LEAST_COMPLAINTS &&
	       s->complaints >= COMPLAINTS_MORE * (s->complaints_before + 1);
}

void silences_judge(struct silences *s, const struct activity *a)
{
	vec_each (&s->v, one) {
		int64_t len = length_ns(one->begin, one->end);
		double trust = 1 - 1 / (2 + (double)(one->requests + one->complaints));

		one->complained = has_complaints(one);
		one->told = one->alone ? one->visitors > 1 || one->requests >= LEAST_WAITING
				       : is_first(s, one);
		if (one->said.n && len >= LEAST_DOUBTFUL_NS) {
			one->told = true;
			trust = TAKEN_AT_ITS_WORD;
		}
		if (one->for_good)
			one->told = one->complained || one->abrupt;
		else if (is_idle(one))
			one->told = false;
		if (!one->told || is_shadow(s, one)) {
			one->told = false;
			continue;
		}
		one->found.kind = one->for_good ? ANOMALY_DEAD : ANOMALY_PAUSE;
		one->found.node = names_str(&a->nodes, one->node);
		one->found.begin = one->begin;
		one->found.end = one->for_good ? NS_NONE : one->end;
		one->found.took = len;
		one->found.others_too = !one->alone;
		one->found.usual =
			one->requests ? length_of(one->usual / (double)one->requests) : 0;
		one->found.often = (double)one->complaints;
		one->found.before = (double)one->complaints_before;
		one->found.requests = one->requests;
		one->found.lost = one->lost;
		one->found.confidence = trust * (1 - exp(-one->expected / 5));
	}
}
