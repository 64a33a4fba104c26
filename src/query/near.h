/* The name that was meant, when one was not found: "did you mean". */
#ifndef CULPRIT_QUERY_NEAR_H
#define CULPRIT_QUERY_NEAR_H

#include <stddef.h>

#include "base/str.h"

/* Offers names one after another; best is empty where none is near. */
struct near {
	struct str word, best;
	unsigned least;
};

void near_begin(struct near *n, struct str word);
void near_offer(struct near *n, struct str name);

#endif
