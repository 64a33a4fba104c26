/* Messages of the programs on this machine, seen by eBPF where they send and receive on sockets. */
#ifndef CULPRIT_CAPTURE_SOCKETS_H
#define CULPRIT_CAPTURE_SOCKETS_H

#include <stdbool.h>

struct capture;
struct error;
struct source_options;

struct sockets_options {
	const struct source_options *source; /* of these, names and is_blind count */
	int pid;                             /* only the sockets of this process; 0: of all */
};

/* False where this program was built without it. */
bool sockets_are_built(void);
/* As capture/capture.h says; nr_seen counts what programs sent, received, opened and closed. */
int sockets_record(const struct sockets_options *o, const struct capture *c, struct error *err);

#endif
