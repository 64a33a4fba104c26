/* Finds nodes where several calls of one request arrive and one of them does the work. */
#ifndef CULPRIT_INFER_PATHS_JOINS_H
#define CULPRIT_INFER_PATHS_JOINS_H

#include <stdbool.h>
#include <stdint.h>

struct window;

struct joins {
	const struct window *w;
	uint32_t *root; /* by call: the request that it is in, as far as parents are known */
	uint32_t *last; /* by root: the arrival at the node looked at that returned last */
	uint8_t *late;  /* by call: of several arrivals of its request it returned last */
};

void joins_init(struct joins *j, const struct window *w);
void joins_done(struct joins *j);
/* Looks at the calls that one node receives, in order; true when enough requests join there. */
bool joins_look(struct joins *j, const uint32_t *in, uint32_t nr);

#endif
