/* Messages that two captures saw, one at each end of a link, and what they say about the clocks. */
#ifndef CULPRIT_INFER_ALIGN_TWINS_H
#define CULPRIT_INFER_ALIGN_TWINS_H

#include <stdint.h>

struct event;
struct skew;
struct twins;

struct twins *twins_new(void);
void twins_free(struct twins *t);
/* A message of the capture with this number. */
void twins_add(struct twins *t, uint32_t capture, const struct event *ev);
/* After the last message: clocks are those of the captures by their numbers. */
void twins_say(struct twins *t, const uint32_t *clocks, struct skew *skew);

#endif
