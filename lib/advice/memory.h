/* What the bytes of a tracepoint's export are as a value, by the type that the export names; also
 * for guests, which have no floating point. */
#ifndef CULPRIT_LIB_ADVICE_MEMORY_H
#define CULPRIT_LIB_ADVICE_MEMORY_H

#include "wire/advice.h"

static const uint8_t memory_bytes[] = {
	[ADVICE_U8] = 1,      [ADVICE_I8] = 1,  [ADVICE_U16] = 2, [ADVICE_I16] = 2,
	[ADVICE_U32] = 4,     [ADVICE_I32] = 4, [ADVICE_U64] = 8, [ADVICE_I64] = 8,
	[ADVICE_BOOLEAN] = 1, [ADVICE_F32] = 4, [ADVICE_F64] = 8, [ADVICE_CHARS] = 8,
};

/* A type that nobody knows is taken for u64. */
static inline uint8_t memory_known(uint8_t memory)
{
	return memory < sizeof(memory_bytes) ? memory : ADVICE_U64;
}

/* A float's bits as a double's. */
static inline uint64_t memory_widened(uint32_t f)
{
	uint64_t sign = (uint64_t)(f >> 31) << 63, exponent = f >> 23 & 0xff, part = f & 0x7fffff;

	if (exponent == 0xff)
		return sign | (uint64_t)0x7ff << 52 | part << 29;
	if (!exponent && !part)
		return sign;
	for (exponent += exponent ? 0 : 1; !(part & 0x800000) && !(f >> 23 & 0xff); exponent--)
		part <<= 1;
	return sign | (exponent + 1023 - 127) << 52 | (part & 0x7fffff) << 29;
}

static inline void memory_number(uint8_t memory, uint64_t bits, struct advice_value *v)
{
	unsigned shift = 64 - 8 * memory_bytes[memory];

	*v = (struct advice_value){ .type = ADVICE_INT };
	switch (memory) {
	case ADVICE_I8:
	case ADVICE_I16:
	case ADVICE_I32:
		v->i = (int64_t)(bits << shift) >> shift;
		break;
	case ADVICE_BOOLEAN:
		v->type = ADVICE_BOOL;
		v->i = (bits & 0xff) != 0;
		break;
	case ADVICE_F32:
		v->type = ADVICE_REAL;
		v->real = memory_widened((uint32_t)bits);
		break;
	case ADVICE_F64:
		v->type = ADVICE_REAL;
		v->real = bits;
		break;
	default:
		v->i = (int64_t)(bits << shift >> shift);
	}
}

#endif
