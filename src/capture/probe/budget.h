/*
 * What a program has lost by being watched, and whether it may lose more now: it is given a share
 * of its time, and what was lost at once is waited for afterwards.
 */
#ifndef CULPRIT_CAPTURE_PROBE_BUDGET_H
#define CULPRIT_CAPTURE_PROBE_BUDGET_H

#include <stdint.h>

enum lost_by {
	LOST_CALLS,    /* our code in it */
	LOST_SWITCHES, /* programs in the kernel that see its threads switch */
	LOST_UPROBES,  /* functions that could not be patched */
	LOST_STOPS,    /* it stood still to be patched */
	LOST_STACKS,   /* threads stood still to be looked at */
	LOST_OWN,      /* processors that we use ourselves */
	NR_LOST,
};

/* ns of its own time. Zero but for share allows nothing. */
struct budget {
	double share;
	int64_t at;         /* when it was last given something */
	double credit, due; /* due: of the beginning, paid back little by little */
	double lost[NR_LOST];
};

void budget_begin(struct budget *b, double share, int64_t now);
/* As if nothing had been lost for a while: the first look need not wait. */
void budget_lend(struct budget *b);
void budget_lose(struct budget *b, enum lost_by by, double ns);
/* What cannot be done in small pieces, before anything is watched. */
void budget_lose_first(struct budget *b, enum lost_by by, double ns);
void budget_give(struct budget *b, int64_t now);
/* How long to leave it alone; 0: it may be watched. */
int64_t budget_wait(const struct budget *b);

#endif
