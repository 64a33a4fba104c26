/* What an interval is in servers that are widely used, so that nobody needs to look it up. */
#ifndef CULPRIT_CAPTURE_PROBE_PRESET_H
#define CULPRIT_CAPTURE_PROBE_PRESET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct error;
struct interval_specs;

/* Plain data. Lists end with NULL. */
struct preset {
	const char *name;
	const char *summary; /* what an interval is */
	const char *checked; /* the release that it was looked at with */
	bool follows;        /* processes that it makes do the work */
	const char *interval;
	const char *const *carries; /* as --carry takes them */
	const char *const *roots;   /* functions to begin with, where the interval is no call; those
				       that a release does not have are left out */
	const char *const *works;   /* amounts, as --work takes them; NULL for none known */
	const char *const *hot;     /* called so often that they are left alone */
};

/* NULL for none. */
const struct preset *preset_find(struct str name);
/* The i-th, NULL behind the last. */
const struct preset *preset_at(size_t i);
/* What it stands for, as if it were given one by one. */
int preset_specs(const struct preset *p, struct interval_specs *to, struct error *err);
/* The amounts that it names; what a release does not have is left out. */
int preset_works(const struct preset *p, struct interval_specs *to, struct error *err);
/* "no preset 'x': there are a, b and c" */
int preset_missing(struct str name, struct error *err);

#endif
