/* Words of a program that the dynamic linker fills with addresses of functions: what they will
 * point to. */
#ifndef CULPRIT_PROGRAM_FUNCTIONS_SLOTS_H
#define CULPRIT_PROGRAM_FUNCTIONS_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "program/functions_image.h"

/* A symbol of whoever has it, or with an empty name an address in the same file. */
struct slot {
	struct str symbol;
	uint64_t address;
	bool is_chooser; /* what runs there chooses what is called */
};

/* false when the word at the address is none. */
bool function_slot(struct function_image *m, uint64_t address, struct slot *s);
/* The slot that a stub (PLT) at the address jumps through; false when there is no stub. */
bool function_stub(const struct function_image *m, uint64_t address, uint64_t *slot);

#endif
