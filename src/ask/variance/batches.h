/*
 * Intervals by batches of consecutive ones, between 32 and 64 of them however many there are: drawn
 * anew with replacement they tell how sure a share is, also where neighbours resemble each other.
 */
#ifndef CULPRIT_ASK_VARIANCE_BATCHES_H
#define CULPRIT_ASK_VARIANCE_BATCHES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/vec.h"

struct variance_tree;

#define BATCHES_MAX 64
#define BATCHES_LEAST 16 /* with fewer nothing is said */

/* Sums up to the end of a batch, since the beginning. */
struct batch {
	uint64_t nr; /* intervals */
	VEC(double) pairs;
	VEC(double) sums; /* by node */
};

struct batches {
	struct batch v[BATCHES_MAX];
	size_t nr;
	uint64_t size; /* intervals of one */
};

void batches_done(struct batches *b);
/* After each interval. */
void batches_step(struct variance_tree *t);
/* A new node takes over the past of another, and so does its pair with itself. */
void batches_inherit(struct variance_tree *t, uint32_t node, uint32_t from);

/* A part of a factor: the covariance of two siblings, or of one with itself. */
struct batch_term {
	uint32_t factor;
	uint32_t a, b;
	double weight;
};

/* The interval that holds the share of each factor in 95 of 100 draws; factors stand in order in
 * terms. False where there are too few batches. */
bool batches_draw(const struct variance_tree *t, const struct batch_term *terms, size_t nr_terms,
		  size_t nr_factors, double *low, double *high, struct arena *arena);

#endif
