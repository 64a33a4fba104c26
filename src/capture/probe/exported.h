/* Where a file has a function that it gives to others by its name. */
#ifndef CULPRIT_CAPTURE_PROBE_EXPORTED_H
#define CULPRIT_CAPTURE_PROBE_EXPORTED_H

#include <stdbool.h>
#include <stdint.h>

/* Its address in the file's own address space, and its size. */
bool exported_find(const char *path, const char *name, uint64_t *address, uint64_t *size);

#endif
