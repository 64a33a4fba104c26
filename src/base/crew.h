/* Works on numbered, independent items with all cores, the lowest numbers first. */
#ifndef CULPRIT_BASE_CREW_H
#define CULPRIT_BASE_CREW_H

#include <stdint.h>

void crew_run(uint32_t nr_items, void (*work)(void *ctx, uint32_t item), void *ctx);

#endif
