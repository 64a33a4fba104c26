/* Works on numbered, independent items with several threads, the lowest numbers first. */
#ifndef CULPRIT_BASE_CREW_H
#define CULPRIT_BASE_CREW_H

#include <stdint.h>

/* With all cores. */
void crew_run(uint32_t nr_items, void (*work)(void *ctx, uint32_t item), void *ctx);
/* threads 0: with all cores. */
void crew_run_with(unsigned threads, uint32_t nr_items, void (*work)(void *ctx, uint32_t item),
		   void *ctx);

#endif
