/* What sessions have done so far: which statement, in which log, to which thing. */
#ifndef CULPRIT_INFER_REQUESTS_DEEDS_H
#define CULPRIT_INFER_REQUESTS_DEEDS_H

#include "infer/requests/work.h"

struct deeds {
	const struct work *w;
	struct map last;  /* session, statement and log: the unit that did it last, and how many */
	uint32_t *before; /* of each unit: 1 + the one of its session that did it before */
	struct map further; /* likewise, and thing: of what was done many times */
};

void deeds_begin(struct deeds *d, const struct work *w);
void deeds_done(struct deeds *d);
/* The unit is in its session. */
void deeds_add(struct deeds *d, uint32_t unit);
/* Whether the session did to the thing what the unit does. */
bool deeds_has(const struct deeds *d, const struct unit *u, uint32_t session, uint32_t thing);

#endif
