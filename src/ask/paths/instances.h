/* The paths of single requests, call by call. */
#ifndef CULPRIT_ASK_PATHS_INSTANCES_H
#define CULPRIT_ASK_PATHS_INSTANCES_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct report;
struct request_filter;
struct store;

/* Every request of the filter: people see one line each. With alternatives, calls tell who else
 * could have made them. */
int instances_all(struct store *s, const struct request_filter *f, bool alternatives,
		  struct report *report, struct error *err);
/* One request, by its number: people see its calls as a tree. */
int instances_one(struct store *s, uint64_t id, bool alternatives, struct report *report,
		  struct error *err);

#endif
