/* What the compiler calls where it copies or compares more than a few words. */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n)
	__attribute__((visibility("hidden")));
void *memmove(void *to, const void *from, size_t n) __attribute__((visibility("hidden")));
void *memset(void *to, int c, size_t n) __attribute__((visibility("hidden")));
int memcmp(const void *a, const void *b, size_t n) __attribute__((visibility("hidden")));

typedef uint64_t word __attribute__((may_alias, aligned(1)));

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	char *t = to;
	const char *f = from;

	for (; n >= 8; n -= 8, t += 8, f += 8)
		*(word *)t = *(const word *)f;
	for (; n; n--)
		*t++ = *f++;
	return to;
}

void *memmove(void *to, const void *from, size_t n)
{
	char *t = to;
	const char *f = from;

	if (t <= f || t >= f + n) {
		for (; n >= 8; n -= 8, t += 8, f += 8)
			*(word *)t = *(const word *)f;
		for (; n; n--)
			*t++ = *f++;
		return to;
	}
	while (n--)
		t[n] = f[n];
	return to;
}

void *memset(void *to, int c, size_t n)
{
	char *t = to;
	uint64_t all = (uint8_t)c * 0x0101010101010101u;

	for (; n >= 8; n -= 8, t += 8)
		*(word *)t = all;
	for (; n; n--)
		*t++ = (char)c;
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const uint8_t *x = a, *y = b;

	for (; n >= 8 && *(const word *)x == *(const word *)y; n -= 8, x += 8, y += 8)
		;
	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}
