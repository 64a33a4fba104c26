/* A first guess which span has each call. */
#ifndef CULPRIT_INFER_PATHS_START_H
#define CULPRIT_INFER_PATHS_START_H

#include <stdint.h>

struct bins;
struct piece;
struct pull;
struct view;

/* Learns the pull of the piece and gives its calls to spans by it, at random. */
void start_assign(struct piece *p, struct pull *u, const struct view *v, const struct bins *b,
		  uint64_t *seed);
/* Gives the calls to spans by the pull as it is. */
void start_draw(struct piece *p, uint64_t *seed);

#endif
