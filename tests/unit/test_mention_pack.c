#include "unit.h"

#include <errno.h>
#include <string.h>

#include "base/time.h"
#include "model/mention_pack.h"
#include "model/mention_wire.h"

static const struct named two[] = {
	{ STR("app_#"), STR("app_14"), 0 },
	{ STR("path/user"), STR("/user/a b%20\n\r\x01\xff"), NAMED_WITHIN | NAMED_IN_LIST },
};

static struct mention odd(unsigned i)
{
	return (struct mention){ .first_ns = i % 5 ? (int64_t)(i * 1000003) - 4000000 : NS_NONE,
				 .last_ns = i % 5 ? (int64_t)(i * 1000003) + i - 4000000 : NS_NONE,
				 .count = 1 + i,
				 .node = STR("n1"),
				 .file = i % 2 ? STR("/var/log/a.log") : STR("b 100%.log"),
				 .thread = i % 3 ? STR("main") : STR(""),
				 .level = (enum level)(i % 7),
				 .template = 0x9e3779b97f4a7c15u * i,
				 .title = i % 4 ? STR("took <*> of <*>") : STR(""),
				 .v = two,
				 .nr = i % 3 };
}

static void assert_same(const struct mention *a, const struct mention *b)
{
	assert_int_equal(a->first_ns, b->first_ns);
	assert_int_equal(a->last_ns, b->last_ns);
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->level, b->level);
	assert_int_equal(a->template, b->template);
	assert_true(str_eq(a->node, b->node) && str_eq(a->file, b->file));
	assert_true(str_eq(a->thread, b->thread) && str_eq(a->title, b->title));
	assert_int_equal(a->nr, b->nr);
	for (size_t i = 0; i < a->nr; i++) {
		assert_true(str_eq(a->v[i].type, b->v[i].type));
		assert_true(str_eq(a->v[i].value, b->v[i].value));
		assert_int_equal(a->v[i].place, b->v[i].place);
	}
}

static void mentions_come_back_as_they_were(void **state)
{
	struct mention_packer p = { 0 };

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct mention_taker t;
		struct mention got;

		mention_packer_clear(&p);
		for (unsigned i = 0; i < 60; i++) {
			struct mention m = odd(i);

			mention_pack(&p, &m);
			if (i == 30)
				mention_pack_loss(&p, LOSS_LINES_CUT, 17);
			if (i == 31)
				mention_pack_note(&p, STR("a note, with % and\nmore"));
		}
		for (size_t i = 0; i < p.body.n; i++)
			assert_true((unsigned char)p.body.p[i] >= ' ');
		mention_taker_init(&t, buf_str(&p.body));
		for (unsigned i = 0; i < 60; i++) {
			struct mention m = odd(i);

			assert_int_equal(mention_take(&t, &got), 1);
			assert_same(&m, &got);
		}
		assert_int_equal(mention_take(&t, &got), 0);
		assert_int_equal(t.losses.count[LOSS_LINES_CUT], 17);
		mention_taker_done(&t);
	}
	mention_packer_done(&p);
}

static void strings_are_told_once(void **state)
{
	struct mention_packer p = { 0 };
	struct mention m = odd(5);
	size_t first, second;

	(void)state;
	mention_pack(&p, &m);
	first = p.body.n;
	mention_pack(&p, &m);
	second = p.body.n - first;
	assert_true(second < 60 && 2 * second < first);
	mention_packer_done(&p);
}

static void notes_are_found_among_the_rest(void **state)
{
	struct mention_packer p = { 0 };
	struct arena arena = { 0 };
	struct mention m = odd(7);
	struct str body, note;

	(void)state;
	mention_pack_note(&p, STR("one 1"));
	mention_pack(&p, &m);
	mention_pack_note(&p, STR("two"));
	body = buf_str(&p.body);
	assert_true(mention_take_note(&body, &arena, &note));
	assert_str_equal(note, "one 1");
	assert_true(mention_take_note(&body, &arena, &note));
	assert_str_equal(note, "two");
	assert_false(mention_take_note(&body, &arena, &note));
	arena_done(&arena);
	mention_packer_done(&p);
}

static void nonsense_is_refused(void **state)
{
	static const char *const bad[] = { "x",       "@0,1,0,0,0,0,-,-,1",
					   "@0",      "@0,0,0,0,0,0,-,-,0",
					   "=a%2",    ":0,0,0",
					   "=a  =b",  "@9,0,0,0,0,0,-,-,1",
					   "!name",   "@0,0,0,0,0,0,-,-,1 :1,0,0",
					   "=%2G @0", "@0,0,0,0,0,0,0,ffffffffffffffff,1" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct mention_taker t;
		struct mention m;
		int r;

		mention_taker_init(&t, str_of(bad[i]));
		while ((r = mention_take(&t, &m)) > 0)
			;
		assert_int_equal(r, -EBADMSG);
		mention_taker_done(&t);
	}
}

static const struct wire_head head = { .agent = STR("0f1e\"]\\"),
				       .boot = STR("boot-1"),
				       .host = STR("a host"),
				       .seq = 17,
				       .epoch_ns = 1700000000123456789,
				       .pid = 99 };

static void a_message_comes_back_behind_any_header(void **state)
{
	struct buf b = { 0 };
	struct arena arena = { 0 };
	struct wire_head got;
	struct str body;

	(void)state;
	buf_add(&b, STR("<13>Nov 16 07:00:00 relay culprit: "));
	wire_write(&b, &head, STR("=a =b @1"));
	buf_char(&b, '\n');
	assert_int_equal(wire_read(buf_str(&b), &arena, &got, &body), 1);
	assert_str_equal(body, "=a =b @1");
	assert_true(str_eq(got.agent, head.agent) && str_eq(got.boot, head.boot));
	assert_true(str_eq(got.host, head.host) && got.seq == 17);
	assert_int_equal(got.epoch_ns, head.epoch_ns);
	assert_int_equal(wire_read(STR("<13>1 - - - - - - hello"), &arena, &got, &body), 0);
	arena_done(&arena);
	buf_done(&b);
}

static void a_message_that_was_cut_or_changed_is_refused(void **state)
{
	struct buf b = { 0 };
	struct arena arena = { 0 };
	struct wire_head got;
	struct str body;
	size_t begins;

	(void)state;
	wire_write(&b, &head, STR("=a =b @1"));
	begins = str_find(buf_str(&b), STR("[culprit@32473 "));
	for (size_t n = 0; n < b.n; n++)
		assert_int_equal(wire_read(str_head(buf_str(&b), n), &arena, &got, &body),
				 n < begins + 15 ? 0 : -EBADMSG);
	for (size_t i = begins + 16; i < b.n; i++) {
		b.p[i] ^= 1;
		assert_int_not_equal(wire_read(buf_str(&b), &arena, &got, &body), 1);
		b.p[i] ^= 1;
	}
	arena_done(&arena);
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mentions_come_back_as_they_were),
		cmocka_unit_test(strings_are_told_once),
		cmocka_unit_test(notes_are_found_among_the_rest),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(a_message_comes_back_behind_any_header),
		cmocka_unit_test(a_message_that_was_cut_or_changed_is_refused),
	};

	return RUN(tests);
}
