/* A value of a tuple, and what expressions make of values. */
#ifndef CULPRIT_QUERY_VALUE_H
#define CULPRIT_QUERY_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"

struct buf;
struct error;
struct expr;

enum value_type { VALUE_NULL, VALUE_BOOL, VALUE_INT, VALUE_DOUBLE, VALUE_TEXT };

struct value {
	uint8_t type;
	sym_t text; /* TEXT */
	union {
		int64_t i; /* INT, BOOL */
		double d;
	};
};

#define VALUE_NONE ((struct value){ .type = VALUE_NULL })
#define value_int(n) ((struct value){ .type = VALUE_INT, .i = (n) })
#define value_double(n) ((struct value){ .type = VALUE_DOUBLE, .d = (n) })
#define value_bool(n) ((struct value){ .type = VALUE_BOOL, .i = (n) })
#define value_text(n) ((struct value){ .type = VALUE_TEXT, .text = (n) })

/* A number, also one that is written as text; false for anything else. */
bool value_number(struct value v, const struct names *names, struct value *number);
double value_as_double(struct value number);
/* A complete order of all values: null, then numbers and truths, then texts. */
int value_cmp(struct value a, struct value b, const struct names *names);
/* The same value, for grouping: 1 and 1.0 are, 1 and "1" are not. */
bool value_same(struct value a, struct value b);
uint64_t value_hash(struct value v);
/* As a person would write it. */
void value_show(struct buf *b, struct value v, const struct names *names);
/* a + b and a * n of numbers: whole while they fit, otherwise not. */
struct value value_add(struct value a, struct value b);
struct value value_times(struct value a, uint64_t n);

struct evaluation {
	const struct value *row;   /* by variable */
	const struct value *total; /* by aggregate; NULL where there is none */
	struct names *names;
	struct str text;   /* of the query, for messages */
	struct error *err; /* the first type error; */
	bool has_failed;
};

/* Null where something that is needed is not there. A type error is told once, and gives null. */
struct value expr_eval(const struct expr *e, struct evaluation *ev);
/* Whether a condition holds: null does not. */
bool expr_holds(const struct expr *e, struct evaluation *ev);

#endif
