/* Records of what programs did on sockets become messages. */
#ifndef CULPRIT_CAPTURE_SOCKETS_DECODE_H
#define CULPRIT_CAPTURE_SOCKETS_DECODE_H

#include <stdint.h>

#include "base/str.h"
#include "capture/sockets_who.h"

struct error;
struct sink;
struct source_options;
struct sockets_decode;

struct sockets_setting {
	const struct source_options *source;
	struct sockets_listeners listeners;
	uint32_t file;      /* the number that the sink gave */
	uint32_t own_netns; /* whose names need no address */
	int64_t clock_ns;   /* to be added to the times of records */
};

/* sink and err are borrowed until the end. */
int sockets_decode_new(struct sockets_decode **d, const struct sockets_setting *s,
		       struct sink *sink, struct error *err);
/* One record as the kernel gave it. What is no record is counted. */
void sockets_decode_add(struct sockets_decode *d, struct str bytes);
/* All that is older, in the clock of records, may be told. Negative when the sink failed. */
int sockets_decode_until(struct sockets_decode *d, uint64_t ns);
/* Tells what is still open, and frees. 0, or the failure of the sink. */
int sockets_decode_end(struct sockets_decode *d);

#endif
