/* Which of the types that lines show are one kind. */
#include "unit.h"

#include "mentions.h"

enum { ROUNDS = 40, PARTITIONS = 3 };

static const struct object_type *type_of(const struct object_graph *g, const char *name)
{
	for (size_t i = 0; i < g->nr_types; i++)
		if (str_eq(g->types[i].name, str_of(name)))
			return &g->types[i];
	return NULL;
}

/* What each of the words names is loaded and flushed, over and over. */
static void tell_parts(struct told_graph *t, const char *const *words, size_t nr)
{
	for (int i = 0; i < ROUNDS; i++)
		for (size_t k = 0; k < nr; k++)
			for (int p = 0; p < PARTITIONS; p++) {
				const char *w = words[k];

				tellf(t, "||Loaded <*>|%s-#=%s-%d", w, w, p);
				tellf(t, "||Flushed <*>|%s-#=%s-%d", w, w, p);
			}
}

static void names_of_their_own_in_front_are_one_kind(void **state)
{
	static const char *const words[] = { "orders", "clicks", "mails", "stock" };
	const struct object_type *type;
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_parts(&t, words, 4);
	settle(&t);
	type = type_of(&t.g, "*-#");
	assert_non_null(type);
	assert_int_equal(type->nr_objects, 4 * PARTITIONS);
	assert_null(type_of(&t.g, "orders"));
	told_graph_done(&t);
}

static void two_schemas_at_one_place_are_two_kinds(void **state)
{
	static const char *const words[] = { "task", "job" };
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	for (int i = 0; i < 3; i++)
		tell_parts(&t, words, 2);
	settle(&t);
	assert_non_null(type_of(&t.g, "task"));
	assert_non_null(type_of(&t.g, "job"));
	told_graph_done(&t);
}

static void constants_around_what_is_at_random_make_a_schema(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	for (int i = 0; i < ROUNDS; i++)
		for (int k = 0; k < 9; k++)
			tellf(&t, "||Step <*> of <*>|req-*=req-1a2b3c%02d", i);
	settle(&t);
	assert_non_null(type_of(&t.g, "req-*"));
	told_graph_done(&t);
}

/* Numbers in no order, each named in a few lines. */
static bool are_objects(const char *type)
{
	struct told_graph t;
	bool are;

	told_graph_init(&t, 0);
	for (int i = 0; i < 100; i++) {
		int number = i * 7919 % 1000 + 1000;

		tellf(&t, "||Packed <*>|%s=%d", type, number);
		tellf(&t, "||Shipped <*>|%s=%d", type, number);
		tellf(&t, "||Paid <*>|%s=%d", type, number);
	}
	settle(&t);
	are = type_of(&t.g, "order");
	told_graph_done(&t);
	return are;
}

static void ids_need_no_order(void **state)
{
	(void)state;
	assert_true(are_objects("order!"));
	assert_false(are_objects("order"));
}

/* What four users ask of orders, each of them for its own. */
static void tell_orders(struct told_graph *t, const char *path, const char *type, const char *form)
{
	for (int i = 0; i < 200; i++) {
		char number[16];

		snprintf(number, sizeof(number), form, i * 7919 % 1000 + 1);
		for (int k = 0; k < 2; k++)
			tellf(t, "||%s <*> by <*>|path/%s=/%s/orders/%s %s=%s ip=10.0.0.%d",
			      k ? "Paid" : "Got", path, path, number, type, number, i % 4);
	}
}

static void numbers_of_what_a_path_lists_are_objects(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_orders(&t, "api", "order!<", "%d");
	settle(&t);
	assert_non_null(type_of(&t.g, "order"));
	assert_int_equal(type_of(&t.g, "order")->nr_objects, 200);
	/* the path is but how it was asked for, and an address without a port is a host */
	assert_null(type_of(&t.g, "path/api"));
	assert_int_equal(type_of(&t.g, "ip")->nr_objects, 4);
	told_graph_done(&t);
}

static void padded_numbers_of_files_are_parts_of_their_path(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_orders(&t, "lake", "order!<", "0%05d");
	settle(&t);
	assert_null(type_of(&t.g, "order"));
	assert_non_null(type_of(&t.g, "path/lake"));
	told_graph_done(&t);
}

/* Each session is one process, which comes from a port of a host and has one user. */
static void tell_sessions(struct told_graph *t)
{
	static const char *const steps[] = { "Opened", "Asked", "Checked", "Closed" };

	for (int i = 0; i < 100; i++)
		for (int k = 0; k < 4; k++)
			tellf(t,
			      "||%s <*>|session=6afab4%02d pid!=%d ip:port=10.0.0.%d:%d "
			      "ip=10.0.0.%d ip=10.0.1.1 user=%s",
			      steps[k], i, 20000 + i * 3, i % 5, 40000 + i, i % 5,
			      i % 3 ? "ann" : "bob");
}

static void processes_and_sessions_are_one(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_sessions(&t);
	settle(&t);
	assert_non_null(type_of(&t.g, "session"));
	assert_null(type_of(&t.g, "pid"));
	told_graph_done(&t);
}

/* The address of the server stands in each line as well. */
static void connections_belong_to_their_hosts_and_users(void **state)
{
	struct told_graph t;
	char *text;

	(void)state;
	told_graph_init(&t, 0);
	for (int i = 0; i < 400; i++)
		tellf(&t,
		      "||Step %d <*> of <*>|ip:port=10.0.0.%d:%d ip=10.0.0.%d ip=10.0.1.1 user=%s",
		      i % 4, i / 4 % 5, 40000 + i / 4, i / 4 % 5, i / 4 % 3 ? "ann" : "bob");
	settle(&t);
	text = stack_text(&t.g);
	assert_non_null(strstr(text, "ip -> ip:port (brief)\n"));
	assert_non_null(strstr(text, "user\n"));
	free(text);
	told_graph_done(&t);
}

/* Transactions have a number once they write; until then it is 0. */
static void zero_of_most_lines_is_nobodys_number(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	for (int i = 0; i < 100; i++)
		for (int k = 0; k < 4; k++)
			tellf(&t, "||Step %d <*>|session=6afab4%02d xid!=%d", k, i,
			      k < 2 ? 0 : 700 + i);
	settle(&t);
	assert_non_null(type_of(&t.g, "xid"));
	assert_int_equal(type_of(&t.g, "xid")->nr_objects, 100);
	told_graph_done(&t);
}

static bool is_drawn(const struct object_graph *g, const char *name)
{
	const struct object_type *type = type_of(g, name);

	return type && type->is_in_graph;
}

/* Each transaction is told of once, by one of five clients. */
static void what_comes_once_beside_what_comes_again_is_kept(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	for (int i = 0; i < 300; i++)
		tellf(&t, "||client <*> begins <*>|cl_#_#=cl_1_%d tx-*=tx-%08xa", 5000 + i % 5,
		      (unsigned)i * 7919 + 1234567);
	settle(&t);
	assert_true(is_drawn(&t.g, "tx-*"));
	assert_int_equal(type_of(&t.g, "tx-*")->nr_objects, 300);
	assert_int_equal(t.losses.count[LOSS_NAMES_ONCE], 0);
	told_graph_done(&t);
}

static void codes_of_messages_are_no_objects(void **state)
{
	static const char *const codes[] = { "E0102", "E0103", "E0207", "E0311" };
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	for (int i = 0; i < 400; i++)
		tellf(&t, "||<*> %c happens to <*>|E#=%s job_#_#=job_1_%d", 'a' + i % 4,
		      codes[i % 4], 5000 + i / 16);
	settle(&t);
	assert_null(type_of(&t.g, "E#"));
	assert_null(type_of(&t.g, "E"));
	told_graph_done(&t);
}

/* Two programs log what is asked of /accounts/1234. */
static void what_a_path_numbers_is_the_same_in_all_logs(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	for (int i = 0; i < 400; i++)
		tellf(&t, "%c.log||%s <*>|path/accounts=/accounts/%d account!<=%d", 'a' + i % 2,
		      i % 2 ? "asked for" : "gave", 1000 + i / 2 % 9, 1000 + i / 2 % 9);
	settle(&t);
	assert_non_null(type_of(&t.g, "account"));
	assert_null(type_of(&t.g, "log+account"));
	told_graph_done(&t);
}

static void mail_is_known_by_its_look(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	for (int i = 0; i < 300; i++) {
		tellf(&t, "||%s to <*>|mail/to=u%d@x.test", i % 3 ? "sent" : "queued", i % 20);
		tellf(&t, "||bounced to <*>|mail/to=u%d@x.test", i % 20);
	}
	settle(&t);
	assert_true(is_drawn(&t.g, "mail/to"));
	told_graph_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_their_own_in_front_are_one_kind),
		cmocka_unit_test(two_schemas_at_one_place_are_two_kinds),
		cmocka_unit_test(constants_around_what_is_at_random_make_a_schema),
		cmocka_unit_test(ids_need_no_order),
		cmocka_unit_test(numbers_of_what_a_path_lists_are_objects),
		cmocka_unit_test(padded_numbers_of_files_are_parts_of_their_path),
		cmocka_unit_test(processes_and_sessions_are_one),
		cmocka_unit_test(connections_belong_to_their_hosts_and_users),
		cmocka_unit_test(zero_of_most_lines_is_nobodys_number),
		cmocka_unit_test(what_comes_once_beside_what_comes_again_is_kept),
		cmocka_unit_test(codes_of_messages_are_no_objects),
		cmocka_unit_test(what_a_path_numbers_is_the_same_in_all_logs),
		cmocka_unit_test(mail_is_known_by_its_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
