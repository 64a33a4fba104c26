/* Where the threads of a process that is held stand: at an instruction, and, below a handler of a
 * signal, at the one that the handler will go back to. Nothing may be changed under them. */
#ifndef CULPRIT_CAPTURE_PROBE_STANDING_H
#define CULPRIT_CAPTURE_PROBE_STANDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct tracee;

/* Zero is nowhere. */
struct standing {
	VEC(uint64_t) places; /* by their order */
};

/* Of all places those from low on and below high. */
void standing_read(struct standing *s, const struct tracee *t, uint64_t low, uint64_t high);
void standing_done(struct standing *s);

/* Whether one of them is behind the first of so many bytes. */
bool standing_in(const struct standing *s, uint64_t address, uint64_t nr);

/* Adds what signals have interrupted, as far as the words of a stack tell, and lies in between. */
void standing_search(struct standing *s, const uint64_t *words, size_t nr, uint64_t low,
		     uint64_t high);

#endif
