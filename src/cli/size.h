/* Options that are sizes: 512, 64k, 256M, 2G. */
#ifndef CULPRIT_CLI_SIZE_H
#define CULPRIT_CLI_SIZE_H

#include <stdint.h>

struct call;
struct error;

/* Sets *bytes when the option was given; -EINVAL when it is no size. */
int size_option(const struct call *call, const char *name, uint64_t *bytes, struct error *err);

#endif
