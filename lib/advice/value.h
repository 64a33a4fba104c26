/* What expressions of a query make of values, as src/query/value.h does, in a guest. */
#ifndef CULPRIT_LIB_ADVICE_VALUE_H
#define CULPRIT_LIB_ADVICE_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/advice.h"

/* A number, also one that is written as text; false for anything else. */
bool advice_number(const struct advice_value *v, struct advice_value *number);
/* Null, then numbers and truths, then texts. */
int advice_cmp(const struct advice_value *a, const struct advice_value *b);
bool advice_holds(const struct advice_value *v);
/* a op b into *to; false where the types do not fit, which gives null. */
bool advice_arithmetic(uint8_t op, const struct advice_value *a, const struct advice_value *b,
		       struct advice_value *to);
bool advice_compare(uint8_t op, const struct advice_value *a, const struct advice_value *b,
		    struct advice_value *to);
/* Of numbers: whole while they fit. */
void advice_add(struct advice_value *to, const struct advice_value *n);
void advice_times(struct advice_value *n, uint64_t times);

/* What an aggregate has seen. */
struct advice_total {
	uint64_t nr;               /* values that are not null */
	struct advice_value value; /* the sum (SUM, AVERAGE) or the extreme (MIN, MAX) */
};

/* A value that was seen so many times; false where it is no number and has to be one. */
bool advice_total_of(uint8_t function, const struct advice_value *v, uint64_t times,
		     struct advice_total *t);
/* A half so many times. */
void advice_total_times(uint8_t function, struct advice_total *t, uint64_t times);
/* Adds what a row tells to what was there; the text of an extreme is borrowed from the row: true
 * where it was taken, so that the caller keeps its bytes. */
bool advice_total_add(uint8_t function, struct advice_total *to, const struct advice_total *from);
/* What the aggregate says in the end. */
struct advice_value advice_total_value(uint8_t function, const struct advice_total *t);
/* The place of a percentile among so many values that are sorted: from 1. share: a real number from
 * 0 to 1. */
uint64_t advice_rank(uint64_t share, uint64_t nr);
/* The same value, for grouping: type and bits. */
bool advice_value_same(const struct advice_value *a, const struct advice_value *b);
uint64_t advice_value_hash(const struct advice_value *v);

#endif
