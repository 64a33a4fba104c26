/* What nodes say for the first time: statements of the program that nobody had come to before a
 * moment. */
#ifndef CULPRIT_ASK_NOVEL_H
#define CULPRIT_ASK_NOVEL_H

#include "ask/activity.h"

struct novel {
	VEC(uint64_t) events; /* the first line of each statement, in the order of events */
};

/* Statements of all nodes but one that come for the first time at or after one moment and before
 * another; of very many some are left out. One pass over all events. */
int novel_find(struct novel *n, struct store *s, const struct activity *a, sym_t but, int64_t from,
	       int64_t until, struct error *err);
void novel_done(struct novel *n);

#define NOVEL_ASKED 16 /* texts of which is asked who said them first */
/* Which node was the first to say each of some texts, of what each says when it starts; 0: none. A
 * node names its own address before others do. One pass over all events. */
int novel_said_first(struct store *s, const struct activity *a, const struct str *texts, size_t nr,
		     sym_t *who, struct error *err);

#endif
