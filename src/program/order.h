/* In which order the log points of a method, and of what it calls, may come. */
#ifndef CULPRIT_PROGRAM_ORDER_H
#define CULPRIT_PROGRAM_ORDER_H

#include "program/identifiers.h"

struct order_node {
	uint32_t *points; /* log points */
	uint32_t nr_points;
	uint32_t *next; /* nodes */
	uint32_t nr_next;
	bool is_repeated;    /* a loop or recursion: any of its points, any number of times, in any
				order */
	bool is_exceptional; /* comes only after an exception */
	bool is_first, is_last;
};

/* A graph without circles; alternatives of a branch are nodes side by side. */
struct order {
	struct order_node *nodes;
	uint32_t nr;
	bool may_be_silent; /* the method may run without logging anything */
};

struct orders {
	struct arena arena;
	struct order *of; /* by method; made for methods that speak */
};

/* lprof, section 4.3. What runs in other threads is not part of it, nor what all work has in
 * common. */
void orders_find(struct orders *o, const struct callgraph *g, const struct log_points *points,
		 const struct identifiers *ids);
void orders_done(struct orders *o);

#endif
