#include "program/descriptor.h"

bool descriptor_take(struct str *s, struct str *type)
{
	size_t i = 0, end;

	while (i < s->n && s->p[i] == '[')
		i++;
	if (i == s->n || s->p[i] == ')' || s->p[i] == '(')
		return false;
	end = s->p[i] == 'L' ? i + str_find_char(str_skip(*s, i), ';') : i;
	if (end >= s->n)
		return false;
	*type = str_head(*s, end + 1);
	*s = str_skip(*s, end + 1);
	return true;
}

struct str descriptor_parameters(struct str method)
{
	struct str inside;

	if (!str_take_char(&method, '(') || !str_take_until(&method, ')', &inside))
		return STR("");
	return inside;
}

struct str descriptor_result(struct str method)
{
	return str_skip(method, str_find_char(method, ')') + 1);
}

struct str descriptor_class(struct str type)
{
	if (type.n > 2 && type.p[0] == 'L')
		return (struct str){ type.p + 1, type.n - 2 };
	return type;
}
