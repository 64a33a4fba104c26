/* Puts what is carried into the memory that watched processes share, and finds it there. Runs in
 * strangers' processes: no library, no lock, nothing that waits. */
#ifndef CULPRIT_CAPTURE_PROBE_GUEST_HANDOVER_H
#define CULPRIT_CAPTURE_PROBE_GUEST_HANDOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/handover.h"

/* Of a record that was found. */
struct handover_found {
	uint64_t at, start, origin;
	uint32_t bytes, mark;
};

/* What is sent, and carried with it. */
struct handover_sending {
	uint64_t key, start, origin;
	const void *bytes; /* can be read up to the next multiple of 8 */
	size_t nr;
	uint32_t mark; /* of what is sent there, or 0 */
};

#define HANDOVER_FOUND_MAX 16

/* The memory is all zero. ring_bytes: a power of two. */
void handover_init(struct handover *h, uint64_t ring_bytes, uint64_t lives)
	__attribute__((visibility("hidden")));
bool handover_is_sound(const struct handover *h) __attribute__((visibility("hidden")));

/* The record's name, or 0 when it could not be put, which is counted in the table. */
uint64_t handover_put(struct handover *h, const struct handover_sending *r, uint64_t now)
	__attribute__((visibility("hidden")));
/* A stream that begins anew: what was there under its name is another's. */
void handover_forget(struct handover *h, uint64_t key) __attribute__((visibility("hidden")));
/* The same, of one that is met in the middle: what was sent before this position is not known. */
void handover_meet(struct handover *h, uint64_t key, uint64_t since, uint64_t now)
	__attribute__((visibility("hidden")));

struct handover_said {
	uint64_t sent;  /* HANDOVER_SENDING while a call is under way */
	uint64_t upto;  /* what that sends ends here at the latest, or HANDOVER_NO_END */
	uint64_t until; /* tick: so long all calls of the sender are surely seen */
};
/* How much was sent, for who comes into the middle of a connection and has to know, and for who
 * reads what passed us by. True: somebody doubts it, and it is to be looked up. */
bool handover_say_sent(struct handover *h, uint64_t key, const struct handover_said *s,
		       uint64_t now) __attribute__((visibility("hidden")));
enum handover_sent { HANDOVER_UNSAID, HANDOVER_SAID, HANDOVER_MORE };

/* MORE: a call is under way that sends what comes behind it. until: see above. */
enum handover_sent handover_sent(const struct handover *h, uint64_t key, uint64_t *sent,
				 uint64_t *until) __attribute__((visibility("hidden")));
/* Whether what is sent from here on is all that comes behind what was said last. */
bool handover_follows(const struct handover *h, uint64_t key, uint64_t start)
	__attribute__((visibility("hidden")));
/* What the sender says of the stream cannot be. */
void handover_doubt(struct handover *h, uint64_t key) __attribute__((visibility("hidden")));

struct handover_missing {
	size_t nr_more; /* found, and no room for them */
	bool is_gone;   /* what holds at from may be older than what can be read any more */
	/* the sender does not know of all these bytes; where nothing was found, of the first */
	bool is_unknown;
};

/* What came with the bytes [from, to) of a stream: the record that holds at from, if there is one,
 * and those that begin behind it. In the order of their starts, at most HANDOVER_FOUND_MAX; when
 * there are more, the first ones. */
size_t handover_find(const struct handover *h, uint64_t key, uint64_t from, uint64_t to,
		     uint64_t now, struct handover_found *out, struct handover_missing *m)
	__attribute__((visibility("hidden")));
/* The newest record of a stream; 0: none. */
uint64_t handover_last(const struct handover *h, uint64_t key)
	__attribute__((visibility("hidden")));
/* A record without its bytes; false when it is not there any more. */
bool handover_head(const struct handover *h, uint64_t at, uint64_t key, struct handover_head *r)
	__attribute__((visibility("hidden")));
/* The bytes of a record that was found, in multiples of 8: how many there are, or -1 when it is not
 * there any more. */
long handover_read(const struct handover *h, uint64_t at, size_t bytes, void *to, size_t room)
	__attribute__((visibility("hidden")));

#endif
