/* Tracepoints at methods of Java classes: as lines of an order to our agent in the machine, and
 * what it answers. */
#ifndef CULPRIT_CAPTURE_WEAVE_JAVA_H
#define CULPRIT_CAPTURE_WEAVE_JAVA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "query/tracepoint.h"

struct buf;

/* The lines of a place without the number of its function: "MOMENT LINE CLASS METHOD TYPES", then
 * what it exports. They are the same for all queries, so that its advice is in one order: what
 * forgets a request goes before what any of them packs. False: told has why. */
bool java_place(const struct tracepoint *t, const struct tracepoint_place *at, struct buf *out,
		struct buf *told);
/* The lines without those exports that nobody asks for; inputs: bits, as struct advice_program has
 * them. */
void java_place_asked(struct str place, uint64_t inputs, struct buf *out);
/* How each export is found there. */
void java_takings(const struct tracepoint *t, struct advice_taking takings[TRACEPOINT_EXPORTS]);

enum java_said { JAVA_WOVEN, JAVA_REFUSED, JAVA_LEFT, JAVA_ERROR, JAVA_DONE, JAVA_OTHER };

struct java_answer {
	enum java_said said;
	uint32_t function;
	struct str method; /* class and method, or the text of an error */
	struct str why;
};

/* Takes a line of what the agent said. */
bool java_answer_take(struct str *text, struct java_answer *a);

#endif
