/*
 * Groups messages by their templates and holds the groups against the statements that wrote them.
 *
 *   bench_templates FILE PROGRAM…     FILE has on each line a statement, a tab and a message
 *
 * A message counts as right when the messages of its group are just those of its statement, the
 * measure of the benchmarks of log parsers. Once by what the line alone shows, once by the
 * constants of the programs, once by both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/names.h"
#include "ident/constants.h"
#include "ident/line.h"
#include "model/loss.h"

struct message {
	uint64_t group;
	sym_t statement;
};

static VEC(struct message) messages;
static struct names statements;

/* How many are in groups that are just the messages of one statement. */
static uint64_t nr_right(uint64_t *nr_groups)
{
	struct map sizes = { 0 }, groups = { 0 }, mixed = { 0 };
	uint64_t right = 0;

	vec_each (&messages, m) {
		uint64_t *first = map_at(&mixed, m->group);

		++*map_at(&sizes, m->statement);
		++*map_at(&groups, m->group);
		if (!*first)
			*first = m->statement;
		else if (*first != m->statement)
			*first = UINT64_MAX;
	}
	vec_each (&messages, m)
		right += *map_find(&mixed, m->group) == m->statement &&
			 *map_find(&groups, m->group) == *map_find(&sizes, m->statement);
	*nr_groups = groups.nr;
	map_done(&sizes);
	map_done(&groups);
	map_done(&mixed);
	return right;
}

/* The message with a sign for what is not constant. */
static void write_masked(struct buf *b, struct str line, const struct cover *v)
{
	size_t at = 0;

	buf_clear(b);
	vec_each (&v->constant, s) {
		if (s->from > at)
			buf_char(b, '\1');
		buf_add(b, (struct str){ line.p + s->from, s->to - s->from });
		at = s->to;
	}
	if (at < line.n)
		buf_char(b, '\1');
}

enum way { BY_LINE, BY_CONSTANTS, BY_BOTH };

static uint64_t group_of(enum way way, const struct constants *c, struct str message)
{
	static struct cover v;
	static struct buf b;
	static struct line l;
	struct line_aids aids = { .constants = way == BY_BOTH ? c : NULL };

	if (way == BY_CONSTANTS) {
		constants_cover(c, message, &v);
		write_masked(&b, message, &v);
		return str_hash(buf_str(&b));
	}
	line_read(&l, message, &aids);
	cover_done(&aids.cover);
	return l.template;
}

static void score(enum way way, const struct constants *c, struct str rest)
{
	static const char *const ways[] = { "line alone", "constants", "both" };
	struct str line, statement;
	uint64_t right, groups;

	vec_clear(&messages);
	while (str_take_line(&rest, &line))
		if (str_take_until(&line, '\t', &statement))
			vec_push(&messages, (struct message){ group_of(way, c, line),
							      names_add(&statements, statement) });
	right = nr_right(&groups);
	printf("%-12s %lu groups, %.1f %% of %zu messages right\n", ways[way], groups,
	       messages.nr ? 100.0 * (double)right / (double)messages.nr : 0, messages.nr);
}

int main(int argc, char **argv)
{
	struct constants *c = constants_new(0);
	struct losses losses = { 0 };
	struct buf b = { 0 };
	FILE *f = argc > 1 ? fopen(argv[1], "re") : NULL;
	size_t n;

	if (!f)
		return 2;
	do {
		n = fread(buf_room(&b, 1 << 20), 1, 1 << 20, f);
		b.n += n;
	} while (n == 1 << 20);
	fclose(f);
	constants_load(c, (const char *const *)argv + 2, (size_t)argc - 2, &losses);
	constants_settle(c, &losses);
	for (enum way way = BY_LINE; way <= BY_BOTH; way++)
		score(way, c, buf_str(&b));
	printf("%u statements\n", statements.nr ? statements.nr - 1 : 0);
	constants_free(c);
	buf_done(&b);
	vec_done(&messages);
	names_done(&statements);
	return 0;
}
