#include "ask/variance/variance.h"

#include <errno.h>

#include "ask/object_level.h"
#include "ask/variance/factors.h"
#include "ask/variance/tell.h"
#include "ask/varying.h"
#include "base/error.h"
#include "report/report.h"
#include "store/store.h"

#define WHAT_IF 12 /* factors that are supposed to be constant */
#define STEPS 10   /* between constant and as it is */
#define MIN_SHARE 0.01
#define OTHERS_NAMED 5
#define OTHERS_LISTED 50

static int find_type(struct varying *v, struct store *s, const char *name, struct error *err)
{
	struct str type;
	int r = name ? store_find_type(s, str_of(name), &type, err) : 1;

	if (r <= 0)
		return r < 0 ? r : -EINVAL;
	if (name)
		v->type = types_find(&v->types, type);
	return 0;
}

static int see_all(struct varying *v, struct store *s, struct error *err)
{
	int r = varying_learn(v, v, s, err);

	return r < 0 ? r : varying_see(v, s, err);
}

/* --- telling --------------------------------------------------------------------------------- */

static const struct column bare[] = { { NULL, NULL, CELL_TEXT, 0 } };
static const struct column other_columns[] = { { "types", NULL, CELL_ROWS, 0 } };

static void say_others(const struct varying *a, struct report *report)
{
	struct section *s, *facts, *types;
	struct buf text = { 0 };
	struct prose *p;
	size_t nr = 0;

	if (a->types.order.nr < 2)
		return;
	s = report_section(report, SECTION_PROSE, "others", "");
	facts = section_facts(s, other_columns, 1);
	types = row_rows(facts, section_row(facts), 0, bare, 1);
	vec_each (&a->types.order, i) {
		struct str name = a->types.v.v[*i].name;

		if (*i == a->type || nr == OTHERS_LISTED)
			continue;
		row_text(types, section_row(types), 0, name);
		if (nr++ < OTHERS_NAMED)
			buf_fmt(&text, "%s" STR_FMT, nr > 1 ? ", " : "", STR_ARG(name));
	}
	if (a->types.order.nr - 1 > OTHERS_NAMED)
		buf_fmt(&text, " and %zu more", a->types.order.nr - 1 - OTHERS_NAMED);
	p = section_say(s, NULL, "Other types (--type): " STR_FMT ".", STR_ARG(buf_str(&text)));
	p->confidence = -1;
	p->facts = facts;
	buf_done(&text);
}

static int read_options(const struct args *args, struct variance_options *o,
			struct variance_telling *how, struct error *err)
{
	uint64_t top = 0;
	int r = object_level_check(args_get(args, "level"), err);

	*o = (struct variance_options){ .sites = args_has(args, "sites"),
					.min_share = MIN_SHARE,
					.nr_what_if = WHAT_IF };
	*how = (struct variance_telling){ .for_people = args_for_people(args),
					  .tree = args_has(args, "tree"),
					  .tail = args_has(args, "tail"),
					  .unit = "requests" };
	if (r >= 0)
		r = args_uint(args, "top", &top, err);
	if (r >= 0)
		r = args_share(args, "min-share", &how->min_share, err);
	if (how->min_share > 0)
		o->min_share = how->min_share;
	how->top = (size_t)top;
	o->nr_steps = how->nr_steps = how->for_people ? 0 : STEPS;
	if (args_has(args, "what-if"))
		how->what_if = str_of(args_get(args, "what-if"));
	return r;
}

static void say_rounds(const struct varying *v, struct report *report)
{
	struct section *s;

	if (!v->nr_other_rounds)
		return;
	s = report_section(report, SECTION_PROSE, "rounds", "");
	s->text_only = true;
	section_say(s, NULL,
		    "Of round %llu, in which these functions were watched; %llu of other rounds, "
		    "or kept for being slow, are not in it.",
		    (unsigned long long)v->round, (unsigned long long)v->nr_other_rounds)
		->confidence = -1;
}

static int tell(struct varying *v, const struct variance_options *o,
		const struct variance_telling *how, struct report *report, struct error *err)
{
	struct variance_counts counts;
	struct variance_answer answer;
	struct variance_if unused;
	struct arena arena = { 0 };
	int r;

	if (how->what_if.n && !variance_what_if(v->tree, how->what_if, 1, false, &unused))
		return error_set(err, EINVAL,
				 "'" STR_FMT
				 "' is no part of this type: see --tree for those that are",
				 STR_ARG(how->what_if));
	variance_answer(v->tree, o, &arena, &answer);
	if (!v->nr_other_rounds) {
		answer.p50 = v->p50;
		answer.p99 = v->p99;
	}
	variance_tree_count(v->tree, &counts);
	report->losses.count[LOSS_PARTS_FOLDED] += counts.nr_folded;
	r = variance_tell(&answer, v->tree, how, report);
	say_rounds(v, report);
	arena_done(&arena);
	return r;
}

static int run(struct store *const *runs, const struct args *args, struct report *report,
	       struct error *err)
{
	const char *name = args_get(args, "interval");
	struct variance_options o;
	struct variance_telling how;
	struct varying v = { 0 };
	int r = read_options(args, &o, &how, err);

	if (r >= 0)
		r = varying_collect(&v, runs[0], NULL, err);
	if (r >= 0)
		r = find_type(&v, runs[0], name, err);
	if (r >= 0 && v.type != TYPE_NONE) {
		r = see_all(&v, runs[0], err);
		if (r >= 0)
			r = tell(&v, &o, &how, report, err);
		if (r >= 0 && !name)
			say_others(&v, report);
	} else if (r >= 0) {
		section_say(report_section(report, SECTION_PROSE, "summary", ""), NULL,
			    "There are no requests.");
		r = 1;
	}
	varying_done(&v);
	return r;
}

static const struct option options[] = {
	{ "interval", "WHAT...",
	  "the type of request (default: the one that adds most to the variance of all); of a "
	  "process "
	  "a function, or 'begin(id=arg0) .. end(id=arg0)'" },
	{ "top", "N", "so many factors at the most" },
	{ "min-share", "SHARE", "only factors that are so much of the variance at least" },
	{ "sites", NULL, "the same function in different places apart" },
	{ "tree", NULL, "the whole tree" },
	{ "tail", NULL, "what the slowest hundredth has that usual requests have not" },
	{ "what-if", "NAME", "how long requests would take if this varied less" },
	OBJECT_LEVEL_OPTION,
	{ 0 },
};

static const struct example examples[] = {
	{ "variance run.culprit", "which step makes the latency vary, and by how much" },
	{ "variance run.culprit --type checkout --tail --json", "one type, for a script" },
	{ 0 },
};

const struct question ask_variance = {
	.name = "variance",
	.summary = "rank what makes the latency of a type vary",
	.nr_runs = 1,
	.options = options,
	.examples = examples,
	.run = run,
};
