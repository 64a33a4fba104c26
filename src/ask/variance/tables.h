/* Tables of what a variance tree answered beside its factors: the tree, the slowest, what if. */
#ifndef CULPRIT_ASK_VARIANCE_TABLES_H
#define CULPRIT_ASK_VARIANCE_TABLES_H

#include <stddef.h>

#include "ask/variance/factors.h"

struct report;
struct row;
struct section;
struct variance_telling;

/* For scripts the inner nodes, or all; for people the largest, or all. */
void tables_tree(const struct variance_answer *a, const struct variance_telling *how,
		 struct report *report);
void tables_slowest(const struct variance_answer *a, const struct variance_telling *how,
		    struct report *report);
void tables_what_if(const struct variance_tree *t, const struct variance_telling *how,
		    struct report *report);

/* Cells that are objects. */
void tables_waits(struct section *s, struct row *row, size_t column, const double *waits);
void tables_tail(struct section *s, struct row *row, size_t column, const struct variance_tail *t);

#endif
