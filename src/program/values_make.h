/* The making of values: the state of a method under evaluation, one instruction after the other. */
#ifndef CULPRIT_PROGRAM_VALUES_MAKE_H
#define CULPRIT_PROGRAM_VALUES_MAKE_H

#include "base/vec.h"
#include "program/insn.h"
#include "program/values.h"

struct define {
	uint32_t slot, value;
};

/* What is known of a block while values are made. */
struct place {
	VEC(struct define) entries; /* what locals were found to be at its beginning */
	VEC(struct define) defines; /* what was written to locals in it, in order */
	uint32_t *out;              /* the stack at its end */
	uint32_t nr_out;
	bool is_done;
};

/* A phi whose args are not known yet. */
struct pending {
	uint32_t phi, block;
	uint32_t slot; /* behind max_locals: of the stack */
};

struct maker {
	struct values *values;
	const struct code *code;
	struct arena *arena;
	struct place *places; /* by block */
	uint32_t *parameters; /* by local */
	VEC(struct value) v;
	VEC(uint32_t) args;
	VEC(struct pending) pending;
	VEC(uint32_t) stack;       /* slots; the second half of a long or double is 0 */
	uint32_t *current, *stamp; /* by local: its value in the block at hand, if stamp says so */
	uint32_t now;              /* 1 + the block at hand */
	uint32_t pc;
	bool is_damaged;
};

void maker_init(struct maker *m);
void maker_done(struct maker *m);
/* A new value at the place at hand, without args. */
uint32_t maker_value(struct maker *m, enum value_kind kind, uint8_t op, uint16_t constant);
/* To the args of the value made last. */
void maker_arg(struct maker *m, uint32_t value, uint32_t arg);
void maker_push(struct maker *m, uint32_t value);
void maker_insn(struct maker *m, const struct insn *i);

#endif
