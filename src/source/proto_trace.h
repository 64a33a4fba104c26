/* The names of requests that applications send along with their messages: traceparent, b3, sw8 … */
#ifndef CULPRIT_SOURCE_PROTO_TRACE_H
#define CULPRIT_SOURCE_PROTO_TRACE_H

#include <stdbool.h>

#include "base/str.h"
#include "model/event.h"

#define TRACE_KEY_MAX 128
#define TRACE_SPAN_MAX 64

/* Zero is none. */
struct trace {
	enum key_kind kind;
	unsigned char key_n, span_n;
	char key[TRACE_KEY_MAX], span[TRACE_SPAN_MAX];
};

/* A header of a message: kept when it names a request, and more surely than what was kept. */
void trace_take_header(struct trace *t, struct str name, struct str value);
/* The same in bytes of any encoding, where name and value stand close to each other. */
void trace_scan(struct trace *t, struct str bytes);

static inline struct str trace_key(const struct trace *t)
{
	return (struct str){ t->key, t->key_n };
}

static inline struct str trace_span(const struct trace *t)
{
	return (struct str){ t->span, t->span_n };
}

#endif
