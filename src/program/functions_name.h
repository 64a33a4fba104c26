/* Names of functions as people write them: demangled, without arguments, without what compilers
 * append. */
#ifndef CULPRIT_PROGRAM_FUNCTIONS_NAME_H
#define CULPRIT_PROGRAM_FUNCTIONS_NAME_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* Zero is valid: memory that is used again from name to name. */
struct function_namer {
	char *text; /* what the demangler wrote, and its room */
	size_t room;
	struct buf zero; /* the mangled name with a terminating zero */
	struct buf folded;
};

void function_namer_done(struct function_namer *n);
/* "ns::Vec<int>::push" of a mangled name, itself of any other. Valid until the next one. */
struct str function_plain(struct function_namer *n, struct str symbol);
/* "ns::Vec::push" of such a name: without arguments of templates, clones, tags and hashes. Valid
 * until the next one. */
struct str function_folded(struct function_namer *n, struct str plain);
/* Without ".isra.0", ".part.3", "@@VERSION" and the like at its end. */
struct str function_without_clone(struct str symbol);
/* Whether it can be shown. */
bool function_is_name(struct str symbol);
/* A part that a compiler put apart as rarely run: no function of its own. */
bool function_is_cold(struct str symbol);

#endif
