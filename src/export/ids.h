/* The ids that a span goes out with: those of its source where it has any, else made from where it
 * stands. */
#ifndef CULPRIT_EXPORT_IDS_H
#define CULPRIT_EXPORT_IDS_H

#include "export/feed.h"

struct str ids_trace(const struct fed *x, const struct span *s);
struct str ids_span(const struct fed *x, size_t position);
/* Empty for a root. A parent that is not in the run keeps its name. */
struct str ids_parent(const struct fed *x, size_t position);

/* As so many lower-case hexadecimal digits: filled up with zeros, or a hash of what is no such
 * number. */
struct str ids_hex(struct arena *a, struct str id, size_t digits);

#define IDS_TRACE_DIGITS 32
#define IDS_SPAN_DIGITS 16

#endif
