/* Looks at packed attributes as exporters need to: those of one scope, and what is still to be
 * said. */
#ifndef CULPRIT_EXPORT_ATTRS_H
#define CULPRIT_EXPORT_ATTRS_H

#include "export/feed.h"
#include "model/attr.h"

/* The next attribute of this scope; false at the end. */
bool attrs_take(struct str *packed, enum attr_scope scope, struct attr *a);
/* Whether an attribute of this scope, of any name, reads as this text. */
bool attrs_say(struct str packed, enum attr_scope scope, struct str text);
/* Whether the attribute of this name reads as this text. */
bool attrs_key_says(struct str packed, struct str key, struct str text);

/* The service as its source named it: a node of several replicas is called "service@host". */
struct str attrs_service(const struct span *s);

/*
 * What a span or an event says outside of its attributes, as attributes for formats that have no
 * better place: only what the attributes do not say already.
 */
void attrs_of_process(const struct span *s, struct buf *packed);
void attrs_of_thread(const struct span *s, struct buf *packed);
/* How sure it is that the span stands in its place, where that was inferred. */
void attrs_of_confidence(const struct span *s, struct buf *packed);
/* The same as a number with three digits. */
double attrs_sure(const struct span *s);
void attrs_of_event(const struct event *ev, const struct span *in, struct buf *packed);
/* The links of a span, and its edges as links that say of which kind they are. */
struct str attrs_links(const struct fed *x, size_t position);

#endif
