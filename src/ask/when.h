/* Reads a moment as a person types it: ISO time, time of day, or a number since the epoch. */
#ifndef CULPRIT_ASK_WHEN_H
#define CULPRIT_ASK_WHEN_H

#include <stdint.h>

struct args;
struct error;
struct request_filter;
struct store;

/* A time of day means the day of day_ns; a time without a zone is a local one. */
int when_parse(const char *text, int64_t day_ns, int64_t *ns, struct error *err);
/* Reads --from and --until into a filter; without either, nothing is set. */
int when_times(const struct args *args, struct store *s, struct request_filter *f,
	       struct error *err);
/* Reads --type, --from and --until into a filter. The type must be one of the store. */
int when_filter(const struct args *args, struct store *s, struct request_filter *f,
		struct error *err);

#endif
