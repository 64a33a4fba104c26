/*
 * MySQL's and MariaDB's slow log: comment lines with time, user and duration, then the statement.
 * The line "# Time:" is left out by older servers when the second is the same.
 */
#include "base/time.h"
#include "model/event.h"
#include "model/loss.h"
#include "source/layout_kind.h"
#include "source/layout_said.h"
#include "source/title.h"

static bool is_time(struct str line)
{
	return str_starts(line, STR("# Time:"));
}

static bool slow_begins(struct str line, struct str line_before)
{
	return is_time(line) || (str_starts(line, STR("# User@Host:")) && !is_time(line_before));
}

static bool slow_learn(struct layout *layout, const struct layout_sample *sample)
{
	size_t queries = 0, users = 0;

	(void)layout;
	for (size_t i = 0; i < sample->nr; i++) {
		queries += str_starts(sample->lines[i], STR("# Query_time:"));
		users += str_starts(sample->lines[i], STR("# User@Host:"));
	}
	return queries && users;
}

/* The word behind a name that stands somewhere in the line. */
static struct str word_after(struct str line, struct str name)
{
	struct str word = { 0 };
	size_t at = str_find(line, name);

	if (at < line.n) {
		line = str_skip(line, at + name.n);
		str_take_word(&line, &word);
	}
	return word;
}

static int slow_parse(const struct layout *layout, struct layout_worker *worker, struct str line,
		      struct arena *arena, struct event *ev, struct losses *losses)
{
	struct layout_stamp stamp;
	struct str text = line;
	bool after_time = worker->expects;

	(void)arena;
	worker->expects = is_time(line);
	if (!slow_begins(line, after_time ? STR("# Time:") : STR("")))
		return 0;
	layout_event_begin(layout, ev);
	ev->point = STR("slow query");
	if (str_take(&text, STR("# Time:")) &&
	    layout_times_value(layout->times, &worker->clock, str_trim(text), &stamp))
		ev->ns = layout_ns(layout, worker, &stamp, losses);
	else
		ev->thread = word_after(line, STR(" Id:"));
	return 1;
}

static void slow_more(const struct layout *layout, struct layout_worker *worker, struct str line,
		      struct arena *arena, struct event *ev, struct losses *losses)
{
	struct layout_stamp stamp;
	uint64_t s;

	(void)layout;
	(void)losses;
	worker->expects = false;
	if (str_starts(line, STR("# User@Host:"))) {
		ev->thread = word_after(line, STR(" Id:"));
	} else if (str_starts(line, STR("# Thread_id:"))) {
		ev->thread = word_after(line, STR("# Thread_id:"));
	} else if (str_starts(line, STR("# Query_time:"))) {
		ev->duration = layout_duration(word_after(line, STR("# Query_time:")), NS_S);
	} else if (str_take(&line, STR("SET timestamp="))) {
		if (ev->ns == NS_NONE && str_take_uint(&line, &s) && layout_time_of_uint(s, &stamp))
			ev->ns = stamp.ns;
	} else if (line.n && line.p[0] != '#' && !ev->title.n && !str_starts(line, STR("use "))) {
		layout_event_finish(worker, ev, line, arena);
	}
}

const struct layout_kind layout_slow = {
	.name = "mysql-slow",
	.learn = slow_learn,
	.parse = slow_parse,
	.more = slow_more,
	.begins = slow_begins,
};
