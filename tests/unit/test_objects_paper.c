/* The example of the paper: Figure 3 (its legible lines, completed by its description) gives
 * Figures 4 (how types relate), 5 (the graph of types) and 6 (the objects after five lines). */
#include "unit.h"

#include "mentions.h"

static const char *const figure_3[] = {
	"||<*> login successfully|user#=user1",
	"||<*> submits <*> : app=<*>|user#=user1 query_#=query_14 app_#=app_14",
	"||Application <*> is submitted|app_#=app_14",
	"||<*> created task <*>|app_#=app_14 attempt#_m_#=attempt14_m_0",
	"||<*> created task <*>|app_#=app_14 attempt#_m_#=attempt14_m_5",
	"||<*> created task <*>|app_#=app_14 attempt#_r_#=attempt14_r_0",
	"||<*> created task <*>|app_#=app_14 attempt#_r_#=attempt14_r_1",
	"||<*> allocated <*>|app_#=app_14 container#_#=container14_2",
	"||<*> allocated <*>|app_#=app_14 container#_#=container14_3",
	"||<*> allocated <*>|app_#=app_14 container#_#=container14_8",
	"||<*> allocated <*>|app_#=app_14 container#_#=container14_9",
	"||Dispatch <*> on <*>|attempt#_m_#=attempt14_m_0 container#_#=container14_2",
	"||Dispatch <*> on <*>|attempt#_m_#=attempt14_m_5 container#_#=container14_3",
	"||Dispatch <*> on <*>|attempt#_r_#=attempt14_r_0 container#_#=container14_8",
	"||Dispatch <*> on <*>|attempt#_r_#=attempt14_r_1 container#_#=container14_9",
	"||<*> starts fetcher <*>|container#_#=container14_8 fetcher=1",
	"||<*> starts fetcher <*>|container#_#=container14_8 fetcher=2",
	"||<*> starts fetcher <*>|container#_#=container14_9 fetcher=1",
	"||<*> starts fetcher <*>|container#_#=container14_9 fetcher=2",
	"||<*> fetcher <*> shuffles output of <*>|container#_#=container14_8 fetcher=1 "
	"attempt#_m_#=attempt14_m_0",
	"||<*> fetcher <*> shuffles output of <*>|container#_#=container14_8 fetcher=2 "
	"attempt#_m_#=attempt14_m_5",
	"||<*> fetcher <*> shuffles output of <*>|container#_#=container14_9 fetcher=1 "
	"attempt#_m_#=attempt14_m_5",
	"||<*> fetcher <*> shuffles output of <*>|container#_#=container14_9 fetcher=2 "
	"attempt#_m_#=attempt14_m_0",
	"||<*> fetcher <*> shuffles output of <*>|container#_#=container14_8 fetcher=1 "
	"attempt#_m_#=attempt14_m_5",
	"||<*> fetcher <*> shuffles output of <*>|container#_#=container14_9 fetcher=2 "
	"attempt#_m_#=attempt14_m_5",
	"||<*> submits <*> : app=<*>|user#=user1 query_#=query_15 app_#=app_15",
	"||<*> submits <*> : app=<*>|user#=user1 query_#=query_15 app_#=app_16",
	"||Dispatch <*> on <*>|attempt#_m_#=attempt15_m_0 container#_#=container15_2",
	"||<*> failed, reassigned to <*>|attempt#_m_#=attempt15_m_0 container#_#=container15_3",
	"||Dispatch <*> on <*>|attempt#_m_#=attempt15_m_1 container#_#=container15_3",
	"||Dispatch <*> on <*>|attempt#_r_#=attempt15_r_0 container#_#=container15_2",
	"||<*> failed, reassigned to <*>|attempt#_r_#=attempt15_r_0 container#_#=container15_3",
	"||Dispatch <*> on <*>|attempt#_r_#=attempt15_r_1 container#_#=container15_3",
};

static void tell_lines(struct told_graph *t, size_t nr)
{
	told_graph_init(t, 0);
	for (size_t i = 0; i < nr; i++)
		tell(t, figure_3[i]);
	settle(t);
}

/* Events that are each of one line: those of the first five lines, by number. */
static char *first_five(const struct object_graph *g)
{
	struct told_lines l = { 0 };
	int64_t fifth = MENTIONS_START + 4 * NS_MS;

	for (uint32_t i = 0; i < g->nr_objects; i++) {
		const struct object *o = &g->objects[i];
		struct buf b = { 0 };
		char nr[32];

		if (o->first_ns > fifth)
			continue;
		ids_text(g, i, &b);
		for (size_t j = 0; j < o->nr_parts && o->events[j].first_ns <= fifth; j++) {
			snprintf(nr, sizeof(nr), " %d",
				 1 + (int)((o->events[j].first_ns - MENTIONS_START) / NS_MS));
			buf_add(&b, str_of(nr));
		}
		for (size_t j = 0; j < o->nr_parents; j++) {
			buf_add(&b, j ? STR(" ") : STR(" < "));
			ids_text(g, o->parents[j], &b);
		}
		buf_add(&b, (struct str){ "", 1 });
		told_line(&l, b.p);
		buf_done(&b);
	}
	return told_text(&l);
}

static void objects_of_five_lines_are_figure_6(void **state)
{
	struct told_graph t;
	char *text;

	(void)state;
	told_graph_init(&t, 0);
	for (size_t i = 0; i < sizeof(figure_3) / sizeof(*figure_3); i++)
		tellf(&t, "||line %zu: %s", i + 1, figure_3[i] + 2);
	settle(&t);
	text = first_five(&t.g);
	assert_string_equal(text, "app_14 2 3 4 5 < query_14\n"
				  "attempt14_m_0 4 < app_14\n"
				  "attempt14_m_5 5 < app_14\n"
				  "query_14 2 < user1\n"
				  "user1 1 2\n");
	free(text);
	told_graph_done(&t);
}

static void types_relate_as_in_figure_4(void **state)
{
	struct told_graph t;
	char *text;

	(void)state;
	tell_lines(&t, sizeof(figure_3) / sizeof(*figure_3));
	text = relations_text(&t.g);
	assert_string_equal(text, "app -> attempt_m\n"
				  "app -> attempt_r\n"
				  "app -> container\n"
				  "attempt_m >< container\n"
				  "attempt_m >< fetcher\n"
				  "attempt_r >< container\n"
				  "container >< fetcher\n"
				  "query -> app\n"
				  "user -> app\n"
				  "user -> query\n");
	free(text);
	told_graph_done(&t);
}

static void the_graph_is_figure_5(void **state)
{
	struct told_graph t;
	char *text;

	(void)state;
	tell_lines(&t, sizeof(figure_3) / sizeof(*figure_3));
	text = stack_text(&t.g);
	assert_string_equal(text, "app\n"
				  "app -> attempt_m\n"
				  "app -> attempt_r\n"
				  "app -> container\n"
				  "attempt_m\n"
				  "attempt_r\n"
				  "container\n"
				  "container -> container+fetcher\n"
				  "container+fetcher\n"
				  "query\n"
				  "query -> app\n"
				  "user\n"
				  "user -> query\n");
	free(text);
	told_graph_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_relate_as_in_figure_4),
		cmocka_unit_test(the_graph_is_figure_5),
		cmocka_unit_test(objects_of_five_lines_are_figure_6),
	};

	return RUN(tests);
}
