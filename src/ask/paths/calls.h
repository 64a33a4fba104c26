/* What one request called: its spans, drawn together where they are on the node of their caller. */
#ifndef CULPRIT_ASK_PATHS_CALLS_H
#define CULPRIT_ASK_PATHS_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "base/vec.h"
#include "model/request.h"

#define CALL_NONE UINT32_MAX

struct call {
	uint32_t parent; /* position of its caller, which stands before it, or CALL_NONE */
	uint32_t span;   /* the span that the call begins with */
	sym_t node;
	int64_t start, end;
	int64_t self;  /* ns in which none of its own calls was under way */
	int64_t delay; /* from the start of its caller, or of the request */
};

/* Reused from request to request; zero is ready. */
struct calls {
	VEC(struct call) v;
	VEC(uint32_t) of_span; /* the call that each span is part of */
	/* The calls of call i in order of time: kid[first[i]] up to kid[first[i + 1]]; those of the
	 * request itself stand at i = v.nr. */
	VEC(uint32_t) first;
	VEC(uint32_t) kid;
};

void calls_done(struct calls *c);
/* Names of nodes are interned in names. */
void calls_make(struct calls *c, struct names *names, const struct request *r,
		const struct request_body *body);
/* Position from 1 of the message that began it, as the inference noted it, else the position from 1
 * of its span in the request. */
uint64_t calls_message(const struct request_body *body, uint32_t span);
/* Which message of it was not seen, "call" or "return"; empty when both were. */
struct str calls_not_seen(const struct request_body *body, uint32_t span);
/* The other calls that could have made it, by their message, the likeliest first. */
struct str calls_alternatives(const struct request_body *body, uint32_t span);
bool calls_take_alternative(struct str *packed, uint64_t *message, double *confidence);
/* Who called a root, when the input tells; else empty. */
struct str calls_client(const struct request_body *body, uint32_t span);

#endif
