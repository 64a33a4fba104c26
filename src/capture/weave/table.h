/* The memory in which watched processes of this host hand bags over to each other
 * (wire/handover.h): made here, mapped into each of them. */
#ifndef CULPRIT_CAPTURE_WEAVE_TABLE_H
#define CULPRIT_CAPTURE_WEAVE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "capture/probe/probe.h"

struct error;
struct functions;
struct handover;

/* Zero is none. */
struct handover_table {
	struct handover *here;
	uint64_t bytes;
	int fd; /* for struct probe_options */
};

int handover_table_open(struct handover_table *t, struct error *err);
void handover_table_close(struct handover_table *t);

/* Functions of C libraries that send, receive, open and close: what is to be watched so that bags
 * go along. Without numbers; texts live as long as f. */
struct carried_calls {
	VEC(struct probe_function) v;
};
void carried_calls_find(struct carried_calls *c, struct functions *f);

#endif
