#include "source/pcap_window.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "source/input.h"

#define ROOM ((size_t)256 << 10) /* stays in a cache of the second level */

void window_init(struct window *w, struct input *in)
{
	*w = (struct window){ .in = in, .bytes = mem_alloc(ROOM), .room = ROOM };
}

void window_done(struct window *w)
{
	free(w->bytes);
}

/* Moves what is left to the front, and makes room for n bytes in all. */
static void make_room(struct window *w, size_t n)
{
	memmove(w->bytes, w->bytes + w->at, w->end - w->at);
	w->end -= w->at;
	w->at = 0;
	if (n <= w->room)
		return;
	w->room = n + ROOM;
	w->bytes = mem_realloc(w->bytes, w->room);
}

struct str window_fill(struct window *w, size_t n)
{
	struct error late = { 0 };

	if (n > WINDOW_BYTES_MAX)
		n = WINDOW_BYTES_MAX;
	make_room(w, n);
	while (w->end < n && !w->is_over) {
		ssize_t got = input_read(w->in, w->bytes + w->end, w->room - w->end, &late);

		if (got > 0)
			w->end += (size_t)got;
		w->is_over = got <= 0;
		w->is_damaged = got < 0;
	}
	return window_rest(w);
}

void window_pass(struct window *w, uint64_t n)
{
	while (n > 0) {
		size_t there = window_need(w, 1).n;

		if (!there)
			return;
		if (there > n)
			there = (size_t)n;
		w->at += there;
		n -= there;
	}
}
