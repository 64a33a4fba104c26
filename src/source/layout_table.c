/*
 * Tables whose columns a header names: W3C extended logs (IIS), Zeek, CSV and TSV with a first line
 * of names.
 */
#include <ctype.h>
#include <stdlib.h>

#include "base/time.h"
#include "model/event.h"
#include "model/loss.h"
#include "source/layout_kind.h"
#include "source/layout_said.h"

#define COLUMNS_MAX 128

enum table_kind { TABLE_W3C, TABLE_ZEEK, TABLE_CSV };

struct table {
	enum table_kind kind;
	char separator;
	unsigned nr;
	uint8_t means[COLUMNS_MAX], rank[COLUMNS_MAX];
	struct str date; /* of the head, for tables that only have the time of the day */
};

/* The next cell; quoted ones without their quotes. */
static bool take_cell(struct str *s, char separator, struct str *cell, bool *more)
{
	struct str rest = *s;
	size_t i = 0;

	if (separator == ' ')
		str_take_spaces(&rest);
	if (str_take_char(&rest, '"')) {
		/* a doubled quote is one; such cells never hold what we look for */
		while (i < rest.n && (rest.p[i] != '"' || (i + 1 < rest.n && rest.p[i + 1] == '"')))
			i += rest.p[i] == '"' ? 2 : 1;
		*cell = str_head(rest, i);
		rest = str_skip(rest, i + 1);
	} else {
		i = str_find_char(rest, separator);
		*cell = str_head(rest, i);
		rest = str_skip(rest, i);
	}
	*more = str_take_char(&rest, separator);
	*s = rest;
	return true;
}

static void name_columns(struct table *t, struct str header)
{
	bool more = true;
	struct str name;

	t->nr = 0;
	while (more && t->nr < COLUMNS_MAX && take_cell(&header, t->separator, &name, &more)) {
		uint8_t rank = 0;
		enum layout_meaning means = layout_meaning_of(name, &rank);

		if (t->kind == TABLE_W3C && str_eq(name, STR("date")))
			means = MEANS_DATE;
		else if (t->kind == TABLE_W3C && str_eq(name, STR("time")))
			means = MEANS_CLOCK;
		/* the host that was asked for is not where it happened */
		else if (t->kind != TABLE_CSV && means == MEANS_HOST && rank > 2)
			means = MEANS_HOST;
		else if (t->kind != TABLE_CSV && (means == MEANS_HOST || means == MEANS_LOGGER))
			means = MEANS_NOTHING;
		t->means[t->nr] = (uint8_t)means;
		t->rank[t->nr++] = rank;
	}
}

static bool has_column(const struct table *t, enum layout_meaning means)
{
	for (unsigned i = 0; i < t->nr; i++)
		if (t->means[i] == means)
			return true;
	return false;
}

static bool is_nothing(struct str cell)
{
	return !cell.n || str_eq(cell, STR("-")) || str_eq(cell, STR("(empty)"));
}

static void say_row(const struct table *t, struct str line, struct layout_said *said)
{
	bool more = true;
	struct str cell;

	for (unsigned i = 0; more && i < t->nr && take_cell(&line, t->separator, &cell, &more); i++)
		if (t->means[i] != MEANS_NOTHING && !is_nothing(cell))
			layout_say(said, t->means[i], t->rank[i], cell);
}

static int table_parse(const struct layout *layout, struct layout_worker *worker, struct str line,
		       struct arena *arena, struct event *ev, struct losses *losses)
{
	const struct table *t = layout->own;
	struct layout_said said = { 0 };
	struct str date;

	if (line.p[0] == '#')
		return 0;
	say_row(t, line, &said);
	date = said.value[MEANS_DATE].n ? said.value[MEANS_DATE] : t->date;
	if (said.value[MEANS_CLOCK].n && date.n) /* which the standard says is UTC */
		layout_say(&said, MEANS_TIME, 0,
			   arena_fmt(arena, STR_FMT " " STR_FMT "Z", STR_ARG(date),
				     STR_ARG(said.value[MEANS_CLOCK])));
	if (!layout_said_event(&said, layout, worker, arena, ev, losses)) {
		losses->count[LOSS_LINES_BROKEN]++;
		return 0;
	}
	/* Zeek notes when a connection began */
	if (t->kind == TABLE_ZEEK && ev->duration > 0)
		ev->ns += ev->duration;
	return 1;
}

/* "#Fields: …" and "#fields\t…" anywhere in the sample */
static bool find_marked_header(struct table *t, struct layout *layout,
			       const struct layout_sample *sample)
{
	bool found = false;

	for (size_t i = 0; i < sample->nr && !found; i++) {
		struct str line = sample->lines[i];

		if (str_take(&line, STR("#Date: ")))
			t->date = arena_str(&layout->arena, str_head(line, 10));
		line = sample->lines[i];
		if (str_take(&line, STR("#Fields: "))) {
			t->kind = TABLE_W3C;
			t->separator = str_find_char(line, '\t') < line.n ? '\t' : ' ';
			found = true;
		} else if (str_take(&line, STR("#fields\t"))) {
			t->kind = TABLE_ZEEK;
			t->separator = '\t';
			found = true;
		}
		if (found)
			name_columns(t, line);
		/* CloudFront parts names by blanks, values by tabs */
		if (found && t->kind == TABLE_W3C && i + 1 < sample->nr &&
		    str_find_char(sample->lines[i + 1], '\t') < sample->lines[i + 1].n)
			t->separator = '\t';
	}
	return found;
}

/* A first line of names, among them a time, kept apart by commas, tabs, semicolons or bars. */
static bool find_plain_header(struct table *t, const struct layout_sample *sample)
{
	struct str line = sample->nr ? sample->lines[0] : (struct str){ 0 };

	t->kind = TABLE_CSV;
	for (const char *c = ",\t;|"; *c; c++) {
		t->separator = *c;
		if (str_find_char(line, *c) == line.n)
			continue;
		name_columns(t, line);
		if (t->nr >= 3 && has_column(t, MEANS_TIME))
			return true;
	}
	return false;
}

static bool table_learn(struct layout *layout, const struct layout_sample *sample)
{
	struct table *t = arena_new(&layout->arena, struct table);
	struct layout_worker *worker;
	struct losses losses = { 0 };
	struct arena arena = { 0 };
	struct event ev;
	size_t hits = 0, rows = 0;

	if (!find_marked_header(t, layout, sample) && !find_plain_header(t, sample))
		return false;
	layout->own = t;
	worker = layout_worker_new(layout);
	for (size_t i = t->kind == TABLE_CSV; i < sample->nr; i++) {
		rows += sample->lines[i].p[0] != '#';
		hits += table_parse(layout, worker, sample->lines[i], &arena, &ev, &losses) == 1;
	}
	arena_done(&arena);
	layout_worker_free(worker);
	buf_add(&layout->pattern, t->kind == TABLE_W3C
					  ? STR("W3C extended, columns named by #Fields")
				  : t->kind == TABLE_ZEEK ? STR("Zeek, columns named by #fields")
							  : STR("columns named by the first line"));
	return layout_most(hits, rows, 50);
}

const struct layout_kind layout_table = {
	.name = "table",
	.learn = table_learn,
	.parse = table_parse,
};
