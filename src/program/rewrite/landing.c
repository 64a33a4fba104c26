/* What can be loaded where something is thrown out of a method: its parameters, those that are seen
 * in all of it. References are told as of class Object, which whatever frames say of them is. */
#include "program/descriptor.h"
#include "program/parameters.h"
#include "program/rewrite/own.h"

static void add_value(struct landing *l, uint8_t value)
{
	put_u1(&l->locals, value);
	l->nr_locals++;
}

static bool add_object(struct landing *l, struct rewrite *r)
{
	uint16_t object = rewrite_class_named(r, STR("java/lang/Object"));

	if (!object)
		return false;
	add_value(l, VALUE_OBJECT);
	put_u2(&l->locals, object);
	return true;
}

static bool add_parameter(struct landing *l, struct rewrite *r, char type)
{
	switch (type) {
	case 'J':
		add_value(l, VALUE_LONG);
		return true;
	case 'D':
		add_value(l, VALUE_DOUBLE);
		return true;
	case 'F':
		add_value(l, VALUE_FLOAT);
		return true;
	case 'L':
	case '[':
		return add_object(l, r);
	default:
		add_value(l, VALUE_INTEGER);
		return true;
	}
}

static bool add_seen(struct landing *l, struct rewrite *r, const struct member *method,
		     uint16_t slot, struct str type)
{
	if (rewrite_sees(method, slot, type.p[0]))
		return add_parameter(l, r, type.p[0]);
	for (unsigned words = descriptor_slots(type); words; words--)
		add_value(l, VALUE_TOP);
	return true;
}

bool landing_locals(struct landing *l, struct rewrite *r, const struct member *method)
{
	struct parameters p;

	/* a JVM does not take such a method; what it says of it is its own word */
	if (!parameters_read(&p, method->type, method->access & ACCESS_STATIC))
		return true;
	if (p.has_this && !add_seen(l, r, method, 0, STR("L")))
		return false;
	for (uint16_t i = 0; i < p.nr; i++)
		if (!add_seen(l, r, method, p.v[i].slot, p.v[i].type))
			return false;
	return true;
}
