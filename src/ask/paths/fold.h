/* Draws patterns together that differ only in which replica of a service did the work. */
#ifndef CULPRIT_ASK_PATHS_FOLD_H
#define CULPRIT_ASK_PATHS_FOLD_H

#include "ask/paths/patterns.h"

/* What one node did at one place of a folded pattern. */
struct replica {
	sym_t node;
	uint64_t nr;
	double latency, self; /* ns, summed */
};

struct fold_hop {
	struct shape_hop place; /* of the member that takes most time */
	struct hop_stat stat;   /* of all members */
	struct str name;        /* "WS1", or "WS{1|2}" */
	VEC(struct replica) replicas;
};

struct fold {
	struct fold_hop *hops;
	size_t nr_hops;
	uint32_t nr_members; /* patterns */
	uint64_t count, errors;
	double total, confidence;
	struct sketch latencies;
	struct str path;
};

struct folds {
	VEC(struct fold) v; /* the most time in all first */
	struct arena arena;
};

/* With replicas false every pattern stays for itself. */
void folds_make(struct folds *f, const struct patterns *p, bool replicas);
void folds_done(struct folds *f);
/* The name without what tells replicas apart: a host behind "@", a number at the end, the marks of
 * a container, the address in front of a port. *part is what was taken out. */
struct str fold_stem(struct str node, struct str *part);

#endif
