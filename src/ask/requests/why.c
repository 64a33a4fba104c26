#include "ask/requests/why.h"

#include <math.h>

#include "ask/length.h"
#include "base/arena.h"
#include "base/buf.h"
#include "model/request.h"
#include "model/why.h"
#include "report/report.h"

enum { SPAN, NAME, NODE, OFFSET, LINES, HOW, AFTER, THING, SURE, WORDS };

static const struct column columns[] = {
	[SPAN] = { "span", "span", CELL_TEXT, 0 },
	[NAME] = { "name", "name", CELL_TEXT, COLUMN_WIDE },
	[NODE] = { "node", "node", CELL_TEXT, 0 },
	[OFFSET] = { "offset", "after", CELL_DURATION, 0 },
	[LINES] = { "events", "events", CELL_COUNT, 0 },
	[HOW] = { "how", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[AFTER] = { "after", NULL, CELL_TEXT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[THING] = { "thing", NULL, CELL_TEXT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[SURE] = { "confidence", NULL, CELL_NUMBER, COLUMN_JSON_ONLY },
	[WORDS] = { "why", "why", CELL_TEXT, COLUMN_WIDE },
};

struct telling {
	const struct request *r;
	const struct request_body *body;
	struct section *out;
	uint32_t *after, *lines; /* of each span: what it follows, how many events it has */
	struct buf words;
};

static const struct span *span_at(const struct telling *t, uint32_t i)
{
	return &t->body->spans[i];
}

/* "3 (DataXceiver.writeBlock)" */
static void say_span(struct telling *t, uint32_t i)
{
	buf_fmt(&t->words, STR_FMT " (" STR_FMT ")", STR_ARG(span_at(t, i)->id),
		STR_ARG(span_at(t, i)->name));
}

static void say_follows(struct telling *t, uint32_t i, struct str thing)
{
	double share = (double)span_at(t, i)->confidence;

	buf_fmt(&t->words, "follows ");
	say_span(t, t->after[i]);
	if (thing.n)
		buf_fmt(&t->words, ": both name " STR_FMT, STR_ARG(thing));
	if (share >= 1)
		buf_fmt(&t->words, "; such work is always followed so");
	else
		buf_fmt(&t->words, "; at least %d %% of such work is followed so",
			(int)floor(100 * share));
}

static void say_why(struct telling *t, uint32_t i, const struct why *why)
{
	bool has_after = t->after[i] && t->after[i] < t->body->nr_spans;

	if (has_after && why->how == WHY_FOLLOWS) {
		say_follows(t, i, why->thing);
	} else if (has_after && (why->how == WHY_AGREED || why->how == WHY_AGAIN)) {
		buf_fmt(&t->words, "%s ",
			why->how == WHY_AGREED ? "answers" : "does again, as part of the same,");
		say_span(t, t->after[i]);
		buf_fmt(&t->words, ": both name " STR_FMT, STR_ARG(why->thing));
	} else if (why->how == WHY_FAMILY) {
		buf_fmt(&t->words,
			"belongs to " STR_FMT ": by a name, a number, its log, or what is "
			"dealt with at the time",
			STR_ARG(why->thing));
	} else if (why->how == WHY_TURN) {
		buf_fmt(&t->words, "is about " STR_FMT ", at which requests take turns",
			STR_ARG(why->thing));
	} else if (why->how == WHY_LOOP) {
		buf_fmt(&t->words, "a further round of a loop of the same thread");
	} else if (has_after && why->how == WHY_WITHIN) {
		buf_fmt(&t->words, "done by another thread of the node during ");
		say_span(t, t->after[i]);
	} else if (why->how == WHY_HANDED) {
		buf_fmt(&t->words, "handed on within the node, first in, first out");
	} else {
		buf_fmt(&t->words, "begins it: %u line%s of one thread, one after the other",
			t->lines[i], t->lines[i] == 1 ? "" : "s");
	}
}

/* What the other inferences put together: the input named it, or calls were matched. */
static void say_otherwise(struct telling *t, uint32_t i)
{
	const struct span *s = span_at(t, i);

	if (s->parent < i) {
		buf_fmt(&t->words, "%s ", s->follows ? "follows" : "part of");
		say_span(t, s->parent);
		buf_fmt(&t->words, ", ");
	}
	if (str_eq(t->r->method, STR("named")))
		buf_fmt(&t->words, "as the input says");
	else
		buf_fmt(&t->words, "inferred (" STR_FMT ")", STR_ARG(t->r->method));
}

static void add_span(struct telling *t, uint32_t i, const struct why *why)
{
	const struct span *s = span_at(t, i);
	struct row *row = section_row(t->out);
	uint32_t after = t->after[i];

	buf_clear(&t->words);
	if (why)
		say_why(t, i, why);
	else
		say_otherwise(t, i);
	row->strong = s->confidence < 1 && s->confidence <= t->r->confidence;
	row_text(t->out, row, SPAN, s->id);
	row_text(t->out, row, NAME, s->name);
	row_text(t->out, row, NODE, s->node);
	row_int(t->out, row, OFFSET, length_signed(t->r->start, s->start));
	row_int(t->out, row, LINES, t->lines[i]);
	row_text(t->out, row, HOW, why ? str_of(why_how_name(why->how)) : t->r->method);
	if (!why && s->parent < i)
		after = s->parent;
	if (after < t->body->nr_spans && (after || (!why && s->parent < i)))
		row_text(t->out, row, AFTER, span_at(t, after)->id);
	if (why && why->thing.n)
		row_text(t->out, row, THING, why->thing);
	row_double(t->out, row, SURE, round(1000 * (double)s->confidence) / 1000);
	row_text(t->out, row, WORDS, buf_str(&t->words));
}

static void count(struct telling *t)
{
	const struct request_body *b = t->body;

	for (size_t i = 0; i < b->nr_edges; i++)
		if (b->edges[i].to < b->nr_spans && b->edges[i].from < b->edges[i].to)
			t->after[b->edges[i].to] = b->edges[i].from;
	for (size_t i = 0; i < b->nr_events; i++)
		if (b->event_span && b->event_span[i] < b->nr_spans)
			t->lines[b->event_span[i]]++;
}

/* The weakest span makes the request as unsure as it is. */
static void say_sure(const struct telling *t, struct report *report)
{
	struct section *said = report_section(report, SECTION_PROSE, "sure", "");
	const struct span *weakest = NULL;

	for (size_t i = 0; i < t->body->nr_spans; i++)
		if (!weakest || t->body->spans[i].confidence < weakest->confidence)
			weakest = &t->body->spans[i];
	said->text_only = true;
	if (!weakest || weakest->confidence >= 1)
		section_say(said, NULL, "Nothing in it is in doubt.");
	else
		section_say(said, NULL,
			    "It is %d %% sure that exactly these belong together; the weakest "
			    "link is " STR_FMT " (" STR_FMT ").",
			    (int)floor(100 * (double)t->r->confidence), STR_ARG(weakest->id),
			    STR_ARG(weakest->name));
	if (t->r->incomplete)
		section_say(said, NULL,
			    "It is incomplete: it began before the input, or had not ended with "
			    "it.");
}

void why_report(const struct request *r, const struct request_body *body, struct report *report)
{
	struct arena arena = { 0 };
	struct telling t = { .r = r, .body = body };
	struct whys whys;
	struct why why;
	bool has_why = body->nr_spans && why_find(body->spans[0].attrs, &whys);

	t.after = arena_array(&arena, uint32_t, body->nr_spans + 1);
	t.lines = arena_array(&arena, uint32_t, body->nr_spans + 1);
	count(&t);
	t.out = report_table(report, "why", "", columns, sizeof(columns) / sizeof(*columns));
	t.out->tagged = true;
	/* where requests are rebuilt the first span is the request itself */
	for (uint32_t i = has_why ? 1 : 0; i < body->nr_spans; i++)
		if (!has_why || body->spans[i].kind != SPAN_WAIT)
			add_span(&t, i, has_why && why_next(&whys, &why) ? &why : NULL);
	say_sure(&t, report);
	buf_done(&t.words);
	arena_done(&arena);
}
