/* What the two halves of the parser of tracepoint files share: where it stands in the text. */
#ifndef CULPRIT_QUERY_TRACEPOINT_PARSER_H
#define CULPRIT_QUERY_TRACEPOINT_PARSER_H

#include "query/tracepoint.h"

struct tracepoint_parser {
	struct str text;
	size_t at;
	struct arena *arena;
	struct error *err;
};

/* Passes over blanks, line ends and comments. */
void tracepoint_skip(struct tracepoint_parser *p);
/* Letters, digits, '_' and '$' from here on; empty where there are none. Does not move. */
struct str tracepoint_word(const struct tracepoint_parser *p);
bool tracepoint_take_sign(struct tracepoint_parser *p, char c);
int tracepoint_wrong(struct tracepoint_parser *p, struct place at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Of one byte, here. */
struct place tracepoint_here(const struct tracepoint_parser *p);

/* How the value of an export is written. */
enum tracepoint_written {
	WRITTEN_NATIVE, /* by argument, memory and so on */
	WRITTEN_JAVA,   /* a path that a JVM evaluates */
	WRITTEN_RUN,    /* a path that a run has it under */
};
/* tracepoint_take.c: how the value of an export is found. */
int tracepoint_taking(struct tracepoint_parser *p, enum tracepoint_written written,
		      struct tracepoint_export *e);

#endif
