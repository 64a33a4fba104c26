/* Values of options that are numbers and times, with a sentence for those that are not. */
#ifndef CULPRIT_CLI_OPTION_H
#define CULPRIT_CLI_OPTION_H

#include <stdint.h>

struct call;
struct error;

/* *value keeps its default when the option is absent. From 1 to max. */
int option_number(const struct call *call, const char *name, uint64_t max, uint64_t *value,
		  struct error *err);
/* Likewise a stretch of time, more than none. */
int option_time(const struct call *call, const char *name, int64_t *ns, struct error *err);
/* Likewise a share: 5%, 0.05. */
int option_share(const struct call *call, const char *name, double *share, struct error *err);

#endif
