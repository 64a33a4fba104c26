/*
 * journald's export format: a record is a run of lines NAME=value, ended by an empty line; a value
 * with line ends or odd bytes stands behind its name alone, as a length of 64 bits and the bytes:
 *
 *	__CURSOR=s=…;t=573f280a663fd;…
 *	__REALTIME_TIMESTAMP=1534860261221373
 *	MESSAGE
 *	<8 bytes, little endian><that many bytes>
 */
#include "base/time.h"
#include "model/event.h"
#include "model/loss.h"
#include "source/layout_kind.h"
#include "source/layout_said.h"

static bool journal_begins(struct str line, struct str line_before)
{
	(void)line_before;
	return str_starts(line, STR("__CURSOR="));
}

static bool journal_learn(struct layout *layout, const struct layout_sample *sample)
{
	size_t records = 0, times = 0;

	(void)layout;
	for (size_t i = 0; i < sample->nr; i++) {
		records += journal_begins(sample->lines[i], (struct str){ 0 });
		times += str_starts(sample->lines[i], STR("__REALTIME_TIMESTAMP="));
	}
	return records && times;
}

/* The cursor repeats the time in hexadecimal microseconds, so the first line already tells it. */
static int64_t cursor_time(struct str cursor)
{
	struct str rest = str_skip(cursor, str_find(cursor, STR(";t=")) + 3);
	struct layout_stamp stamp;
	uint64_t us;

	if (!str_take_hex(&rest, &us) || !layout_time_of_uint(us, &stamp))
		return NS_NONE;
	return stamp.ns;
}

static int journal_parse(const struct layout *layout, struct layout_worker *worker, struct str line,
			 struct arena *arena, struct event *ev, struct losses *losses)
{
	(void)arena;
	(void)losses;
	if (worker->binary.is_open || !journal_begins(line, (struct str){ 0 }))
		return 0;
	layout_event_begin(layout, ev);
	ev->ns = cursor_time(line);
	return 1;
}

static enum level level_of_priority(struct str value)
{
	static const enum level levels[] = { LEVEL_FATAL, LEVEL_FATAL, LEVEL_FATAL, LEVEL_ERROR,
					     LEVEL_WARN,  LEVEL_INFO,  LEVEL_INFO,  LEVEL_DEBUG };

	return value.n == 1 && value.p[0] >= '0' && value.p[0] <= '7' ? levels[value.p[0] - '0']
								      : LEVEL_NONE;
}

static void set_field(struct layout_worker *worker, struct event *ev, struct str name,
		      struct str value, struct arena *arena)
{
	struct layout_stamp stamp;
	uint64_t us;
	uint8_t rank;

	if (str_eq(name, STR("__REALTIME_TIMESTAMP"))) {
		if (str_take_uint(&value, &us) && layout_time_of_uint(us, &stamp))
			ev->ns = stamp.ns;
	} else if (str_eq(name, STR("_HOSTNAME"))) {
		ev->node = value;
	} else if (str_eq(name, STR("PRIORITY"))) {
		ev->level = level_of_priority(value);
	} else if (str_eq(name, STR("SYSLOG_IDENTIFIER"))) {
		ev->point = value;
	} else if (str_eq(name, STR("_COMM"))) {
		ev->point = ev->point.n ? ev->point : value;
	} else if (str_eq(name, STR("_PID")) || str_eq(name, STR("SYSLOG_PID"))) {
		ev->thread = ev->thread.n ? ev->thread : value;
	} else if (str_eq(name, STR("MESSAGE"))) {
		layout_event_finish(worker, ev, value, arena);
	} else if (layout_meaning_of(name, &rank) == MEANS_TRACE) {
		ev->key_kind = KEY_TRACE;
		ev->key = value;
	} else if (layout_meaning_of(name, &rank) == MEANS_SPAN) {
		ev->span = value;
	}
}

/* One more line of a value with a length in front; the length itself may hold a line end. */
static void take_binary(struct layout_worker *worker, struct str line, struct arena *arena,
			struct event *ev)
{
	struct layout_binary *b = &worker->binary;
	struct str rest = line;
	bool first = b->nr_length < 8;

	while (rest.n && b->nr_length < 8) {
		b->left |= (uint64_t)(unsigned char)rest.p[0] << 8 * b->nr_length++;
		rest = str_skip(rest, 1);
	}
	if (b->nr_length < 8) { /* the line end was a byte of the length */
		b->left |= (uint64_t)'\n' << 8 * b->nr_length++;
		return;
	}
	if (first)
		set_field(worker, ev, b->name, str_head(rest, b->left), arena);
	/* the line end behind the bytes is not counted in their length */
	if (b->left <= rest.n)
		b->is_open = false;
	else
		b->left -= rest.n + 1;
}

static void journal_more(const struct layout *layout, struct layout_worker *worker, struct str line,
			 struct arena *arena, struct event *ev, struct losses *losses)
{
	struct layout_binary *b = &worker->binary;
	size_t at = str_find_char(line, '=');

	(void)layout;
	(void)losses;
	if (b->is_open)
		take_binary(worker, line, arena, ev);
	else if (at < line.n)
		set_field(worker, ev, str_head(line, at), str_skip(line, at + 1), arena);
	else if (line.n)
		*b = (struct layout_binary){ .is_open = true, .name = line };
}

const struct layout_kind layout_journal = {
	.name = "journal",
	.learn = journal_learn,
	.parse = journal_parse,
	.more = journal_more,
	.begins = journal_begins,
};
