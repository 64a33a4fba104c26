/* Adds the functions of one file to a set. */
#ifndef CULPRIT_PROGRAM_FUNCTIONS_LOAD_H
#define CULPRIT_PROGRAM_FUNCTIONS_LOAD_H

#include <stdbool.h>

#include "program/functions.h"
#include "program/functions_image.h"

/* The image becomes that of the set. root: what the path is below, "" for nothing. */
void functions_load(struct functions *f, struct function_image *image, struct str path,
		    const char *root, bool is_main);
/* Makes the names findable, when all is loaded. */
void functions_index(struct functions *f);

#endif
