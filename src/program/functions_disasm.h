/* Instructions of programs, as far as they say where control or addresses go. */
#ifndef CULPRIT_PROGRAM_FUNCTIONS_DISASM_H
#define CULPRIT_PROGRAM_FUNCTIONS_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct functions;

enum step_kind {
	STEP_CALL,
	STEP_JUMP,
	STEP_BRANCH,       /* a jump on a condition */
	STEP_CALL_SLOT,    /* to where the word at the target points */
	STEP_JUMP_SLOT,    /* the same */
	STEP_CALL_POINTER, /* to where nothing tells */
	STEP_JUMP_POINTER, /* the same, unless it is one of a table of the function itself */
	STEP_ADDRESS,      /* the target is an address that is computed */
};

struct step {
	enum step_kind kind;
	uint64_t target;
};

bool functions_can_disassemble(const struct functions *f, uint32_t module);
/* Each step in [address, address + size) of a module. */
void functions_steps(struct functions *f, uint32_t module, uint64_t address, uint64_t size,
		     void (*take)(void *to, const struct step *s), void *to);
void functions_disasm_done(struct functions *f);

/* Functions of the module whose addresses the code there computes; how many, at most max. */
size_t functions_addressed(struct functions *f, uint32_t module, uint64_t address, uint64_t size,
			   uint32_t *out, size_t max);

#endif
