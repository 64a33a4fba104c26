/* A file for what memory cannot hold and nobody needs tomorrow: chunks out, chunks back in. */
#ifndef CULPRIT_STORE_SCRATCH_H
#define CULPRIT_STORE_SCRATCH_H

#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

struct error;
struct pack;
struct place;

struct scratch {
	const struct place *place;
	struct pack *pack;
	struct buf packed;
	off_t end;
	int fd; /* -1 until something must leave memory */
};

struct chunk {
	off_t at;
	uint32_t bytes;
};

void scratch_init(struct scratch *x, const struct place *place);
void scratch_done(struct scratch *x);
int scratch_put(struct scratch *x, struct str raw, struct chunk *c, struct error *err);
int scratch_get(struct scratch *x, const struct chunk *c, struct buf *raw, struct error *err);
/* For a caller that cannot decode what it wrote. */
int scratch_changed(struct error *err);

#endif
