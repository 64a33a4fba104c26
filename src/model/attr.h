/* Named, typed values that a span or an event carries, packed into one run of bytes. */
#ifndef CULPRIT_MODEL_ATTR_H
#define CULPRIT_MODEL_ATTR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum attr_type {
	ATTR_STRING,
	ATTR_INT,
	ATTR_DOUBLE,
	ATTR_BOOL,
	ATTR_BYTES,
	ATTR_JSON, /* a list or a map, as JSON text */
};

/* Where an attribute stood in its source; exporters put it back there. */
enum attr_scope {
	ATTR_SPAN,     /* of the span or event itself */
	ATTR_RESOURCE, /* of the process that made it */
	ATTR_LIBRARY,  /* of the instrumentation scope */
};

struct attr {
	enum attr_scope scope;
	enum attr_type type;
	struct str key;
	struct str text; /* STRING, BYTES, JSON */
	int64_t i;       /* INT, BOOL */
	double d;        /* DOUBLE */
};

/* Packed attributes are a struct str; the empty one has none. */
void attr_add(struct buf *packed, const struct attr *a);
void attr_add_str(struct buf *packed, struct str key, struct str value);
void attr_add_int(struct buf *packed, struct str key, int64_t value);
/* Takes the next one from the front; false at the end (or where the bytes are damaged). */
bool attr_take(struct str *packed, struct attr *a);
bool attr_find(struct str packed, struct str key, struct attr *a);
/* The value as a person would write it. */
void attr_text(struct buf *b, const struct attr *a);

#endif
