/*
 * The demangler of the C++ library writes a whole declaration, "void ns::f<int>(char) const": the
 * name is what lies between the last blank in front of the arguments and the arguments. Brackets
 * are counted, and "operator" takes what follows as its name.
 *
 * Names that refer to earlier parts of themselves many times may grow without bounds when they are
 * written out; those stay as they are.
 */
#include "program/functions_name.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/mem.h"

enum { MANGLED_MAX = 1024, REFERENCES_MAX = 30 };

char *__cxa_demangle(const char *mangled, char *buf, size_t *room, int *status);

void function_namer_done(struct function_namer *n)
{
	free(n->text);
	buf_done(&n->zero);
	buf_done(&n->folded);
	*n = (struct function_namer){ 0 };
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Whether the suffix behind a dot is one of a compiler. */
static bool is_clone_word(struct str word)
{
	static const char *const words[] = { "isra",     "part",  "constprop",  "cold",
					     "lto_priv", "llvm",  "localalias", "resolver",
					     "clone",    "split", "unlikely",   "hot",
					     "warm",     "__uniq" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (str_eq(word, str_of(words[i])))
			return true;
	return false;
}

static bool is_number(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isdigit((unsigned char)s.p[i]))
			return false;
	return s.n > 0;
}

/* Position of the last dot, or s.n. */
static size_t last_dot(struct str s)
{
	for (size_t i = s.n; i-- > 1;)
		if (s.p[i] == '.')
			return i;
	return s.n;
}

struct str function_without_clone(struct str s)
{
	size_t version = str_find_char(s, '@');

	if (version)
		s = str_head(s, version);
	for (;;) {
		size_t dot = last_dot(s), front;
		struct str word = str_skip(s, dot + 1);

		if (is_number(word)) { /* ".part.0": the number belongs to the word before */
			front = last_dot(str_head(s, dot));
			if (front == dot)
				return s;
			word = str_skip(str_head(s, dot), front + 1);
			dot = front;
		}
		if (dot == s.n || !is_clone_word(word))
			return s;
		s = str_head(s, dot);
	}
}

bool function_is_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (iscntrl((unsigned char)s.p[i]))
			return false;
	return s.n > 0 && s.p[0] != ' ';
}

bool function_is_cold(struct str s)
{
	size_t at = str_find(s, STR(".cold"));

	return at < s.n && (at + 5 == s.n || s.p[at + 5] == '.');
}

static bool refers_too_often(struct str s)
{
	unsigned nr = 0;

	for (size_t i = 0; i + 1 < s.n; i++) {
		size_t k = i + 1;

		if (s.p[i] != 'S' && s.p[i] != 'T')
			continue;
		while (k < s.n &&
		       (isdigit((unsigned char)s.p[k]) || isupper((unsigned char)s.p[k])))
			k++;
		nr += k < s.n && s.p[k] == '_';
	}
	return nr > REFERENCES_MAX;
}

static struct str demangled(struct function_namer *n, struct str symbol)
{
	int status = -1;
	size_t room = n->room;
	char *text;

	if (!str_starts(symbol, STR("_Z")) || symbol.n > MANGLED_MAX || refers_too_often(symbol))
		return symbol;
	buf_clear(&n->zero);
	buf_add(&n->zero, symbol);
	buf_char(&n->zero, '\0');
	if (!n->text)
		n->text = mem_alloc(n->room = room = 4096);
	text = __cxa_demangle(n->zero.p, n->text, &room, &status);
	if (!text || status)
		return symbol;
	n->text = text; /* it may have been moved to have more room */
	if (room > n->room)
		n->room = room;
	return str_of(text);
}

/* Behind the bracket that closes the one at the place given. */
static size_t behind_bracket(struct str s, size_t at)
{
	static const char opening[] = "(<{[", closing[] = ")>}]";
	unsigned depth = 0;

	for (; at < s.n; at++) {
		if (s.p[at] == '-' && at + 1 < s.n && s.p[at + 1] == '>') {
			at++;
			continue;
		}
		if (strchr(opening, s.p[at]) && s.p[at])
			depth++;
		else if (strchr(closing, s.p[at]) && s.p[at] && !--depth)
			return at + 1;
	}
	return s.n;
}

/* Behind "operator" and what it is: "operator()", "operator<<", "operator new[]", "operator
 * bool". */
static size_t behind_operator(struct str s, size_t at)
{
	at += 8;
	if (str_starts(str_skip(s, at), STR("()")))
		return at + 2;
	if (at < s.n && s.p[at] == ' ') { /* a word or a type: up to the arguments */
		while (at < s.n && s.p[at] != '(')
			at = s.p[at] == '<' ? behind_bracket(s, at) : at + 1;
		return at;
	}
	while (at < s.n && strchr("<>=!+-*/%^&|~,[]", s.p[at]) && s.p[at]) {
		/* "operator< <int>" has a blank, but "operator-<int>" has none */
		if (s.p[at] == '<' && at + 1 < s.n && is_word(s.p[at + 1]))
			break;
		at++;
	}
	return at;
}

static bool is_operator(struct str s, size_t at)
{
	return s.p[at] == 'o' && str_starts(str_skip(s, at), STR("operator")) &&
	       (!at || !is_word(s.p[at - 1])) && (at + 8 >= s.n || !is_word(s.p[at + 8]));
}

/* Whether a name goes on behind arguments: "f(int) const::{lambda()#1}". */
static bool goes_on(struct str rest)
{
	str_take(&rest, STR(" const"));
	return str_starts(rest, STR("::"));
}

/* Of a whole declaration: the name. */
static struct str name_in(struct str s)
{
	size_t from = 0, at = 0;

	while (at < s.n) {
		size_t next = at + 1;

		if (is_operator(s, at)) {
			next = behind_operator(s, at);
		} else if (s.p[at] == ' ') {
			from = next;
		} else if (s.p[at] == '<' || s.p[at] == '{' || s.p[at] == '[') {
			next = behind_bracket(s, at);
		} else if (s.p[at] == '(') {
			next = behind_bracket(s, at);
			if (!goes_on(str_skip(s, next)) && at > from)
				break;
		}
		if (next < s.n && str_starts(str_skip(s, next), STR(" const::")))
			next += 6;
		at = next;
	}
	return at > from ? str_skip(str_head(s, at), from) : s;
}

struct str function_plain(struct function_namer *n, struct str symbol)
{
	struct str bare = function_without_clone(symbol);
	struct str whole = demangled(n, bare);

	return whole.p == bare.p ? bare : name_in(whole);
}

/* "::h" and 16 digits behind names that Rust made. */
static struct str without_hash(struct str s)
{
	struct str tail = s.n > 19 ? str_skip(s, s.n - 19) : STR("");
	uint64_t hash;

	if (!str_take(&tail, STR("::h")) || !str_take_hex(&tail, &hash) || tail.n)
		return s;
	return str_head(s, s.n - 19);
}

struct str function_folded(struct function_namer *n, struct str s)
{
	struct str folded;
	size_t at = 0;

	s = without_hash(function_without_clone(s));
	if (str_find_char(s, '<') == s.n && str_find_char(s, '[') == s.n)
		return s;
	buf_clear(&n->folded);
	while (at < s.n) {
		size_t next = at + 1;
		bool is_kept = true;

		if (is_operator(s, at)) {
			next = behind_operator(s, at);
		} else if (at && (s.p[at] == '<' || s.p[at] == '[')) {
			next = behind_bracket(s, at);
			is_kept = false;
		}
		if (is_kept)
			buf_add(&n->folded, str_head(str_skip(s, at), next - at));
		at = next;
	}
	folded = str_trim(buf_str(&n->folded));
	return folded.n ? folded : s;
}
