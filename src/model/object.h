/* The objects that logs name (a block, a container, a query): their types, how types relate, and
 * each one with its lifetime, its parents and what happened to it. */
#ifndef CULPRIT_MODEL_OBJECT_H
#define CULPRIT_MODEL_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "model/level.h"

/* A type of identifiers, or a combination of several that only together tell objects apart. */
struct object_type {
	struct str name;       /* "app", "container+fetcher" */
	struct str *signature; /* types of identifiers, in order */
	size_t nr_signature;
	struct str *aliases; /* types that can be used in its place (1:1), itself left out */
	size_t nr_aliases;
	uint64_t nr_objects;
	bool is_in_graph; /* of the S3 graph; others are in the type relation graph only */
};

enum relation { RELATION_EMPTY, RELATION_ONE, RELATION_MANY, RELATION_CROSS }; /* 1:1 1:n m:n */

/* What the parent does with the child, as the wording or the program tells. */
enum relation_deed { DEED_UNKNOWN, DEED_CREATED, DEED_USED, DEED_FINISHED };

struct object_relation {
	uint32_t from, to; /* types, by number; RELATION_MANY: one from has many to */
	enum relation relation;
	enum relation_deed deed;
	uint64_t support;    /* lines that show it */
	uint64_t exceptions; /* lines that speak against it and were taken as noise */
	bool is_in_graph;    /* an edge of the S3 graph (transitive ones too) */
	bool is_reduced;     /* implied by others: not to be drawn */
	bool is_inferred;    /* from lines next to each other, not from one line */
	float confidence;
};

/* What happened to an object: lines of one template. */
struct object_event {
	int64_t first_ns, last_ns;
	uint64_t count;
	uint32_t template, log; /* by number, from 0 */
	enum level level;
};

struct object {
	uint32_t type;
	struct str *ids;     /* as many as the type's signature has */
	struct str *aliases; /* other names of it: values of the type's aliases, as far as seen */
	size_t nr_aliases;
	uint32_t *parents; /* objects, by number */
	size_t nr_parents;
	int64_t first_ns, last_ns;
	uint64_t nr_events;          /* lines */
	uint64_t nr_errors;          /* of them, with level error or worse */
	struct object_event *events; /* in the order of first_ns */
	size_t nr_parts;             /* of events[] */
};

/* Two objects on different paths that lines name together. */
struct object_link {
	uint32_t a, b; /* objects */
	int64_t first_ns, last_ns;
	uint64_t count;
};

/* All of a run; objects sorted by type, then first_ns, then ids. Strings and arrays are borrowed
 * from whoever made it. */
struct object_graph {
	struct object_type *types;
	size_t nr_types;
	struct object_relation *relations;
	size_t nr_relations;
	struct object *objects;
	size_t nr_objects;
	struct object_link *links;
	size_t nr_links;
	struct str *templates; /* texts, <*> in place of what varies */
	size_t nr_templates;
	struct str *logs; /* files */
	size_t nr_logs;
};

struct error;

/* Takes a graph part by part, so that nobody has all of it at once. What is handed over is borrowed
 * for the call. Each gives 0, or negative with *err: then nothing follows. */
struct object_sink {
	void *to;
	/* Types, relations and texts, and how many objects and links follow; objects and links are
	 * not looked at. It is borrowed until the end. */
	int (*begin)(void *to, const struct object_graph *head, struct error *err);
	/* The next ones, in the order of their numbers; links after all objects. */
	int (*objects)(void *to, const struct object *v, size_t nr, struct error *err);
	int (*links)(void *to, const struct object_link *v, size_t nr, struct error *err);
	int (*end)(void *to, struct error *err);
};

#endif
