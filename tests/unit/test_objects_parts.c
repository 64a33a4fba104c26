/* What several writers have a part of each, and what merely comes by at several. */
#include "unit.h"

#include "mentions.h"

enum { NR = 40 };

/* Three nodes, each of which names itself in its log now and then. */
static void tell_nodes(struct told_graph *t)
{
	for (int i = 0; i < 300; i++)
		tellf(t, "%d.log||node <*> is alive|node-#-#=node-7-%d", 1 + i % 3, 9001 + i % 3);
}

static bool is_drawn(const struct object_graph *g, const char *name)
{
	for (size_t i = 0; i < g->nr_types; i++)
		if (str_eq(g->types[i].name, str_of(name)))
			return g->types[i].is_in_graph;
	return false;
}

static bool is_edge(const struct object_graph *g, const char *from, const char *to)
{
	for (size_t i = 0; i < g->nr_relations; i++) {
		const struct object_relation *r = &g->relations[i];

		if (str_eq(g->types[r->from].name, str_of(from)) &&
		    str_eq(g->types[r->to].name, str_of(to)))
			return r->is_in_graph;
	}
	return false;
}

/* At two of the three nodes each: first everywhere, then the end everywhere. */
static void tell_everywhere(struct told_graph *t, const char *begin, const char *end)
{
	for (int i = 0; i < NR; i++) {
		for (int k = 0; k < 2; k++)
			tellf(t, "%d.log||%s <*>|chunk_#_#=chunk_5_%d", 1 + (i + k) % 3, begin,
			      4000 + i);
		for (int k = 0; k < 2; k++)
			tellf(t, "%d.log||%s <*>|chunk_#_#=chunk_5_%d", 1 + (i + k) % 3, end,
			      4000 + i);
	}
}

static void what_ends_at_several_writers_is_a_part_of_each(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_nodes(&t);
	tell_everywhere(&t, "storing", "deleted");
	settle(&t);
	assert_true(is_edge(&t.g, "node", "node+chunk"));
	assert_true(is_edge(&t.g, "chunk", "node+chunk"));
	for (size_t i = 0; i < t.g.nr_types; i++)
		if (str_eq(t.g.types[i].name, STR("node+chunk")))
			assert_int_equal(t.g.types[i].nr_objects, 2 * NR);
	told_graph_done(&t);
}

static void what_several_writers_merely_meet_has_no_parts(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_nodes(&t);
	tell_everywhere(&t, "asked by", "answers to");
	settle(&t);
	assert_false(is_drawn(&t.g, "node+chunk"));
	told_graph_done(&t);
}

static void what_fails_at_several_writers_has_no_parts(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_nodes(&t);
	tell_everywhere(&t, "trying", "failed");
	settle(&t);
	assert_false(is_drawn(&t.g, "node+chunk"));
	told_graph_done(&t);
}

static void what_moves_from_writer_to_writer_has_no_parts(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_nodes(&t);
	for (int i = 0; i < NR; i++) {
		for (int k = 0; k < 2; k++) {
			tellf(&t, "%d.log||opening <*>|chunk_#_#=chunk_5_%d", 1 + (i + k) % 3,
			      4000 + i);
			tellf(&t, "%d.log||closed <*>|chunk_#_#=chunk_5_%d", 1 + (i + k) % 3,
			      4000 + i);
		}
	}
	settle(&t);
	assert_false(is_drawn(&t.g, "node+chunk"));
	told_graph_done(&t);
}

static void what_has_things_of_its_own_at_each_writer_needs_no_parts(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_nodes(&t);
	for (int i = 0; i < NR; i++) {
		for (int k = 0; k < 2; k++)
			tellf(&t,
			      "%d.log||starting <*> of <*>|slice_#_#=slice_6_%d "
			      "chunk_#_#=chunk_5_%d",
			      1 + (i + k) % 3, 7000 + 2 * i + k, 4000 + i);
		for (int k = 0; k < 2; k++)
			tellf(&t,
			      "%d.log||deleted <*> of <*>|slice_#_#=slice_6_%d "
			      "chunk_#_#=chunk_5_%d",
			      1 + (i + k) % 3, 7000 + 2 * i + k, 4000 + i);
	}
	settle(&t);
	assert_true(is_edge(&t.g, "chunk", "slice"));
	assert_false(is_drawn(&t.g, "node+chunk"));
	told_graph_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ends_at_several_writers_is_a_part_of_each),
		cmocka_unit_test(what_several_writers_merely_meet_has_no_parts),
		cmocka_unit_test(what_fails_at_several_writers_has_no_parts),
		cmocka_unit_test(what_moves_from_writer_to_writer_has_no_parts),
		cmocka_unit_test(what_has_things_of_its_own_at_each_writer_needs_no_parts),
	};

	return RUN(tests);
}
