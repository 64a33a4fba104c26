/* Rotated logs by their names: which of them are one log, and in which order they were written. */
#ifndef CULPRIT_SOURCE_ROTATION_H
#define CULPRIT_SOURCE_ROTATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* From the oldest to the one that is written now. */
enum rotation_age {
	ROTATION_DATED,    /* app.log-20240101.gz, app.2024-01-01.log */
	ROTATION_NUMBERED, /* app.log.2: the larger, the older */
	ROTATION_OLD,      /* app.log.old */
	ROTATION_NONE,
};

struct rotation {
	char log[256]; /* the name without what rotation and compression added: "app.log" */
	enum rotation_age age;
	struct str date; /* borrowed from the name; empty when there is none */
	uint64_t number;
	bool is_packed;
};

/* The name of a file, without its directory. */
void rotation_of(struct str name, struct rotation *r);
/* The path that the log of this file has while it is written. */
void rotation_log(struct buf *b, struct str path);
/* By log, within one the oldest first. A total order of names in a directory. */
int rotation_cmp(struct str a, struct str b);
/* The same for paths, directory by directory. */
int rotation_cmp_paths(struct str a, struct str b);

/* Without a date behind any sign or, behind a dot, a small number; what was taken off in *suffix.
 */
struct str rotation_strip(struct str name, struct str *suffix);

#endif
