/* Logs that only the engine can read (hdfs://…): their beginnings are fetched, and a folder is made
 * that looks like theirs, so that they are found, ordered and named like files here. */
#ifndef CULPRIT_CLI_ENGINE_FAR_H
#define CULPRIT_CLI_ENGINE_FAR_H

#include <stdbool.h>
#include <stddef.h>

struct engine;
struct engine_job;
struct error;
struct plan;

bool far_is(const char *input);
/* Of each input: a path of this machine, its own or the likeness of what is far. */
int far_mirror(struct engine_job *j, const struct engine *e, char *const *inputs, size_t nr,
	       char **mirrored, struct error *err);
/* Files of the plan that are likenesses become what they are like. */
void far_name(struct engine_job *j, char *const *inputs, size_t nr, struct plan *p);

#endif
