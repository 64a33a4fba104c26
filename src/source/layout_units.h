/* In what unit a file writes durations that name none. */
#ifndef CULPRIT_SOURCE_LAYOUT_UNITS_H
#define CULPRIT_SOURCE_LAYOUT_UNITS_H

struct layout;
struct layout_sample;

/* Reads the sample with the layout and sets its units. */
void layout_units_learn(struct layout *layout, const struct layout_sample *sample);

#endif
