/* The stretch of a capture file that is looked at: any front of what is left, without copies. */
#ifndef CULPRIT_SOURCE_PCAP_WINDOW_H
#define CULPRIT_SOURCE_PCAP_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct error;
struct input;

#define WINDOW_BYTES_MAX ((size_t)64 << 20) /* nothing longer is ever asked for */

struct window {
	struct input *in;
	char *bytes;
	size_t at, end, room;
	bool is_over;    /* the input has no more */
	bool is_damaged; /* it ended with an error, kept in the counters by the caller */
};

void window_init(struct window *w, struct input *in);
void window_done(struct window *w);
/* Reads until n bytes are there, or the input is over. */
struct str window_fill(struct window *w, size_t n);

static inline struct str window_rest(const struct window *w)
{
	return (struct str){ w->bytes + w->at, w->end - w->at };
}

/* All that is there when at least n bytes are, otherwise what is left of the input. */
static inline struct str window_need(struct window *w, size_t n)
{
	return w->end - w->at >= n || w->is_over ? window_rest(w) : window_fill(w, n);
}

void window_pass(struct window *w, uint64_t n);

#endif
