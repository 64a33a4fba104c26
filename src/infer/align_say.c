/*
 * What messages say about clocks, parents unknown. A call and its return bound each other. What a
 * node calls while it answers lies within one of the calls that it serves; which one is not known,
 * so the most generous one counts: of those that have begun, the one that ends last, and of those
 * that end late enough, the one that began first. Where several are open at once this says little,
 * but what it says is true. Work that goes on after the answer says nothing.
 *
 * Which calls are open when depends on the clocks themselves: the offsets found so far are used,
 * and the whole is said again when they have changed.
 */
#include "infer/align_calls.h"

#include <stdlib.h>

#include "infer/skew.h"

/* A call that a node serves, in corrected time. */
struct served {
	int64_t start, end;
	const struct align_call *call;
};

struct node {
	uint32_t first, nr; /* in served */
	int64_t longest;    /* of the calls that returned; -1 for none */
};

struct saying {
	const struct align_calls *calls;
	struct skew *skew;
	uint32_t nr_nodes;
	struct node *nodes;
	struct served *served; /* of each node in the order of start */
	uint32_t *latest;      /* of served: which of those before ends last */
};

static int64_t start_of(const struct saying *s, const struct align_call *c)
{
	return skew_plus(c->start, skew_offset(s->skew, c->start_clock));
}

static int64_t end_of(const struct saying *s, const struct align_call *c)
{
	return skew_plus(c->end, skew_offset(s->skew, c->end_clock));
}

static int64_t latest_of(const struct saying *s, const struct align_call *c)
{
	return skew_plus(c->latest, skew_offset(s->skew, c->end_clock));
}

static int by_start(const void *pa, const void *pb)
{
	const struct served *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->call > b->call) - (a->call < b->call);
}

/* A call whose return is missing is taken to have lasted as long as any. */
static void serve(const struct saying *s, struct node *n, const struct align_call *c)
{
	int64_t start = start_of(s, c), end = skew_plus(start, n->longest);

	if (c->end != ALIGN_OPEN)
		end = latest_of(s, c);
	else if (n->longest < 0)
		end = INT64_MAX;
	s->served[n->first + n->nr++] = (struct served){ start, end, c };
}

static void order_node(const struct saying *s, const struct node *n)
{
	struct served *v = s->served + n->first;
	uint32_t latest = 0;

	if (n->nr)
		qsort(v, n->nr, sizeof(*v), by_start);
	for (uint32_t i = 0; i < n->nr; i++) {
		if (v[i].end > v[latest].end)
			latest = i;
		s->latest[n->first + i] = latest;
	}
}

static void list_served(struct saying *s)
{
	uint32_t at = 0;

	vec_each (&s->calls->v, c) {
		struct node *n = &s->nodes[c->to];
		int64_t lasted =
			c->end == ALIGN_OPEN ? -1 : skew_minus(end_of(s, c), start_of(s, c));

		if (!n->first++ || lasted > n->longest)
			n->longest = lasted;
	}
	for (uint32_t i = 0; i < s->nr_nodes; i++) {
		uint32_t nr = s->nodes[i].first;

		s->nodes[i].first = at;
		at += nr;
	}
	vec_each (&s->calls->v, c)
		serve(s, &s->nodes[c->to], c);
	for (uint32_t i = 0; i < s->nr_nodes; i++)
		order_node(s, &s->nodes[i]);
}

/* How many of those that the node serves have begun by then. */
static uint32_t begun_by(const struct saying *s, const struct node *n, int64_t ns)
{
	uint32_t lo = 0, hi = n->nr;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->served[n->first + mid].start <= ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The first of nr that ends at that time or later; there is one. */
static const struct served *first_until(const struct saying *s, const struct node *n, uint32_t nr,
					int64_t end)
{
	const struct served *v = s->served + n->first;
	uint32_t lo = 0, hi = nr - 1;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (v[s->latest[n->first + mid]].end >= end)
			hi = mid;
		else
			lo = mid + 1;
	}
	return &v[s->latest[n->first + lo]];
}

static void say_starts(const struct saying *s, const struct align_call *c, const struct served *by)
{
	skew_maybe_after(s->skew, by->call->start_clock, by->call->start, c->start_clock, c->start);
}

/* Nobody is served when the node calls: it is too early, or it is late work. */
static void say_outside(const struct saying *s, const struct node *n, const struct align_call *c,
			uint32_t begun)
{
	const struct served *v = s->served + n->first, *before = NULL;
	int64_t start = start_of(s, c);

	if (begun)
		before = &v[s->latest[n->first + begun - 1]];
	if (begun < n->nr &&
	    (!before || skew_minus(v[begun].start, start) < skew_minus(start, before->end)))
		say_starts(s, c, &v[begun]);
	else if (before && before->call->end != ALIGN_OPEN)
		skew_maybe_after(s->skew, c->start_clock, c->start, before->call->end_clock,
				 before->call->latest);
}

static void say_within(const struct saying *s, const struct align_call *c)
{
	const struct node *n = &s->nodes[c->from];
	int64_t start = start_of(s, c), end;
	uint32_t begun = begun_by(s, n, start);
	bool has_end = c->end != ALIGN_OPEN && !c->is_beside;
	const struct served *last;

	if (!n->nr)
		return;
	last = begun ? &s->served[n->first + s->latest[n->first + begun - 1]] : NULL;
	if (!last || last->end < start) {
		say_outside(s, n, c, begun);
		return;
	}
	end = has_end ? end_of(s, c) : start;
	if (has_end && last->call->end != ALIGN_OPEN)
		skew_maybe_after(s->skew, c->end_clock, c->end, last->call->end_clock,
				 last->call->latest);
	say_starts(s, c, first_until(s, n, begun, end < last->end ? end : last->end));
}

/* When a stretch was cut out, what began before it is missing: its rim says nothing. */
static void find_rim(const struct saying *s, int64_t *from, int64_t *until)
{
	int64_t first = INT64_MAX, last = INT64_MIN;

	*from = INT64_MIN;
	*until = INT64_MAX;
	if (s->calls->is_whole)
		return;
	vec_each (&s->calls->v, c) {
		int64_t at = start_of(s, c);

		first = at < first ? at : first;
		last = at > last ? at : last;
	}
	*from = skew_plus(first, skew_minus(last, first) / 8);
	*until = skew_minus(last, skew_minus(last, first) / 8);
}

void align_say(const struct align_calls *calls, uint32_t nr_nodes, struct skew *skew)
{
	struct saying s = { .calls = calls, .skew = skew, .nr_nodes = nr_nodes };
	int64_t from, until;

	s.nodes = mem_zalloc(mem_bytes(nr_nodes + 1, sizeof(*s.nodes)));
	s.served = mem_alloc(mem_bytes(calls->v.nr + 1, sizeof(*s.served)));
	s.latest = mem_alloc(mem_bytes(calls->v.nr + 1, sizeof(*s.latest)));
	list_served(&s);
	find_rim(&s, &from, &until);
	vec_each (&calls->v, c) {
		int64_t at = start_of(&s, c);

		if (c->from == c->to)
			continue;
		if (c->end != ALIGN_OPEN)
			(c->is_guess ? skew_maybe_after : skew_after)(
				skew, c->start_clock, c->start, c->end_clock, c->end);
		if (at >= from && at <= until)
			say_within(&s, c);
	}
	free(s.nodes);
	free(s.served);
	free(s.latest);
}
