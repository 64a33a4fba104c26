#include "program/parameters.h"

#include "program/descriptor.h"

#define DIMENSIONS_MAX 255

/* descriptor_take finds where a type ends; whether it is one is seen here. */
static bool is_type(struct str type)
{
	size_t dimensions = 0;

	while (dimensions < type.n && type.p[dimensions] == '[')
		dimensions++;
	if (dimensions > DIMENSIONS_MAX)
		return false;
	type = str_skip(type, dimensions);
	if (type.n > 2 && type.p[0] == 'L')
		return true;
	return type.n == 1 && memchr("BCDFIJSZ", type.p[0], 8);
}

static bool read_result(struct parameters *p, struct str s)
{
	p->result = s;
	if (str_eq(s, STR("V")))
		return true;
	return descriptor_take(&s, &p->result) && !s.n && is_type(p->result);
}

bool parameters_read(struct parameters *p, struct str descriptor, bool is_static)
{
	struct str s = descriptor;
	uint32_t slot = is_static ? 0 : 1;

	p->nr = 0;
	p->has_this = !is_static;
	if (!str_take_char(&s, '('))
		return false;
	while (!str_take_char(&s, ')')) {
		struct str type;

		if (!descriptor_take(&s, &type) || !is_type(type))
			return false;
		if (slot + descriptor_slots(type) > PARAMETERS_MAX)
			return false;
		p->v[p->nr++] = (struct parameter){ .type = type, .slot = (uint16_t)slot };
		slot += descriptor_slots(type);
	}
	return read_result(p, s);
}
