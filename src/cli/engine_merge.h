/* The last step of a distributed run: records of all parts, in order, become a run. */
#ifndef CULPRIT_CLI_ENGINE_MERGE_H
#define CULPRIT_CLI_ENGINE_MERGE_H

struct call;
struct error;
struct plan;
struct reducers;
struct store;

/* Records is a file of them, packed or not, or "-"; the run is written as observe does. Reducers
 * work on lines where there are many; NULL: this program does. */
int engine_merge(const struct call *call, const struct plan *plan, const char *records,
		 const struct reducers *reducers, const char *path, struct store **s,
		 struct error *err);

#endif
