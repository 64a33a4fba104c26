/* Splits a request's duration by hop, every nanosecond once, and adds such splits up over many. */
#ifndef CULPRIT_ASK_BREAKDOWN_H
#define CULPRIT_ASK_BREAKDOWN_H

#include "ask/critical.h"
#include "ask/hops.h"

/* One hop's part in one request. */
struct breakdown_part {
	uint32_t hop;
	uint32_t spans; /* how often the hop happened, on the critical path or not */
	int64_t ns;     /* on the critical path */
	double busy;    /* ns: the durations of those spans */
};

/* Reused from request to request; zero is ready. */
struct breakdown {
	VEC(struct breakdown_part) parts;
	struct arena arena;
	struct critical path; /* of the last request */
	uint32_t *span_hop;   /* and the hop of each of its spans */
	int64_t *section_ns;  /* and what each section of the path counts for */
	VEC(uint32_t) place;  /* by hop: position + 1 in parts while one request is split */
};

void breakdown_done(struct breakdown *d);
/* Fills parts; their ns add up to r->end - r->start exactly. What no span explains, and what lies
 * before or after the critical path, is the part of the type's own hop. */
void breakdown_make(struct breakdown *d, struct hops *hops, uint32_t type, const struct request *r,
		    const struct request_body *body);

#endif
