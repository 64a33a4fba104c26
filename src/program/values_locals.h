/* Follows local variables from where they are read to where they were written. */
#ifndef CULPRIT_PROGRAM_VALUES_LOCALS_H
#define CULPRIT_PROGRAM_VALUES_LOCALS_H

#include <stdint.h>

struct maker;

void locals_write(struct maker *m, uint32_t slot, uint32_t value);
uint32_t locals_read(struct maker *m, uint32_t slot);
/* A phi at the beginning of the block, filled later. */
uint32_t locals_phi(struct maker *m, uint32_t block, uint32_t slot);
/* Gives every phi its args, once all blocks are evaluated. */
void locals_fill(struct maker *m);

#endif
