#include "unit.h"

#include "base/buf.h"
#include "ident/line.h"

static struct line l;
static struct line_aids aids;
static struct buf shown;

/* "type=value …", with a sign behind the value for where it stands: ~ word, # number, < within,
 * * of a list. */
static const char *named(const char *text)
{
	line_read(&l, str_of(text), &aids);
	buf_clear(&shown);
	for (size_t i = 0; i < l.nr; i++) {
		const struct named *v = &l.v[i];

		buf_fmt(&shown, "%s" STR_FMT "=" STR_FMT, i ? " " : "", STR_ARG(v->type),
			STR_ARG(v->value));
		buf_fmt(&shown, "%s%s%s%s", v->place & NAMED_WORD ? "~" : "",
			v->place & NAMED_NUMBER ? "#" : "", v->place & NAMED_WITHIN ? "<" : "",
			v->place & NAMED_IN_LIST ? "*" : "");
	}
	buf_char(&shown, 0);
	return shown.p;
}

static struct str title(const char *text)
{
	line_read(&l, str_of(text), &aids);
	return l.title;
}

static void schemas_are_types(void **state)
{
	(void)state;
	assert_string_equal(named("app_14 created task attempt14_m_0 in container14_2"),
			    "app_#=app_14 attempt#_m_#=attempt14_m_0 container#_#=container14_2");
	assert_string_equal(named("Receiving BP-1-127.0.0.1-17:blk_-107_10 now"),
			    "BP-#-#.#.#.#-#=BP-1-127.0.0.1-17 blk_#_#=blk_-107_10");
	assert_string_equal(named("job_17_2Job Transitioned"), "job_#_#=job_17_2");
}

static void numbers_go_by_the_word_in_front(void **state)
{
	(void)state;
	assert_string_equal(named("Running task 1.0 in stage 2.0 (TID 3)"),
			    "task=1# stage=2# tid=3#");
	assert_string_equal(named("ResultStage 4 done"), "stage=4#");
	assert_string_equal(named("lost executor with ID 1 on pid=12"), "executor=1# pid=12#");
	assert_string_equal(named("sessionid: 17, containerId=5"), "session=17# container=5#");
	assert_string_equal(named("fetcher#3 about to shuffle"), "fetcher=3#");
	assert_string_equal(named("sending to 36@/10.0.0.1:70"), "ip:port=10.0.0.1:70");
}

static void amounts_are_none(void **state)
{
	(void)state;
	assert_string_equal(named("took 20ms for 30 seconds at 50% of 1.5gb, 3/5, size 7"), "");
	assert_string_equal(named("resolving 2 responses, 7 rows, retry 3 of 4"), "");
	assert_string_equal(named("at 2026-11-15 09:29:05,366 and 09:29:05, 15/Nov/2026"), "");
	assert_string_equal(named("version 2.5.11 v3 Foo@1a2b3c main.c:12 -Xmx200m"), "");
	assert_string_equal(named("allocated 5 dropped 6 running 7"), "");
	assert_string_equal(named("maps:1 reduces:2 sheep:3 cow:4 goat:5"), "");
	assert_string_equal(named("sheep:1 cow:2 goat:3 pig:4 pid:5"), "pid=5#");
}

static void addresses_have_one_spelling(void **state)
{
	(void)state;
	assert_string_equal(named("from /127.0.0.1:80 to localhost/127.0.0.1:81"),
			    "ip:port=127.0.0.1:80* ip:port=127.0.0.1:81*");
	assert_string_equal(
		named("query by 10.0.0.1/51234 or 10.0.0.2#5353"),
		"ip:port=10.0.0.1:51234* ip=10.0.0.1* ip:port=10.0.0.2:5353* ip=10.0.0.2*");
	assert_string_equal(named("in 10.0.0.0/16"), "ip=10.0.0.0");
	assert_string_equal(named("on localhost:80"), "ip:port=127.0.0.1:80");
	assert_string_equal(named("Connection from 10.0.0.1 port 51234 accepted"),
			    "ip:port=10.0.0.1:51234 ip=10.0.0.1");
	assert_string_equal(named("left by 10.0.0.1 port 51234:11: gone"),
			    "ip:port=10.0.0.1:51234 ip=10.0.0.1 #:#=51234:11");
	assert_string_equal(named("client root//10.0.0.1"), "client=root~ ip=10.0.0.1");
	assert_string_equal(named("from fe80:0:0:0:1:2:3:4"), "ip=fe80:0:0:0:1:2:3:4");
	assert_string_equal(named("session 0xFFA1DE and 0xffa1de"),
			    "hex/session=0xffa1de hex=0xffa1de");
	assert_string_equal(named("region [C2BAF6CD47f6]"), "hex/region=c2baf6cd47f6");
}

static void mail_addresses_go_by_their_role(void **state)
{
	(void)state;
	assert_string_equal(named("from=<ann@shop.test>, to=<d7@mail.test>"),
			    "mail/from=ann@shop.test mail/to=d7@mail.test");
	assert_string_equal(named("bounced bob@shop.test now"), "mail=bob@shop.test");
	assert_string_equal(named("Foo@1a2b3c and nn/host@7"), "");
}

static void a_number_in_place_of_a_thread_is_a_process(void **state)
{
	(void)state;
	line_read_thread(&l, STR("10037"), &aids);
	assert_int_equal(l.nr, 1);
	assert_str_equal(l.v[0].type, "pid");
	assert_str_equal(l.v[0].value, "10037");
	assert_true(l.v[0].place & NAMED_IN_THREAD);
	line_read_thread(&l, STR("main"), &aids);
	assert_int_equal(l.nr, 0);
}

static void parts_joined_by_commas_stay_together(void **state)
{
	(void)state;
	assert_string_equal(named("server=localhost,16020,1794735616441 up"),
			    "*,#,#=localhost,16020,1794735616441 ip:port=127.0.0.1:16020<");
	assert_string_equal(named("Open t9,row4,1794735671294.c2baf6cd47f6."),
			    "*,*,#=t9,row4,1794735671294.c2baf6cd47f6 *,=t9~< hex=c2baf6cd47f6<");
	assert_string_equal(named("/w/a%2C160%2C1794735616441.17"),
			    "path/w=/w/a%2C160%2C1794735616441.17 *,#,#=a,160,1794735616441< "
			    "ip:port=a:160<");
	assert_string_equal(named("OPEN_IT-localhost,16020,1794735616441-0"),
			    "*,#,#=localhost,16020,1794735616441 ip:port=127.0.0.1:16020<");
}

static void a_name_that_looks_like_a_verb_is_one_where_the_noun_is_done_something_to(void **state)
{
	(void)state;
	assert_string_equal(named("No request for group billing in state 5"), "group=billing~");
	assert_string_equal(named("Preparing to rebalance group billing in state X"),
			    "group=billing~");
	assert_string_equal(named("Stabilized group billing"), "group=billing~");
	assert_string_equal(named("region server starting in mode x"), "");
	assert_string_equal(named("lease of user expired"), "");
}

static void paths_name_what_they_are_made_of(void **state)
{
	(void)state;
	assert_string_equal(
		named("file hdfs://10.0.0.1:80/user/x/job_1_2/job.xml"),
		"ip:port=10.0.0.1:80< path/user=/user/x/job_1_2/job.xml job_#_#=job_1_2<");
	assert_string_equal(named("GET /sessions/6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
			    "path/sessions=/sessions/6ba7b810-9dad-11d1-80b4-00c04fd430c8 "
			    "uuid/session=6ba7b810-9dad-11d1-80b4-00c04fd430c8<");
	assert_string_equal(named("GET /api/users/17?session=ab12cd34"),
			    "path/api=/api/users/17 user=17#< hex/session=ab12cd34");
	assert_string_equal(named("Deleted /d/ka-12.txt."), "path/d=/d/ka-12.txt ka-#=ka-12<");
	assert_string_equal(named("/d/019e7042-f530-40cc-91e3-57f7da65ea93_del"),
			    "path/d=/d/019e7042-f530-40cc-91e3-57f7da65ea93_del "
			    "uuid=019e7042-f530-40cc-91e3-57f7da65ea93<");
	assert_string_equal(named("opener-440b986e756a57-1"),
			    "opener-*-#=opener-440b986e756a57-1 hex/opener=440b986e756a57<");
}

static void words_are_names_behind_a_key(void **state)
{
	(void)state;
	assert_string_equal(named("by user news"), "user=news~");
	assert_string_equal(named("user: games activated in queue: root.default"),
			    "user=games~ queue=root.default~");
	assert_string_equal(named("table=usersL802, state=OPEN, locked=true"), "table=usersL802~");
	assert_string_equal(named("joins group search in a new state"), "group=search~");
	assert_string_equal(named("type=Changed, op=write, the user is gone"), "");
}

static void values_without_letters_of_their_own_go_by_their_key(void **state)
{
	(void)state;
	assert_string_equal(named("session=6afab432.27f4,vxid=3/223,left=3/5"),
			    "session=6afab432.27f4 vxid=3/223");
	assert_string_equal(named("from 6afab432.2a"), "*.*=6afab432.2a hex=6afab432<");
}

static void letters_and_figures_at_random_make_no_schema(void **state)
{
	(void)state;
	assert_string_equal(named("partition mails-0 with topic id Ml1xnlSLQUGx2rksMQPouw."),
			    "mails-#=mails-0 topic=Ml1xnlSLQUGx2rksMQPouw");
	assert_string_equal(named("found 9TrC_ABeQdKF2RieafuENw"), "*=9TrC_ABeQdKF2RieafuENw");
	assert_string_equal(named("client DFSClient_NONMAPREDUCE_-17_2 left"),
			    "DFSClient_NONMAPREDUCE_#_#=DFSClient_NONMAPREDUCE_-17_2");
	assert_string_equal(named("BlockPlacementPolicyRackFaultTolerant2 loaded"),
			    "BlockPlacementPolicyRackFaultTolerant#="
			    "BlockPlacementPolicyRackFaultTolerant2");
	assert_string_equal(named("built on host cp-1.slow1.cloud-pg0."),
			    "host=cp-1.slow1.cloud-pg0~");
}

static void values_at_random_in_a_row_are_of_several_types(void **state)
{
	(void)state;
	assert_string_equal(
		named("[req-1a2b3c4d 2b3c4d5e6f 3c4d5e6f7a - -]"),
		"req-*=req-1a2b3c4d hex/req=1a2b3c4d< hex/2=2b3c4d5e6f hex/3=3c4d5e6f7a");
	assert_string_equal(named("2b3c4d5e6f, 3c4d5e6f7a"), "hex=2b3c4d5e6f* hex=3c4d5e6f7a*");
}

static void templates_leave_out_what_varies(void **state)
{
	uint64_t template;

	(void)state;
	assert_str_equal(title("Deleted blk_1_2, blk_3_4 in 5 ms of user=ann"),
			 "Deleted <*> in <*> of user=<*>");
	template = l.template;
	assert_str_equal(title("Deleted blk_7_2 in 12 s of user=bob"),
			 "Deleted <*> in <*> of user=<*>");
	assert_true(l.template == template);
	title("Dropped blk_7_2 in 12 s of user=bob");
	assert_false(l.template == template);
	line_read(&l, STR("took 1\n  two blk_2"), &aids);
	assert_int_equal(l.nr, 0);
}

static void other_languages_have_other_signs(void **state)
{
	(void)state;
	assert_string_equal(named("\u7528\u6237\uff1aroot_1\uff0c\u8ba2\u5355 blk_7\u5b8c\u6210"),
			    "root_#=root_1 blk_#=blk_7");
	assert_string_equal(named("Benutzer \u201eM\u00fcller7\u201c, Gerät=12"),
			    "M\u00fcller#=M\u00fcller7 gerät=12#");
	assert_str_equal(title("time\uff1a0 at Sat May 04 08:00:00 CST 2013, Nov 15 10:11:12"),
			 "time\uff1a<*> at <*>");
}

static void what_is_too_much_is_said(void **state)
{
	struct buf text = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		buf_fmt(&text, "blk_%d ", i);
	line_read(&l, buf_str(&text), &aids);
	assert_true(l.is_cut);
	assert_int_equal(l.nr, LINE_NAMES);
	line_read(&l, STR("blk_1"), &aids);
	assert_false(l.is_cut);
	buf_done(&text);
	buf_done(&shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(schemas_are_types),
		cmocka_unit_test(numbers_go_by_the_word_in_front),
		cmocka_unit_test(amounts_are_none),
		cmocka_unit_test(addresses_have_one_spelling),
		cmocka_unit_test(mail_addresses_go_by_their_role),
		cmocka_unit_test(a_number_in_place_of_a_thread_is_a_process),
		cmocka_unit_test(parts_joined_by_commas_stay_together),
		cmocka_unit_test(
			a_name_that_looks_like_a_verb_is_one_where_the_noun_is_done_something_to),
		cmocka_unit_test(paths_name_what_they_are_made_of),
		cmocka_unit_test(words_are_names_behind_a_key),
		cmocka_unit_test(values_without_letters_of_their_own_go_by_their_key),
		cmocka_unit_test(letters_and_figures_at_random_make_no_schema),
		cmocka_unit_test(values_at_random_in_a_row_are_of_several_types),
		cmocka_unit_test(templates_leave_out_what_varies),
		cmocka_unit_test(other_languages_have_other_signs),
		cmocka_unit_test(what_is_too_much_is_said),
	};

	return RUN(tests);
}
