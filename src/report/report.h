/*
 * The one result model: a question fills it, a writer shows it, and neither knows the other.
 * A report is a list of sections; a section is prose, or rows of typed cells under columns.
 */
#ifndef CULPRIT_REPORT_REPORT_H
#define CULPRIT_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "model/loss.h"

enum cell_type {
	CELL_NONE, /* null in JSON, "-" for people */
	CELL_TEXT,
	CELL_COUNT,    /* a whole number */
	CELL_NUMBER,   /* any number */
	CELL_DURATION, /* ns; people see "41 ms" */
	CELL_TIME,     /* ns since the epoch; people see local ISO time */
	CELL_SHARE,    /* 0.93; people see "93 %" */
	CELL_BOOL,
	CELL_SPARK, /* a list of numbers; people see a row of little bars */
	CELL_BAR,   /* two numbers from..to within 0..1; people see a time bar */
	CELL_ROWS,  /* rows of a section of its own, inside this cell: JSON only. One column with
		       no key: an array of bare values */
};

enum column_flag {
	COLUMN_JSON_ONLY = 1, /* not shown to people */
	COLUMN_TEXT_ONLY = 2, /* not in JSON */
	COLUMN_WIDE = 4,      /* may be cut when the terminal is narrow; others are not */
	COLUMN_INDENT = 8,    /* indented by the row's depth: the column of a tree */
	COLUMN_OPTIONAL = 16, /* left out of JSON where the cell is CELL_NONE */
	COLUMN_OBJECT = 32,   /* CELL_ROWS: its one row as an object, not as a list of one */
};

struct column {
	const char *key;   /* in JSON; NULL with COLUMN_TEXT_ONLY */
	const char *title; /* for people; NULL with COLUMN_JSON_ONLY */
	enum cell_type type;
	unsigned flags;
};

struct section;

struct cell {
	enum cell_type type;
	union {
		struct str text;
		int64_t i;
		double d;
		struct {
			const double *v;
			size_t nr;
		} list;
		struct {
			double from, to;
			char fill; /* 'r' run, 'w' wait, 'c' on the critical path */
		} bar;
		struct section *rows;
	};
};

struct row {
	struct cell *cells; /* one for each column of the section */
	unsigned depth;     /* in a tree */
	bool strong;        /* stands out: the culprit, a total */
};

enum section_kind {
	SECTION_ROWS,  /* a table (or a tree, when a column has COLUMN_INDENT) */
	SECTION_PROSE, /* paragraphs */
	SECTION_STEPS, /* what was done: one line each, a word in front (read, infer, clock) */
};

/* A paragraph; in JSON one object with the fields given. */
struct prose {
	struct str word;       /* STEPS: the word in front */
	struct str text;       /* may hold line breaks */
	struct str command;    /* that shows the evidence, or empty */
	double confidence;     /* 0..1, negative when there is nothing to be unsure of */
	struct section *facts; /* one row with the numbers of the sentence for JSON, or NULL */
};

struct section {
	enum section_kind kind;
	const char *name; /* in JSON: {"section":name,…} when tagged */
	struct str title; /* for people; may be empty */
	bool tagged;      /* whether JSON rows say which section they are of */
	bool text_only;   /* left out of JSON */
	bool json_only;   /* left out for people */
	const struct column *columns;
	size_t nr_columns;
	VEC(struct row) rows;
	VEC(struct prose) prose;
	uint64_t nr_left_out; /* rows that exist but were not listed: "and N more" */
	struct arena *arena;
};

struct report {
	struct arena arena;      /* owns everything below, but for the rows */
	struct arena rows_arena; /* owns rows, cells and prose */
	/* Set by who shows the report, when it can be shown piece by piece: writes what the
	 * sections hold. The rows are forgotten afterwards. */
	void (*spill)(void *to, const struct report *r);
	void *spill_to;
	uint64_t nr_spilled;
	struct str title;
	VEC(struct section *) sections;
	struct losses losses;
};

void report_init(struct report *r);
void report_done(struct report *r);
/* For long lists: after a row, hands over what has gathered if that is much. Earlier rows of any
 * section must not be touched again. */
void report_spill(struct report *r, const struct section *growing);
struct section *report_section(struct report *r, enum section_kind kind, const char *name,
			       const char *title);
/* The columns are borrowed: a static table of the question. */
struct section *report_table(struct report *r, const char *name, const char *title,
			     const struct column *columns, size_t nr_columns);

/* The row is valid until the next of the same section; its cells are for as long as the report. */
struct row *section_row(struct section *s);
/* Rows inside a cell. */
struct section *row_rows(struct section *s, struct row *row, size_t column,
			 const struct column *columns, size_t nr_columns);
/* Texts are copied. A cell that is never set stays CELL_NONE. */
void row_text(struct section *s, struct row *row, size_t column, struct str text);
void row_fmt(struct section *s, struct row *row, size_t column, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* COUNT, DURATION, TIME, BOOL: the type is that of the column. */
void row_int(struct section *s, struct row *row, size_t column, int64_t v);
/* NUMBER, SHARE */
void row_double(struct section *s, struct row *row, size_t column, double v);
void row_spark(struct section *s, struct row *row, size_t column, const double *v, size_t nr);
void row_bar(struct section *s, struct row *row, size_t column, double from, double to, char fill);

/* Adds a paragraph; the text is formatted into the report. Returned to set command (copy it with
 * arena_fmt(s->arena, …)), confidence, facts, before the next is added. The word may be NULL. */
struct prose *section_say(struct section *s, const char *word, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Rows for prose.facts: one section_row of it holds the numbers of the sentence. */
struct section *section_facts(struct section *s, const struct column *columns, size_t nr_columns);

#endif
