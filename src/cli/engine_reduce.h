/* The last step of a distributed run: records of all parts, in order, become a run. */
#ifndef CULPRIT_CLI_ENGINE_REDUCE_H
#define CULPRIT_CLI_ENGINE_REDUCE_H

struct call;
struct error;
struct plan;
struct store;

/* Records is a file of them, packed or not, or "-"; the run is written as observe does. */
int engine_reduce(const struct call *call, const struct plan *plan, const char *records,
		  const char *path, struct store **s, struct error *err);

#endif
