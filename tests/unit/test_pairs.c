#include "java_truth.h"

#include "program/pairs.h"
#include "program/thread_names.h"

struct talk {
	struct java j;
	struct pairs pairs;
};

static int set_up(void **state)
{
	static struct talk t;

	t = (struct talk){ 0 };
	*state = NULL;
	if (!getenv("CULPRIT_JAVA"))
		return 0;
	java_open(&t.j, "rules", NULL, 1);
	pairs_find(&t.pairs, &t.j.graph, &t.j.ids, &t.j.losses);
	*state = &t;
	return 0;
}

static int tear_down(void **state)
{
	struct talk *t = *state;

	if (t) {
		pairs_done(&t->pairs);
		java_close(&t->j);
	}
	return 0;
}

static struct talk *talk_of(void **state)
{
	if (!*state) {
		print_message("skipped: javac is not installed\n");
		skip();
	}
	return *state;
}

static const struct pair *find(struct talk *t, const char *from, const char *to,
			       enum pair_kind kind)
{
	uint32_t a = java_method(&t->j, str_of(from)), b = java_method(&t->j, str_of(to));

	assert_int_not_equal(a, NO_METHOD);
	assert_int_not_equal(b, NO_METHOD);
	vec_each (&t->pairs.v, p)
		if (p->from == a && p->to == b && p->kind == kind)
			return p;
	return NULL;
}

static bool shares(const struct pair *p, const char *from, const char *to)
{
	for (uint32_t i = 0; p && i < p->nr_shared; i++) {
		const struct path *x = &p->shared[i].from, *y = &p->shared[i].to;
		struct str a = x->nr ? x->fields[x->nr - 1] : STR("");
		struct str b = y->nr ? y->fields[y->nr - 1] : STR("");

		if (str_eq(a, str_of(from)) && str_eq(b, str_of(to)))
			return true;
	}
	return false;
}

static void a_started_thread_knows_what_its_constructor_was_given(void **state)
{
	struct talk *t = talk_of(state);
	const struct pair *p = find(t, "Pairs$Starter.run", "Pairs$Started.run", PAIR_LOCAL);

	assert_non_null(p);
	assert_false(p->is_many);
	assert_true(shares(p, "Pairs$Job.id", "Pairs$Job.id"));
	assert_string_equal(pair_kind_name(p->kind).p, "local");
	p = find(t, "Pairs$Starter.run", "Pairs$Starter.lambda$run$0", PAIR_LOCAL);
	assert_non_null(p);
	assert_true(shares(p, "Pairs$Job.id", "Pairs$Job.id"));
}

static void a_task_is_what_its_class_fills_in(void **state)
{
	struct talk *t = talk_of(state);
	const struct pair *p = find(t, "Pairs$Starter.run", "Pairs$Filled.process", PAIR_LOCAL);

	assert_non_null(p);
	assert_true(shares(p, "Pairs$Job.id", "Pairs$Job.id"));
	assert_null(find(t, "Pairs$Starter.run", "Pairs$OtherwiseFilled.process", PAIR_LOCAL));
}

static void what_is_started_in_a_loop_is_many(void **state)
{
	const struct pair *p =
		find(talk_of(state), "Pairs$Starter.run", "Pairs$Each.run", PAIR_LOCAL);

	assert_non_null(p);
	assert_true(p->is_many);
}

static void a_thread_that_says_nothing_is_a_link(void **state)
{
	struct talk *t = talk_of(state);
	const struct pair *to = find(t, "Pairs$Starter.run", "Pairs$Silent.run", PAIR_LOCAL);
	const struct pair *from = find(t, "Pairs$Silent.run", "Pairs$Started.run", PAIR_LOCAL);

	assert_non_null(to);
	assert_non_null(from);
	assert_true(to->to_is_link && !to->from_is_link);
	assert_true(from->from_is_link && !from->to_is_link);
}

static void who_puts_into_a_queue_talks_to_who_takes(void **state)
{
	struct talk *t = talk_of(state);
	const struct pair *p = find(t, "Pairs$Producer.run", "Pairs$Consumer.run", PAIR_QUEUE);

	assert_non_null(p);
	assert_memory_equal(p->through.p, "Pairs$Producer.QUEUE", p->through.n);
	assert_null(find(t, "Pairs$Consumer.run", "Pairs$Producer.run", PAIR_QUEUE));
	/* a map that both know, and no identifier: no word about any request */
	assert_null(find(t, "Pairs$Producer.run", "Pairs$Sweeper.run", PAIR_QUEUE));
}

static void who_writes_an_object_talks_to_who_reads_it(void **state)
{
	struct talk *t = talk_of(state);

	assert_non_null(find(t, "Pairs$Sender.run", "Pairs$Receiver.run", PAIR_SOCKET));
	assert_non_null(find(t, "Pairs$Sender.run", "Pairs$ObjectReceiver.run", PAIR_SOCKET));
	assert_null(find(t, "Pairs$Receiver.run", "Pairs$Sender.run", PAIR_SOCKET));
}

static void an_event_goes_to_the_handler_made_for_its_class(void **state)
{
	struct talk *t = talk_of(state);

	assert_non_null(find(t, "Pairs$Dispatching.run", "Pairs$AppHandler.handle", PAIR_QUEUE));
	assert_null(find(t, "Pairs$Dispatching.run", "Pairs$NodeHandler.handle", PAIR_QUEUE));
}

static void a_constant_goes_to_the_handler_registered_with_it(void **state)
{
	struct talk *t = talk_of(state);

	assert_non_null(find(t, "Pairs$Reader.run", "Pairs$ReadHandler.doVerb", PAIR_QUEUE));
	assert_null(find(t, "Pairs$Reader.run", "Pairs$WriteHandler.doVerb", PAIR_QUEUE));
}

static void a_call_of_a_proxy_is_answered_elsewhere(void **state)
{
	struct talk *t = talk_of(state);
	const struct pair *p = find(t, "Pairs$Client.run", "Pairs$Service.complete", PAIR_RPC);

	assert_non_null(p);
	assert_true(shares(p, "Pairs$Client.path", ""));
	assert_int_equal(t->j.ids.top[java_method(&t->j, STR("Pairs$Service.complete"))],
			 TOP_REMOTE);
}

static bool calls(struct talk *t, const char *from, const char *to)
{
	uint32_t a = java_method(&t->j, str_of(from)), b = java_method(&t->j, str_of(to));

	callgraph_each(&t->j.graph, a, e)
	{
		if (e->to == b && e->kind == EDGE_CALL)
			return true;
	}
	return false;
}

static void a_service_is_asked_through_translators(void **state)
{
	struct talk *t = talk_of(state);
	const struct pair *p = find(t, "Rpc$Asking.run", "Rpc$Server.add", PAIR_RPC);

	assert_non_null(p);
	assert_true(shares(p, "Rpc$Asking.path", ""));
	assert_true(calls(t, "Rpc$Asking.run", "Rpc$ClientTranslator.add"));
	assert_false(calls(t, "Rpc$Asking.run", "Rpc$Server.add"));
	assert_true(calls(t, "Rpc$ServerTranslator.add", "Rpc$Server.add"));
	assert_false(calls(t, "Rpc$ServerTranslator.add", "Rpc$ClientTranslator.add"));
	assert_int_equal(t->j.ids.top[java_method(&t->j, STR("Rpc$Server.add"))], TOP_REMOTE);
	assert_int_equal(t->j.ids.top[java_method(&t->j, STR("Rpc$ServerTranslator.add"))],
			 TOP_NOT);
}

static void a_message_goes_to_where_the_work_on_it_begins(void **state)
{
	struct talk *t = talk_of(state);
	const struct pair *p = find(t, "Rpc$Writing.run", "Rpc$Reading.work", PAIR_SOCKET);

	assert_non_null(p);
	assert_memory_equal(p->through.p, "RpcProtos$Op", p->through.n);
	assert_null(find(t, "Rpc$Writing.run", "Rpc$Reading.run", PAIR_SOCKET));
}

static void who_makes_a_callback_talks_to_it(void **state)
{
	const struct pair *p =
		find(talk_of(state), "Rpc$Submitting.run", "Rpc$Completion.completed", PAIR_QUEUE);

	assert_non_null(p);
	assert_true(shares(p, "Rpc$Submitting.path", "Rpc$Completion.path"));
}

static void threads_are_named_by_patterns(void **state)
{
	struct talk *t = talk_of(state);
	uint32_t run = java_method(&t->j, STR("Pairs$Started.run"));
	struct thread_names names;
	unsigned own = 0, given = 0;
	struct buf b = { 0 };

	thread_names_find(&names, t->j.program);
	vec_each (&names.v, n) {
		buf_clear(&b);
		version_write(&n->text.versions[0], &b);
		if (n->method == run && n->is_own)
			own += str_eq(buf_str(&b), STR("started for {}"));
		if (n->runs == run && !n->is_own)
			given += str_eq(buf_str(&b), STR("Starter of {}"));
	}
	assert_int_equal(own, 1);
	assert_int_equal(given, 1);
	buf_done(&b);
	thread_names_done(&names);
}

static void pairs_do_not_depend_on_the_number_of_threads(void **state)
{
	struct talk *t = talk_of(state);
	struct java other;
	struct pairs again;

	java_open(&other, "rules", NULL, 3);
	pairs_find(&again, &other.graph, &other.ids, &other.losses);
	assert_int_equal(again.v.nr, t->pairs.v.nr);
	for (size_t i = 0; i < again.v.nr; i++) {
		const struct pair *x = &again.v.v[i], *y = &t->pairs.v.v[i];

		assert_int_equal(x->from, y->from);
		assert_int_equal(x->to, y->to);
		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->nr_shared, y->nr_shared);
		assert_true(str_eq(x->through, y->through));
	}
	pairs_done(&again);
	java_close(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_started_thread_knows_what_its_constructor_was_given),
		cmocka_unit_test(a_task_is_what_its_class_fills_in),
		cmocka_unit_test(what_is_started_in_a_loop_is_many),
		cmocka_unit_test(a_thread_that_says_nothing_is_a_link),
		cmocka_unit_test(who_puts_into_a_queue_talks_to_who_takes),
		cmocka_unit_test(who_writes_an_object_talks_to_who_reads_it),
		cmocka_unit_test(an_event_goes_to_the_handler_made_for_its_class),
		cmocka_unit_test(a_constant_goes_to_the_handler_registered_with_it),
		cmocka_unit_test(a_call_of_a_proxy_is_answered_elsewhere),
		cmocka_unit_test(a_service_is_asked_through_translators),
		cmocka_unit_test(a_message_goes_to_where_the_work_on_it_begins),
		cmocka_unit_test(who_makes_a_callback_talks_to_it),
		cmocka_unit_test(threads_are_named_by_patterns),
		cmocka_unit_test(pairs_do_not_depend_on_the_number_of_threads),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
