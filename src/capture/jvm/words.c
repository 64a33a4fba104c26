#include "capture/jvm/words.h"

#include "base/arena.h"
#include "base/buf.h"

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static void skip_spaces(struct str *s)
{
	while (s->n && is_space(s->p[0]))
		*s = str_skip(*s, 1);
}

static void skip_comments(struct str *s)
{
	skip_spaces(s);
	while (s->n && s->p[0] == '#') {
		while (s->n && s->p[0] != '\n' && s->p[0] != '\r')
			*s = str_skip(*s, 1);
		skip_spaces(s);
	}
}

static char take(struct str *s)
{
	char c = s->p[0];

	*s = str_skip(*s, 1);
	return c;
}

/* Behind a \ within quotes: at the end of a line it goes on where the next one begins. */
static void take_escaped(struct str *s, struct buf *out)
{
	static const char letters[] = "nrtf", meant[] = "\n\r\t\f";
	char c = s->n ? take(s) : '\\';
	const char *known = strchr(letters, c);

	if (c == '\r')
		str_take_char(s, '\n');
	if (c == '\n' || c == '\r') {
		while (s->n && (s->p[0] == ' ' || s->p[0] == '\t' || s->p[0] == '\f'))
			*s = str_skip(*s, 1);
		return;
	}
	buf_char(out, known && c ? meant[known - letters] : c);
}

static bool take_word(struct str *s, bool has_escapes, struct arena *arena, struct str *word)
{
	struct buf out = { 0 };
	char quote = 0;

	if (!s->n)
		return false;
	while (s->n && (quote || !is_space(s->p[0]))) {
		char c = take(s);

		if (quote && c == quote)
			quote = 0;
		else if (quote && has_escapes && c == '\\')
			take_escaped(s, &out);
		else if (quote && has_escapes && (c == '\n' || c == '\r'))
			break; /* a quote that was left open ends with its line */
		else if (!quote && (c == '"' || c == '\''))
			quote = c;
		else
			buf_char(&out, c);
	}
	*word = arena_str(arena, buf_str(&out));
	buf_done(&out);
	return true;
}

bool words_take_file(struct str *text, struct arena *arena, struct str *word)
{
	skip_comments(text);
	return take_word(text, true, arena, word);
}

bool words_take_variable(struct str *text, struct arena *arena, struct str *word)
{
	skip_spaces(text);
	return take_word(text, false, arena, word);
}
