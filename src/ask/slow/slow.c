#include "ask/slow/slow.h"

#include "ask/findings.h"
#include "ask/length.h"
#include "ask/object_level.h"
#include "ask/tell.h"
#include "ask/when.h"
#include "base/time.h"
#include "report/report.h"
#include "store/store.h"

#define SLOW_SHARE 0.01
#define ROWS_SHOWN 12    /* hops of one type that people see */
#define TYPES_SHOWN 10   /* types that people see */
#define MORE_OFTEN 1.5   /* a hop that happens so many times as often is worth a row */
#define LEAST_REQUESTS 3 /* a hop only in slow requests must be in so many of them */

enum {
	TYPE,
	WHAT,
	NODE,
	NAME,
	PATH,
	SLOW,
	NORMAL,
	DELTA,
	SHARE,
	CONFIDENCE,
	REQUESTS,
	OFTEN,
	USUAL
};

static const struct column columns[] = {
	[TYPE] = { "type", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[WHAT] = { "what", "what", CELL_TEXT, 0 },
	[NODE] = { "node", "node", CELL_TEXT, 0 },
	[NAME] = { "name", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[PATH] = { "path", "path", CELL_TEXT, COLUMN_WIDE },
	[SLOW] = { "slow", "slow", CELL_DURATION, 0 },
	[NORMAL] = { "normal", "normal", CELL_DURATION, 0 },
	[DELTA] = { "delta", "delta", CELL_DURATION, 0 },
	[SHARE] = { "share", "share", CELL_SHARE, 0 },
	[CONFIDENCE] = { "confidence", "confidence", CELL_NUMBER, 0 },
	[REQUESTS] = { "requests", "requests", CELL_COUNT, 0 },
	[OFTEN] = { "slow_having", NULL, CELL_SHARE, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[USUAL] = { "normal_having", NULL, CELL_SHARE, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
};

struct job {
	const struct findings *f;
	const struct finding *one;
	struct section *s;
	bool for_people;
	size_t most; /* hop rows for this type */
};

static void add_difference(const struct job *j, const struct contrast_row *c)
{
	const struct hops *h = &j->f->contrast.hops;
	struct row *row = section_row(j->s);
	struct buf path = { 0 };
	bool by_call;
	const double *took = contrast_took(c, &by_call);

	row_text(j->s, row, TYPE, j->f->types.v.v[j->one->type].name);
	row_text(j->s, row, WHAT, c->hop == HOP_NONE ? STR("node") : STR("hop"));
	row_text(j->s, row, NODE, names_str(&h->names, c->node));
	if (c->hop != HOP_NONE) {
		hops_path(h, c->hop, &path);
		row_text(j->s, row, NAME, hops_name(h, c->hop));
		row_text(j->s, row, PATH, buf_str(&path));
	} else if (!c->node) {
		row_text(j->s, row, PATH, STR("(in no span)"));
	}
	row_int(j->s, row, SLOW, length_of(took[SIDE_OTHER]));
	row_int(j->s, row, NORMAL, length_of(took[SIDE_BASE]));
	row_int(j->s, row, DELTA, length_of(took[SIDE_OTHER]) - length_of(took[SIDE_BASE]));
	row_double(j->s, row, SHARE, c->share);
	if (c->confidence >= 0)
		row_double(j->s, row, CONFIDENCE, c->confidence);
	row_int(j->s, row, REQUESTS, (int64_t)c->requests[SIDE_OTHER]);
	row->strong = c == &j->one->answer.hops[0];
	buf_done(&path);
}

static struct row *add_attribute(const struct job *j, struct str node, struct str name,
				 struct str path, double confidence, uint64_t requests)
{
	struct row *row = section_row(j->s);

	row_text(j->s, row, TYPE, j->f->types.v.v[j->one->type].name);
	row_text(j->s, row, WHAT, STR("attribute"));
	row_text(j->s, row, NODE, node);
	row_text(j->s, row, NAME, name);
	row_text(j->s, row, PATH, path);
	row_double(j->s, row, CONFIDENCE, confidence);
	row_int(j->s, row, REQUESTS, (int64_t)requests);
	return row;
}

static void add_features(const struct job *j)
{
	for (size_t i = 0; i < j->one->nr_features; i++) {
		const struct feature *x = &j->one->features[i];
		struct buf text = { 0 };
		struct row *row;

		buf_fmt(&text, STR_FMT " = " STR_FMT " (%.0f times as frequent)", STR_ARG(x->key),
			STR_ARG(x->value), x->lift);
		row = add_attribute(j, STR(""), x->key, buf_str(&text), x->confidence,
				    x->requests[SIDE_OTHER]);
		row_double(j->s, row, OFTEN,
			   (double)x->requests[SIDE_OTHER] / (double)x->seen[SIDE_OTHER]);
		row_double(j->s, row, USUAL,
			   (double)x->requests[SIDE_BASE] / (double)x->seen[SIDE_BASE]);
		buf_done(&text);
	}
}

/* Hops that only slow requests have, or have more of. */
static void add_frequency(const struct job *j, const struct contrast_row *c)
{
	const struct hops *h = &j->f->contrast.hops;
	double slow = (double)c->spans[SIDE_OTHER] / (double)j->one->seen_slow;
	double normal = (double)c->spans[SIDE_BASE] / (double)j->one->seen_normal;
	bool only = !c->spans[SIDE_BASE];
	struct buf text = { 0 };

	if (c->requests[SIDE_OTHER] < LEAST_REQUESTS || slow < MORE_OFTEN * normal || c->delta <= 0)
		return;
	hops_path(h, c->hop, &text);
	if (only)
		buf_add(&text, STR(" happens in slow requests only"));
	else
		buf_fmt(&text, " happens %.3g times, in normal ones %.3g times", slow, normal);
	add_attribute(j, hops_node(h, c->hop), hops_name(h, c->hop), buf_str(&text),
		      only ? contrast_trust(c->requests[SIDE_OTHER]) *
				      contrast_trust(j->one->seen_normal)
			   : c->confidence,
		      c->requests[SIDE_OTHER]);
	buf_done(&text);
}

static void add_type(struct report *r, const struct job *job)
{
	struct job j = *job;
	const struct contrast_answer *a = &j.one->answer;
	size_t most = j.for_people && a->nr_hops > ROWS_SHOWN ? ROWS_SHOWN : a->nr_hops;

	j.s = report_table(r, "slow", "", columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < most; i++)
		add_difference(&j, &a->hops[i]);
	j.s->nr_left_out = a->nr_hops - most;
	for (size_t i = 0; i < a->nr_nodes && (!j.for_people || i < ROWS_SHOWN); i++)
		add_difference(&j, &a->nodes[i]);
	add_features(&j);
	for (size_t i = 0; i < most; i++)
		add_frequency(&j, &a->hops[i]);
}

static void say_the_rest(const struct findings *f, size_t nr_slow, struct report *r)
{
	struct section *s = report_section(r, SECTION_PROSE, "rest", "");
	size_t even = 0, few = 0;

	s->text_only = true;
	vec_each (&f->v, one) {
		even += one->verdict == VERDICT_EVEN;
		few += one->verdict == VERDICT_FEW;
	}
	if (even)
		section_say(s, "", "Nothing stands out in %zu %s.", even,
			    even == 1 ? "type"
			    : nr_slow ? "other types"
				      : "types")
			->confidence = -1;
	if (few)
		section_say(s, "",
			    "%zu %s one request only, which has nothing to be compared with.", few,
			    few == 1 ? "type has" : "types have")
			->confidence = -1;
}

static int fill(const struct findings *f, const struct args *args, struct report *report)
{
	struct job job = { .f = f, .for_people = args_for_people(args) };
	const char *name = args->run;
	size_t nr = 0;

	report->losses.count[LOSS_TYPES_SKIPPED] += f->nr_skipped;
	vec_each (&f->v, one) {
		if (one->verdict != VERDICT_SLOW)
			break;
		if (job.for_people && nr == TYPES_SHOWN)
			break;
		nr++;
		job.one = one;
		tell_finding(f, one, name ? name : "RUN", report);
		report->sections.v[report->sections.nr - 1]->text_only = true;
		add_type(report, &job);
	}
	if (!nr) {
		tell_nothing(f, name ? name : "RUN", report);
		report->sections.v[report->sections.nr - 1]->text_only = true;
	} else {
		say_the_rest(f, nr, report);
	}
	return nr ? 0 : 1;
}

static int run(struct store *const *runs, const struct args *args, struct report *report,
	       struct error *err)
{
	struct request_filter filter = { 0 };
	double share = SLOW_SHARE;
	struct findings f = { 0 };
	int r = object_level_check(args_get(args, "level"), err);

	if (r >= 0)
		r = args_share(args, "slowest-share", &share, err);
	if (r >= 0)
		r = when_filter(args, runs[0], &filter, err);
	if (r < 0)
		return r;
	r = findings_collect(&f, runs[0], &filter, share, err);
	f.more = object_level_more(args_get(args, "level"));
	if (r >= 0)
		r = fill(&f, args, report);
	findings_done(&f);
	return r;
}

static const struct option options[] = {
	{ "type", "TYPE", "only this type of request, or the one type that has this in its name" },
	{ "slowest-share", "SHARE", "the part of each type that counts as slow (default: 1%)" },
	{ "from", "TIME", "only requests that start at this time or later" },
	{ "until", "TIME", "only requests that start before this time" },
	OBJECT_LEVEL_OPTION,
	{ 0 },
};

static const struct example examples[] = {
	{ "slow run.culprit",
	  "what the slowest requests of every type have that normal ones do not" },
	{ "slow run.culprit --type checkout --slowest-share 5% --json",
	  "one type, its slowest twentieth, for a script" },
	{ 0 },
};

const struct question ask_slow = {
	.name = "slow",
	.summary = "compare the slowest requests with normal ones, hop by hop",
	.nr_runs = 1,
	.options = options,
	.examples = examples,
	.run = run,
};
