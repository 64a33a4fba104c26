/* The critical path of one request: every nanosecond of it given to the one span that held it up.
 */
#ifndef CULPRIT_ASK_CRITICAL_H
#define CULPRIT_ASK_CRITICAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/request.h"

enum critical_kind { CRITICAL_RUN, CRITICAL_WAIT };

struct critical_section {
	uint32_t span; /* position in the body, or SPAN_NONE: time that no span explains */
	enum critical_kind kind;
	int64_t start, end; /* never empty */
};

/* In time order, without gap or overlap, from start to end. */
struct critical {
	struct critical_section *v;
	size_t nr;
	int64_t start, end;
};

/* 0; the sections live in the arena. A body without spans has no sections and start == end. */
int critical_path(const struct request_body *b, struct arena *arena, struct critical *out);
const char *critical_kind_name(enum critical_kind kind);

#endif
