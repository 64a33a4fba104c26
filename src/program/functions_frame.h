/* Where functions begin and how long they are, from what a program keeps to unwind its stack: there
 * even when all names were stripped. */
#ifndef CULPRIT_PROGRAM_FUNCTIONS_FRAME_H
#define CULPRIT_PROGRAM_FUNCTIONS_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "program/elf.h"

struct function_range {
	uint64_t address, size;
	bool is_part; /* begins with a frame that is set up already: entered by a jump from inside a
			 function, or a table of jumps */
};

struct function_ranges {
	VEC(struct function_range) v;
};

/* In the order of the file. */
void function_frames(const struct elf *e, struct function_ranges *to);

#endif
