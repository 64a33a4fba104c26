/*
 * Tracepoints of programs, as a small file defines them (docs/tracepoints.md has the grammar):
 * where they are, and what they export to queries.
 */
#ifndef CULPRIT_QUERY_TRACEPOINT_H
#define CULPRIT_QUERY_TRACEPOINT_H

#include "lib/advice/java_path.h"
#include "query/ast.h"
#include "query/value.h"
#include "wire/advice.h"

struct arena;
struct buf;
struct error;
struct plan;

#define TRACEPOINT_BYTES (1 << 20) /* of one file */
#define TRACEPOINTS_MAX 4096
#define TRACEPOINT_PLACES 64 /* of one */
#define TRACEPOINT_EXPORTS (ADVICE_INPUTS - ADVICE_INPUT_OWN)

enum tracepoint_where {
	WHERE_FUNCTION, /* binary!function */
	WHERE_USDT,     /* provider:probe; binary may be empty: any */
	WHERE_SYSCALL,  /* a system call; the last of those that native programs have */
	WHERE_CLASS,    /* a pattern of class and method */
	WHERE_LOG,      /* a log point of a program model */
	WHERE_SPAN,     /* spans of this name in a run */
	WHERE_MESSAGE,
};

enum tracepoint_moment { MOMENT_ENTRY, MOMENT_EXIT, MOMENT_EXCEPTION, MOMENT_LINE };

struct tracepoint_place {
	enum tracepoint_where where;
	enum tracepoint_moment moment;
	uint32_t line;     /* of MOMENT_LINE */
	int call;          /* the number of a system call */
	struct str binary; /* the name of its file, or its path; of USDT: the provider */
	struct str name; /* function, probe, system call, class pattern, log point, span, message */
	struct place place; /* in the file */
};

struct tracepoint_export {
	struct str name;
	struct str expression;       /* as it was written */
	struct advice_taking taking; /* from: ADVICE_FROM_NOTHING where only a JVM can tell */
	enum value_type type;        /* VALUE_NULL: not known before it is seen */
	enum java_root java_root;    /* at classes: what the expression begins with */
	struct place place;
};

struct tracepoint {
	struct str name;
	struct place place;
	struct tracepoint_place *places;
	struct tracepoint_export *exports;
	size_t nr_places, nr_exports;
	bool begins_request; /* what the thread carried before belongs to another request */
	struct str text;     /* the whole definition, as it was written */
};

/* Of one file. Borrows from its text. */
struct tracepoints {
	struct str file, text;
	struct tracepoint *v;
	size_t nr;
};

/* 0, or -EINVAL with file, line, column, the line itself with a caret, and what was meant. */
int tracepoints_parse(struct str file, struct str text, struct arena *arena, struct tracepoints *t,
		      struct error *err);
/* The last definition of that name, or NULL. */
const struct tracepoint *tracepoints_find(const struct tracepoints *files, size_t nr,
					  struct str name);
/* Appends the definitions that a query needs, so that others can read them. -EINVAL with the place
 * in the query where one is not known. */
int tracepoints_needed(const struct plan *p, const struct tracepoints *files, size_t nr,
		       struct buf *to, struct error *err);
/* Those that are at spans, log points and messages as queries with names, for runs: what they
 * export are columns. How many there were. */
size_t tracepoints_as_queries(const struct tracepoints *files, size_t nr, struct buf *to);
/* "no tracepoint is called …; did you mean …?", at the place of the query. */
int tracepoint_unknown(struct str query, const struct source_name *s,
		       const struct tracepoints *files, size_t nr, struct error *err);

/* Sets of definitions for widely used systems that culprit knows by name. */
struct tracepoint_set {
	const char *name;
	struct str text;
};
/* The i-th, NULL behind the last. */
const struct tracepoint_set *tracepoint_set_at(size_t i);
const struct tracepoint_set *tracepoint_set_find(struct str name);

/* The number of an input (struct advice_program) by the name of a field; -1: it has none. */
int tracepoint_input(const struct tracepoint *t, struct str field);
/* The names of enum advice_input. */
struct str tracepoint_default(enum advice_input i);
/* Whether one of its places is of this kind. */
bool tracepoint_is_at(const struct tracepoint *t, enum tracepoint_where w);
const char *tracepoint_where_name(enum tracepoint_where w);
const char *tracepoint_moment_name(enum tracepoint_moment m);

#endif
