#include "ask/tell.h"

#include <string.h>

#include "ask/length.h"
#include "base/time.h"
#include "report/report.h"

#define THIN_REQUESTS 5 /* fewer slow ones are thin evidence */
#define FEW_REQUESTS 20 /* of a type: its slowest hundredth says little */
#define NAME_BYTES 120
#define FEATURES_SAID 2
#define PEERS_FASTER 1.5
#define NODE_ADDS \
	0.1 /* what a node must explain beyond its slowest step to be worth a sentence \
	     */

void tell_shell_word(struct buf *b, struct str word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./:=@%+,";
	bool quote = !word.n;

	for (size_t i = 0; i < word.n; i++)
		quote |= !word.p[i] || !strchr(plain, word.p[i]);
	if (!quote) {
		buf_add(b, word);
		return;
	}
	buf_char(b, '\'');
	for (size_t i = 0; i < word.n; i++) {
		if (word.p[i] == '\'')
			buf_add(b, STR("'\\''"));
		else
			buf_char(b, word.p[i]);
	}
	buf_char(b, '\'');
}

static void say_percent(struct buf *b, double share)
{
	double percent = share * 100;

	if (percent > 0 && percent < 1)
		buf_fmt(b, "%.2g %%", percent);
	else
		buf_fmt(b, "%.0f %%", percent);
}

static void say_sets(const struct findings *f, const struct finding *one, struct buf *b)
{
	if (one->nr_slow == 1) {
		buf_add(b, STR("The slowest request takes "));
	} else {
		bool is_share = (double)one->nr_slow <= f->slow_share * (double)one->nr;

		buf_add(b, STR("The slowest "));
		if (is_share)
			say_percent(b, f->slow_share);
		buf_fmt(b, is_share ? " (%llu of %llu) take " : "%llu of %llu take ",
			(unsigned long long)one->nr_slow, (unsigned long long)one->nr);
	}
	time_span_text(b, one->slow_mean);
	buf_add(b, one->outside ? STR("; outside the slow time the median takes ")
				: STR("; the median takes "));
	time_span_text(b, one->median);
	buf_add(b, STR(".\n"));
}

/* A wait says little without who waits: every program has waits of its name. */
static void say_step(const struct hops *h, uint32_t hop, struct buf *b)
{
	struct str name = str_head(hops_name(h, hop), NAME_BYTES);
	uint32_t parent = h->v.v[hop].parent;

	buf_fmt(b, "\"" STR_FMT "\"", STR_ARG(name));
	if (str_starts(name, STR("wait:")) && parent != HOP_NONE)
		buf_fmt(b, " of \"" STR_FMT "\"",
			STR_ARG(str_head(hops_name(h, parent), NAME_BYTES)));
}

static void say_hop(const struct findings *f, const struct finding *one, struct buf *b)
{
	const struct contrast_row *row = &one->answer.hops[0];
	const struct hops *h = &f->contrast.hops;
	struct str node = hops_node(h, row->hop);
	bool unexplained = h->v.v[row->hop].parent == HOP_NONE, by_call;
	const double *took = contrast_took(row, &by_call);

	/* A step that others undo explains more than all; more than all is said as all. */
	say_percent(b, row->share > 1 ? 1 : row->share);
	if (unexplained) {
		buf_add(b, STR(" of the difference is time that no span explains"));
	} else {
		buf_add(b, STR(" of the difference is in "));
		say_step(h, row->hop, b);
		if (node.n)
			buf_fmt(b, " on " STR_FMT, STR_ARG(node));
		if (!row->requests[SIDE_BASE])
			buf_add(b, STR(", a step that normal requests do not have"));
	}
	buf_add(b, STR(" ("));
	time_span_text(b, length_of(took[SIDE_OTHER]));
	buf_add(b, STR(" against "));
	time_span_text(b, length_of(took[SIDE_BASE]));
	buf_add(b, by_call ? STR(" in one call itself). ") : STR(" on the critical path). "));
}

/* Where several steps of one node add up, the node explains more than its slowest step. */
static void say_node(const struct findings *f, const struct finding *one, struct buf *b)
{
	const struct contrast_row *row = &one->answer.nodes[0];
	struct str node = names_str(&f->contrast.hops.names, row->node);

	if (!node.n || row->share < one->answer.hops[0].share + NODE_ADDS)
		return;
	buf_add(b, STR("All steps on "));
	buf_fmt(b, STR_FMT " together explain ", STR_ARG(node));
	say_percent(b, row->share > 1 ? 1 : row->share);
	buf_add(b, STR(". "));
}

static void say_peers(const struct finding *one, struct buf *b)
{
	int64_t slowest = 0;

	for (size_t i = 0; i < one->nr_peers; i++)
		if (one->peers[i].mean > slowest)
			slowest = one->peers[i].mean;
	/* peers that are no faster say nothing against this node */
	if (!one->nr_peers || PEERS_FASTER * (double)slowest > one->answer.hops[0].mean[SIDE_OTHER])
		return;
	for (size_t i = 0; i < one->nr_peers; i++) {
		const char *between = !i ? "" : i + 1 == one->nr_peers ? " and " : ", ";

		buf_fmt(b, "%s" STR_FMT, between, STR_ARG(one->peers[i].node));
	}
	buf_fmt(b, " %s the same step in %s", one->nr_peers > 1 ? "do" : "does",
		one->nr_peers > 1 ? "at most " : "");
	time_span_text(b, slowest);
	buf_add(b, STR(". "));
}

/* Attributes that say something beyond the node, which was named already. */
static void say_features(const struct findings *f, const struct finding *one, struct buf *b)
{
	struct str node = hops_node(&f->contrast.hops, one->answer.hops[0].hop);
	struct str said = STR("");
	unsigned nr = 0;

	for (size_t i = 0; i < one->nr_features && nr < FEATURES_SAID; i++) {
		const struct feature *x = &one->features[i];

		if (str_ends(node, x->value) || (said.n && str_eq(said, x->value)))
			continue;
		said = x->value;
		nr++;
		buf_fmt(b,
			"%llu of %llu slow requests have " STR_FMT " " STR_FMT
			", %llu of %llu normal ones. ",
			(unsigned long long)x->requests[SIDE_OTHER],
			(unsigned long long)x->seen[SIDE_OTHER], STR_ARG(x->key), STR_ARG(x->value),
			(unsigned long long)x->requests[SIDE_BASE],
			(unsigned long long)x->seen[SIDE_BASE]);
	}
}

static void say_since(const struct finding *one, struct buf *b)
{
	const struct episode *e = &one->since;

	if (!e->found)
		return;
	if (e->from_first) {
		buf_add(b, STR("It ended at "));
		time_text(b, e->end, 3);
	} else {
		buf_add(b, STR("It began at "));
		time_text(b, e->begin, 3);
		if (!e->to_last) {
			buf_add(b, STR(" and ended at "));
			time_text(b, e->end, 3);
		}
	}
	buf_add(b, STR(". "));
}

static void say_evidence(const struct finding *one, struct buf *b)
{
	buf_fmt(b, "\n%llu slow request%s against %llu normal", (unsigned long long)one->seen_slow,
		one->seen_slow == 1 ? "" : "s", (unsigned long long)one->seen_normal);
	if (one->nr_slow < THIN_REQUESTS)
		buf_fmt(b, ": thin evidence, because only %llu requests of this type are known",
			(unsigned long long)one->nr);
	buf_char(b, '.');
}

enum { TYPE, SLOW, MEDIAN, NODE, NAME, PATH, SHARE, CONFIDENCE, REQUESTS, BEGAN, ENDED, EXAMPLES };

static const struct column fact_columns[] = {
	[TYPE] = { "type", NULL, CELL_TEXT, 0 },
	[SLOW] = { "slow", NULL, CELL_DURATION, 0 },
	[MEDIAN] = { "median", NULL, CELL_DURATION, 0 },
	[NODE] = { "node", NULL, CELL_TEXT, 0 },
	[NAME] = { "name", NULL, CELL_TEXT, 0 },
	[PATH] = { "path", NULL, CELL_TEXT, 0 },
	[SHARE] = { "share", NULL, CELL_SHARE, 0 },
	[CONFIDENCE] = { "confidence", NULL, CELL_NUMBER, 0 },
	[REQUESTS] = { "requests", NULL, CELL_COUNT, 0 },
	[BEGAN] = { "began", NULL, CELL_TIME, COLUMN_OPTIONAL },
	[ENDED] = { "ended", NULL, CELL_TIME, COLUMN_OPTIONAL },
	[EXAMPLES] = { "examples", NULL, CELL_ROWS, 0 },
};

static const struct column example_columns[] = { { NULL, NULL, CELL_COUNT, 0 } };

static struct section *facts_of(const struct findings *f, const struct finding *one,
				struct arena *arena)
{
	struct section *s = arena_new(arena, struct section);
	const struct contrast_row *top = &one->answer.hops[0];
	struct section *examples;
	struct buf path = { 0 };
	struct row *row;

	s->arena = arena;
	s->columns = fact_columns;
	s->nr_columns = sizeof(fact_columns) / sizeof(*fact_columns);
	row = section_row(s);
	row_text(s, row, TYPE, f->types.v.v[one->type].name);
	row_int(s, row, SLOW, one->slow_mean);
	row_int(s, row, MEDIAN, one->median);
	row_text(s, row, NODE, hops_node(&f->contrast.hops, top->hop));
	row_text(s, row, NAME, hops_name(&f->contrast.hops, top->hop));
	hops_path(&f->contrast.hops, top->hop, &path);
	row_text(s, row, PATH, buf_str(&path));
	buf_done(&path);
	row_double(s, row, SHARE, top->share);
	row_double(s, row, CONFIDENCE, one->answer.confidence);
	row_int(s, row, REQUESTS, (int64_t)one->nr_slow);
	if (one->since.found && !one->since.from_first)
		row_int(s, row, BEGAN, one->since.begin);
	if (one->since.found && !one->since.to_last)
		row_int(s, row, ENDED, one->since.end);
	examples = row_rows(s, row, EXAMPLES, example_columns, 1);
	for (size_t i = 0; i < one->nr_examples; i++)
		row_int(examples, section_row(examples), 0, (int64_t)one->examples[i]);
	return s;
}

void tell_finding(const struct findings *f, const struct finding *one, const char *run,
		  struct report *r)
{
	struct str type = f->types.v.v[one->type].name;
	struct section *s = report_section(r, SECTION_PROSE, "why-slow", "");
	struct buf text = { 0 }, command = { 0 };
	struct prose *p;

	s->title = arena_fmt(&r->arena, "Why slow: " STR_FMT, STR_ARG(type));
	s->tagged = true;
	say_sets(f, one, &text);
	say_hop(f, one, &text);
	say_node(f, one, &text);
	say_peers(one, &text);
	say_features(f, one, &text);
	say_since(one, &text);
	say_evidence(one, &text);
	p = section_say(s, "", STR_FMT, STR_ARG(buf_str(&text)));
	buf_add(&command, STR("culprit requests "));
	tell_shell_word(&command, str_of(run));
	if (f->more)
		buf_fmt(&command, " %s", f->more);
	buf_add(&command, STR(" --type "));
	tell_shell_word(&command, type);
	buf_add(&command, STR(" --slowest 5"));
	p->command = arena_str(&r->arena, buf_str(&command));
	p->confidence = one->answer.confidence;
	p->facts = facts_of(f, one, &r->arena);
	buf_done(&text);
	buf_done(&command);
}

/* The hop of a type on whose account most of the critical path is. */
static uint32_t largest_hop(const struct findings *f, uint32_t type)
{
	const struct contrast *c = &f->contrast;
	uint32_t best = HOP_NONE;

	for (uint32_t i = 0; i < c->hops.v.nr && i < c->sums.nr; i++) {
		if (c->hops.v.v[i].type != type)
			continue;
		if (best == HOP_NONE ||
		    c->sums.v[i].ns[SIDE_OTHER] > c->sums.v[best].ns[SIDE_OTHER])
			best = i;
	}
	return best;
}

/* One request has nothing to be compared with, but its own time can be told. */
static void tell_lone(const struct findings *f, const char *run, struct section *s)
{
	uint32_t type = f->types.order.v[0], hop = largest_hop(f, type);
	const struct type_stat *t = &f->types.v.v[type];
	struct buf text = { 0 }, command = { 0 };
	struct prose *p;

	buf_add(&text, STR("Every type has one request only, so none can be called slow. The "
			   "longest, \""));
	buf_add(&text, str_head(t->name, NAME_BYTES));
	buf_add(&text, STR("\", takes "));
	time_span_text(&text, t->max);
	if (hop != HOP_NONE && t->total > 0) {
		struct str node = hops_node(&f->contrast.hops, hop);

		buf_add(&text, STR("; "));
		say_percent(&text, f->contrast.sums.v[hop].ns[SIDE_OTHER] / t->total);
		buf_fmt(&text, " of it goes to \"" STR_FMT "\"",
			STR_ARG(str_head(hops_name(&f->contrast.hops, hop), NAME_BYTES)));
		if (node.n)
			buf_fmt(&text, " on " STR_FMT, STR_ARG(node));
		buf_add(&text, STR(" on the critical path"));
	}
	buf_add(&text, STR("."));
	p = section_say(s, "", STR_FMT, STR_ARG(buf_str(&text)));
	buf_add(&command, STR("culprit requests "));
	tell_shell_word(&command, str_of(run));
	if (f->more)
		buf_fmt(&command, " %s", f->more);
	buf_fmt(&command, " --critical-path --request %llu",
		(unsigned long long)t->timings.v[0].id);
	p->command = arena_str(s->arena, buf_str(&command));
	buf_done(&text);
	buf_done(&command);
}

void tell_nothing(const struct findings *f, const char *run, struct report *r)
{
	struct section *s = report_section(r, SECTION_PROSE, "why-slow", "Why slow");
	uint64_t nr = f->types.nr_requests, most = 0;
	double total = 0;

	s->tagged = true;
	vec_each (&f->v, one)
		most = one->nr > most ? one->nr : most;
	vec_each (&f->types.v, t)
		total += t->total;
	if (!nr)
		section_say(s, "", "There are no requests to compare.")->confidence = -1;
	else if (total == 0)
		section_say(s, "",
			    "No request takes any time: each is known from one moment only, which "
			    "says nothing of how long it took.")
			->confidence = -1;
	else if (most < 2)
		tell_lone(f, run, s);
	else
		section_say(s, "",
			    "Nothing stands out: in no type do the slowest requests take 1.5 times "
			    "as long as those around the median.%s",
			    most < FEW_REQUESTS ? " The evidence is thin: no type has twenty "
						  "requests."
						: "")
			->confidence = -1;
}
