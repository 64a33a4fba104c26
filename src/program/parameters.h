/* Where the parameters of a method lie in its locals, by its descriptor, which is read strictly. */
#ifndef CULPRIT_PROGRAM_PARAMETERS_H
#define CULPRIT_PROGRAM_PARAMETERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Words that a method can be handed, 'this' among them. */
#define PARAMETERS_MAX 255

struct parameter {
	struct str type; /* such as I, La/b/C; or [J */
	uint16_t slot;   /* its first word */
};

struct parameters {
	struct parameter v[PARAMETERS_MAX]; /* 'this' is none of them */
	uint16_t nr;
	bool has_this; /* in the first word */
	struct str result;
};

/* False when it is no descriptor, or hands over too much. */
bool parameters_read(struct parameters *p, struct str descriptor, bool is_static);

static inline bool parameter_is_reference(struct str type)
{
	return type.n && (type.p[0] == 'L' || type.p[0] == '[');
}

#endif
