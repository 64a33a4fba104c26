/* A part of a log that somebody else cut out of it at line ends, as engines hand them to workers:
 * the events that are whole in it, and the lines at both ends that its neighbours may belong to. */
#ifndef CULPRIT_SOURCE_SPLIT_H
#define CULPRIT_SOURCE_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "model/loss.h"

struct error;
struct event;
struct logs;

struct split_taker {
	void *to;
	/* Lines in front of the first event, or from where the last one begins, each with its line
	 * end; in several pieces when they are many. */
	int (*raw)(void *to, struct str lines, bool is_front, struct error *err);
	/* Times are not settled; places count from the first byte and line of the part, both from
	 * 0.
	 */
	int (*events)(void *to, const struct event *events, size_t nr, struct error *err);
};

struct split {
	struct logs *logs;
	struct split_taker taker;
	struct losses losses;  /* of the events that were delivered */
	uint64_t bytes, lines; /* in front of what is held */
	struct buf held;
	size_t enough; /* held bytes that are worth a look */
	bool has_event;
};

/* Zero is not enough: what the lines look like, and who takes them. */
void split_init(struct split *s, struct logs *logs, const struct split_taker *taker);
void split_done(struct split *s);
/* The next bytes, cut anywhere. */
int split_add(struct split *s, struct str bytes, struct error *err);
/* There are no more; bytes and lines are then those of the part, a line end lacking at its end
 * included. */
int split_end(struct split *s, struct error *err);

/* Events of lines that are all there, in the middle of a log. */
int split_read(struct logs *logs, struct str lines, const struct split_taker *taker,
	       struct losses *losses, struct error *err);

#endif
