/*
 * By shape: methods of one class that take a stream to write to, and one to read from, with names
 * that go together (write and readFields, serialize and deserialize, encodeX and decodeX). Of
 * messages made by a protocol compiler, the building and the parsing. Of Java's own serialization,
 * the class of the object.
 */
#include "program/serial.h"

#include "program/descriptor.h"
#include "program/origin.h"

static bool ends_with_any(struct str s, const struct str *endings, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (str_ends(s, endings[i]))
			return true;
	return false;
}

static bool takes_any(struct str type, const struct str *endings, size_t nr)
{
	struct str rest = descriptor_parameters(type), one;

	while (descriptor_take(&rest, &one))
		if (ends_with_any(one, endings, nr))
			return true;
	return false;
}

static bool takes_output(struct str type)
{
	static const struct str outputs[] = { STR("DataOutput;"),         STR("DataOutputStream;"),
					      STR("DataOutputPlus;"),     STR("ObjectOutput;"),
					      STR("ObjectOutputStream;"), STR("/OutputStream;"),
					      STR("CodedOutputStream;"),  STR("OutputArchive;") };

	return takes_any(type, outputs, sizeof(outputs) / sizeof(*outputs));
}

static bool takes_input(struct str type)
{
	static const struct str inputs[] = { STR("DataInput;"),         STR("DataInputStream;"),
					     STR("DataInputPlus;"),     STR("ObjectInput;"),
					     STR("ObjectInputStream;"), STR("/InputStream;"),
					     STR("CodedInputStream;"),  STR("InputArchive;") };

	return takes_any(type, inputs, sizeof(inputs) / sizeof(*inputs));
}

/* What is left of the name behind the verb: "" of write, "Header" of writeHeader. */
static bool take_verb(struct str *name, const struct str *verbs, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (str_take(name, verbs[i]))
			return true;
	return false;
}

static bool take_writing(struct str *name)
{
	static const struct str verbs[] = { STR("writeFields"), STR("writeTo"), STR("write"),
					    STR("serialize"),   STR("encode"),  STR("marshall") };

	return take_verb(name, verbs, sizeof(verbs) / sizeof(*verbs));
}

static bool take_reading(struct str *name)
{
	static const struct str verbs[] = {
		STR("readFields"),  STR("readFrom"), STR("read"),
		STR("deserialize"), STR("decode"),   STR("unmarshall")
	};

	return take_verb(name, verbs, sizeof(verbs) / sizeof(*verbs));
}

static bool is_given(const struct program *p, struct str type)
{
	return type.n && type.p[0] == 'L' && program_class(p, descriptor_class(type)) != NO_CLASS;
}

/* A message: its class has a parser. */
static bool is_message(const struct program *p, struct str class)
{
	uint32_t number = program_class(p, class);
	const struct class *c;

	if (number == NO_CLASS)
		return false;
	c = &p->classes.v[number].c;
	for (uint16_t i = 0; i < c->nr_methods; i++)
		if (c->methods[i].access & ACCESS_STATIC &&
		    str_eq(c->methods[i].name, STR("parseFrom")))
			return true;
	return false;
}

static enum serial message_of(const struct program *p, const struct member_ref *m, struct str *what)
{
	struct str made = descriptor_class(descriptor_result(m->type));

	if (str_eq(m->name, STR("build")) && str_ends(m->owner, STR("$Builder")) &&
	    is_message(p, made)) {
		*what = origin_simple(made);
		return SERIAL_WRITES;
	}
	if ((str_eq(m->name, STR("parseFrom")) || str_eq(m->name, STR("parseDelimitedFrom"))) &&
	    str_eq(made, m->owner) && is_message(p, made)) {
		*what = origin_simple(made);
		return SERIAL_READS;
	}
	return SERIAL_NOT;
}

/* Helpers for numbers and strings are used everywhere and tie nothing. */
static bool is_of_class(const struct program *p, const struct member_ref *m, uint32_t class)
{
	uint32_t method = program_resolve(p, class, names_find(&p->names, m->name),
					  names_find(&p->names, m->type));
	struct str rest = descriptor_parameters(m->type), one;

	if (method == NO_METHOD)
		return false;
	if (!(p->methods.v[method].member->access & ACCESS_STATIC) ||
	    is_given(p, descriptor_result(m->type)))
		return true;
	while (descriptor_take(&rest, &one))
		if (is_given(p, one))
			return true;
	return false;
}

enum serial serial_of(const struct program *p, const struct member_ref *m, struct arena *a,
		      struct str *what)
{
	enum serial s = message_of(p, m, what);
	uint32_t class = program_class(p, m->owner);
	struct str name = m->name, owner;

	if (s != SERIAL_NOT || class == NO_CLASS || p->classes.v[class].c.access & ACCESS_INTERFACE)
		return s;
	if (takes_output(m->type) && take_writing(&name))
		s = SERIAL_WRITES;
	else if (takes_input(m->type) && take_reading(&name))
		s = SERIAL_READS;
	if (s == SERIAL_NOT || !is_of_class(p, m, class))
		return SERIAL_NOT;
	owner = origin_simple(m->owner);
	*what = name.n ? arena_fmt(a, STR_FMT "." STR_FMT, STR_ARG(owner), STR_ARG(name)) : owner;
	return s;
}

/* The class that the value is cast to, where it is. */
static struct str cast_of(struct where w)
{
	const struct values *v = w.scope->v;

	for (uint32_t i = w.value + 1; i < v->nr; i++)
		if (v->v[i].kind == VALUE_CAST && v->args[v->v[i].first] == w.value)
			return class_named(v->class, v->v[i].constant);
	return STR("");
}

enum serial serial_of_object(struct where call, struct str *what)
{
	const struct program *p = call.scope->all->program;
	struct member_ref m;
	enum serial s;
	struct str class;

	if (!where_member(call, &m))
		return SERIAL_NOT;
	if (str_eq(m.name, STR("writeObject")) && str_starts(m.owner, STR("java/io/Object")) &&
	    where_value(call)->nr == 2) {
		class = descriptor_class(where_type(where_source(where_arg(call, 1))));
		s = SERIAL_WRITES;
	} else if (str_eq(m.name, STR("readObject")) &&
		   str_starts(m.owner, STR("java/io/Object"))) {
		class = cast_of(call);
		s = SERIAL_READS;
	} else {
		return SERIAL_NOT;
	}
	if (program_class(p, class) == NO_CLASS)
		return SERIAL_NOT;
	*what = origin_simple(class);
	return s;
}

bool serial_is_part(const struct member *m)
{
	struct str name = m->name;

	return (takes_output(m->type) && take_writing(&name)) ||
	       (takes_input(m->type) && take_reading(&name));
}
