/* The messages of an agent on disk until the hub has them: appended, synced, never changed, in
 * files that go as a whole. The places up to which logs were read stand in the messages that hold
 * what was read, so that both are there or neither is. */
#ifndef CULPRIT_HOST_SPOOL_H
#define CULPRIT_HOST_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct error;
struct spool;

struct spool_options {
	const char *dir;        /* made when it is not there */
	uint64_t segment_bytes; /* of one file, about */
	uint64_t max_bytes;     /* of all of them: beyond, the oldest go unsent */
};

struct spool_recall {
	void *ctx;
	void (*note)(void *ctx, struct str note); /* of the writer, the newest last */
};

/* Finds what was appended before, whenever and however that ended. One at a time has it open:
 * -EBUSY else. */
int spool_open(struct spool **s, const struct spool_options *o, const struct spool_recall *recall,
	       struct error *err);
void spool_close(struct spool *s);

struct str spool_agent(const struct spool *s); /* the name that this spool was given, for ever */
uint64_t spool_next(const struct spool *s);    /* the number of the next message, from 1 on */
uint64_t spool_bytes(const struct spool *s);
/* Whether a new file is to be begun before the next message. */
bool spool_is_full(const struct spool *s);
/* Notes are what must be known without the files before, each with a line end. */
int spool_begin(struct spool *s, struct str notes, struct error *err);
/* One message, without a line end. After a failure, spool_is_full. */
int spool_append(struct spool *s, struct str message, struct error *err);

/* Who tells how much of a file was taken: bytes, or 0 when nothing is known. */
struct spool_ack {
	void *ctx;
	uint64_t (*taken)(void *ctx, uint64_t inode);
	unsigned window; /* messages that may be taken and not be there yet */
};
/* Whether all was taken. */
bool spool_is_taken(const struct spool *s, uint64_t (*taken)(void *ctx, uint64_t inode), void *ctx);
/* Removes files that were taken and are there, and those above the bound; how many messages went
 * without having been taken. */
uint64_t spool_trim(struct spool *s, const struct spool_ack *ack);

#endif
