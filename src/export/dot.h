/* Who calls whom: the graph of a run's nodes. */
#ifndef CULPRIT_EXPORT_DOT_H
#define CULPRIT_EXPORT_DOT_H

#include "base/names.h"
#include "base/vec.h"
#include "export/feed.h"

struct dot_node {
	uint64_t spans, errors;
};

struct dot_edge {
	sym_t from, to;
	uint64_t count, errors;
	double total_ns; /* that the spans called took */
};

/* Zero is a valid start. */
struct dot_state {
	struct names nodes;
	VEC(struct dot_node) node;
	struct names edges; /* by the pair of nodes */
	VEC(struct dot_edge) edge;
};

void dot_done(struct dot_state *d);
void dot_request(void *state, const struct fed *x, struct buf *out);
void dot_end(void *state, struct buf *out);

/* A text inside a quoted string. */
void dot_quoted(struct buf *out, struct str text);

#endif
