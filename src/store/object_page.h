/* A few thousand objects, events or links as columns of bytes, and back. */
#ifndef CULPRIT_STORE_OBJECT_PAGE_H
#define CULPRIT_STORE_OBJECT_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "model/object.h"

struct arena;

/* The graph says how many types, objects, templates and logs there are: what points beyond is
 * refused. These are its objects [first, first + nr), written or to be filled. */
void object_page_add(struct buf *to, const struct object_graph *g, size_t first,
		     const struct object *objects, size_t nr);
/* How many objects the page begins with saying it holds; 0 when it is damaged. */
size_t object_page_count(struct str raw);
bool object_page_take(struct str raw, const struct object_graph *g, size_t first,
		      struct object *objects, size_t nr, struct arena *a);

/* The events of the same objects; the reader has nr_parts from the page above. */
void object_events_add(struct buf *to, const struct object *objects, size_t nr);
bool object_events_take(struct str raw, const struct object_graph *g, struct object *objects,
			size_t nr, struct arena *a);

void object_links_add(struct buf *to, const struct object_link *links, size_t nr);
/* All of the page; false when it holds another number. */
bool object_links_take(struct str raw, const struct object_graph *g, struct object_link *links,
		       size_t nr);

/* Types and relations of the graph, and its counts. */
void object_types_add(struct buf *to, const struct object_graph *g);
bool object_types_take(struct str *raw, struct object_graph *g, struct arena *a);

#endif
