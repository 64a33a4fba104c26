#include "unit.h"

#include <string.h>

#include "base/arena.h"
#include "base/time.h"
#include "infer/requests/record.h"
#include "infer/requests/sight.h"
#include "model/event.h"
#include "model/loss.h"

static struct event odd_event(struct arena *arena, unsigned i)
{
	struct event ev = { .ns = i ? (int64_t)i * 1000 - 7 : NS_NONE,
			    .level = LEVEL_WARN,
			    .offset = 100 * i + (i > 1),
			    .length = 60,
			    .line = 2 * i,
			    .nr_lines = 2,
			    .node = STR("dn1"),
			    .thread = STR("a\tb\\c\n\r\x1e\x00z"),
			    .point = STR("shop.Cart"),
			    .key_kind = KEY_REQUEST,
			    .key = arena_fmt(arena, "key-%u", i / 2),
			    .title = STR("\\12 begins like a number of a block"),
			    .duration = -1,
			    .statement = i };

	sight_event(NULL, &ev, arena_fmt(arena, "took blk_%u of /data/%u\tand on", 1000 + i, i),
		    arena);
	return ev;
}

static void assert_same(const struct event *a, const struct event *b)
{
	const struct str *in[] = {
		&a->node, &a->thread, &a->point, &a->key, &a->title, &a->values
	};
	const struct str *out[] = {
		&b->node, &b->thread, &b->point, &b->key, &b->title, &b->values
	};

	assert_int_equal(a->ns, b->ns);
	assert_int_equal(a->level, b->level);
	assert_int_equal(a->offset, b->offset);
	assert_int_equal(a->length, b->length);
	assert_int_equal(a->line, b->line);
	assert_int_equal(a->nr_lines, b->nr_lines);
	assert_int_equal(a->key_kind, b->key_kind);
	assert_int_equal(a->duration, b->duration);
	assert_int_equal(a->statement, b->statement);
	for (size_t i = 0; i < sizeof(in) / sizeof(*in); i++) {
		assert_int_equal(in[i]->n, out[i]->n);
		assert_memory_equal(in[i]->p, out[i]->p, in[i]->n);
	}
}

static void events_come_back_as_they_were(void **state)
{
	struct arena arena = { 0 };
	struct record_last to = { 0 }, from = { 0 };
	struct buf b = { 0 };

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		struct event ev = odd_event(&arena, i), got;
		struct str body;

		buf_clear(&b);
		record_event(&b, &to, &ev);
		body = buf_str(&b);
		assert_null(memchr(body.p, '\n', body.n));
		assert_null(memchr(body.p, '\r', body.n));
		assert_null(memchr(body.p, 0, body.n));
		assert_true(record_take_event(&body, &from, &arena, &got));
		assert_same(&ev, &got);
	}
	buf_done(&b);
	arena_done(&arena);
}

static void blocks_hold_the_same_events_in_less_room(void **state)
{
	struct arena arena = { 0 };
	struct record_last to = { 0 }, from = { 0 };
	struct record_block packed = { 0 }, taken = { 0 };
	struct buf b = { 0 }, block = { 0 };
	size_t single = 0;
	uint32_t nr;

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		struct event ev = odd_event(&arena, i);

		buf_clear(&b);
		record_event(&b, &to, &ev);
		single += b.n;
		assert_true(record_block_add(&packed, buf_str(&b)));
	}
	record_block_write(&packed, &block);
	assert_true(3 * block.n < 2 * single);
	assert_null(memchr(block.p, '\n', block.n));
	assert_true(record_block_open(&taken, buf_str(&block), &nr));
	assert_int_equal(nr, 200);
	for (unsigned i = 0; i < nr; i++) {
		struct event ev = odd_event(&arena, i), got;
		struct str body;

		assert_true(record_block_next(&taken, &b));
		body = buf_str(&b);
		assert_true(record_take_event(&body, &from, &arena, &got));
		assert_same(&ev, &got);
	}
	assert_false(record_block_next(&taken, &b));
	record_block_done(&packed);
	record_block_done(&taken);
	buf_done(&b);
	buf_done(&block);
	arena_done(&arena);
}

static void keys_sort_bytewise_into_the_order_of_files(void **state)
{
	const struct record_key keys[] = {
		{ 0, 9, 99 },         { 0, 10, 0 }, { 0, 10, 9 }, { 0, 10, 10 },
		{ 0, 1ULL << 40, 1 }, { 1, 0, 0 },  { 10, 0, 0 }, { 16, 0, 0 },
	};
	struct buf before = { 0 }, b = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		struct record_key key;
		enum record_kind kind;
		struct str body;

		buf_clear(&b);
		record_begin(&b, &keys[i], RECORD_TAIL);
		assert_true(str_cmp(buf_str(&before), buf_str(&b)) < 0);
		assert_true(record_take(buf_str(&b), &key, &kind, &body));
		assert_int_equal(key.file, keys[i].file);
		assert_int_equal(key.part, keys[i].part);
		assert_int_equal(key.nr, keys[i].nr);
		assert_int_equal(kind, RECORD_TAIL);
		assert_int_equal(body.n, 0);
		buf_clear(&before);
		buf_add(&before, buf_str(&b));
	}
	buf_done(&before);
	buf_done(&b);
}

static void the_end_of_a_part_adds_its_losses(void **state)
{
	struct losses lost = { 0 }, got = { 0 };
	const struct record_end end = { 7, 1234, 56 };
	struct record_end taken = { 0 };
	struct buf b = { 0 };

	(void)state;
	lost.count[LOSS_LINES_NUL] = 3;
	got.count[LOSS_LINES_NUL] = 2;
	record_end(&b, &end, &lost);
	assert_true(record_take_end(buf_str(&b), &taken, &got));
	assert_int_equal(taken.nr, 7);
	assert_int_equal(taken.bytes, 1234);
	assert_int_equal(taken.lines, 56);
	assert_int_equal(got.count[LOSS_LINES_NUL], 5);
	assert_false(record_take_end(STR("1\t2\t3\tno_such_loss=1"), &taken, &got));
	assert_false(record_take_end(STR("1\t2"), &taken, &got));
	buf_done(&b);
}

static void what_is_no_record_is_refused(void **state)
{
	static const char *const bad[] = { "",
					   "hello",
					   "00000000",
					   "0000000000000000000000000000000g\te\t",
					   "00000000000000000000000000000000\tx\t",
					   "00000000000000000000000000000000 e\t" };
	struct record_key key;
	enum record_kind kind;
	struct record_block block = { 0 };
	struct str body;
	uint32_t nr;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(record_take(str_of(bad[i]), &key, &kind, &body));
	assert_false(record_block_open(&block, STR("3\ta\tb"), &nr));
	assert_false(record_block_open(&block, STR("4294967296"), &nr));
	assert_false(record_block_add(&block, STR("too\tfew")));
	record_block_done(&block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_come_back_as_they_were),
		cmocka_unit_test(blocks_hold_the_same_events_in_less_room),
		cmocka_unit_test(keys_sort_bytewise_into_the_order_of_files),
		cmocka_unit_test(the_end_of_a_part_adds_its_losses),
		cmocka_unit_test(what_is_no_record_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
