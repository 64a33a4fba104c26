/* Names that a program gives to its threads, as patterns: they may carry identifiers. */
#ifndef CULPRIT_PROGRAM_THREAD_NAMES_H
#define CULPRIT_PROGRAM_THREAD_NAMES_H

#include "program/program.h"
#include "program/text.h"

struct thread_name {
	uint32_t method; /* that gives the name */
	uint32_t runs;   /* the method that the thread so named runs; NO_METHOD when unknown */
	uint16_t pc, line;
	bool is_own; /* the thread names itself: what runs in it from here on has the name */
	struct text text;
};

struct thread_names {
	VEC(struct thread_name) v; /* in the order of the methods that set them */
	struct arena arena;
};

void thread_names_find(struct thread_names *t, const struct program *p);
void thread_names_done(struct thread_names *t);

#endif
