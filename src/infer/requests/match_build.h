/* The patterns of some models made ready: all of them, and those of each logger and source file. */
#ifndef CULPRIT_INFER_REQUESTS_MATCH_BUILD_H
#define CULPRIT_INFER_REQUESTS_MATCH_BUILD_H

#include "base/arena.h"
#include "base/names.h"
#include "infer/requests/match_set.h"
#include "infer/requests/match_words.h"
#include "program/model_file.h"

/* A name, and the texts that are found under it. */
struct match_sets {
	struct names names;
	const struct match_set **v; /* by name */
};

struct matcher {
	const struct model_file **models;
	uint32_t *points, *names; /* of each model: the number of its first one; one more */
	uint32_t counts[256];     /* of each letter in all constants */
	unsigned nr;
	struct arena arena;
	struct match_sets loggers; /* by the last word of the logger's name */
	struct match_sets files;
	const struct match_set *all;
	const struct match_set *threads;
	const struct str *point_names;   /* by number */
	const struct match_words *words; /* likewise */
};

void match_build(struct matcher *m);

#endif
