/*
 * The format is that of the Java Virtual Machine Specification, chapter 4, up to Java 21. One walk
 * over the constants finds where each begins; everything else is read on demand through accessors
 * that check kind and range, so that a strange constant harms only what refers to it. An attribute
 * that is cut or lies is counted and left out; only a broken frame (constants, members, attribute
 * lengths) refuses the class.
 */
#include "program/class.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "program/bytes.h"
#include "program/class_attributes.h"

#define MAGIC 0xCAFEBABE

static int cut(struct error *err, const char *what)
{
	return error_set(err, EBADMSG, "class file is cut or damaged in its %s", what);
}

/* How many bytes follow the tag; 0 for a tag that does not exist, UTF8 is told by its length. */
static size_t constant_size(uint8_t tag)
{
	switch (tag) {
	case CONSTANT_CLASS:
	case CONSTANT_STRING:
	case CONSTANT_METHOD_TYPE:
	case CONSTANT_MODULE:
	case CONSTANT_PACKAGE:
		return 2;
	case CONSTANT_HANDLE:
		return 3;
	case CONSTANT_INTEGER:
	case CONSTANT_FLOAT:
	case CONSTANT_FIELD:
	case CONSTANT_METHOD:
	case CONSTANT_INTERFACE_METHOD:
	case CONSTANT_NAME_AND_TYPE:
	case CONSTANT_DYNAMIC:
	case CONSTANT_INVOKE_DYNAMIC:
		return 4;
	case CONSTANT_LONG:
	case CONSTANT_DOUBLE:
		return 8;
	default:
		return 0;
	}
}

static int read_constants(struct class *c, struct str *s, struct arena *a, struct error *err)
{
	uint8_t tag;
	uint16_t length = 0;
	struct str skipped;

	if (!bytes_take_u2(s, &c->nr_constants) || !c->nr_constants)
		return cut(err, "constants");
	c->constants = arena_array(a, uint32_t, c->nr_constants);
	for (uint32_t i = 1; i < c->nr_constants; i++) {
		c->constants[i] = (uint32_t)(s->p - c->bytes.p);
		if (!bytes_take_u1(s, &tag))
			return cut(err, "constants");
		length = (uint16_t)constant_size(tag);
		if (tag == CONSTANT_UTF8 && !bytes_take_u2(s, &length))
			return cut(err, "constants");
		if (tag != CONSTANT_UTF8 && !length)
			return error_set(err, EBADMSG,
					 "class file has a constant of unknown kind %u", tag);
		if (!bytes_take(s, length, &skipped))
			return cut(err, "constants");
		if (tag == CONSTANT_LONG || tag == CONSTANT_DOUBLE)
			i++; /* takes two places, the second is empty */
	}
	c->constants_end = (uint32_t)(s->p - c->bytes.p);
	return 0;
}

/* What follows the tag of the constant; empty when there is none. */
static struct str constant_body(const struct class *c, uint16_t constant)
{
	if (class_tag(c, constant) == CONSTANT_NONE)
		return STR("");
	return str_skip(c->bytes, c->constants[constant] + 1);
}

enum constant_tag class_tag(const struct class *c, uint16_t constant)
{
	if (constant >= c->nr_constants || !c->constants[constant])
		return CONSTANT_NONE;
	return (enum constant_tag)(uint8_t)c->bytes.p[c->constants[constant]];
}

struct str class_utf8(const struct class *c, uint16_t constant)
{
	struct str body = constant_body(c, constant), text = STR("");
	uint16_t n;

	if (class_tag(c, constant) != CONSTANT_UTF8)
		return STR("");
	if (bytes_take_u2(&body, &n))
		bytes_take(&body, n, &text);
	return text;
}

struct str class_named(const struct class *c, uint16_t constant)
{
	struct str body = constant_body(c, constant);
	uint16_t name;

	switch (class_tag(c, constant)) {
	case CONSTANT_CLASS:
	case CONSTANT_STRING:
	case CONSTANT_METHOD_TYPE:
	case CONSTANT_MODULE:
	case CONSTANT_PACKAGE:
		return bytes_take_u2(&body, &name) ? class_utf8(c, name) : STR("");
	default:
		return STR("");
	}
}

bool class_name_and_type(const struct class *c, uint16_t constant, struct member_ref *m)
{
	struct str body = constant_body(c, constant);
	uint16_t name, type;

	if (class_tag(c, constant) != CONSTANT_NAME_AND_TYPE || !bytes_take_u2(&body, &name) ||
	    !bytes_take_u2(&body, &type))
		return false;
	m->name = class_utf8(c, name);
	m->type = class_utf8(c, type);
	return m->name.n && m->type.n;
}

bool class_member(const struct class *c, uint16_t constant, struct member_ref *m)
{
	struct str body = constant_body(c, constant);
	uint16_t first, second;

	if (!bytes_take_u2(&body, &first) || !bytes_take_u2(&body, &second))
		return false;
	*m = (struct member_ref){ .owner = STR("") };
	switch (class_tag(c, constant)) {
	case CONSTANT_FIELD:
	case CONSTANT_METHOD:
	case CONSTANT_INTERFACE_METHOD:
		m->owner = class_named(c, first);
		return m->owner.n && class_name_and_type(c, second, m);
	case CONSTANT_DYNAMIC:
	case CONSTANT_INVOKE_DYNAMIC:
		m->bootstrap = first;
		return class_name_and_type(c, second, m);
	default:
		return false;
	}
}

bool class_handle(const struct class *c, uint16_t constant, struct handle_ref *h)
{
	struct str body = constant_body(c, constant);
	uint16_t member;

	return class_tag(c, constant) == CONSTANT_HANDLE && bytes_take_u1(&body, &h->kind) &&
	       bytes_take_u2(&body, &member) && class_member(c, member, &h->member);
}

bool class_number(const struct class *c, uint16_t constant, int64_t *bits)
{
	struct str body = constant_body(c, constant);
	uint64_t wide;
	uint32_t narrow;

	switch (class_tag(c, constant)) {
	case CONSTANT_INTEGER:
	case CONSTANT_FLOAT:
		if (!bytes_take_u4(&body, &narrow))
			return false;
		*bits = (int32_t)narrow;
		return true;
	case CONSTANT_LONG:
	case CONSTANT_DOUBLE:
		if (!bytes_take_u8(&body, &wide))
			return false;
		*bits = (int64_t)wide;
		return true;
	default:
		return false;
	}
}

static int read_member(struct class *c, struct str *s, struct member *m, struct arena *a,
		       struct error *err)
{
	uint16_t name, type;

	if (!bytes_take_u2(s, &m->access) || !bytes_take_u2(s, &name) || !bytes_take_u2(s, &type))
		return cut(err, "members");
	m->name = class_utf8(c, name);
	m->type = class_utf8(c, type);
	m->signature = STR("");
	if (!m->name.n || !m->type.n)
		return error_set(err, EBADMSG, "class file has a member without name or type");
	if (!class_member_attributes(c, s, m, a))
		return cut(err, "attributes");
	return 0;
}

static int read_members(struct class *c, struct str *s, struct member **members, uint16_t *nr,
			struct arena *a, struct error *err)
{
	int r;

	if (!bytes_take_u2(s, nr))
		return cut(err, "members");
	if (*nr > s->n / 8)
		return cut(err, "members");
	*members = arena_array(a, struct member, (size_t)*nr + 1);
	for (uint16_t i = 0; i < *nr; i++) {
		r = read_member(c, s, &(*members)[i], a, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_kin(struct class *c, struct str *s, struct arena *a, struct error *err)
{
	uint16_t this, super, interface;

	if (!bytes_take_u2(s, &c->access) || !bytes_take_u2(s, &this) ||
	    !bytes_take_u2(s, &super) || !bytes_take_u2(s, &c->nr_interfaces) ||
	    c->nr_interfaces > s->n / 2)
		return cut(err, "head");
	c->name = class_named(c, this);
	c->super = class_named(c, super);
	if (!c->name.n)
		return error_set(err, EBADMSG, "class file does not tell its name");
	c->interfaces = arena_array(a, struct str, (size_t)c->nr_interfaces + 1);
	for (uint16_t i = 0; i < c->nr_interfaces; i++) {
		if (!bytes_take_u2(s, &interface))
			return cut(err, "interfaces");
		c->interfaces[i] = class_named(c, interface);
	}
	return 0;
}

int class_read(struct class *c, struct str bytes, struct arena *a, struct error *err)
{
	struct str s = bytes;
	uint32_t magic;
	int r;

	*c = (struct class){ .bytes = bytes,
			     .source = STR(""),
			     .signature = STR(""),
			     .outer_class = STR(""),
			     .outer_method = STR("") };
	if (!bytes_take_u4(&s, &magic) || magic != MAGIC)
		return error_set(err, EBADMSG, "not a class file");
	if (!bytes_take_u2(&s, &c->minor) || !bytes_take_u2(&s, &c->major))
		return cut(err, "head");
	r = read_constants(c, &s, a, err);
	if (r >= 0)
		r = read_kin(c, &s, a, err);
	if (r >= 0)
		r = read_members(c, &s, &c->fields, &c->nr_fields, a, err);
	if (r >= 0)
		r = read_members(c, &s, &c->methods, &c->nr_methods, a, err);
	if (r >= 0 && !class_own_attributes(c, &s, a))
		r = cut(err, "attributes");
	return r < 0 ? r : 0;
}

uint16_t code_line(const struct code *code, uint32_t pc)
{
	uint16_t line = 0;

	for (uint32_t low = 0, high = code->nr_lines; low < high;) {
		uint32_t mid = low + (high - low) / 2;

		if (code->lines[mid].pc <= pc) {
			line = code->lines[mid].line;
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return line;
}
