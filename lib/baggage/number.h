/*
 * Numbers that are folded into one.
 */
#ifndef CULPRIT_LIB_NUMBER_H
#define CULPRIT_LIB_NUMBER_H

#include <stdbool.h>

#include "lib/baggage/baggage.h"

/* One number of what two held. */
struct culprit_number number_fold(uint8_t fold, const struct culprit_number *a,
				  const struct culprit_number *b);

/* What is shown of a number that was folded from so many tuples. */
struct culprit_number number_result(uint8_t fold, const struct culprit_number *a, uint64_t count);

#endif
