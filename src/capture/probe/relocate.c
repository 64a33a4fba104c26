#include "capture/probe/relocate.h"

#include <capstone/capstone.h>
#include <stdbool.h>
#include <string.h>

#define ENDBR_BYTES 4
#define INT3 0xcc
#define PUSHED_MAX (1 << 20)
#define FLAGS_LOOK 8 /* instructions that are looked at for who reads the flags */

const char *probe_why_text(enum probe_why why)
{
	static const char *const texts[] = {
#define X(name, text) text,
		PROBE_WHYS(X)
#undef X
	};

	return why < NR_WHYS ? texts[why] : "for no known reason";
}

static bool reaches(uint64_t from, uint64_t to)
{
	int64_t d = (int64_t)(to - from);

	return d == (int32_t)d;
}

static void emit(struct relocated *r, const void *p, size_t n)
{
	memcpy(r->code + r->nr, p, n);
	r->nr += n;
}

static enum probe_why emit_relative(struct relocated *r, const void *opcode, size_t n, uint64_t to,
				    uint64_t target)
{
	int32_t d;

	emit(r, opcode, n);
	if (!reaches(to + r->nr + 4, target))
		return WHY_FAR;
	d = (int32_t)(target - (to + r->nr + 4));
	emit(r, &d, 4);
	return WHY_NONE;
}

/* The call of a function as its two halves, so that it returns to where it always did. */
static enum probe_why emit_call(struct relocated *r, uint64_t back, uint64_t to, uint64_t target)
{
	static const uint8_t room[] = { 0x48, 0x8d, 0x64, 0x24, 0xf8 }; /* lea -8(%rsp), %rsp */
	static const uint8_t low[] = { 0xc7, 0x04, 0x24 };              /* movl $…, (%rsp) */
	static const uint8_t high[] = { 0xc7, 0x44, 0x24, 0x04 };       /* movl $…, 4(%rsp) */
	uint32_t half[2] = { (uint32_t)back, (uint32_t)(back >> 32) };

	emit(r, room, sizeof(room));
	emit(r, low, sizeof(low));
	emit(r, &half[0], 4);
	emit(r, high, sizeof(high));
	emit(r, &half[1], 4);
	return emit_relative(r, "\xe9", 1, to, target);
}

static bool is_branch(const cs_insn *in)
{
	const cs_detail *d = in->detail;

	for (size_t i = 0; i < d->groups_count; i++)
		if (d->groups[i] == CS_GRP_JUMP)
			return true;
	return false;
}

static bool is_direct(const cs_insn *in)
{
	const cs_x86 *x = &in->detail->x86;

	return x->op_count == 1 && x->operands[0].type == X86_OP_IMM;
}

static enum probe_why move_branch(struct relocated *r, const cs_insn *in, uint64_t to)
{
	uint64_t target = (uint64_t)in->detail->x86.operands[0].imm;
	uint8_t op = in->detail->x86.opcode[0], second = in->detail->x86.opcode[1];
	uint8_t near[2] = { 0x0f, 0 };

	if (op == 0xeb || op == 0xe9)
		return emit_relative(r, "\xe9", 1, to, target);
	if (op >= 0x70 && op <= 0x7f)
		near[1] = op + 0x10;
	else if (op == 0x0f && second >= 0x80 && second <= 0x8f)
		near[1] = second;
	else
		return WHY_LOOPING;
	return emit_relative(r, near, 2, to, target);
}

/* Where the 4 bytes stand that say how far from the instruction's end its memory is. The library
 * does not tell for every instruction. */
static size_t distance_at(const cs_insn *in, int64_t distance)
{
	for (size_t at = in->size - 4u; in->size > 5 && at >= 2; at--) {
		int32_t d;

		memcpy(&d, in->bytes + at, 4);
		if (d == distance && (in->bytes[at - 1] & 0xc7) == 5)
			return at;
	}
	return 0;
}

static enum probe_why move_plain(struct relocated *r, const cs_insn *in, uint64_t to)
{
	const cs_x86 *x = &in->detail->x86;
	size_t at = r->nr;
	int32_t d;

	emit(r, in->bytes, in->size);
	for (size_t i = 0; i < x->op_count; i++) {
		uint64_t target;
		size_t where;

		if (x->operands[i].type != X86_OP_MEM || x->operands[i].mem.base != X86_REG_RIP)
			continue;
		where = distance_at(in, x->operands[i].mem.disp);
		if (!where)
			return WHY_UNKNOWN;
		target = in->address + in->size + (uint64_t)x->operands[i].mem.disp;
		if (!reaches(to + at + in->size, target))
			return WHY_FAR;
		d = (int32_t)(target - (to + at + in->size));
		memcpy(r->code + at + where, &d, 4);
		break;
	}
	return WHY_NONE;
}

static enum probe_why move_one(struct relocated *r, const cs_insn *in, uint64_t to)
{
	if (in->id == X86_INS_CALL)
		return is_direct(in) ? emit_call(r, in->address + in->size, to,
						 (uint64_t)in->detail->x86.operands[0].imm)
				     : WHY_CALL;
	if (in->id == X86_INS_LCALL || in->id == X86_INS_INT3 || in->id == X86_INS_XBEGIN)
		return WHY_UNKNOWN;
	if (is_branch(in) && is_direct(in))
		return move_branch(r, in, to);
	return move_plain(r, in, to);
}

static uint32_t argument_of(uint16_t reg)
{
	static const uint16_t regs[][5] = {
		{ X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL },
		{ X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL },
		{ X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH },
		{ X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH },
		{ X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B },
		{ X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B },
	};

	for (uint32_t i = 0; i < sizeof(regs) / sizeof(*regs); i++)
		for (size_t k = 0; k < 5; k++)
			if (regs[i][k] && regs[i][k] == reg)
				return 1u << i;
	return 0;
}

static bool is_stack(uint16_t reg)
{
	return reg == X86_REG_RSP || reg == X86_REG_ESP || reg == X86_REG_SP || reg == X86_REG_SPL;
}

struct used {
	cs_regs read, written;
	uint8_t nr_read, nr_written;
};

static bool registers_of(csh cs, const cs_insn *in, struct used *u)
{
	return cs_regs_access(cs, in, u->read, &u->nr_read, u->written, &u->nr_written) ==
	       CS_ERR_OK;
}

/* The arguments that it changes. */
static uint32_t spoilt_by(csh cs, const cs_insn *in)
{
	uint32_t spoilt = 0;
	struct used u;

	if (!registers_of(cs, in, &u))
		return RELOCATE_ARGUMENTS;
	for (uint8_t i = 0; i < u.nr_written; i++)
		spoilt |= argument_of(u.written[i]);
	return spoilt;
}

#define FLAGS(name) \
	(X86_EFLAGS_MODIFY_##name | X86_EFLAGS_RESET_##name | X86_EFLAGS_UNDEFINED_##name)
#define FLAGS_READ \
	(X86_EFLAGS_TEST_OF | X86_EFLAGS_TEST_SF | X86_EFLAGS_TEST_ZF | X86_EFLAGS_TEST_PF | \
	 X86_EFLAGS_TEST_CF | X86_EFLAGS_TEST_AF)

/* The library does not say so of all that do. */
static bool reads_flags(const cs_insn *in)
{
	return in->detail->x86.eflags & FLAGS_READ || in->id == X86_INS_ADC ||
	       in->id == X86_INS_SBB || in->id == X86_INS_RCL || in->id == X86_INS_RCR ||
	       in->id == X86_INS_CMC || in->id == X86_INS_LAHF || in->id == X86_INS_PUSHF ||
	       in->id == X86_INS_PUSHFQ || in->id == X86_INS_SALC ||
	       strncmp(in->mnemonic, "cmov", 4) == 0 || strncmp(in->mnemonic, "fcmov", 5) == 0 ||
	       strncmp(in->mnemonic, "set", 3) == 0 || in->id == X86_INS_ADCX ||
	       in->id == X86_INS_ADOX;
}

/* Goes on elsewhere, or is beyond what can be told. */
static bool is_turn(const cs_insn *in)
{
	for (size_t i = 0; i < in->detail->groups_count; i++)
		switch (in->detail->groups[i]) {
		case CS_GRP_JUMP:
		case CS_GRP_CALL:
		case CS_GRP_RET:
		case CS_GRP_INT:
		case CS_GRP_IRET:
		case CS_GRP_PRIVILEGE:
		case CS_GRP_BRANCH_RELATIVE:
			return true;
		}
	return false;
}

/* Whether what comes next sets the flags anew before it reads them: our code changes them. */
static bool flags_are_unread(csh cs, const uint8_t *p, size_t left, uint64_t at)
{
	cs_insn *in = cs_malloc(cs);
	bool is_unread = false;

	for (int i = 0; i < FLAGS_LOOK && cs_disasm_iter(cs, &p, &left, &at, in); i++) {
		uint64_t flags = in->detail->x86.eflags;

		if (in->id == X86_INS_CALL || in->id == X86_INS_RET)
			is_unread = true;
		if (is_unread || is_turn(in) || reads_flags(in))
			break;
		if (flags & FLAGS(OF) && flags & FLAGS(SF) && flags & FLAGS(ZF) &&
		    flags & FLAGS(CF) && flags & FLAGS(PF)) {
			is_unread = true;
			break;
		}
	}
	cs_free(in, 1);
	return is_unread;
}

enum first {
	FIRST_MOVES, /* cannot stay in front of the jump */
	FIRST_STAYS, /* can, and is done by then */
	FIRST_AGAIN, /* can, and is run again, as our code changes flags and stack */
};

/* Below the stack pointer our code writes, too. */
static bool writes_stack(const cs_insn *in, const struct used *u)
{
	const cs_x86 *x = &in->detail->x86;

	for (uint8_t i = 0; i < u->nr_written; i++)
		if (is_stack(u->written[i]))
			return true;
	for (size_t i = 0; i < x->op_count; i++)
		if (x->operands[i].type == X86_OP_MEM && x->operands[i].access != CS_AC_READ &&
		    in->id != X86_INS_LEA && is_stack(x->operands[i].mem.base))
			return true;
	return false;
}

/* What the library tells of those of the x87 are flags of its own. */
static bool writes_flags(const cs_insn *in)
{
	for (size_t i = 0; i < in->detail->groups_count; i++)
		if (in->detail->groups[i] == X86_GRP_FPU)
			return strncmp(in->mnemonic, "fcomi", 5) == 0 ||
			       strncmp(in->mnemonic, "fucomi", 6) == 0;
	return in->detail->x86.eflags;
}

/* One of any kind stays when it does not write to the stack, which our code uses, and when nobody
 * reads the flags that it sets. p: what comes next. */
static enum first first_of_any(csh cs, const cs_insn *in, const uint8_t *p, size_t left)
{
	struct used u;

	if (is_turn(in) || !registers_of(cs, in, &u) || writes_stack(in, &u) ||
	    (writes_flags(in) && !flags_are_unread(cs, p, left, in->address + in->size)))
		return FIRST_MOVES;
	return FIRST_STAYS;
}

/* What can be done with a function's first instruction. */
static enum first first_of(csh cs, const cs_insn *in, const uint8_t *p, size_t left,
			   uint32_t *pushed)
{
	const cs_x86_op *o = in->detail->x86.operands;

	*pushed = 0;
	switch (in->id) {
	case X86_INS_PUSH:
		*pushed = 8;
		return o[0].type == X86_OP_REG && o[0].size == 8 ? FIRST_AGAIN : FIRST_MOVES;
	case X86_INS_SUB:
		if (o[0].type != X86_OP_REG || o[0].reg != X86_REG_RSP || o[1].type != X86_OP_IMM ||
		    o[1].imm <= 0 || o[1].imm > PUSHED_MAX)
			break;
		*pushed = (uint32_t)o[1].imm;
		return FIRST_AGAIN;
	case X86_INS_XOR:
		if (o[0].type == X86_OP_REG && o[1].type == X86_OP_REG && o[0].reg == o[1].reg)
			return FIRST_AGAIN;
		break;
	case X86_INS_TEST:
	case X86_INS_CMP:
		return FIRST_AGAIN;
	case X86_INS_NOP:
		return FIRST_STAYS;
	}
	return first_of_any(cs, in, p, left);
}

/* Nothing comes behind it. */
static bool is_end(const cs_insn *in)
{
	return in->id == X86_INS_RET || in->id == X86_INS_JMP || in->id == X86_INS_UD2 ||
	       in->id == X86_INS_HLT;
}

static bool is_padding(const cs_insn *in)
{
	return in->id == X86_INS_NOP || in->id == X86_INS_INT3;
}

static enum probe_why move_front(csh cs, const uint8_t *bytes, size_t size, size_t nr,
				 uint64_t address, uint64_t to, struct relocated *r)
{
	const uint8_t *p = bytes + r->skip;
	size_t left = nr - r->skip;
	uint64_t at = address + r->skip;
	cs_insn *in = cs_malloc(cs);
	enum probe_why why = WHY_NONE;
	bool has_ended = false;

	while (!why && r->nr_old < JUMP_BYTES) {
		if (!cs_disasm_iter(cs, &p, &left, &at, in)) {
			why = r->skip + r->nr_old < size ? WHY_UNKNOWN : WHY_SHORT;
		} else if (has_ended || r->skip + r->nr_old >= size) {
			why = is_padding(in) && r->skip + r->nr_old >= size ? WHY_NONE : WHY_SHORT;
		} else if (r->skip + r->nr_old + in->size > size) {
			why = WHY_SHORT;
		} else {
			r->at_old[r->nr_moved] = (uint8_t)r->nr_old;
			r->at_new[r->nr_moved++] = (uint8_t)r->nr;
			why = move_one(r, in, to);
			has_ended = is_end(in);
			if (in->id == X86_INS_CALL && r->nr_old + in->size < JUMP_BYTES)
				why = WHY_CALL;
		}
		r->nr_old += why ? 0 : in->size;
	}
	cs_free(in, 1);
	return why;
}

/* Whether any bytes, wherever an instruction begins, would be a branch to the stretch of the
 * function. Rarely so, and then it is worth to look what the instructions are. */
static bool may_branch(const uint8_t *p, size_t size, size_t low, size_t high)
{
	for (size_t i = 0; i + 1 < size; i++) {
		bool is_short = (p[i] & 0xf0) == 0x70 || p[i] == 0xeb || (p[i] & 0xfc) == 0xe0;
		bool is_long = p[i] == 0xe9 || (p[i] & 0xf0) == 0x80;
		int32_t far;
		size_t target;

		target = i + 2 + (size_t)(ptrdiff_t)(int8_t)p[i + 1];
		if (is_short && target >= low && target < high)
			return true;
		if (!is_long || i + 5 > size)
			continue;
		memcpy(&far, p + i + 1, 4);
		target = i + 5 + (size_t)(ptrdiff_t)far;
		if (target >= low && target < high)
			return true;
	}
	return false;
}

/* Whether a branch of the function goes to where the jump will be. To the jump itself it may, when
 * that is not the function's beginning. */
static enum probe_why look_for_branches(csh cs, const uint8_t *bytes, size_t size, uint64_t address,
					bool is_place, const struct relocated *r)
{
	uint64_t low = is_place ? address + r->skip + 1 : address,
		 high = address + r->skip + r->nr_old, at = address;
	enum probe_why why = WHY_NONE;
	cs_insn *in;

	if (!may_branch(bytes, size, (size_t)(low - address), (size_t)(high - address)))
		return WHY_NONE;
	in = cs_malloc(cs);
	while (!why && size && cs_disasm_iter(cs, &bytes, &size, &at, in)) {
		uint64_t target;

		if (!in->id || !is_branch(in) || !is_direct(in))
			continue;
		target = (uint64_t)in->detail->x86.operands[0].imm;
		if (target >= low && target < high)
			why = !is_place && target <= low + r->skip ? WHY_LOOP : WHY_BRANCH;
	}
	cs_free(in, 1);
	return why;
}

static bool relocator_make(struct relocator *how)
{
	csh cs;

	if (how->handle)
		return true;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &cs) != CS_ERR_OK)
		return false;
	cs_option(cs, CS_OPT_DETAIL, CS_OPT_ON);
	how->handle = cs;
	return true;
}

void relocator_done(struct relocator *how)
{
	csh cs = how->handle;

	if (cs)
		cs_close(&cs);
	how->handle = 0;
}

static enum probe_why move(csh cs, const uint8_t *bytes, size_t size, size_t nr, uint64_t address,
			   bool is_place, uint64_t to, struct relocated *out)
{
	enum probe_why why;

	cs_option(cs, CS_OPT_SKIPDATA, CS_OPT_OFF);
	why = move_front(cs, bytes, size, nr, address, to, out);
	if (!why)
		why = emit_relative(out, "\xe9", 1, to, address + out->skip + out->nr_old);
	cs_option(cs, CS_OPT_SKIPDATA, CS_OPT_ON);
	if (!why)
		why = look_for_branches(cs, bytes, size, address, is_place, out);
	return why;
}

/* Leaves the first instruction where it is, if it can. */
static void first_leave(csh cs, const uint8_t *bytes, size_t size, uint64_t address, uint64_t to,
			uint32_t asked, struct relocated *out)
{
	struct relocated r = { 0 };
	const uint8_t *p = bytes;
	uint64_t at = address;
	enum first first;
	cs_insn *in;

	cs_option(cs, CS_OPT_SKIPDATA, CS_OPT_OFF);
	in = cs_malloc(cs);
	if (cs_disasm_iter(cs, &p, &size, &at, in)) {
		first = first_of(cs, in, p, size, &r.pushed);
		r.skip = in->size;
		if (!(asked & spoilt_by(cs, in)) &&
		    (first == FIRST_STAYS ||
		     (first == FIRST_AGAIN && move_plain(&r, in, to) == WHY_NONE)))
			*out = r;
	}
	cs_free(in, 1);
}

bool relocate_keeps(struct relocator *how, const uint8_t *bytes, size_t size, uint32_t asked)
{
	bool keeps = false;
	uint64_t at = 0;
	cs_insn *in;

	if (!(asked & RELOCATE_ARGUMENTS))
		return true;
	if (!relocator_make(how))
		return false;
	in = cs_malloc(how->handle);
	if (cs_disasm_iter(how->handle, &bytes, &size, &at, in))
		keeps = !(asked & spoilt_by(how->handle, in));
	cs_free(in, 1);
	return keeps;
}

enum probe_why relocate(struct relocator *how, const uint8_t *bytes, size_t size, size_t nr,
			uint64_t address, uint64_t to, uint32_t asked, struct relocated *out)
{
	enum probe_why why;

	*out = (struct relocated){ 0 };
	if (size < 1 || nr < size)
		return WHY_SHORT;
	if (bytes[0] == INT3)
		return WHY_OTHERS;
	if (!relocator_make(how))
		return WHY_UNKNOWN;
	if (size >= ENDBR_BYTES && memcmp(bytes, "\xf3\x0f\x1e\xfa", ENDBR_BYTES) == 0)
		out->skip = ENDBR_BYTES;
	else
		first_leave(how->handle, bytes, size, address, to, asked, out);
	if (out->skip) {
		why = move(how->handle, bytes, size, nr, address, false, to, out);
		if (!why || bytes[0] == 0xf3)
			return why;
		/* what comes behind the first instruction cannot be moved: then all of it */
		*out = (struct relocated){ 0 };
		if (!(asked & RELOCATE_FRONT))
			return why;
	}
	why = move(how->handle, bytes, size, nr, address, false, to, out);
	return why || asked & RELOCATE_FRONT ? why : WHY_FIRST;
}

enum probe_why relocate_at(struct relocator *how, const uint8_t *bytes, size_t size, size_t nr,
			   uint64_t address, size_t place, uint64_t to, struct relocated *out)
{
	*out = (struct relocated){ .skip = place };
	if (place >= size || nr < size)
		return WHY_OUTSIDE;
	if (!relocator_make(how))
		return WHY_UNKNOWN;
	return move(how->handle, bytes, size, nr, address, true, to, out);
}
