/* The objects that logs name, as a part of the run: written once, read back as far as one asks. */
#ifndef CULPRIT_STORE_OBJECTS_H
#define CULPRIT_STORE_OBJECTS_H

#include <stdint.h>

#include "model/object.h"

struct arena;
struct error;
struct store;

/* Takes the objects of a run that is being written, once, and writes them as they come. Links are
 * to be handed over in 16,384s, but for the last ones. */
struct object_sink store_object_sink(struct store *s);
/* The same for who has all of them. The graph is borrowed for the call. */
int store_set_objects(struct store *s, const struct object_graph *g, struct error *err);

/* What of a graph is wanted beside its types and relations, which are small. */
enum {
	OBJECTS_INSTANCES = 1, /* objects[], without their events */
	OBJECTS_EVENTS = 2,    /* with them: implies instances */
	OBJECTS_LINKS = 4,
	OBJECTS_TEXTS = 8, /* templates[] and logs[] */
	OBJECTS_ALL = 15,
};
/* Everything in the arena: 1 the run has objects, 0 it has none. What was not asked for is NULL,
 * while its number (nr_objects …) is that of the run; nr_parts stands without events, too. */
int store_objects_some(struct store *s, unsigned parts, struct arena *a, struct object_graph *g,
		       struct error *err);
/* All of it. */
int store_objects(struct store *s, struct arena *a, struct object_graph *g, struct error *err);

/* How long the objects of a type live, as it is found without reading them. */
struct object_lives {
	uint64_t nr;    /* objects that have a time */
	uint64_t first; /* the number of the first object of the type; the others follow */
	int64_t median_ns, max_ns;
	int64_t first_ns, last_ns; /* of all of them; NS_NONE when nothing tells */
	uint64_t nr_events, nr_errors;
};
/* One for each type, in the arena: 1, or 0 when the run has no objects. */
int store_object_lives(struct store *s, struct arena *a, struct object_lives **lives,
		       struct error *err);

#endif
