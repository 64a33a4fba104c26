/*
 * The verb is the first word. The table is the first name behind FROM, INTO, UPDATE, TABLE or JOIN
 * that is no opening bracket, or stands behind the verb itself: good enough to tell kinds of
 * statements apart, which is all that is asked for.
 */
#include "source/proto_sql.h"

#include <ctype.h>

#define READ_BYTES_MAX 4096
#define NAME_BYTES_MAX 64

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || c == '`' ||
	       c == '"' || (unsigned char)c >= 0x80;
}

/* Comments may stand anywhere between words. */
static void pass_blanks(struct str *s)
{
	for (;;) {
		while (s->n && isspace((unsigned char)s->p[0]))
			*s = str_skip(*s, 1);
		if (str_starts(*s, STR("/*")))
			*s = str_skip(*s, str_find(*s, STR("*/")) + 2);
		else if (str_starts(*s, STR("-- ")) || str_starts(*s, STR("#")))
			*s = str_skip(*s, str_find_char(*s, '\n'));
		else
			return;
	}
}

/* The next word, or one other character; a text in quotes counts as one. */
static bool take_token(struct str *s, struct str *word)
{
	size_t n = 0;

	pass_blanks(s);
	if (!s->n)
		return false;
	while (n < s->n && is_word(s->p[n]))
		n++;
	if (!n && s->p[0] == '\'') {
		for (n = 1; n < s->n && s->p[n] != '\''; n++)
			n += s->p[n] == '\\';
		n++;
	}
	*word = str_head(*s, n ? n : 1);
	*s = str_skip(*s, n ? n : 1);
	return true;
}

static bool is_before_table(struct str word)
{
	return str_eq_nocase(word, STR("from")) || str_eq_nocase(word, STR("into")) ||
	       str_eq_nocase(word, STR("update")) || str_eq_nocase(word, STR("table")) ||
	       str_eq_nocase(word, STR("join"));
}

static bool is_filler(struct str word)
{
	return str_eq_nocase(word, STR("only")) || str_eq_nocase(word, STR("if")) ||
	       str_eq_nocase(word, STR("not")) || str_eq_nocase(word, STR("exists")) ||
	       str_eq_nocase(word, STR("table")) || str_eq_nocase(word, STR("low_priority")) ||
	       str_eq_nocase(word, STR("ignore"));
}

static bool is_verb_of_name(struct str verb)
{
	return str_eq_nocase(verb, STR("update")) || str_eq_nocase(verb, STR("copy")) ||
	       str_eq_nocase(verb, STR("truncate")) || str_eq_nocase(verb, STR("call"));
}

static void add_name(struct buf *b, struct str word)
{
	buf_char(b, ' ');
	for (size_t i = 0; i < word.n && i < NAME_BYTES_MAX; i++)
		if (word.p[i] != '`' && word.p[i] != '"')
			buf_char(b, word.p[i]);
}

static void add_verb(struct buf *b, struct str verb)
{
	for (size_t i = 0; i < verb.n && i < NAME_BYTES_MAX; i++)
		buf_char(b, (char)toupper((unsigned char)verb.p[i]));
}

void sql_title(struct buf *b, struct str statement)
{
	struct str s = str_head(statement, READ_BYTES_MAX), verb, word;
	bool is_next = false;

	if (!take_token(&s, &verb)) {
		buf_add(b, STR("(empty)"));
		return;
	}
	while (verb.n == 1 && verb.p[0] == '(' && take_token(&s, &verb))
		;
	add_verb(b, verb);
	is_next = is_verb_of_name(verb);
	while (take_token(&s, &word)) {
		if (is_next && is_word(word.p[0]) && !is_filler(word)) {
			add_name(b, word);
			return;
		}
		is_next = is_before_table(word) || (is_next && is_filler(word));
	}
}

bool sql_looks(struct str text)
{
	static const char *const verbs[] = {
		"select",  "insert",  "update", "delete",    "begin",   "commit",   "rollback",
		"set",     "show",    "create", "drop",      "alter",   "with",     "explain",
		"replace", "call",    "use",    "start",     "desc",    "describe", "truncate",
		"prepare", "execute", "grant",  "lock",      "unlock",  "values",   "declare",
		"fetch",   "close",   "copy",   "savepoint", "release", "vacuum",   "analyze",
		"discard", "reset",   "kill",   "flush",     "load",    "xa",       "deallocate",
		"listen",  "end",     "do"
	};
	struct str s = str_head(text, 512), word;

	if (!take_token(&s, &word))
		return false;
	while (str_eq(word, STR("(")) && take_token(&s, &word))
		;
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (str_eq_nocase(word, str_of(verbs[i])))
			return true;
	return false;
}
