/* One Java instruction after the other, with its operand and where it may go. */
#ifndef CULPRIT_PROGRAM_INSN_H
#define CULPRIT_PROGRAM_INSN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Those that are asked for by name. */
enum opcode {
	OP_ACONST_NULL = 1,
	OP_ICONST_M1 = 2,
	OP_ICONST_5 = 8,
	OP_LCONST_0 = 9,
	OP_LCONST_1 = 10,
	OP_FCONST_0 = 11,
	OP_FCONST_2 = 13,
	OP_DCONST_0 = 14,
	OP_DCONST_1 = 15,
	OP_BIPUSH = 16,
	OP_SIPUSH = 17,
	OP_LDC = 18,
	OP_LDC_W = 19,
	OP_LDC2_W = 20,
	OP_ILOAD = 21,
	OP_ALOAD = 25,
	OP_ILOAD_0 = 26,
	OP_ALOAD_3 = 45,
	OP_IALOAD = 46,
	OP_SALOAD = 53,
	OP_ISTORE = 54,
	OP_ASTORE = 58,
	OP_ISTORE_0 = 59,
	OP_ASTORE_3 = 78,
	OP_IASTORE = 79,
	OP_SASTORE = 86,
	OP_POP = 87,
	OP_POP2 = 88,
	OP_DUP = 89,
	OP_DUP_X1 = 90,
	OP_DUP_X2 = 91,
	OP_DUP2 = 92,
	OP_DUP2_X1 = 93,
	OP_DUP2_X2 = 94,
	OP_SWAP = 95,
	OP_IADD = 96,
	OP_LXOR = 131,
	OP_IINC = 132,
	OP_I2L = 133,
	OP_I2S = 147,
	OP_LCMP = 148,
	OP_DCMPG = 152,
	OP_IFEQ = 153,
	OP_IFLE = 158,
	OP_IF_ICMPEQ = 159,
	OP_IF_ACMPNE = 166,
	OP_GOTO = 167,
	OP_JSR = 168,
	OP_RET = 169,
	OP_TABLESWITCH = 170,
	OP_LOOKUPSWITCH = 171,
	OP_IRETURN = 172,
	OP_RETURN = 177,
	OP_GETSTATIC = 178,
	OP_PUTSTATIC = 179,
	OP_GETFIELD = 180,
	OP_PUTFIELD = 181,
	OP_INVOKEVIRTUAL = 182,
	OP_INVOKESPECIAL = 183,
	OP_INVOKESTATIC = 184,
	OP_INVOKEINTERFACE = 185,
	OP_INVOKEDYNAMIC = 186,
	OP_NEW = 187,
	OP_NEWARRAY = 188,
	OP_ANEWARRAY = 189,
	OP_ARRAYLENGTH = 190,
	OP_ATHROW = 191,
	OP_CHECKCAST = 192,
	OP_INSTANCEOF = 193,
	OP_MONITORENTER = 194,
	OP_MONITOREXIT = 195,
	OP_WIDE = 196,
	OP_MULTIANEWARRAY = 197,
	OP_IFNULL = 198,
	OP_IFNONNULL = 199,
	OP_GOTO_W = 200,
	OP_JSR_W = 201,
	OP_LAST = 201,
};

struct insn {
	uint32_t pc, next;
	uint8_t op;
	uint32_t operand; /* constant, local, type of a new array, or where a branch goes */
	int32_t number;   /* what is pushed, or added by IINC; dimensions of MULTIANEWARRAY */
	/* Of a switch: the default is operand, the others are read by insn_target. */
	uint32_t nr_targets;
	struct str table;
	bool has_keys; /* lookup: each target follows its key */
};

/* The instruction at pc; false when it is cut, unknown, or goes out of the code. */
bool insn_read(struct str code, uint32_t pc, struct insn *i);
/* The n-th target of a switch; false when it is out of the code. */
bool insn_target(struct str code, const struct insn *i, uint32_t n, uint32_t *pc);

static inline bool insn_is_branch(const struct insn *i)
{
	return (i->op >= OP_IFEQ && i->op <= OP_JSR) || i->op == OP_IFNULL ||
	       i->op == OP_IFNONNULL || i->op == OP_GOTO_W || i->op == OP_JSR_W;
}

static inline bool insn_is_switch(const struct insn *i)
{
	return i->op == OP_TABLESWITCH || i->op == OP_LOOKUPSWITCH;
}

/* False when what stands behind it is not reached from it. */
static inline bool insn_goes_on(const struct insn *i)
{
	return !(i->op == OP_GOTO || i->op == OP_GOTO_W || i->op == OP_JSR || i->op == OP_JSR_W ||
		 i->op == OP_RET || i->op == OP_ATHROW || insn_is_switch(i) ||
		 (i->op >= OP_IRETURN && i->op <= OP_RETURN));
}

#endif
