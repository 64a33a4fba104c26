/* A stretch of one node's time line: the spans that it served, the calls that it made, and which
 * span each call may belong to. */
#ifndef CULPRIT_INFER_PATHS_PIECE_H
#define CULPRIT_INFER_PATHS_PIECE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "infer/paths/calls.h"

enum {
	CANDIDATES_MAX = 256, /* of one call: the latest */
	KIDS_MAX = 128,       /* a span with more is left as it is */
	KINDS_MAX = 64,       /* callees told apart at one node, and kinds of spans */
};
#define NO_SPAN UINT32_MAX

/* How the nodes around one node are told apart there. */
struct view {
	uint32_t nr_types, nr_callees;
	uint16_t *type;           /* by sender: of the spans that it causes; all sources share 0 */
	uint16_t *callee;         /* by node */
	bool outlasts[KINDS_MAX]; /* by callee, see early.h */
	const uint8_t
		*late; /* by call of the window, may be NULL: the one that goes on, see joins.h */
};

struct pspan {
	int64_t t1, t4;
	uint32_t call; /* in the window */
	uint32_t trace;
	uint32_t type;
	uint32_t nr, room; /* kids */
	uint32_t *kids;    /* calls of the piece, in order */
	float ll;
	bool cut; /* reaches beyond the piece, so that kids may be missing */
};

struct pcall {
	int64_t t1, t4;
	uint32_t call;
	uint32_t trace;
	uint32_t callee;
	uint32_t first, nr; /* candidates */
	uint32_t span;      /* the one that has it now, NO_SPAN for a root */
	uint32_t at;        /* where that stands among the candidates */
	bool fixed;         /* decided in an earlier window */
	bool spare;         /* seen only so that others find their neighbours */
};

struct piece {
	struct pspan *spans; /* in the order of t1 */
	struct pcall *calls; /* likewise */
	uint32_t nr_spans, nr_calls;
	VEC(uint32_t) candidates; /* of all calls, each in the order of the spans */
	uint32_t *marks;          /* how often each candidate was chosen */
	float *pull;              /* how often each is proposed, summed up by call; see pull.h */
	uint32_t nr_marked;       /* samples in marks */
	int tries;                /* how many times more than usual others are tried */
	float heat;               /* above 1: the sampler moves more freely */
	uint32_t *unsure;         /* calls with several candidates */
	uint32_t nr_unsure;
	struct arena arena;
};

/* The node's calls, as positions in the window, and the spans that could hold them. */
struct stretch {
	const struct window *w;
	const struct view *view;
	const uint32_t *in, *out;
	uint32_t nr_in, nr_out;
	uint32_t from, to; /* those of out that are wanted */
	uint32_t margin;   /* how many more on both sides are taken along */
	int64_t longest;   /* the longest span of the node */
};

void piece_init(struct piece *p, const struct stretch *s);
void piece_done(struct piece *p);
/* Where the span stands among the candidates of the call, or NO_SPAN. */
uint32_t piece_candidate(const struct piece *p, uint32_t call, uint32_t span);
/* Gives the call to a span (or NO_SPAN) and takes it from the one that had it. */
void piece_give(struct piece *p, uint32_t call, uint32_t span);
void piece_set_kids(struct piece *p, uint32_t span, const uint32_t *kids, uint32_t nr);

#endif
