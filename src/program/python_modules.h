/* The modules that a Python script is made of: itself, and what it imports, and what that imports.
 */
#ifndef CULPRIT_PROGRAM_PYTHON_MODULES_H
#define CULPRIT_PROGRAM_PYTHON_MODULES_H

#include <stddef.h>

#include "base/str.h"

struct losses;

struct python_modules {
	const char *const *folders; /* where modules are looked for, in order */
	size_t nr_folders;
	/* each file once: compiled where there is such a file, else the source */
	void (*each)(void *ctx, const char *path);
	void *ctx;
	struct losses *losses;
};

/* From a script, or from a module by its name ("http.server"); what cannot be found is left out,
 * as much of it is optional. */
void python_modules_of_script(const struct python_modules *m, const char *script);
void python_modules_of_module(const struct python_modules *m, struct str name);

#endif
