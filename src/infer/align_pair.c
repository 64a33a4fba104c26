/*
 * A return may seem to come before its call, so nothing here asks for the order of the two. Calls
 * and returns that share caller, callee and id and occur once are a pair. Where ids are missing or
 * used again, returns are taken to come in the order of the calls: that gives wrong pairs where
 * calls overlap, but if every true one takes at least a time, then so does every one of these. What
 * is not known is which return is the first one's, as messages may be lost and stretches begin
 * anywhere. So the calls are taken BLOCK at a time, and the returns from where durations vary
 * least.
 */
#include "infer/align_calls.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "infer/skew.h"

enum { BLOCK = 32, SEARCH_FIRST = 16, SEARCH = 4 };

static uint32_t caller(const struct align_message *m)
{
	return m->op == MESSAGE_CALL ? m->from : m->to;
}

static uint32_t callee(const struct align_message *m)
{
	return m->op == MESSAGE_CALL ? m->to : m->from;
}

static bool is_same_group(const struct align_message *a, const struct align_message *b)
{
	return caller(a) == caller(b) && callee(a) == callee(b) && a->id == b->id;
}

/* Groups, in each the calls first, both in the order of their clocks. */
static int by_group(const void *pa, const void *pb)
{
	const struct align_message *a = pa, *b = pb;

	if (caller(a) != caller(b))
		return caller(a) < caller(b) ? -1 : 1;
	if (callee(a) != callee(b))
		return callee(a) < callee(b) ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->op != b->op)
		return a->op == MESSAGE_CALL ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

static struct align_call *add(struct align_calls *to, const struct align_message *call,
			      const struct align_message *ret)
{
	vec_push(&to->v, (struct align_call){ .start = call->ns,
					      .end = ret ? ret->ns : ALIGN_OPEN,
					      .latest = ret ? ret->ns : ALIGN_OPEN,
					      .start_clock = call->clock,
					      .end_clock = ret ? ret->clock : 0,
					      .from = call->from,
					      .to = call->to });
	return &to->v.v[to->v.nr - 1];
}

/* How a block of calls would last with the returns from some place on. */
struct fit {
	double spread;
	bool is_backward;
};

static struct fit fit_of(const struct align_message *calls, const struct align_message *rets,
			 size_t nr)
{
	struct fit f = { 0 };
	double mean = 0;

	for (size_t i = 0; i < nr; i++) {
		int64_t d = skew_minus(rets[i].ns, calls[i].ns);

		f.is_backward |= d < 0;
		mean += (double)d / (double)nr;
	}
	for (size_t i = 0; i < nr; i++)
		f.spread += fabs((double)skew_minus(rets[i].ns, calls[i].ns) - mean) / (double)nr;
	return f;
}

/* Of those that vary about as little as the best of them, the one nearest to where it should be; nr
 * when there is none. */
static unsigned best_of(const struct fit *fits, unsigned nr, bool is_backward, size_t expected)
{
	double least = INFINITY;
	unsigned best = nr;

	for (unsigned i = 0; i < nr; i++)
		if (fits[i].is_backward == is_backward)
			least = fmin(least, fits[i].spread);
	for (unsigned i = 0; i < nr; i++)
		if (fits[i].is_backward == is_backward && fits[i].spread <= 1.3 * least + 1000 &&
		    (best == nr || i <= expected))
			best = i;
	return best;
}

/*
 * Where the return of the first of these calls stands; nr_rets when there is no telling. That
 * returns come before their calls is believed only when it is far more regular than the contrary,
 * and when later returns could have been chosen as well.
 */
static size_t find_first(const struct align_message *calls, size_t nr,
			 const struct align_message *rets, size_t nr_rets, size_t around,
			 size_t search)
{
	size_t from = around > search ? around - search : 0;
	struct fit fits[2 * SEARCH_FIRST + 1] = { 0 };
	unsigned nr_fits = 0, forward, backward;

	for (size_t at = from; at <= around + search && at + nr <= nr_rets; at++)
		fits[nr_fits++] = fit_of(calls, rets + at, nr);
	forward = best_of(fits, nr_fits, false, around - from);
	backward = best_of(fits, nr_fits, true, around - from);
	if (backward < nr_fits && around + search + nr <= nr_rets &&
	    (forward == nr_fits || 3 * fits[backward].spread + 1000 < fits[forward].spread))
		return from + backward;
	return forward < nr_fits ? from + forward : nr_rets;
}

/* How many of the calls behind this one began before its return. */
static size_t nr_beside(const struct align_message *call, size_t nr, int64_t ret)
{
	size_t beside = 0;

	while (beside + 1 < nr && beside < BLOCK && call[beside + 1].ns < ret)
		beside++;
	return beside;
}

/* The call at the head of nr, and the return at ret that its place gives it. */
static void add_guess(struct align_calls *to, const struct align_message *call, size_t nr,
		      const struct align_message *rets, size_t nr_rets, size_t ret)
{
	struct align_call *made = add(to, call, &rets[ret]);
	size_t beside = nr_beside(call, nr, made->end);
	size_t latest = ret + beside < nr_rets ? ret + beside : nr_rets - 1;

	made->latest = rets[latest].ns;
	made->is_guess = true;
	made->is_beside = beside || (ret && rets[ret - 1].ns > call->ns);
}

static void pair_in_order(const struct align_message *calls, size_t nr_calls,
			  const struct align_message *rets, size_t nr_rets, struct align_calls *to)
{
	size_t at = 0, search = SEARCH_FIRST;

	for (size_t i = 0; i < nr_calls; i += BLOCK) {
		size_t nr = nr_calls - i < BLOCK ? nr_calls - i : BLOCK;
		size_t first = find_first(calls + i, nr, rets, nr_rets, at, search);
		bool is_found = first < nr_rets;

		for (size_t j = 0; j < nr; j++)
			if (is_found)
				add_guess(to, &calls[i + j], nr_calls - i - j, rets, nr_rets,
					  first + j);
			else
				add(to, &calls[i + j], NULL);
		at = is_found ? first + nr : at + nr;
		search = SEARCH;
	}
}

void align_pair(struct align_message *m, size_t nr, struct align_calls *to)
{
	size_t last;

	if (nr)
		qsort(m, nr, sizeof(*m), by_group);
	for (size_t first = 0; first < nr; first = last) {
		size_t nr_calls = 0, nr_rets;

		for (last = first; last < nr && is_same_group(&m[first], &m[last]); last++)
			nr_calls += m[last].op == MESSAGE_CALL;
		nr_rets = last - first - nr_calls;
		if (nr_calls == 1)
			add(to, &m[first], nr_rets == 1 ? &m[first + 1] : NULL);
		else if (nr_calls)
			pair_in_order(m + first, nr_calls, m + first + nr_calls, nr_rets, to);
	}
}
