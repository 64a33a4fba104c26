#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void mem_end(size_t bytes)
{
	fprintf(stderr, "culprit: out of memory (%zu bytes wanted)\n", bytes);
	abort();
}

void *mem_alloc(size_t bytes)
{
	return mem_realloc(NULL, bytes);
}

void *mem_zalloc(size_t bytes)
{
	void *p = calloc(1, bytes ? bytes : 1);

	if (!p)
		mem_end(bytes);
	return p;
}

void *mem_realloc(void *p, size_t bytes)
{
	p = realloc(p, bytes ? bytes : 1);
	if (!p)
		mem_end(bytes);
	return p;
}

size_t mem_bytes(size_t nr, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(nr, size, &bytes))
		mem_end(SIZE_MAX);
	return bytes;
}
