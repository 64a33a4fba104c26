#include "ask/anomaly_tell.h"

#include "ask/tell.h"
#include "base/time.h"
#include "report/report.h"

#define NAME_BYTES 100

static void say_when(struct buf *b, const struct anomaly *x)
{
	if (x->begin == NS_NONE && x->end == NS_NONE)
		return;
	if (x->begin == NS_NONE) {
		buf_add(b, STR(", until "));
		time_text(b, x->end, 3);
		return;
	}
	buf_add(b, x->end == NS_NONE ? STR(", since ") : STR(", from "));
	time_text(b, x->begin, 3);
	if (x->end == NS_NONE)
		return;
	buf_add(b, STR(" to "));
	time_text(b, x->end, 3);
}

static void say_requests(struct buf *b, const struct anomaly *x)
{
	if (x->slowest)
		buf_fmt(b, " %llu of the %llu slowest requests of that time wait for it.",
			(unsigned long long)x->slowest, (unsigned long long)x->slowest_of);
}

static void say_pause(struct buf *b, const struct anomaly *x)
{
	buf_fmt(b, STR_FMT " stood still for ", STR_ARG(x->node));
	time_span_text(b, x->took);
	say_when(b, x);
	buf_fmt(b, ": it logged nothing while others %s",
		x->others_too ? "soon fell silent as well" : "went on");
	if (x->requests) {
		buf_fmt(b, ", and %llu request%s waited through it (usually ",
			(unsigned long long)x->requests, x->requests == 1 ? "" : "s");
		time_span_text(b, x->usual);
		buf_char(b, ')');
	}
	buf_add(b, STR(". So stops a process that is collecting garbage, or was suspended."));
	if (x->said.n)
		buf_fmt(b, " It says itself: \"" STR_FMT "\".", STR_ARG(x->said));
}

static void say_dead(struct buf *b, const struct anomaly *x)
{
	bool back = x->end != NS_NONE;

	buf_fmt(b, STR_FMT " %s", STR_ARG(x->node), back ? "was gone" : "is dead");
	say_when(b, x);
	buf_fmt(b, ": nothing was heard of it%s while others went on", back ? "" : " any more");
	if (x->novel)
		buf_fmt(b,
			", which since say %llu things about " STR_FMT
			" that they never said before",
			(unsigned long long)x->novel, STR_ARG(x->peer));
	else
		buf_fmt(b, ", which logged %.0f warnings or errors since (%.0f in as long before)",
			x->often, x->before);
	buf_char(b, '.');
	if (x->said.n)
		buf_fmt(b, " %s, on " STR_FMT ": \"" STR_FMT "\".",
			x->novel ? "First" : "Most often", STR_ARG(x->who), STR_ARG(x->said));
	if (x->peer.n && !x->novel)
		buf_fmt(b, " They name " STR_FMT ".", STR_ARG(x->peer));
	if (x->requests)
		buf_fmt(b, " %llu request%s went wrong with it.", (unsigned long long)x->requests,
			x->requests == 1 ? "" : "s");
	if (x->last.n)
		buf_fmt(b, " Its last line, in the middle of its work: \"" STR_FMT "\".",
			STR_ARG(str_head(x->last, NAME_BYTES)));
}

static void say_stutter(struct buf *b, const struct anomaly *x)
{
	buf_fmt(b, STR_FMT " stops again and again: %.0f times for ", STR_ARG(x->node), x->often);
	time_span_text(b, x->took);
	buf_add(b, STR(" or so, "));
	time_span_text(b, x->usual);
	buf_add(b, STR(" in all"));
	say_when(b, x);
	buf_fmt(b, ", while its peers went on (all of them together stop %.0f times).", x->before);
	say_requests(b, x);
	buf_add(b, STR(" So does a process that gets too little of its processor."));
}

static void say_slow_node(struct buf *b, const struct anomaly *x)
{
	buf_fmt(b, STR_FMT " is the culprit: ", STR_ARG(x->node));
	if (x->name.n && !x->type.n)
		buf_fmt(b, "what it logs as \"" STR_FMT "\" took ",
			STR_ARG(str_head(x->name, NAME_BYTES)));
	else if (x->name.n)
		buf_fmt(b, "its \"" STR_FMT "\" takes ", STR_ARG(str_head(x->name, NAME_BYTES)));
	else
		buf_add(b, STR("requests that visit it take "));
	time_span_text(b, x->took);
	buf_add(b, x->name.n ? STR(", that of its peers ") : STR(", those that visit its peers "));
	time_span_text(b, x->usual);
	say_when(b, x);
	buf_fmt(b, " (%.0f against %.0f).", x->often, x->before);
	say_requests(b, x);
	if (x->said.n)
		buf_fmt(b, " It alone warns: \"" STR_FMT "\".", STR_ARG(x->said));
}

static void say_slow_hop(struct buf *b, const struct anomaly *x)
{
	buf_fmt(b, "The way " STR_FMT " is slow: to \"" STR_FMT "\" it takes ", STR_ARG(x->node),
		STR_ARG(str_head(x->name, NAME_BYTES)));
	time_span_text(b, x->took);
	buf_add(b, STR(", between their peers "));
	time_span_text(b, x->usual);
	say_when(b, x);
	buf_fmt(b, " (%.0f against %.0f).", x->often, x->before);
	say_requests(b, x);
}

static void say_type(struct buf *b, const struct anomaly *x)
{
	buf_fmt(b, "\"" STR_FMT "\"", STR_ARG(str_head(x->type, NAME_BYTES)));
}

static void say_retries(struct buf *b, const struct anomaly *x)
{
	buf_fmt(b, "%llu requests of type ", (unsigned long long)x->requests);
	say_type(b, x);
	buf_fmt(b, " had errors and tried again: \"" STR_FMT "\"",
		STR_ARG(str_head(x->name, NAME_BYTES)));
	/* work of different size is done differently often without any error */
	if (x->often > x->before)
		buf_fmt(b, " happens %.1f times in them, usually %.0f", x->often, x->before);
	else
		buf_add(b, STR(" fails in them and is done once more"));
	say_when(b, x);
	buf_char(b, '.');
	if (x->node.n)
		buf_fmt(b, " It is on " STR_FMT " that it fails.", STR_ARG(x->node));
}

static void say_warnings(struct buf *b, const struct anomaly *x)
{
	buf_fmt(b, STR_FMT " warns %.0f times, none of its peers more than %.0f times",
		STR_ARG(x->node), x->often, x->before);
	say_when(b, x);
	buf_fmt(b, ": \"" STR_FMT "\".", STR_ARG(x->said));
}

static void say_stops(struct buf *b, const struct anomaly *x)
{
	buf_fmt(b, "%.0f requests of type ", x->often);
	say_type(b, x);
	buf_add(b, STR(" stop where others go on"));
	say_when(b, x);
	buf_fmt(b, ", most often after \"" STR_FMT "\"", STR_ARG(str_head(x->name, NAME_BYTES)));
	if (x->node.n)
		buf_fmt(b, " on " STR_FMT, STR_ARG(x->node));
	buf_char(b, '.');
}

static void say_course(struct buf *b, const struct anomaly *x)
{
	buf_fmt(b, "%.0f requests of type ", x->often);
	say_type(b, x);
	buf_add(b, STR(" take a course that none took before"));
	say_when(b, x);
	buf_fmt(b, "; the last step of it is \"" STR_FMT "\".",
		STR_ARG(str_head(x->name, NAME_BYTES)));
	if (x->before > 0)
		buf_fmt(b, " %.0f of them have errors or do not end.", x->before);
}

static void say_count(struct buf *b, const struct anomaly *x)
{
	buf_fmt(b, "There are %s requests of type ",
		x->often > x->before ? "many more" : "far fewer");
	say_type(b, x);
	buf_fmt(b, ", %.0f where %.0f are to be expected", x->often, x->before);
	say_when(b, x);
	buf_char(b, '.');
}

static void say_latency(struct buf *b, const struct anomaly *x)
{
	buf_add(b, STR("Requests of type "));
	say_type(b, x);
	buf_add(b, STR(" take "));
	time_span_text(b, x->took);
	buf_add(b, STR(" on average"));
	say_when(b, x);
	buf_add(b, STR(", else "));
	time_span_text(b, x->usual);
	buf_fmt(b, " (%.0f against %.0f).", x->often, x->before);
}

static void say(struct buf *b, const struct anomaly *x)
{
	static void (*const how[])(struct buf *b, const struct anomaly *x) = {
		[ANOMALY_PAUSE] = say_pause,       [ANOMALY_DEAD] = say_dead,
		[ANOMALY_STUTTER] = say_stutter,   [ANOMALY_SLOW_NODE] = say_slow_node,
		[ANOMALY_SLOW_HOP] = say_slow_hop, [ANOMALY_RETRIES] = say_retries,
		[ANOMALY_WARNINGS] = say_warnings, [ANOMALY_STOPS] = say_stops,
		[ANOMALY_COURSE] = say_course,     [ANOMALY_COUNT] = say_count,
		[ANOMALY_LATENCY] = say_latency,
	};

	how[x->kind](b, x);
}

enum {
	KIND,
	NODE,
	PEER,
	TYPE,
	NAME,
	BEGAN,
	ENDED,
	TOOK,
	USUAL,
	COUNT,
	BEFORE,
	REQUESTS,
	LOST,
	SHARE,
	CONFIDENCE,
	EXAMPLES,
	SAID
};

static const struct column fact_columns[] = {
	[KIND] = { "anomaly", NULL, CELL_TEXT, 0 },
	[NODE] = { "node", NULL, CELL_TEXT, COLUMN_OPTIONAL },
	[PEER] = { "names", NULL, CELL_TEXT, COLUMN_OPTIONAL },
	[TYPE] = { "type", NULL, CELL_TEXT, COLUMN_OPTIONAL },
	[NAME] = { "name", NULL, CELL_TEXT, COLUMN_OPTIONAL },
	[BEGAN] = { "began", NULL, CELL_TIME, COLUMN_OPTIONAL },
	[ENDED] = { "ended", NULL, CELL_TIME, COLUMN_OPTIONAL },
	[TOOK] = { "took", NULL, CELL_DURATION, 0 },
	[USUAL] = { "usual", NULL, CELL_DURATION, 0 },
	[COUNT] = { "count", NULL, CELL_NUMBER, 0 },
	[BEFORE] = { "count_usual", NULL, CELL_NUMBER, 0 },
	[REQUESTS] = { "requests", NULL, CELL_COUNT, 0 },
	[LOST] = { "lost", NULL, CELL_DURATION, 0 },
	[SHARE] = { "share", NULL, CELL_SHARE, 0 },
	[CONFIDENCE] = { "confidence", NULL, CELL_NUMBER, 0 },
	[EXAMPLES] = { "examples", NULL, CELL_ROWS, 0 },
	[SAID] = { "said", NULL, CELL_TEXT, COLUMN_OPTIONAL },
};

static const struct column example_columns[] = { { NULL, NULL, CELL_COUNT, 0 } };

static void fill_text(struct section *s, struct row *row, size_t column, struct str text)
{
	if (text.n)
		row_text(s, row, column, text);
}

static struct section *facts_of(const struct anomalies *a, const struct anomaly *x,
				struct section *in)
{
	struct section *s =
		section_facts(in, fact_columns, sizeof(fact_columns) / sizeof(*fact_columns));
	struct row *row = section_row(s);
	struct section *examples;

	row_text(s, row, KIND, str_of(anomaly_kind_name(x->kind)));
	fill_text(s, row, NODE, x->node);
	fill_text(s, row, PEER, x->peer);
	fill_text(s, row, TYPE, x->type);
	fill_text(s, row, NAME, x->name);
	fill_text(s, row, SAID, x->said);
	if (x->begin != NS_NONE)
		row_int(s, row, BEGAN, x->begin);
	if (x->end != NS_NONE)
		row_int(s, row, ENDED, x->end);
	row_int(s, row, TOOK, x->took);
	row_int(s, row, USUAL, x->usual);
	row_double(s, row, COUNT, x->often);
	row_double(s, row, BEFORE, x->before);
	row_int(s, row, REQUESTS, (int64_t)x->requests);
	row_int(s, row, LOST, (int64_t)x->lost);
	row_double(s, row, SHARE, anomalies_share(a, x));
	row_double(s, row, CONFIDENCE, x->confidence);
	examples = row_rows(s, row, EXAMPLES, example_columns, 1);
	for (size_t i = 0; i < x->nr_examples; i++)
		row_int(examples, section_row(examples), 0, (int64_t)x->examples[i]);
	return s;
}

static void say_share(const struct anomalies *a, const struct anomaly *x, struct buf *b)
{
	double share = 100 * anomalies_share(a, x);

	if (share >= 1)
		buf_fmt(b, "\nIt explains %.0f %% of the time that slow requests lose.", share);
}

void anomaly_tell(const struct anomalies *a, size_t at_most, const char *run, struct report *r)
{
	struct section *s;

	if (!a->v.nr)
		return;
	s = report_section(r, SECTION_PROSE, "anomalies", "What is odd");
	s->tagged = true;
	for (size_t i = 0; i < a->v.nr && i < at_most; i++) {
		const struct anomaly *x = &a->v.v[i];
		struct buf text = { 0 }, command = { 0 };
		struct prose *p;

		say(&text, x);
		say_share(a, x, &text);
		p = section_say(s, "", STR_FMT, STR_ARG(buf_str(&text)));
		if (x->nr_examples) {
			buf_add(&command, STR("culprit requests "));
			tell_shell_word(&command, str_of(run));
			buf_fmt(&command, " --request %llu", (unsigned long long)x->examples[0]);
			p->command = arena_str(s->arena, buf_str(&command));
		}
		p->confidence = x->confidence;
		p->facts = facts_of(a, x, s);
		buf_done(&text);
		buf_done(&command);
	}
	s->nr_left_out = a->v.nr > at_most ? a->v.nr - at_most : 0;
}
