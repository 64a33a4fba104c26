/* Every slash that may begin a path is looked at, because methods alone are words of any text. */
#include "source/request_line.h"

#include <ctype.h>

#define READ_BYTES_MAX 1024

static bool is_method(struct str word)
{
	static const struct str methods[] = { STR("GET"),    STR("POST"),  STR("PUT"),
					      STR("DELETE"), STR("PATCH"), STR("HEAD"),
					      STR("OPTIONS") };

	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (str_eq(word, methods[i]))
			return true;
	return false;
}

/* The method before this place, blanks and a quote between. */
static bool method_before(struct str text, size_t at, struct str *method)
{
	size_t end = at, from;

	if (end && text.p[end - 1] == '"')
		end--;
	if (!end || text.p[end - 1] != ' ')
		return false;
	while (end && text.p[end - 1] == ' ')
		end--;
	if (!end || text.p[end - 1] < 'A' || text.p[end - 1] > 'Z')
		return false;
	for (from = end; from && end - from < 8 && isalpha((unsigned char)text.p[from - 1]);)
		from--;
	*method = (struct str){ text.p + from, end - from };
	return is_method(*method);
}

static bool ends_path(char c)
{
	return (unsigned char)c <= ' ' || c == '"' || c == '\'' || c == ')' || c == ']' || c == ',';
}

bool request_line_find(struct str text, struct str *method, struct str *path)
{
	size_t at = 0;

	text = str_head(text, READ_BYTES_MAX);
	while (at < text.n) {
		size_t from, end;

		at += str_find_char(str_skip(text, at), '/');
		from = at++;
		if (from >= text.n)
			return false;
		/* the scheme of https://host/path belongs to it */
		if (from && text.p[from - 1] == ':')
			for (from--; from && islower((unsigned char)text.p[from - 1]);)
				from--;
		if (!method_before(text, from, method))
			continue;
		for (end = from; end < text.n && !ends_path(text.p[end]);)
			end++;
		*path = (struct str){ text.p + from, end - from };
		return true;
	}
	return false;
}

bool request_line_leads(struct str text, struct str method)
{
	size_t at = (size_t)(method.p - text.p);

	return !at || text.p[at - 1] == '"' || str_ends(str_head(text, at), STR("Started "));
}
