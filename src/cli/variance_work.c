/* Amounts of work in a live variance: values that functions were given or return, told by the user
 * or tried one after the other on the functions that matter. */
#include "ask/variance/factors.h"
#include "base/error.h"
#include "base/time.h"
#include "capture/probe/spec.h"
#include "cli/variance_session.h"

#define FIRST_NS (10 * NS_S) /* a short look is for what varies alone */
#define TRY_NS (3 * NS_S)
#define TRY_SHARE 0.05 /* of the variance: what is less is not worth a try */
#define TRY_AT_ONCE 3
#define TOLD_MAX 4
#define PLAUSIBLE 2147483648.0 /* what is more is an error or a pointer, and no amount */

/* In this order: lengths stand behind what they are the length of. */
static const struct
try {
	const char *name;
	struct probe_take take;
}
tries[] = {
	{ "arg1", { .from = TAKE_ARGUMENT, .argument = 1, .bytes = 4 } },
	{ "arg2", { .from = TAKE_ARGUMENT, .argument = 2, .bytes = 4 } },
	{ "ret", { .from = TAKE_RETURN, .bytes = 4 } },
	{ "arg0", { .from = TAKE_ARGUMENT, .argument = 0, .bytes = 4 } },
	{ "arg3", { .from = TAKE_ARGUMENT, .argument = 3, .bytes = 4 } },
};
#define NR_TRIES (sizeof(tries) / sizeof(*tries))

bool session_work(struct session *s, uint32_t number, const struct interval_spec *spec)
{
	struct watch *n = &s->list.v.v[number];

	if (n->how.is_mark_at_exit)
		return false;
	n->how.is_mark_at_exit = true;
	n->how.at_exit = spec->take;
	n->work = arena_str(&s->functions.arena, spec->text);
	n->is_work_told = true;
	return true;
}

/* All of one amount in the interval; false where a call did not tell it. */
static bool sum_of(const struct interval *v, uint32_t function, double *sum)
{
	*sum = 0;
	for (size_t i = 0; i < v->nr_parts; i++) {
		if (v->parts[i].function != function)
			continue;
		if (v->parts[i].nr_amounts != v->parts[i].nr_calls)
			return false;
		*sum += v->parts[i].amount;
	}
	return true;
}

/* What the user has named goes with whatever is in the interval. */
static size_t told_works(const struct session *s, const struct interval *v,
			 struct variance_work *to)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < s->list.v.nr && nr < TOLD_MAX; i++)
		if (s->list.v.v[i].is_work_told && sum_of(v, i, &to[nr].amount))
			to[nr++].name = s->list.v.v[i].work;
	return nr;
}

/* What was tried is of the function itself. */
static const struct watch *tried_of(const struct session *s, const struct interval_part *p)
{
	const struct watch *n = p->function < s->list.v.nr ? &s->list.v.v[p->function] : NULL;

	return n && n->work.n && !n->is_work_told && p->nr_amounts == p->nr_calls &&
			       p->amount < PLAUSIBLE * p->nr_calls
		       ? n
		       : NULL;
}

void session_take_works(struct session *s, const struct interval *v, const uint32_t *place)
{
	struct variance_work told[TOLD_MAX];
	size_t nr = told_works(s, v, told);

	for (size_t i = 0; i < v->nr_parts; i++) {
		const struct watch *n = tried_of(s, &v->parts[i]);
		struct variance_part *to;
		struct variance_work *works;

		if (v->parts[i].function == PART_BODY || (!nr && !n))
			continue;
		to = &s->parts.v[place[i]];
		works = arena_array(&s->arena, struct variance_work, nr + 1);
		for (size_t k = 0; k < nr; k++)
			works[k] = told[k];
		to->works = works;
		to->nr_works = nr;
		if (n)
			works[to->nr_works++] =
				(struct variance_work){ n->work, v->parts[i].amount };
	}
}

/* The next value of the function, called as it is in specs. */
static void try_next(struct session *s, uint32_t number)
{
	struct watch *n = &s->list.v.v[number];
	const struct try *t = &tries[n->nr_works_tried++];

	n->how.at_exit = t->take;
	n->how.is_mark_at_exit = true;
	n->work = arena_fmt(&s->functions.arena, STR_FMT "(%s)",
			    STR_ARG(s->list.roles.v[number].name), t->name);
}

/* One that tells nothing else when it is left, and has values that were not tried. */
static bool is_worth_it(const struct session *s, uint32_t number, struct str name)
{
	const struct watch *n = &s->list.v.v[number];

	return n->is_on && !n->is_uprobe && !n->is_static && !n->java && !n->is_work_told &&
	       n->nr_works_tried < NR_TRIES && (!n->how.is_mark_at_exit || n->work.n) &&
	       str_eq(s->list.roles.v[number].name, name);
}

/* Of the factors that are not known to go with anything. */
static size_t choose(struct session *s, const struct variance_answer *a, uint32_t *out)
{
	size_t nr = 0;

	for (size_t i = 0; i < a->nr_factors && nr < TRY_AT_ONCE; i++) {
		const struct variance_factor *f = &a->factors[i];
		struct str name = f->name[0];

		if (f->share < TRY_SHARE || f->name[1].n || f->is_inherent ||
		    str_starts(name, STR("wait:")))
			continue;
		if (str_starts(name, STR("body:")))
			name = str_skip(name, 5);
		for (uint32_t k = 0; k < s->list.v.nr && nr < TRY_AT_ONCE; k++)
			if (is_worth_it(s, k, name)) {
				try_next(s, k);
				out[nr++] = k;
			}
	}
	return nr;
}

/* The set of functions stays the same, and so does the round. */
static int watch_anew(struct session *s, const uint32_t *numbers, size_t nr, struct error *err)
{
	struct probe_function how[TRY_AT_ONCE];
	struct probe_verdict verdicts[TRY_AT_ONCE] = { 0 };
	int64_t began = time_tick();
	int got;

	for (size_t i = 0; i < nr; i++)
		how[i] = s->list.v.v[numbers[i]].how;
	probe_pause(s->probe, true);
	got = probe_remove(s->probe, numbers, nr, err);
	if (got >= 0)
		got = probe_add(s->probe, how, nr, verdicts, err);
	probe_pause(s->probe, false);
	for (size_t i = 0; got >= 0 && i < nr; i++)
		if (verdicts[i].means == PROBE_REFUSED) {
			s->list.v.v[numbers[i]].is_on = false;
			s->list.v.v[numbers[i]].out = WATCH_REFUSED;
			s->list.v.v[numbers[i]].why = verdicts[i].why;
		}
	turns_spoil(&s->account.turns);
	intervals_gap(s->intervals, 0, 0, began, time_tick());
	return got < 0 ? got : 0;
}

int session_try_works(struct session *s, struct error *err)
{
	const struct variance_options options = { .min_share = s->options->min_share };
	struct variance_answer a;
	struct arena arena = { 0 };
	uint32_t numbers[TRY_AT_ONCE];
	size_t nr;

	if (time_tick() - s->began < FIRST_NS || time_tick() - s->works_tried < TRY_NS ||
	    s->pace.is_paused || !session_has_seen_enough(s))
		return 0;
	s->works_tried = time_tick();
	variance_answer(s->round.tree, &options, &arena, &a);
	nr = choose(s, &a, numbers);
	arena_done(&arena);
	return nr ? watch_anew(s, numbers, nr, err) : 0;
}
