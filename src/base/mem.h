/* Allocates or ends the program: the tool aborts when memory ends, so no caller checks. */
#ifndef CULPRIT_BASE_MEM_H
#define CULPRIT_BASE_MEM_H

#include <stddef.h>

void *mem_alloc(size_t bytes);
void *mem_zalloc(size_t bytes);
void *mem_realloc(void *p, size_t bytes);
/* nr * size, or the end of the program on overflow. */
size_t mem_bytes(size_t nr, size_t size);

#endif
