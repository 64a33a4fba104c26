/* Cuts a stream of syslog into messages (RFC 6587): those that say their length in front and those
 * that end with a line, whichever comes. */
#ifndef CULPRIT_HUB_FRAMES_H
#define CULPRIT_HUB_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Zero is the beginning of a stream. */
struct frames {
	struct buf held;
	size_t at;       /* what of it was handed out */
	uint64_t skip;   /* bytes of a message that is too long, still to come */
	bool skips_line; /* likewise, up to the end of the line */
	uint64_t nr_bad; /* messages that were too long */
};

void frames_done(struct frames *f);
/* Bytes as they came. */
void frames_add(struct frames *f, struct str bytes);
/* The next whole message, without its frame; valid until the next frames_add. */
bool frames_next(struct frames *f, struct str *message);

#endif
