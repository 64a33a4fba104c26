/* Built where there is no library that knows instructions. */
#include "program/functions_disasm.h"

bool functions_can_disassemble(const struct functions *f, uint32_t module)
{
	return false;
}

void functions_steps(struct functions *f, uint32_t module, uint64_t address, uint64_t size,
		     void (*take)(void *to, const struct step *s), void *to)
{
}

void functions_disasm_done(struct functions *f)
{
}
