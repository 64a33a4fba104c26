/* Takes protobuf fields from the front of borrowed bytes, bounds-checked; and whole messages off an
 * input. */
#ifndef CULPRIT_SOURCE_OTLP_WIRE_H
#define CULPRIT_SOURCE_OTLP_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct error;
struct input;

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct wire_field {
	uint32_t number;
	enum wire_type type;
	uint64_t value;   /* VARINT, FIXED64, FIXED32 */
	struct str bytes; /* BYTES */
	bool is_cut;      /* bytes end before their length says */
};

/* True and *f; false at the end (*s empty) or where the bytes are no field (*s unchanged). */
bool otlp_wire_take(struct str *s, struct wire_field *f);
double otlp_wire_double(const struct wire_field *f);

/* How messages follow each other in a file. */
enum wire_framing {
	WIRE_ONE,       /* the file is one message: its fields are handed out one by one */
	WIRE_PREFIXED,  /* each has its length in front as a varint … */
	WIRE_PREFIXED4, /* … or as four bytes, the highest first */
	WIRE_NONE,      /* nothing of the kind */
};
enum wire_framing otlp_wire_framing(struct str head);

#define OTLP_WIRE_BYTES_MAX ((size_t)256 << 20)

/* A message (or the only message's next piece) after the other, in a window over the input. */
struct otlp_feed {
	struct input *in;
	enum wire_framing framing;
	char *p;
	size_t n, room, at;
	bool ended, is_cut;
};

/* 1 and bytes that hold whole fields (borrowed until the next call), 0 the end, negative failure.
 * What an end in the middle leaves comes last, with is_cut set. */
int otlp_feed_next(struct otlp_feed *f, struct str *message, struct error *err);
void otlp_feed_done(struct otlp_feed *f);

#endif
