/* Who calls a method by name: the other way round of what constants say. */
#ifndef CULPRIT_PROGRAM_CALLERS_H
#define CULPRIT_PROGRAM_CALLERS_H

#include "program/program.h"

/* Classes that name each method. */
struct callers {
	uint32_t *first; /* by method: classes[first[m]] up to classes[first[m + 1]] */
	uint32_t *classes;
};

/* wanted tells which methods are worth it; NULL for all. */
void callers_init(struct callers *c, const struct program *p,
		  bool (*wanted)(const struct program *p, uint32_t method, const void *ctx),
		  const void *ctx);
void callers_done(struct callers *c);

/* A method that has calls of it. */
struct caller {
	uint32_t method;
	uint16_t pc;
};
/* Up to max places that call the method; how many. */
uint32_t callers_of(const struct callers *c, const struct program *p, uint32_t method,
		    struct caller *places, uint32_t max);

#endif
