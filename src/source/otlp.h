/* Makes spans and events of what OpenTelemetry's model says, whichever encoding said it. */
#ifndef CULPRIT_SOURCE_OTLP_H
#define CULPRIT_SOURCE_OTLP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "model/attr.h"
#include "model/span.h"

struct batch;

enum otlp_host_rank { OTLP_NR_HOST_KEYS = 13, OTLP_NR_NODE_KEYS = 4 };

/* What the spans of one scope share, and room for what is being read. Zero is a valid start. */
struct otlp {
	struct batch *b;
	uint32_t file;
	uint64_t line;

	struct buf resource, scope;      /* packed attributes */
	struct buf node, host;           /* found in the resource … */
	int node_rank, host_rank;        /* … under which key: lower is surer */
	struct str node_kept, host_kept; /* the same in the arena of the batch */

	struct buf own, links; /* of the span or log record being read */
	struct buf event;      /* attributes of an event inside a span, or of a link */
	struct buf text;       /* a value being written as JSON */
	struct buf thread;
	bool thread_has_name;
};

void otlp_done(struct otlp *o);

void otlp_begin_resource(struct otlp *o);
void otlp_add_resource_attr(struct otlp *o, struct attr *a);
/* Call when the resource was read whole. */
void otlp_end_resource(struct otlp *o);
void otlp_begin_scope(struct otlp *o, struct str name, struct str version);
void otlp_add_scope_attr(struct otlp *o, struct attr *a);

/* Empties own, links, thread. */
void otlp_begin_item(struct otlp *o);
void otlp_add_own_attr(struct otlp *o, const struct attr *a);

/* Plain data. Ids are in the arena of the batch already, other strings are borrowed. */
struct otlp_span {
	struct str trace, id, parent, name, trace_state, status_message;
	uint64_t start, end;
	uint64_t kind, status, flags;
	uint64_t dropped_attrs, dropped_events, dropped_links;
};
/* False when the span has no id or no time; it was counted then. */
bool otlp_add_span(struct otlp *o, const struct otlp_span *s);

struct otlp_record {
	struct str trace, span, name, text, severity;
	uint64_t ns, observed_ns, severity_number;
	uint64_t dropped_attrs, flags;
};
/* A log record with the attributes gathered in own. */
void otlp_add_log(struct otlp *o, const struct otlp_record *r);
/* An event inside the span that was added last, with the attributes gathered in event. */
void otlp_add_span_event(struct otlp *o, const struct otlp_record *r);

#endif
