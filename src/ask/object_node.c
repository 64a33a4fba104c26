#include "ask/object_node.h"

#include "base/arena.h"
#include "base/names.h"

/*
 * Where each container has a directory, each would be a node of its own, and nothing could be
 * compared. So a path ends in front of the first directory that is the name of an object which
 * belongs to another: "containers/nm1/application_7/container_7_2/syslog" is "containers/nm1".
 */

struct object_nodes {
	const struct object_graph *g;
	struct str *of; /* by log */
};

/* The next directory of a path, without the file at its end. */
static bool take_directory(struct str *rest, struct str *directory)
{
	return str_take_until(rest, '/', directory);
}

static void gather_directories(const struct object_graph *g, struct names *directories)
{
	for (size_t i = 0; i < g->nr_logs; i++) {
		struct str rest = g->logs[i], one;

		while (take_directory(&rest, &one))
			names_add(directories, one);
	}
}

/* Which of them are names of objects below others: by the number of the name. */
static bool *find_private(const struct object_graph *g, const struct names *directories,
			  struct arena *a)
{
	bool *is_private = arena_array(a, bool, directories->nr + 1);

	for (size_t i = 0; i < g->nr_objects && directories->nr; i++) {
		const struct object *o = &g->objects[i];

		for (size_t j = 0; o->nr_parents && j < g->types[o->type].nr_signature; j++)
			is_private[names_find(directories, o->ids[j])] = true;
	}
	is_private[0] = false; /* what was not found */
	return is_private;
}

struct object_nodes *object_nodes_new(const struct object_graph *g, struct arena *a)
{
	struct object_nodes *n = arena_new(a, struct object_nodes);
	struct names directories = { 0 };
	bool *is_private;

	n->g = g;
	n->of = arena_array(a, struct str, g->nr_logs + 1);
	gather_directories(g, &directories);
	is_private = find_private(g, &directories, a);
	for (size_t i = 0; i < g->nr_logs; i++) {
		struct str rest = g->logs[i], one;

		n->of[i] = g->logs[i];
		while (take_directory(&rest, &one))
			if (is_private[names_find(&directories, one)] && one.p > g->logs[i].p) {
				n->of[i].n = (size_t)(one.p - g->logs[i].p) - 1;
				break;
			}
	}
	names_done(&directories);
	return n;
}

/* The log that most of its lines stand in. */
struct str object_node(const struct object_nodes *n, uint32_t object)
{
	const struct object *o = &n->g->objects[object];
	struct str best = { "", 0 };
	uint64_t most = 0;

	for (size_t i = 0; i < o->nr_parts; i++)
		if (o->events[i].count > most) {
			most = o->events[i].count;
			best = n->of[o->events[i].log];
		}
	return best;
}
