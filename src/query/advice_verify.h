/*
 * Proves of a program that it may run in a stranger's process: known operations, registers that are
 * set before they are read, numbers within bounds, an end. And says what it can cost.
 */
#ifndef CULPRIT_QUERY_ADVICE_VERIFY_H
#define CULPRIT_QUERY_ADVICE_VERIFY_H

#include <stddef.h>
#include <stdint.h>

struct advice_program;
struct error;

/* At the most. */
struct advice_bounds {
	size_t nr_ops;       /* of one row */
	size_t tuple_bytes;  /* in the bag, of one event that packs one tuple */
	size_t nr_fitting;   /* such events in a bag that holds nothing else */
	size_t nr_kept;      /* tuples that are kept of one request; SIZE_MAX: of all */
	size_t joined_slots; /* UNPACK in UNPACK */
};

/* 0, or -EINVAL and why. bounds may be NULL. */
int advice_verify(const struct advice_program *p, struct advice_bounds *bounds, struct error *err);

#endif
