/* A stretch of a request on one node and thread, with its parent; and the edges between such
 * stretches. */
#ifndef CULPRIT_MODEL_SPAN_H
#define CULPRIT_MODEL_SPAN_H

#include <stdint.h>

#include "base/str.h"

enum span_kind {
	SPAN_UNKNOWN,
	SPAN_INTERNAL,
	SPAN_SERVER,
	SPAN_CLIENT,
	SPAN_PRODUCER,
	SPAN_CONSUMER,
	SPAN_WAIT, /* nothing ran: waiting for what the name says */
};

enum span_status { STATUS_UNSET, STATUS_OK, STATUS_ERROR };

#define SPAN_NONE UINT32_MAX /* no parent */

/* Plain data, strings borrowed like those of an event. */
struct span {
	int64_t start, end;
	int64_t shift;   /* what was added to both to set its clock right */
	uint32_t parent; /* position in the request's spans; SPAN_NONE until inferred and for a root
			  */
	enum span_kind kind;
	enum span_status status;
	bool follows;     /* its parent does not wait for it (FOLLOWS_FROM) */
	float confidence; /* in its place in the tree: 1 when the source said so */
	struct str key;   /* trace id */
	struct str id, parent_id;
	struct str name;
	struct str node; /* service or process */
	struct str host; /* whose clock it was, if told */
	struct str thread;
	struct str links; /* further references, packed: model/link.h */
	struct str attrs; /* packed: model/attr.h */
};

enum edge_kind {
	EDGE_CALL,
	EDGE_RETURN,
	EDGE_MESSAGE,
	EDGE_HANDOFF,
	EDGE_WAKEUP,
	EDGE_AFTER,
	EDGE_LINK
};

/* Happened-before between two spans of one request, beyond what parents say. */
struct edge {
	uint32_t from, to; /* positions in the request's spans */
	enum edge_kind kind;
	float confidence;
};

const char *span_kind_name(enum span_kind kind);
const char *edge_kind_name(enum edge_kind kind);

#endif
