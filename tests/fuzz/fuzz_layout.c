/* Whatever the bytes are: a layout is learned or not, and every event is whole. */
#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/time.h"
#include "model/event.h"
#include "model/loss.h"
#include "source/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_lines(struct layout *layout, struct str text)
{
	struct layout_worker *worker = layout_worker_new(layout);
	struct event last = { 0 }, ev;
	struct losses losses = { 0 };
	struct arena arena = { 0 };
	struct str line;
	bool any = false;

	assert(layout_cut(layout, text) <= text.n);
	while (str_take_line(&text, &line)) {
		if (layout_parse(layout, worker, line, &arena, &ev, &losses) == 1) {
			assert(ev.kind == EVENT_LOG && ev.duration >= -1);
			assert((ev.key_kind == KEY_NONE) == !ev.key.n);
			layout_settle(layout, &ev, 1, &losses);
			assert(ev.ns == NS_NONE || ev.ns > -5000000000 * NS_S);
			last = ev;
			any = true;
		} else if (any && layout_has_more(layout)) {
			layout_more(layout, worker, line, &arena, &last, &losses);
		}
	}
	arena_done(&arena);
	layout_worker_free(worker);
}

/* The first line may be a pattern: then the rest is read with it as well. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct layout_hints hints = { .zone = STR("UTC"), .mtime_ns = 1717243200 * NS_S };
	struct str text = { (const char *)data, size }, first;
	struct layout *layout;
	struct error err = { 0 };

	if (!layout_learn(&layout, text, &hints, &err)) {
		assert(layout_pattern(layout).n && *layout_name(layout));
		read_lines(layout, text);
		layout_free(layout);
	} else {
		assert(err.msg[0]);
	}
	if (str_take_line(&text, &first) && str_find_char(first, '%') < first.n) {
		struct arena arena = { 0 };

		err = (struct error){ 0 };
		if (!layout_compile(&layout, arena_z(&arena, first), &hints, &err)) {
			read_lines(layout, text);
			layout_free(layout);
		} else {
			assert(err.msg[0]);
		}
		arena_done(&arena);
	}
	return 0;
}
