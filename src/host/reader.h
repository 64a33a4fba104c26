/* Reads bytes of logs into mentions: finds out how each log writes its lines, and puts equal
 * mentions of all logs together until they are sent. */
#ifndef CULPRIT_HOST_READER_H
#define CULPRIT_HOST_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct constants;
struct losses;
struct mention;
struct overrides;
struct reader;
struct tail_log;

struct reader_options {
	struct str host;    /* where lines happened that do not say it themselves */
	const char *layout; /* as struct source_options has them */
	const char *zone;
	const struct overrides *overrides; /* what the user says of types; may be NULL */
	struct losses *losses;
};

struct reader *reader_new(const struct reader_options *o);
void reader_free(struct reader *r);
/* What programs print, from now on, or NULL: borrowed until the next call. Not while there are
 * mentions. */
void reader_know(struct reader *r, const struct constants *constants);

/* As tail_options has it; now is the time of lines that show none. */
size_t reader_take(struct reader *r, const struct tail_log *log, struct str bytes, bool is_whole,
		   int64_t now);
/* Mentions since the last reader_clear, each with its file, node, times and count; valid until
 * then. */
struct mention *const *reader_mentions(const struct reader *r, size_t *nr);
/* About how many bytes they take in a message. */
size_t reader_bytes(const struct reader *r);
void reader_clear(struct reader *r);

#endif
