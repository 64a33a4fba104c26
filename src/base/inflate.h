/* Reads bytes in order from a file or memory, decompressing gzip, xz and zstd and turning UTF-16
 * into UTF-8 on the way; found by magic. Places in the text are then those of what was read, not of
 * what is stored. */
#ifndef CULPRIT_BASE_INFLATE_H
#define CULPRIT_BASE_INFLATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"

struct error;
struct inflate;

/* The file descriptor is borrowed and read from where it stands. */
int inflate_of_fd(struct inflate **z, int fd, struct error *err);
/* The bytes are borrowed. */
int inflate_of_bytes(struct inflate **z, struct str bytes, struct error *err);
void inflate_free(struct inflate *z);

bool inflate_is_plain(const struct inflate *z); /* as stored */
/*
 * Up to n bytes, 0 at the end. Several streams in a row are one. Data before a damaged or missing
 * place is delivered first, then -EBADMSG and a sentence, for ever.
 */
ssize_t inflate_read(struct inflate *z, void *buf, size_t n, struct error *err);
uint64_t inflate_position(const struct inflate *z); /* stored bytes consumed so far */

#endif
