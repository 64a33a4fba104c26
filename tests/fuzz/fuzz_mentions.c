/* Any line is a message of mentions, none, or a damaged one; what was taken from it is packed and
 * taken again the same. The body is also read by itself, as no fuzzer guesses a checksum. */
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "model/mention_pack.h"
#include "model/mention_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
	if (!ok)
		abort();
}

static void must_be_same(const struct mention *a, const struct mention *b)
{
	must(a->first_ns == b->first_ns && a->last_ns == b->last_ns && a->count == b->count);
	must(a->level == b->level && a->template == b->template && a->nr == b->nr);
	must(str_eq(a->file, b->file) && str_eq(a->title, b->title));
	for (size_t i = 0; i < a->nr; i++)
		must(str_eq(a->v[i].type, b->v[i].type) && str_eq(a->v[i].value, b->v[i].value));
}

static void read_body(struct str body)
{
	struct mention_packer p = { 0 };
	struct mention_taker t;
	struct mention m;

	mention_taker_init(&t, body);
	while (mention_take(&t, &m) > 0) {
		struct mention_taker again;
		struct mention got;

		mention_packer_clear(&p);
		mention_pack(&p, &m);
		mention_taker_init(&again, buf_str(&p.body));
		must(mention_take(&again, &got) == 1);
		must_be_same(&m, &got);
		mention_taker_done(&again);
	}
	mention_taker_done(&t);
	mention_packer_done(&p);
}

static void read_notes(struct str body, struct arena *arena)
{
	struct str note;

	while (mention_take_note(&body, arena, &note))
		;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str line = { (const char *)data, size }, body;
	struct arena arena = { 0 };
	struct wire_head head;

	if (wire_read(line, &arena, &head, &body) == 1) {
		struct buf b = { 0 };
		struct wire_head again;
		struct str same;

		wire_write(&b, &head, body);
		must(wire_read(buf_str(&b), &arena, &again, &same) == 1);
		must(again.seq == head.seq && str_eq(same, body));
		buf_done(&b);
	}
	read_body(line);
	read_notes(line, &arena);
	arena_done(&arena);
	return 0;
}
