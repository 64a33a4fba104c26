/* One opened input: its bytes in order, decompressed on the way, with a look at its head before
 * reading. */
#ifndef CULPRIT_SOURCE_INPUT_H
#define CULPRIT_SOURCE_INPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"

struct error;
struct input;

#define INPUT_HEAD_BYTES ((size_t)256 << 10)

/* path "-" is standard input. gzip, xz and zstd are found by their first bytes, several streams in
 * a row included, and UTF-16 by its mark: it is read as UTF-8. */
int input_open(struct input **in, const char *path, struct error *err);
/* The same of a file that is open already, from its first byte on; the descriptor is borrowed. Of
 * a plain file only the first upto bytes are there. */
int input_of_fd(struct input **in, const char *path, int fd, uint64_t upto, struct error *err);
/* The same from another byte on, after decompression, which begins the given line (from 1): what
 * was read before is not read again, but for what is compressed. */
int input_go_on(struct input **in, const char *path, int fd, uint64_t from, uint64_t line,
		uint64_t upto, struct error *err);
/* The same over bytes in memory, for tests and fuzzing; borrowed. */
int input_of_bytes(struct input **in, const char *path, struct str bytes, struct error *err);
/* The same, taken as they are whatever they begin with. */
int input_of_text(struct input **in, const char *path, struct str bytes, struct error *err);
void input_close(struct input *in);

/* A file that was cut while its writer went on where it was begins with zero bytes that nobody
 * wrote. How many of the first size bytes; 0 when there are few, or no others. */
uint64_t input_hole(int fd, uint64_t size);
uint64_t input_start(const struct input *in); /* bytes in front of the first that is read */
uint64_t input_end(const struct input *in);   /* bytes up to the last that was read */
uint64_t input_line(const struct input *in);  /* the number of its first line */

const char *input_path(const struct input *in);
uint64_t input_bytes(const struct input *in); /* size as stored; 0 when unknown */
int64_t input_mtime(const struct input *in);
bool input_is_plain(const struct input *in); /* regular and not compressed */
/* Of plain files: tells later whether the file has only grown (model/sink.h); else 0. */
uint64_t input_mark(const struct input *in);
/* The first decompressed bytes, up to INPUT_HEAD_BYTES; *whole tells that this is all. */
struct str input_head(struct input *in, bool *whole);
/* Up to n decompressed bytes, 0 at the end. Data before a damaged place is delivered, then -EBADMSG
 * and a sentence. */
ssize_t input_read(struct input *in, void *buf, size_t n, struct error *err);
/* Stored bytes consumed so far, for progress. */
uint64_t input_position(const struct input *in);

#endif
