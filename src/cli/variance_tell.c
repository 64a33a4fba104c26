/* How a live variance goes, for people: one line and the first factors, drawn anew every second. */
#include <stdio.h>
#include <unistd.h>

#include "ask/variance/factors.h"
#include "base/buf.h"
#include "base/time.h"
#include "cli/variance_session.h"

#define FACTORS_SHOWN 5

static size_t count_out(const struct watchlist *p, enum watch_out out)
{
	size_t nr = 0;

	vec_each (&p->v, n)
		nr += n->out == out;
	return nr;
}

static void tell_line(const struct session *s)
{
	size_t hot = count_out(&s->list, WATCH_HOT), refused = count_out(&s->list, WATCH_REFUSED);

	fprintf(stderr, "round %u  %.0f s  %llu intervals  %zu functions watched", s->round.number,
		(double)(time_tick() - s->began) / 1e9, (unsigned long long)s->round.nr_intervals,
		watchlist_nr_on(&s->list));
	if (refused)
		fprintf(stderr, ", %zu cannot be", refused);
	if (hot)
		fprintf(stderr, ", %zu too busy", hot);
	fprintf(stderr, "  cost %.1f %%%s\n", 100 * cost_overhead(s).all,
		s->pace.is_paused ? " (pause)" : "");
}

static unsigned tell_factors(const struct session *s)
{
	const struct variance_options options = { .min_share = s->options->min_share };
	struct variance_answer a;
	struct arena arena = { 0 };
	unsigned nr = 0;

	variance_answer(s->round.tree, &options, &arena, &a);
	for (size_t i = 0; i < a.nr_factors && nr < FACTORS_SHOWN; i++, nr++) {
		const struct variance_factor *f = &a.factors[i];

		fprintf(stderr, "  %5.1f %%  " STR_FMT "%s" STR_FMT "\n", 100 * f->share,
			STR_ARG(f->name[0]), f->name[1].n ? " with " : "", STR_ARG(f->name[1]));
	}
	arena_done(&arena);
	return nr;
}

void session_tell(struct session *s, bool is_round_over)
{
	s->told = time_tick();
	if (!isatty(STDERR_FILENO) || s->options->command) {
		if (is_round_over && s->round.looked == s->round.began)
			tell_line(s);
		return;
	}
	if (s->nr_drawn)
		fprintf(stderr, "\033[%uA", s->nr_drawn);
	fputs("\033[J", stderr);
	tell_line(s);
	s->nr_drawn = 1;
	if (s->round.nr_intervals > 1)
		s->nr_drawn += tell_factors(s);
	fflush(stderr);
}
