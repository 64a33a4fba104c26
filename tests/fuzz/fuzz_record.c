/*
 * Any line is a record or none, and what was taken from one is written and taken again the same:
 * events by themselves and in blocks.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "infer/requests/record.h"
#include "model/event.h"
#include "model/loss.h"

static void must(bool ok)
{
	if (!ok)
		abort();
}

static void same_again(const struct event *ev, struct arena *arena)
{
	struct record_last to = { 0 }, from = { 0 };
	struct record_block packed = { 0 }, taken = { 0 };
	struct buf b = { 0 }, block = { 0 }, one = { 0 };
	struct event again;
	struct str body;
	uint32_t nr;

	record_event(&b, &to, ev);
	must(record_block_add(&packed, buf_str(&b)) && record_block_add(&packed, buf_str(&b)));
	record_block_write(&packed, &block);
	must(record_block_open(&taken, buf_str(&block), &nr) && nr == 2);
	must(record_block_next(&taken, &one) && str_eq(buf_str(&one), buf_str(&b)));
	must(record_block_next(&taken, &one) && str_eq(buf_str(&one), buf_str(&b)));
	body = buf_str(&b);
	must(record_take_event(&body, &from, arena, &again));
	must(again.ns == ev->ns && again.offset == ev->offset && again.line == ev->line);
	must(str_eq(again.thread, ev->thread) && str_eq(again.values, ev->values));
	record_block_done(&packed);
	record_block_done(&taken);
	buf_done(&b);
	buf_done(&block);
	buf_done(&one);
}

static void take_event(struct str body, struct record_last *last, struct arena *arena)
{
	struct event ev;

	if (record_take_event(&body, last, arena, &ev))
		same_again(&ev, arena);
}

static void take_block(struct str body, struct arena *arena)
{
	struct record_block block = { 0 };
	struct record_last last = { 0 };
	struct buf event = { 0 };
	uint32_t nr;

	if (record_block_open(&block, body, &nr))
		while (nr-- && record_block_next(&block, &event))
			take_event(arena_str(arena, buf_str(&event)), &last, arena);
	record_block_done(&block);
	buf_done(&event);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str line = { (const char *)data, size };
	struct arena arena = { 0 };
	struct record_last last = { 0 };
	struct losses losses = { 0 };
	struct record_key key;
	enum record_kind kind;
	struct record_end end;
	struct record_raw raw;

	if (record_take(line, &key, &kind, &line)) {
		if (kind == RECORD_BLOCK)
			take_block(line, &arena);
		else if (kind == RECORD_END)
			record_take_end(line, &end, &losses);
		else if (kind == RECORD_EVENT)
			take_event(line, &last, &arena);
		else
			record_take_raw(line, &arena, &raw);
	}
	arena_done(&arena);
	return 0;
}
