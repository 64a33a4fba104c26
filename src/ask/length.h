/* How far apart two moments are: damaged input may name moments further apart than 63 bits hold. */
#ifndef CULPRIT_ASK_LENGTH_H
#define CULPRIT_ASK_LENGTH_H

#include <stdint.h>

/* From a to b, negative when b is earlier; as far as the type goes. */
static inline int64_t length_signed(int64_t a, int64_t b)
{
	int64_t ns;

	if (__builtin_sub_overflow(b, a, &ns))
		return b > a ? INT64_MAX : INT64_MIN;
	return ns;
}

/* The same, but nothing takes less than no time. */
static inline int64_t length_ns(int64_t start, int64_t end)
{
	return end > start ? length_signed(start, end) : 0;
}

/* A moment so much later, or earlier by a negative one; as far as the type goes. */
static inline int64_t length_after(int64_t at, int64_t ns)
{
	int64_t moved;

	if (__builtin_add_overflow(at, ns, &moved))
		return ns > 0 ? INT64_MAX : INT64_MIN;
	return moved;
}

/* A computed mean as whole nanoseconds. */
static inline int64_t length_of(double ns)
{
	if (ns >= 9223372036854775807.0)
		return INT64_MAX;
	return ns <= -9223372036854775807.0 ? INT64_MIN : (int64_t)ns;
}

#endif
