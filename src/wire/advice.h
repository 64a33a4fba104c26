/*
 * Advice: what a query does at one tracepoint, as a program without jumps that runs in a stranger's
 * process, and the values that it works on.
 *
 * A program is a list of operations on one row of registers. UNPACK puts a tuple that happened
 * before into registers and has what follows run once for each such tuple; FILTER leaves the row;
 * PACK and EMIT hand it on. Every program ends, after at most ADVICE_ROWS rows.
 *
 * All is of fixed width and without pointers, but for struct advice_value, which lives while a
 * program runs. Real numbers are their 64 bits (IEEE 754): a guest has no floating point.
 */
#ifndef CULPRIT_WIRE_ADVICE_H
#define CULPRIT_WIRE_ADVICE_H

#include <stdint.h>

#define ADVICE_MAGIC 0x31637661u
#define ADVICE_OPS 128
#define ADVICE_REGISTERS 64
#define ADVICE_CONSTANTS 24
#define ADVICE_CHILDREN 8 /* joins of one stage */
#define ADVICE_COLUMNS 24 /* values packed by one stage, or keys emitted */
#define ADVICE_TOTALS 8   /* aggregates */
#define ADVICE_INPUTS 64  /* of a tracepoint: what it exports */
#define ADVICE_TEXT 48    /* bytes of a text; what is longer is cut, which is counted */
#define ADVICE_ROWS 4096  /* of one run */

/* As enum value_type of src/query/value.h. */
enum advice_type { ADVICE_NULL, ADVICE_BOOL, ADVICE_INT, ADVICE_REAL, ADVICE_TEXTUAL };

#define ADVICE_CUT 1u /* a flag of a value: the text was longer */

/* While a program runs. A text is borrowed: from inputs, constants or the bag. */
struct advice_value {
	uint8_t type, flags;
	uint16_t length; /* of a text, at most ADVICE_TEXT */
	uint32_t reserved;
	union {
		int64_t i;        /* BOOL, INT */
		uint64_t real;    /* the bits of a double */
		const char *text; /* needs no zero at its end */
	};
};

struct advice_constant {
	uint8_t type;
	uint8_t length; /* of a text */
	uint16_t flags;
	uint32_t reserved;
	int64_t number; /* or the bits of a double */
	char text[ADVICE_TEXT];
};

/* to: the register that is set; a, b: registers that are read. */
enum advice_op {
	ADVICE_OBSERVE, /* to = input n */
	ADVICE_CONST,   /* to = constant n */
	ADVICE_ADD,     /* to = a + b, and so on */
	ADVICE_SUB,
	ADVICE_MUL,
	ADVICE_DIV,
	ADVICE_MOD,
	ADVICE_NEG,
	ADVICE_EQ,
	ADVICE_NE,
	ADVICE_LT,
	ADVICE_LE,
	ADVICE_GT,
	ADVICE_GE,
	ADVICE_IS_NULL,
	ADVICE_IS_NOT_NULL,
	ADVICE_AND,
	ADVICE_OR,
	ADVICE_NOT,
	ADVICE_UNPACK, /* a tuple of child n into to, to + 1, … */
	ADVICE_FILTER, /* goes on where a holds */
	ADVICE_EXISTS, /* the stage has a tuple here, even if joins that follow leave it none */
	ADVICE_PACK,   /* the columns and totals into the stage's slot */
	ADVICE_EMIT,   /* the columns are keys, or the row itself */
	ADVICE_NR_OPS,
};

struct advice_operation {
	uint8_t op, to, a, b;
	uint32_t n;
};

/* As enum take and enum aggregate of src/query/ast.h. */
enum advice_take { ADVICE_ALL, ADVICE_FIRST, ADVICE_RECENT };
enum advice_function {
	ADVICE_COUNT,
	ADVICE_SUM,
	ADVICE_MIN,
	ADVICE_MAX,
	ADVICE_AVERAGE,
};

/* What goes into one aggregate: a value, or what a child has packed of it half done. */
#define ADVICE_NO_CHILD 255
#define ADVICE_NO_REGISTER 255 /* of COUNT: rows */
struct advice_part {
	uint8_t function, from; /* a register */
	uint8_t child, half;    /* or the half of a child */
};

/* What the tuples of a joined stage look like. */
struct advice_child {
	uint32_t slot;
	uint8_t nr_columns, nr_totals;
	uint8_t take;
	uint8_t is_summed; /* the groups of all tuples: their keys, then the values of aggregates */
	uint8_t functions[ADVICE_TOTALS];
	/* Of what is summed up, the last so many columns are values of which a percentile is told.
	 * They are no keys; shares says by the number of a constant which one, as a part of 1. */
	uint8_t nr_values;
	uint8_t shares[ADVICE_TOTALS];
	uint8_t reserved[3];
};

#define ADVICE_EMITS 1u      /* the root of its query: otherwise it packs */
#define ADVICE_GROUPED 2u    /* PACK: equal tuples become one; EMIT: rows with equal keys */
#define ADVICE_READS_TIME 4u /* reserved for who fills inputs */

struct advice_program {
	uint32_t magic;
	uint32_t query;   /* a number that is the same in all processes while the query stands */
	uint32_t stage;   /* at one place, stages of a query run in the order of their numbers */
	uint32_t slot;    /* that it packs into */
	uint64_t inputs;  /* bits: those that are read */
	uint8_t flags;    /* ADVICE_EMITS … */
	uint8_t take;     /* how its tuples are kept: enum advice_take */
	uint16_t at_most; /* of FIRST and RECENT */
	uint8_t nr_ops, nr_constants, nr_children, nr_columns;
	uint8_t nr_totals;
	uint8_t reserved;
	uint16_t piece; /* which of its query's programs */
	uint8_t reserved_too[4];
	uint8_t columns[ADVICE_COLUMNS]; /* registers */
	struct advice_part totals[ADVICE_TOTALS];
	struct advice_child children[ADVICE_CHILDREN];
	struct advice_operation ops[ADVICE_OPS];
	struct advice_constant constants[ADVICE_CONSTANTS];
};

/* A slot of a bag: unique while the query stands. */
#define ADVICE_STAGES 64
#define ADVICE_SLOT(query, stage) ((uint32_t)(query) * ADVICE_STAGES + (uint32_t)(stage))

/* Inputs that every tracepoint has; what it exports itself comes behind them. */
enum advice_input {
	ADVICE_INPUT_HOST,
	ADVICE_INPUT_TIME, /* ns since 1970 */
	ADVICE_INPUT_PROC_NAME,
	ADVICE_INPUT_PROC_ID,
	ADVICE_INPUT_THREAD,
	ADVICE_INPUT_TRACEPOINT,
	ADVICE_INPUT_OWN, /* the first one of its own */
};

/* How an input of its own is found where a function begins or ends. */
enum advice_from {
	ADVICE_FROM_NOTHING,
	ADVICE_FROM_ARGUMENT, /* number: 0 to 5; of a USDT probe its own arguments, 0 to 11 */
	ADVICE_FROM_RETURN,
	ADVICE_FROM_DURATION, /* ns since the function began */
	ADVICE_FROM_CONSTANT, /* constant */
};
enum advice_memory {
	ADVICE_U8,
	ADVICE_I8,
	ADVICE_U16,
	ADVICE_I16,
	ADVICE_U32,
	ADVICE_I32,
	ADVICE_U64,
	ADVICE_I64,
	ADVICE_BOOLEAN, /* one byte */
	ADVICE_F32,
	ADVICE_F64,
	ADVICE_CHARS, /* text up to a zero byte */
};

#define ADVICE_LOADS 4
/*
 * v = the argument; nr_loads times: v = *(v + offsets[i]). Each load but the last is of a pointer,
 * the last one of `memory`; without a load v itself is cut to it. Of ADVICE_CHARS all loads are of
 * pointers, and the text begins at v + offsets[nr_loads].
 */
struct advice_taking {
	uint8_t from, number, nr_loads, memory;
	int32_t offsets[ADVICE_LOADS + 1];
	int64_t constant;
};

#endif
