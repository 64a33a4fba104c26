/* The types of objects: the hierarchy as a tree with counts and lifetimes, and how any two relate.
 */
#ifndef CULPRIT_ASK_OBJECTS_HIERARCHY_H
#define CULPRIT_ASK_OBJECTS_HIERARCHY_H

#include "model/object.h"
#include "store/objects.h"

struct report;
struct section;
struct row;

/* For people a tree, for scripts the types and edges of the hierarchy. */
void hierarchy_report(const struct object_graph *g, const struct object_lives *lives,
		      struct report *report);
/* Every type and every relation between two, whether in the hierarchy or not. */
void relations_report(const struct object_graph *g, const struct object_lives *lives,
		      struct report *report);

/* "1:n" */
const char *relation_name(enum relation r);
/* "created"; NULL when nothing tells. */
const char *deed_name(enum relation_deed d);
/* The parts of a signature, or the ids of an object, as an array of JSON. */
void strs_cell(struct section *s, struct row *row, size_t column, const struct str *v, size_t nr);

#endif
