#include "hub/frames.h"

#include <string.h>

#include "model/mention_wire.h"

#define DIGITS_MAX 9

void frames_done(struct frames *f)
{
	buf_done(&f->held);
}

void frames_add(struct frames *f, struct str bytes)
{
	if (f->at) {
		f->held.n -= f->at;
		memmove(f->held.p, f->held.p + f->at, f->held.n);
		f->at = 0;
	}
	buf_add(&f->held, bytes);
}

/* What is left of a message that is too long. */
static void skip(struct frames *f)
{
	struct str rest = str_skip(buf_str(&f->held), f->at);

	if (f->skip) {
		size_t n = f->skip < rest.n ? (size_t)f->skip : rest.n;

		f->skip -= n;
		f->at += n;
		return;
	}
	if (f->skips_line) {
		size_t end = str_find_char(rest, '\n');

		f->skips_line = end == rest.n;
		f->at += f->skips_line ? rest.n : end + 1;
	}
}

/* "123 <…": 1 and the length, 0 more bytes are needed, -1 it is not so framed. */
static int take_length(struct str *s, uint64_t *n)
{
	struct str digits = str_head(*s, DIGITS_MAX + 1), first = digits;

	if (!s->n || s->p[0] < '1' || s->p[0] > '9')
		return -1;
	if (!str_take_uint(&digits, n))
		return -1;
	if (!digits.n)
		return first.n > DIGITS_MAX ? -1 : 0;
	if (!str_take_char(&digits, ' '))
		return -1;
	*s = str_skip(*s, first.n - digits.n);
	return 1;
}

/* 1 and the message; 0 not there yet; -1 passed over, look again. */
static int take_counted(struct frames *f, struct str rest, uint64_t n, struct str *message)
{
	size_t head = f->held.n - f->at - rest.n;

	if (n > WIRE_BYTES_MAX) {
		f->nr_bad++;
		f->at += head;
		f->skip = n;
		return -1;
	}
	if (rest.n < n)
		return 0;
	*message = str_head(rest, n);
	f->at += head + n;
	return 1;
}

static int take_line(struct frames *f, struct str rest, struct str *message)
{
	size_t end = str_find_char(rest, '\n');

	if (end > WIRE_BYTES_MAX) {
		f->nr_bad++;
		f->skips_line = true;
		return -1;
	}
	if (end == rest.n)
		return 0;
	*message = str_head(rest, end);
	f->at += end + 1;
	return 1;
}

bool frames_next(struct frames *f, struct str *message)
{
	for (;;) {
		struct str rest;
		uint64_t n;
		int r;

		skip(f);
		rest = str_skip(buf_str(&f->held), f->at);
		if (!rest.n || f->skip || f->skips_line)
			return false;
		r = take_length(&rest, &n);
		if (r > 0)
			r = take_counted(f, rest, n, message);
		else if (r < 0)
			r = take_line(f, rest, message);
		if (r >= 0)
			return r > 0;
	}
}
