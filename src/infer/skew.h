/* Finds how far clocks are off from pairs of moments of which one must have come after the other.
 */
#ifndef CULPRIT_INFER_SKEW_H
#define CULPRIT_INFER_SKEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct skew;

#define SKEW_LIMIT (INT64_MAX / 8) /* far beyond any offset, and safe to negate and to add */

/* Clock 0 is there from the beginning and never moves. */
struct skew *skew_new(void);
void skew_free(struct skew *k);
/* One more clock, numbered from 1 on. Of two that could both be wrong, the less trusted one is. */
uint32_t skew_clock(struct skew *k, uint64_t trust);
/* What y showed as at_y was after what x showed as at_x: at_y + offset(y) >= at_x + offset(x). */
void skew_after(struct skew *k, uint32_t x, int64_t at_x, uint32_t y, int64_t at_y);
/* The same where that rests on the offsets found so far, and may be seen otherwise after a move. */
void skew_maybe_after(struct skew *k, uint32_t x, int64_t at_x, uint32_t y, int64_t at_y);
/* Moves as few clocks as explain what was said; true when one was moved. */
bool skew_solve(struct skew *k);
/* Puts the clocks that were moved to the middle of where they can be. */
void skew_centre(struct skew *k);
/* Forgets what was said, but not what follows from it. */
void skew_forget(struct skew *k);
/* What to add to the times of a clock; 0 for one that is right. */
int64_t skew_offset(const struct skew *k, uint32_t clock);

/* How well a clock that was moved fits now; false when it does not, and should stay as it was. */
struct skew_fit {
	uint64_t pairs, agree;
};
bool skew_is_sure(const struct skew *k, uint32_t clock, struct skew_fit *fit);

/* a - b and a + b, cut off at the limit. */
int64_t skew_minus(int64_t a, int64_t b);
int64_t skew_plus(int64_t a, int64_t b);

#endif
