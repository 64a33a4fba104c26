/* A query as it was written: plain data in one arena, with the place of each part for messages. */
#ifndef CULPRIT_QUERY_AST_H
#define CULPRIT_QUERY_AST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* Bytes of the text, from 0; lines and columns are counted when they are shown. */
struct place {
	uint32_t at, length;
};

enum expr_kind {
	EXPR_INT,
	EXPR_DOUBLE,
	EXPR_TEXT,
	EXPR_BOOL,
	EXPR_NULL,
	EXPR_NAME,      /* alias.field, or the name of a Let or of a joined query */
	EXPR_UNARY,     /* op, a */
	EXPR_BINARY,    /* op, a, b */
	EXPR_AGGREGATE, /* function, a (NULL: of rows), number */
};

enum expr_op {
	OP_NONE,
	OP_OR,
	OP_AND,
	OP_NOT,
	OP_EQ,
	OP_NE,
	OP_LT,
	OP_LE,
	OP_GT,
	OP_GE,
	OP_ADD,
	OP_SUB,
	OP_MUL,
	OP_DIV,
	OP_MOD,
	OP_NEG,
};

enum aggregate {
	AGGREGATE_COUNT,
	AGGREGATE_SUM,
	AGGREGATE_MIN,
	AGGREGATE_MAX,
	AGGREGATE_AVERAGE,
	AGGREGATE_PERCENTILE,
	AGGREGATE_HISTOGRAM,
};

struct expr {
	enum expr_kind kind;
	enum expr_op op;
	enum aggregate function;
	struct place place;
	int64_t i;        /* INT, BOOL */
	double d;         /* DOUBLE; of PERCENTILE: which one, 0..100 */
	struct str text;  /* TEXT: the string; NAME: what stands before the first dot */
	struct str field; /* NAME: what stands behind it; empty: nothing */
	struct expr *a, *b;
	uint32_t number; /* set when planned: of NAME the variable, of AGGREGATE which one */
};

/* Which of the tuples that happened before are taken. */
enum take { TAKE_ALL, TAKE_FIRST, TAKE_RECENT };

struct query;

/* A tracepoint or a query of that name, or a query in brackets. */
struct source_name {
	struct str name;
	struct place place;
	struct query *query;
};

struct input_clause {
	struct str alias;
	struct place place;
	struct source_name *sources;
	size_t nr_sources;
	enum take take;
	uint32_t at_most;         /* of FIRST and RECENT */
	struct str before, after; /* On before -> after; empty in a From */
	struct place before_place, after_place;
};

struct let_clause {
	struct str name;
	struct place place;
	struct expr *expr;
};

struct select_clause {
	struct expr *expr;
	struct str name; /* AS, or as it was written */
};

struct query {
	struct str name; /* "Q1:" in front, or empty */
	struct input_clause from;
	struct input_clause *joins;
	struct let_clause *lets;
	struct expr **wheres; /* all must hold */
	struct expr **groups;
	struct select_clause *selects;
	size_t nr_joins, nr_lets, nr_wheres, nr_groups, nr_selects;
};

/* Several queries, of which the last is asked and the others may be sources. */
struct queries {
	struct str text;
	struct query **v;
	size_t nr;
};

#endif
