/* Sets the order of the log points of a method as a tree that a person reads from top to bottom. */
#ifndef CULPRIT_CLI_LEARN_DAG_H
#define CULPRIT_CLI_LEARN_DAG_H

#include "base/vec.h"
#include "program/model_file.h"

#define DAG_BEGIN \
	UINT32_MAX /* the line before everything, when a method may begin in many ways \
		    */

enum dag_how {
	DAG_THEN,   /* after what stands above it at this depth */
	DAG_EITHER, /* one of several ways to go on */
	DAG_OR,     /* another one */
};

struct dag_line {
	uint32_t node; /* of the top, from 0; or DAG_BEGIN */
	unsigned depth;
	enum dag_how how;
};

struct dag {
	VEC(struct dag_line) lines;
	uint32_t nr_left_out;
};

void dag_init(struct dag *d, const struct model_file *m, const struct model_top *t);
void dag_done(struct dag *d);

#endif
