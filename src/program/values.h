/* What the instructions of a method work on: each operand as the value it comes from. */
#ifndef CULPRIT_PROGRAM_VALUES_H
#define CULPRIT_PROGRAM_VALUES_H

#include "program/class.h"
#include "program/flow.h"

enum value_kind {
	VALUE_UNKNOWN, /* number 0 always is one */
	VALUE_NULL,
	VALUE_NUMBER,    /* number; op tells the type */
	VALUE_TEXT,      /* a string constant */
	VALUE_TYPE,      /* a class literal */
	VALUE_CONSTANT,  /* method handles and types, dynamic constants */
	VALUE_PARAMETER, /* number: from 0, this included */
	VALUE_FIELD,     /* of args[0] */
	VALUE_STATIC,
	VALUE_ELEMENT, /* array, index */
	VALUE_LENGTH,  /* of an array */
	VALUE_CALL,    /* the receiver, if there is one, and the arguments */
	VALUE_NEW,
	VALUE_ARRAY, /* lengths */
	VALUE_MATH,  /* op; also conversions and comparisons */
	VALUE_CAST,
	VALUE_IS,     /* instanceof */
	VALUE_PHI,    /* one of its args; which, the path decides */
	VALUE_CAUGHT, /* an exception; constant is its type, 0 for any */
	/* These have no result. */
	VALUE_PUT_FIELD, /* object, value */
	VALUE_PUT_STATIC,
	VALUE_PUT_ELEMENT, /* array, index, value */
	VALUE_RETURN,
	VALUE_THROW,
	VALUE_BRANCH, /* what is compared */
	VALUE_LOCK,
	VALUE_UNLOCK,
};

struct value {
	uint8_t kind, op;  /* op: the instruction that made it */
	uint16_t constant; /* the class, field, method, text it names */
	uint16_t pc;
	uint32_t block;
	uint32_t first, nr; /* args */
	int64_t number;
};

struct values {
	const struct class *class;
	const struct member *method;
	struct flow flow;
	struct value *v; /* in the order of evaluation; v[0] is unknown */
	uint32_t nr;
	uint32_t *args;
};

/* False when the code is damaged. Everything lies in the arena. */
bool values_init(struct values *v, const struct class *c, const struct member *m, struct arena *a);

static inline const struct value *values_arg(const struct values *v, const struct value *of,
					     uint32_t n)
{
	return &v->v[n < of->nr ? v->args[of->first + n] : 0];
}

#endif
