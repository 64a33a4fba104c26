/* Says how far the clocks of a run's messages are off, so that all can be put on one clock. */
#ifndef CULPRIT_INFER_ALIGN_H
#define CULPRIT_INFER_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct align;
struct error;
struct infer_options;
struct store;

/* Looks at a sample of the messages. What seems off is counted, and told in the store. */
int align_new(struct align **a, struct store *s, const struct infer_options *o, struct error *err);
void align_free(struct align *a);

/* What to add to the time of a message in this file that this node sent. */
int64_t align_offset(const struct align *a, uint32_t file, struct str node);
/* All that align_offset can answer for this file, each once: how many, and in *offsets. */
size_t align_offsets(const struct align *a, uint32_t file, const int64_t **offsets);
/* Whether several captures may have seen the same message. */
bool align_has_twins(const struct align *a);

#endif
