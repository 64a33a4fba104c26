/*
 * The message trace of the design: one message a line, "timestamp operation sender receiver id".
 * The time is in seconds with a fraction, or a whole number of seconds, milliseconds, microseconds
 * or nanoseconds since the epoch, told by its magnitude. Blank lines and comments (#) are passed
 * over; the line number of an event is that of the file.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/time.h"
#include "model/event.h"
#include "model/sink.h"
#include "source/chunks.h"
#include "source/formats.h"
#include "source/input.h"

#define LINE_BYTES_MAX ((size_t)1 << 20)

/* Whole seconds and a fraction that is kept to the nanosecond. */
static bool take_seconds(struct str *s, int64_t *ns)
{
	int64_t fraction = 0, place = NS_S / 10;
	uint64_t sec;

	if (!str_take_uint(s, &sec) || sec > INT64_MAX / NS_S - 1)
		return false;
	if (str_take_char(s, '.'))
		for (; s->n && s->p[0] >= '0' && s->p[0] <= '9'; *s = str_skip(*s, 1)) {
			fraction += (s->p[0] - '0') * place;
			place /= 10;
		}
	*ns = (int64_t)sec * NS_S + fraction;
	return true;
}

/*
 * A whole number is of the unit that makes it a time since the epoch in this age. Below 1e11 it is
 * seconds (the year 5138), below 1e14 milliseconds, below 1e17 microseconds.
 */
static bool take_time(struct str word, int64_t *ns)
{
	struct str s = word;
	int64_t unit = 1;
	uint64_t n;

	if (memchr(word.p, '.', word.n))
		return take_seconds(&s, ns) && !s.n;
	if (!str_take_uint(&s, &n) || s.n || n > INT64_MAX)
		return false;
	if (n < 100000000000ULL)
		unit = NS_S;
	else if (n < 100000000000000ULL)
		unit = NS_MS;
	else if (n < 100000000000000000ULL)
		unit = NS_US;
	return !__builtin_mul_overflow((int64_t)n, unit, ns);
}

static bool take_op(struct str word, enum message_op *op)
{
	static const struct str names[] = { { "SENT", 4 }, { "CALL_SENT", 9 }, { "RET_SENT", 8 } };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!str_eq(word, names[i]))
			continue;
		*op = (enum message_op)i;
		return true;
	}
	return false;
}

/* 1 = *ev filled, 0 = nothing on this line, -1 = not such a line. */
static int parse(struct str line, struct event *ev)
{
	struct str time, op, id;

	*ev = (struct event){ .kind = EVENT_MESSAGE, .nr_lines = 1, .duration = -1 };
	if (!str_take_word(&line, &time) || time.p[0] == '#')
		return 0;
	if (!take_time(time, &ev->ns) || !str_take_word(&line, &op) || !take_op(op, &ev->op) ||
	    !str_take_word(&line, &ev->node) || !str_take_word(&line, &ev->peer))
		return -1;
	if (!str_take_word(&line, &id) || str_eq(id, STR("-")))
		return 1;
	ev->key_kind = KEY_CALL;
	ev->key = ev->id = id;
	return 1;
}

static void parse_chunk(void *ctx, struct batch *b)
{
	struct str rest = b->bytes, line;
	uint64_t nr = b->first_line;
	struct event ev;

	for (; rest.n; nr++) {
		const char *start = rest.p;

		if (!str_take_line(&rest, &line))
			break;
		switch (parse(line, &ev)) {
		case 1:
			ev.file = *(const uint32_t *)ctx;
			ev.line = nr;
			ev.offset = b->offset + (uint64_t)(start - b->bytes.p);
			ev.length = line.n;
			vec_push(&b->events, ev);
			break;
		case -1:
			b->losses.count[LOSS_LINES_BROKEN]++;
			break;
		}
	}
}

/* Nearly every line of the head must be a message; the last one may be cut. */
static int sniff(struct str head, bool whole)
{
	unsigned nr = 0, good = 0;
	struct str line;
	struct event ev;

	while (str_take_line(&head, &line) && nr < 100) {
		int r = parse(line, &ev);

		if (!head.n && !whole && nr)
			break;
		nr += r != 0;
		good += r == 1;
	}
	return nr && good * 10 >= nr * 9 ? 95 : 0;
}

static int read_messages(struct input *in, const struct source_options *options, struct sink *sink,
			 struct error *err)
{
	uint32_t file = 0;
	const struct chunk_format format = { .ctx = &file,
					     .line_bytes_max = LINE_BYTES_MAX,
					     .parse = parse_chunk };
	const struct file_seen seen = { .path = str_of(input_path(in)),
					.format = str_of(source_messages.name),
					.bytes = input_bytes(in),
					.mtime_ns = input_mtime(in) };
	int r = sink->file(sink->to, &seen, &file, err);

	return r < 0 ? r : chunks_read(in, &format, options->cores, sink, err);
}

const struct source source_messages = {
	.name = "messages",
	.summary = "message trace: time, operation, sender, receiver, id on each line",
	.sniff = sniff,
	.read = read_messages,
};
