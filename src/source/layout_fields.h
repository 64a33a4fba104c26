/* A line as a row of fields: the steps that take it apart, made by a pattern or by learning. */
#ifndef CULPRIT_SOURCE_LAYOUT_FIELDS_H
#define CULPRIT_SOURCE_LAYOUT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "source/layout_said.h"
#include "source/layout_time.h"

struct arena;
struct event;
struct layout;
struct layout_worker;
struct losses;

enum layout_step {
	STEP_LITERAL,   /* these bytes; a blank stands for one or more */
	STEP_BLANKS,    /* any number, also none */
	STEP_TIME,      /* the time of the event */
	STEP_TIME_PAST, /* another time, of no use */
	STEP_SEEK_TIME, /* the time, at the beginning of any of the next words */
	STEP_LEVEL,
	STEP_WORD,     /* up to a blank */
	STEP_UNTIL,    /* up to these bytes, which the next step takes */
	STEP_BALANCED, /* up to the bracket that closes the one before it */
	STEP_PROGRAM,  /* name[pid]: or name: of syslog */
	STEP_PRIORITY, /* <13> of syslog */
	STEP_IDS,      /* app,trace,span of Spring */
	STEP_MESSAGE,
};

enum layout_field {
	FIELD_NONE,
	FIELD_LEVEL,
	FIELD_THREAD,
	FIELD_LOGGER,
	FIELD_FILE,
	FIELD_LINE,
	FIELD_PID,
	FIELD_NODE,
	FIELD_MEANING, /* a named value: op->meaning */
	FIELD_NR
};

struct layout_op {
	uint8_t step, field;
	uint8_t meaning;
	uint8_t most;        /* letters of a level, 0 for the whole word */
	bool padded;         /* of STEP_LEVEL: blanks may follow before the next literal */
	char open, close;    /* of STEP_BALANCED */
	struct str literal;  /* of STEP_LITERAL, and what STEP_UNTIL looks for */
	const char *written; /* how a pattern writes it: "%c" */
};

#define LAYOUT_OPS_MAX 40

struct layout_fields {
	struct layout_op ops[LAYOUT_OPS_MAX];
	size_t nr;
	size_t time_op; /* position of the time; nr when there is none */
	struct layout_time time, past;
	bool is_strict;        /* made by the user: lines that do not fit are counted */
	bool ends_in_duration; /* "call <0.000421>", as strace writes it */
	bool ends_in_logger;   /* "message (logger)", as Kafka writes it */
};

/* False when there is no room; the program's own patterns are far shorter. */
bool layout_fields_add(struct layout_fields *f, struct layout_op op);
/* 1: an event; how many steps matched in *matched (may be NULL). */
int layout_fields_parse(const struct layout_fields *f, const struct layout *layout,
			struct layout_worker *worker, struct str line, struct arena *arena,
			struct event *ev, struct losses *losses, size_t *matched);
/* As a log4j pattern. */
void layout_fields_text(const struct layout_fields *f, struct buf *b);

#endif
