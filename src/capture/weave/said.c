#include "capture/weave/said.h"

#include <inttypes.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/vec.h"

struct said {
	struct str text; /* behind the process, or the whole line */
	bool is_of_process;
	VEC(uint64_t) pids;
};
typedef VEC(struct said) said_lines;

static bool process_take(struct str *line, uint64_t *pid)
{
	struct str s = *line;

	if (!str_take(&s, STR("process ")) || !str_take_uint(&s, pid) || !str_take(&s, STR(": ")))
		return false;
	*line = s;
	return true;
}

static struct said *said_of(said_lines *all, struct str text)
{
	vec_each (all, s)
		if (s->is_of_process && str_eq(s->text, text))
			return s;
	return NULL;
}

static void line_add(said_lines *all, struct str line)
{
	uint64_t pid = 0;
	bool is_of_process = process_take(&line, &pid);
	struct said *s = is_of_process ? said_of(all, line) : NULL;

	if (!s) {
		vec_push(all, ((struct said){ .text = line, .is_of_process = is_of_process }));
		s = &all->v[all->nr - 1];
	}
	if (is_of_process)
		vec_push(&s->pids, pid);
}

static void line_write(struct buf *to, const struct said *s)
{
	if (s->is_of_process)
		buf_fmt(to, s->pids.nr > 1 ? "processes" : "process");
	for (size_t i = 0; i < s->pids.nr; i++)
		buf_fmt(to, "%s%" PRIu64, i ? ", " : " ", s->pids.v[i]);
	buf_fmt(to, "%s" STR_FMT "\n", s->is_of_process ? ": " : "", STR_ARG(s->text));
}

void said_fold(struct buf *said)
{
	struct str left = buf_str(said), line;
	struct buf folded = { 0 };
	said_lines all = { 0 };

	while (str_take_line(&left, &line))
		line_add(&all, line);
	vec_each (&all, s) {
		line_write(&folded, s);
		vec_done(&s->pids);
	}
	vec_done(&all);
	buf_done(said);
	*said = folded;
}
