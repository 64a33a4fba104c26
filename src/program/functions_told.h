/* Names of functions that were stripped off but are in the program as texts (__func__), of which a
 * function refers to its own. */
#ifndef CULPRIT_PROGRAM_FUNCTIONS_TOLD_H
#define CULPRIT_PROGRAM_FUNCTIONS_TOLD_H

#include "base/vec.h"
#include "program/functions.h"

struct function_told {
	uint32_t function; /* one without a name */
	struct str name;   /* in the bytes of the file */
};

struct functions_told {
	VEC(struct function_told) v;
};

/* Empty where those of the module that have names show that this is not how it tells them. */
void functions_told(const struct functions *f, uint32_t module, struct functions_told *out);
void functions_told_done(struct functions_told *t);

#endif
