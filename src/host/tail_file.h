/* One file of a log: what makes it the same file again, and how much of it was read. */
#ifndef CULPRIT_HOST_TAIL_FILE_H
#define CULPRIT_HOST_TAIL_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

struct inflate;
struct stat;

#define TAIL_MARK_BYTES 1024 /* lines carry times: hardly ever the same in two files */

#define TAIL_UNSEEN INT64_MAX /* nobody looked yet whether it grows */

struct tail_file {
	char *path, *name;
	char *log; /* the path that its log has while it is written: files of one share it */
	uint64_t dev, ino;
	uint64_t offset; /* as kept */
	uint64_t at;     /* as taken */
	uint64_t size;   /* as last seen; of a packed one, not known */
	uint64_t mark;   /* of its first bytes, as many as were there */
	uint32_t nr_mark;
	int64_t mtime_ns;  /* as last seen */
	int64_t kept_ns;   /* the same, as an earlier start knew it; INT64_MIN: it did not */
	int64_t grew;      /* when a new byte was last seen */
	uint64_t rested;   /* size at which all that is whole was taken */
	int fd;            /* -1: not open */
	struct inflate *z; /* of a packed one while it is read */
	uint64_t z_at;     /* bytes that came out of it */
	bool is_packed;
	bool is_rotated;  /* another file has its name, or none */
	bool is_over;     /* read to its end, which stays */
	bool is_gone;     /* the file is not there any more */
	bool is_missed;   /* not found again by a start, with what may not have been read */
	bool is_moved;    /* what is kept of it is not what is known */
	bool is_recalled; /* kept by an earlier start, and not looked for yet */
	bool is_skipping; /* in a line that is too long */
};

struct tail_file *tail_file_new(const char *path, const char *name);
void tail_file_free(struct tail_file *f);
void tail_file_shut(struct tail_file *f);
void tail_file_rename(struct tail_file *f, const char *path);

/* Opens what stands at the path; 0 or -errno. Packed files are told by their first bytes. */
int tail_file_open(struct tail_file *f, const char *path);
/* Takes note of the first bytes as far as they are there. */
void tail_file_mark(struct tail_file *f);
/* Whether another begins as this did when it was last marked; false when nothing is known. */
bool tail_file_begins_same(const struct tail_file *f, int fd, bool is_packed);
/* Up to n bytes from at; 0 at the end, for now. */
ssize_t tail_file_read(struct tail_file *f, char *to, size_t n);

void tail_file_note(const struct tail_file *f, struct buf *b);
/* NULL when it is no note. */
struct tail_file *tail_file_of_note(struct str note);

int64_t tail_file_mtime(const struct stat *st);

#endif
