/* Learns a program from its class files: everything that the model of it is written from. */
#ifndef CULPRIT_PROGRAM_LEARN_H
#define CULPRIT_PROGRAM_LEARN_H

#include "model/loss.h"
#include "program/callgraph.h"
#include "program/identifiers.h"
#include "program/logpoints.h"
#include "program/order.h"
#include "program/pairs.h"
#include "program/thread_names.h"

struct error;

struct learned {
	struct program *program;
	struct log_points points;
	struct callgraph graph;
	struct identifiers identifiers;
	struct orders orders;
	struct pairs pairs;
	struct thread_names thread_names;
	struct losses losses;
};

struct learn_options {
	unsigned threads; /* 0: as many as there are cores; the result does not depend on it */
	/* Called before each step, with what is being done; may be NULL. */
	void (*step)(void *ctx, const char *what);
	void *ctx;
};

/* Jars, wars, folders and class files. No class at all is a failure; *l is empty then. */
int learn(struct learned *l, const char *const *paths, size_t nr, const struct learn_options *o,
	  struct error *err);
void learned_done(struct learned *l);

#endif
