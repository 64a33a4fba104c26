/* Rows by their keys, and what the aggregates of each group have seen. */
#ifndef CULPRIT_QUERY_GROUPS_H
#define CULPRIT_QUERY_GROUPS_H

#include "query/total.h"

struct groups {
	size_t nr, nr_keys, nr_variables, nr_totals; /* the last three are set by the user */
	VEC(struct value) keys;
	VEC(struct value) rows; /* the first row of each */
	VEC(struct total) totals;
	VEC(uint64_t) hashes;
	uint32_t *slots; /* 1 + group */
	size_t nr_slots;
};

/* The group with these keys, made on first sight; the row is kept then. */
size_t groups_find(struct groups *g, const struct value *keys, const struct value *row);
/* Whether there is one already. */
bool groups_has(const struct groups *g, const struct value *keys);
/* Group numbers in the order of their keys; from malloc. */
uint32_t *groups_sorted(const struct groups *g, const struct names *names);
void groups_reset(struct groups *g);
void groups_done(struct groups *g);

#endif
