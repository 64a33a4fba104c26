/* Sends what is in a spool to a hub, by an rsyslogd of its own that reads the files of the spool:
 * it is started, watched, and begun anew when it dies. */
#ifndef CULPRIT_HOST_SENDER_H
#define CULPRIT_HOST_SENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct error;
struct sender;

#define SENDER_WINDOW 16 /* messages that may be on their way at a time */
#define SENDER_DOUBT 64  /* messages taken that may not be there: some more than that */

/* All is borrowed for as long as the sender lives. */
struct sender_options {
	const char *state; /* of the spool, as an absolute path */
	const char *host, *port;
	bool is_plain;               /* TCP without acknowledgement, instead of RELP */
	const char *ca, *cert, *key; /* for TLS; NULL for none */
};

/* What rsyslogd is told; with is_part, as a part of the configuration of the system's own one. */
void sender_conf(const struct sender_options *o, bool is_part, struct buf *b);

int sender_start(struct sender **s, const struct sender_options *o, struct error *err);
/* Begins it anew when it has died: 0; 1 when it died by itself, with what it said in *err. */
int sender_look(struct sender *s, struct error *err);
/* For spool_ack; the first argument is the sender. */
uint64_t sender_taken(void *sender, uint64_t inode);
void sender_stop(struct sender *s);

#endif
