/* The other files of a log: those that rotation made of it, plain and packed. */
#ifndef CULPRIT_HOST_TAIL_KIN_H
#define CULPRIT_HOST_TAIL_KIN_H

#include <stdbool.h>
#include <stdint.h>

struct stat;

/* A file beside the log that is of it by its name. True ends the walk. */
typedef bool tail_kin_each(void *ctx, const char *path, const struct stat *st);
/* The oldest first. */
void tail_kin(const char *log, tail_kin_each *each, void *ctx);

#endif
