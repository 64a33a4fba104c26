/* What a variance tree answered, as a report: a sentence, the factors, the tree, the slowest. */
#ifndef CULPRIT_ASK_VARIANCE_TELL_H
#define CULPRIT_ASK_VARIANCE_TELL_H

#include <stdbool.h>

#include "ask/variance/factors.h"

struct report;
struct variance_tree;

struct variance_telling {
	bool for_people;  /* what only scripts want may be left out */
	bool tree;        /* the whole tree, not its largest parts only */
	bool tail;        /* the slowest against the usual ones, factor by factor */
	size_t top;       /* factors at most; 0: all, for people a screenful */
	double min_share; /* shares below are left out; 0: none */
	struct str what_if;
	size_t nr_steps;  /* as the answer was asked for */
	const char *unit; /* what intervals are called: "requests", "intervals"; NULL: these */
};

/* The names are borrowed from the tree, which may be NULL where no what_if is asked for. 0, or 1
 * where there is nothing to tell. */
int variance_tell(const struct variance_answer *a, const struct variance_tree *t,
		  const struct variance_telling *how, struct report *report);

#endif
