/* What a variance tree keeps, for the parts of this folder. */
#ifndef CULPRIT_ASK_VARIANCE_INSIDE_H
#define CULPRIT_ASK_VARIANCE_INSIDE_H

#include <stdbool.h>

#include "ask/variance/batches.h"
#include "ask/variance/fit.h"
#include "ask/variance/sample.h"
#include "ask/variance/tree.h"
#include "base/arena.h"
#include "base/exact.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/call.h"

#define NODE_NONE UINT32_MAX
#define NODE_WORKS 8 /* names of amounts that are looked at */

enum variance_band { BAND_USUAL, BAND_SLOW, NR_BANDS };

/* How a node's time goes with its waiting. */
struct wait_sums {
	int64_t now[NR_WAITS]; /* of the interval being added */
	uint128_t sum[NR_WAITS];
	struct exact with[NR_WAITS]; /* products with the node's time */
};

struct named_fit {
	struct str name;
	struct fit fit;
};

struct tree_node {
	/* of the interval being added */
	uint64_t stamp;
	int64_t now;
	uint32_t first_touched, next_touched; /* its children in it */
	uint32_t calls_now;

	uint32_t parent; /* NODE_NONE for the root; always before the node */
	uint32_t body;   /* the child for what it does itself; NODE_NONE while it has none */
	uint32_t place;  /* among the children of its parent */
	uint32_t depth;
	uint32_t site;
	bool is_fold; /* all that is below falls in with it */
	struct str name;
	size_t first_pair; /* with the first child of the parent; the last one is with itself */
	uint128_t sum;
	uint128_t band[NR_BANDS];
	uint64_t nr_calls;
	struct exact with_whole;
	struct wait_sums *waits; /* NULL where it never waited */
	struct fit calls;
	struct named_fit *works;
	size_t nr_works;
	VEC(uint32_t) children;
};

struct variance_tree {
	struct arena arena;
	VEC(struct tree_node) nodes;
	VEC(struct exact) pairs; /* sums of products of siblings */
	struct map by_name;      /* 1 + node */
	struct variance_counts counts;
	struct variance_bands bands;
	bool has_bands;
	uint64_t nr_band[NR_BANDS];
	struct batches batches;
	struct sample sample;
	/* of the interval being added */
	uint64_t stamp;
	VEC(uint32_t) touched;
	VEC(uint32_t) node_of; /* by part; those of the last interval are a guess for the next */
	VEC(int64_t) rest;     /* by part: what it does itself */
	VEC(int64_t) all;      /* and with all that is below */
};

/* N² times the covariance of two siblings, or of a node with itself. */
struct exact tree_covariance(const struct variance_tree *t, uint32_t a, uint32_t b);
/* Which pair it is of. */
size_t tree_pair(const struct variance_tree *t, uint32_t a, uint32_t b);
/* The leaf that holds what a node does itself. */
static inline uint32_t tree_leaf(const struct variance_tree *t, uint32_t node)
{
	uint32_t body = t->nodes.v[node].body;

	return body == NODE_NONE ? node : body;
}

/* 0 where there is nothing to be a part of. */
static inline double ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}

#endif
