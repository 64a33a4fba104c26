/*
 * The library tells where one instruction ends and the next begins; the few that matter are known
 * by their own bytes, which is several times faster than to have all of them described.
 */
#include "program/functions_disasm.h"

#include <capstone/capstone.h>

#include "program/functions.h"
#include "program/functions_image.h"

bool functions_can_disassemble(const struct functions *f, uint32_t module)
{
	uint16_t machine = f->modules.v[module].machine;

	return machine == ELF_X86_64 || machine == ELF_X86;
}

/* Made once and kept; 0 when there is none. */
static csh disassembler(struct functions *f, bool is_64)
{
	size_t *kept = &f->disassembler[!is_64];
	csh h;

	if (!*kept && cs_open(CS_ARCH_X86, is_64 ? CS_MODE_64 : CS_MODE_32, &h) == CS_ERR_OK)
		*kept = h;
	return *kept;
}

void functions_disasm_done(struct functions *f)
{
	for (unsigned i = 0; i < 2; i++)
		if (f->disassembler[i]) {
			csh h = f->disassembler[i];

			cs_close(&h);
			f->disassembler[i] = 0;
		}
}

static bool is_prefix(uint8_t b, bool is_64)
{
	return b == 0x66 || b == 0x67 || b == 0xf2 || b == 0xf3 || b == 0x2e || b == 0x36 ||
	       b == 0x3e || b == 0x26 || b == 0x64 || b == 0x65 || (is_64 && b >> 4 == 4);
}

/* The signed number in the last bytes of an instruction: all that matter end with it. */
static int64_t last_number(const uint8_t *end, unsigned bytes)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v |= (uint32_t)end[(int)i - (int)bytes] << 8 * i;
	return bytes == 1 ? (int8_t)v : (int32_t)v;
}

/* FF /2 to /5: calls and jumps through a register or memory. */
static bool through_pointer(const uint8_t *op, const uint8_t *end, uint64_t next, bool was_add,
			    bool is_64, struct step *s)
{
	unsigned how = end - op > 1 ? op[1] : 0, mode = how >> 6, reg = how >> 3 & 7, rm = how & 7;
	bool is_call = reg == 2 || reg == 3;

	if (reg < 2 || reg > 5)
		return false;
	s->kind = is_call ? STEP_CALL_POINTER : STEP_JUMP_POINTER;
	if (!mode && rm == 5 && end - op >= 6) {
		s->kind = is_call ? STEP_CALL_SLOT : STEP_JUMP_SLOT;
		s->target = (uint64_t)last_number(end, 4) + (is_64 ? next : 0);
		return true;
	}
	/* a table of a switch: an address that was just computed, or one that is looked up */
	return is_call || !(mode == 3 ? was_add : rm == 4 && end - op > 2 && op[2] >> 6 >= 2);
}

/* An instruction of n bytes at an address; false when it leads nowhere. */
static bool step_of(const uint8_t *p, size_t n, uint64_t address, bool was_add, bool is_64,
		    struct step *s)
{
	const uint8_t *end = p + n;
	uint64_t next = address + n;

	while (p < end && is_prefix(*p, is_64))
		p++;
	if (p == end)
		return false;
	s->target = 0;
	if ((*p == 0xe8 || *p == 0xe9) && end - p >= 5) {
		s->kind = *p == 0xe8 ? STEP_CALL : STEP_JUMP;
		s->target = next + (uint64_t)last_number(end, 4);
	} else if (*p == 0xeb || *p >> 4 == 7) {
		s->kind = *p == 0xeb ? STEP_JUMP : STEP_BRANCH;
		s->target = next + (uint64_t)last_number(end, 1);
	} else if (*p == 0x0f && end - p >= 6 && p[1] >> 4 == 8) {
		s->kind = STEP_BRANCH;
		s->target = next + (uint64_t)last_number(end, 4);
	} else if (*p == 0x8d && end - p >= 6 && (p[1] & 0xc7) == 5) {
		s->kind = STEP_ADDRESS;
		s->target = next + (uint64_t)last_number(end, 4);
	} else if (*p != 0xff || !through_pointer(p, end, next, was_add, is_64, s)) {
		return false;
	}
	if (!is_64)
		s->target &= UINT32_MAX;
	return true;
}

static bool is_add(const uint8_t *p, size_t n, bool is_64)
{
	while (n > 1 && is_prefix(*p, is_64))
		p++, n--;
	return n && (*p == 0x01 || *p == 0x03);
}

void functions_steps(struct functions *f, uint32_t module, uint64_t address, uint64_t size,
		     void (*take)(void *to, const struct step *s), void *to)
{
	const struct elf *e = &f->modules.v[module].image->elf;
	struct str code = elf_at(e, address, size);
	const uint8_t *p = (const uint8_t *)code.p;
	size_t left = code.n;
	bool was_add = false;
	cs_insn *insn;
	csh h;

	if (!functions_can_disassemble(f, module) || !(h = disassembler(f, e->is_64)))
		return;
	insn = cs_malloc(h);
	while (insn && left) {
		struct step s;

		if (!cs_disasm_iter(h, &p, &left, &address, insn)) {
			p++, left--, address++; /* data between code */
			continue;
		}
		if (step_of(insn->bytes, insn->size, insn->address, was_add, e->is_64, &s))
			take(to, &s);
		was_add = is_add(insn->bytes, insn->size, e->is_64);
	}
	if (insn)
		cs_free(insn, 1);
}
