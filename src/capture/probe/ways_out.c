/*
 * Follows the flow of control from the beginning, so that only what runs is taken for an
 * instruction: between functions, and sometimes in them, stand other bytes. A jump through a
 * register may be a switch or the last act of the function: then nothing is said.
 */
#include "capture/probe/ways_out.h"

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/vec.h"

#define FUNCTION_MAX 65536

enum { FRESH, BEGINS, INSIDE };

struct walk {
	csh handle;
	cs_insn *in;
	const uint8_t *bytes;
	size_t size, nr;
	uint64_t address;
	uint8_t *seen; /* of each byte: one of the above */
	VEC(uint32_t) todo;
	uint32_t *out;
};

static bool is_of(const struct walk *w, uint8_t group)
{
	return cs_insn_group(w->handle, w->in, group);
}

static bool leaves_here(struct walk *w, uint32_t at)
{
	if (!at || w->nr == WAYS_OUT_MAX)
		return false;
	w->out[w->nr++] = at;
	return true;
}

/* False where it is not known where it goes, or when that depends. */
static bool jumps(struct walk *w, uint32_t at)
{
	const cs_x86_op *to = &w->in->detail->x86.operands[0];
	bool is_sure = w->in->id == X86_INS_JMP;

	if (w->in->detail->x86.op_count != 1)
		return false;
	/* its beginning would be passed many times in one call */
	if (to->type == X86_OP_IMM && (uint64_t)to->imm == w->address)
		return false;
	if (to->type == X86_OP_IMM && (uint64_t)to->imm - w->address < w->size) {
		vec_push(&w->todo, (uint32_t)((uint64_t)to->imm - w->address));
		return true;
	}
	/* to another function, or to one that the dynamic linker knows */
	if (to->type == X86_OP_IMM || (to->type == X86_OP_MEM && to->mem.base == X86_REG_RIP &&
				       to->mem.index == X86_REG_INVALID))
		return is_sure && leaves_here(w, at);
	return false;
}

static bool marks(struct walk *w, uint32_t at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (w->seen[at + i] != FRESH)
			return false;
	w->seen[at] = BEGINS;
	for (size_t i = 1; i < n; i++)
		w->seen[at + i] = INSIDE;
	return true;
}

/* From one place to where it goes elsewhere. */
static bool walk_on(struct walk *w, uint32_t at)
{
	while (at < w->size && w->seen[at] != BEGINS) {
		const uint8_t *p = w->bytes + at;
		size_t left = w->size - at;
		uint64_t address = w->address + at;

		if (!cs_disasm_iter(w->handle, &p, &left, &address, w->in) ||
		    !marks(w, at, w->in->size))
			return false;
		if (is_of(w, CS_GRP_RET) || is_of(w, CS_GRP_IRET))
			return leaves_here(w, at);
		if (is_of(w, CS_GRP_JUMP) && !jumps(w, at))
			return false;
		if (w->in->id == X86_INS_JMP || w->in->id == X86_INS_UD2 ||
		    w->in->id == X86_INS_HLT || w->in->id == X86_INS_INT3)
			return true;
		at += w->in->size;
	}
	return true;
}

size_t ways_out(const uint8_t *bytes, size_t size, uint64_t address, uint32_t out[WAYS_OUT_MAX])
{
	cleanup(free) uint8_t *seen = NULL;
	struct walk w = { .bytes = bytes, .size = size, .address = address, .out = out };
	bool is_sure = true;

	if (!size || size > FUNCTION_MAX ||
	    cs_open(CS_ARCH_X86, CS_MODE_64, &w.handle) != CS_ERR_OK)
		return 0;
	cs_option(w.handle, CS_OPT_DETAIL, CS_OPT_ON);
	w.in = cs_malloc(w.handle);
	w.seen = seen = mem_zalloc(size);
	vec_push(&w.todo, 0);
	while (w.todo.nr && is_sure)
		is_sure = walk_on(&w, w.todo.v[--w.todo.nr]);
	cs_free(w.in, 1);
	cs_close(&w.handle);
	vec_done(&w.todo);
	return is_sure ? w.nr : 0;
}
