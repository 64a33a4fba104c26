/* The steps of a distributed run between its records and the run: lines are dealt out by chains,
 * reducers make requests of them, and these come back. */
#ifndef CULPRIT_CLI_ENGINE_REDUCE_H
#define CULPRIT_CLI_ENGINE_REDUCE_H

#include <stdio.h>

struct error;
struct matcher;
struct merge;
struct shuffle;

/* Records of chains, a line each, in order. */
int engine_shuffle(const struct shuffle *sh, FILE *out, struct error *err);
/* What one reducer does with its chains: a file of them, or "-". */
int engine_reduce(const struct matcher *m, const char *chains, FILE *out, struct error *err);
/* What all reducers wrote, in any order of chains. */
int engine_fragments(const char *path, struct merge *m, struct error *err);

#endif
