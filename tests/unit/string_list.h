/* Keeps the strings of a program as lines of text, holes as <1> to <5>. */
#ifndef CULPRIT_TESTS_STRING_LIST_H
#define CULPRIT_TESTS_STRING_LIST_H

#include "base/buf.h"
#include "model/loss.h"
#include "program/strings.h"
#include "unit.h"

struct string_list {
	struct buf lines;
	struct strings_sink sink;
	struct losses losses;
};

static inline void list_add(void *ctx, struct str s)
{
	struct string_list *l = ctx;

	for (size_t i = 0; i < s.n; i++) {
		if (string_is_hole(s.p[i]))
			buf_fmt(&l->lines, "<%d>", s.p[i]);
		else
			buf_char(&l->lines, s.p[i]);
	}
	buf_char(&l->lines, '\n');
}

static inline void list_init(struct string_list *l)
{
	*l = (struct string_list){ .sink = { list_add, l } };
}

static inline bool list_has(const struct string_list *l, const char *text)
{
	struct str rest = buf_str(&l->lines), line;

	while (str_take_line(&rest, &line))
		if (str_eq(line, str_of(text)))
			return true;
	return false;
}

/* All of them are these lines, and the list is given back. */
#define assert_list(l, want) \
	do { \
		assert_str_equal(buf_str(&(l)->lines), want); \
		buf_done(&(l)->lines); \
	} while (0)

#endif
