/* The first two steps of a distributed run: parts of logs become records, and records that one
 * worker has side by side say what they repeat once. */
#ifndef CULPRIT_CLI_ENGINE_MAP_H
#define CULPRIT_CLI_ENGINE_MAP_H

#include <stdint.h>
#include <stdio.h>

#include "base/str.h"

struct error;
struct plan;
struct statements;

/* One part, from in to out. */
int engine_map(const struct plan *plan, uint32_t file, uint64_t part, const struct statements *st,
	       FILE *in, FILE *out, struct error *err);
/* Several, each piece of them behind a line "FILE PART BYTES". */
int engine_map_frames(const struct plan *plan, const struct statements *st, FILE *in, FILE *out,
		      struct error *err);
int engine_combine(FILE *in, FILE *out, struct error *err);

#endif
