/* Writes class files byte by byte, those included that no compiler would. */
#ifndef CULPRIT_TESTS_CLASS_WRITER_H
#define CULPRIT_TESTS_CLASS_WRITER_H

#include "base/buf.h"
#include "unit.h"

struct class_writer {
	struct buf constants, interfaces, fields, methods;
	uint16_t nr_constants, nr_interfaces, nr_fields, nr_methods;
	uint16_t access, name, super;
};

static inline void put_u1(struct buf *b, unsigned v)
{
	buf_char(b, (char)v);
}

static inline void put_u2(struct buf *b, unsigned v)
{
	put_u1(b, v >> 8 & 0xff);
	put_u1(b, v & 0xff);
}

static inline void put_u4(struct buf *b, uint32_t v)
{
	put_u2(b, v >> 16);
	put_u2(b, v & 0xffff);
}

static inline uint16_t writer_utf8(struct class_writer *w, const char *text)
{
	put_u1(&w->constants, 1);
	put_u2(&w->constants, (unsigned)strlen(text));
	buf_add(&w->constants, str_of(text));
	return ++w->nr_constants;
}

/* CLASS 7, STRING 8: one index. */
static inline uint16_t writer_named(struct class_writer *w, unsigned tag, const char *text)
{
	uint16_t name = writer_utf8(w, text);

	put_u1(&w->constants, tag);
	put_u2(&w->constants, name);
	return ++w->nr_constants;
}

static inline uint16_t writer_class(struct class_writer *w, const char *name)
{
	return writer_named(w, 7, name);
}

/* FIELD 9, METHOD 10, INTERFACE_METHOD 11. */
static inline uint16_t writer_member(struct class_writer *w, unsigned tag, const char *owner,
				     const char *name, const char *type)
{
	uint16_t class = writer_class(w, owner), n = writer_utf8(w, name), t = writer_utf8(w, type);

	put_u1(&w->constants, 12);
	put_u2(&w->constants, n);
	put_u2(&w->constants, t);
	put_u1(&w->constants, tag);
	put_u2(&w->constants, class);
	put_u2(&w->constants, ++w->nr_constants);
	return ++w->nr_constants;
}

/* super NULL: none, as for Object. */
static inline void writer_init(struct class_writer *w, const char *name, const char *super)
{
	*w = (struct class_writer){ .access = 0x21 };
	w->name = writer_class(w, name);
	w->super = super ? writer_class(w, super) : 0;
}

static inline void writer_interface(struct class_writer *w, const char *name)
{
	put_u2(&w->interfaces, writer_class(w, name));
	w->nr_interfaces++;
}

/* guards: eight bytes each, as the format has them. */
static inline void writer_method(struct class_writer *w, const char *name, const char *type,
				 unsigned stack, unsigned locals, struct str code,
				 struct str guards)
{
	uint16_t attribute = writer_utf8(w, "Code");

	put_u2(&w->methods, 0x9); /* public static */
	put_u2(&w->methods, writer_utf8(w, name));
	put_u2(&w->methods, writer_utf8(w, type));
	put_u2(&w->methods, 1);
	put_u2(&w->methods, attribute);
	put_u4(&w->methods, (uint32_t)(12 + code.n + guards.n));
	put_u2(&w->methods, stack);
	put_u2(&w->methods, locals);
	put_u4(&w->methods, (uint32_t)code.n);
	buf_add(&w->methods, code);
	put_u2(&w->methods, (unsigned)(guards.n / 8));
	buf_add(&w->methods, guards);
	put_u2(&w->methods, 0);
	w->nr_methods++;
}

/* The bytes of the class; the writer is empty afterwards. */
static inline void writer_done(struct class_writer *w, unsigned major, struct buf *to)
{
	put_u4(to, 0xcafebabe);
	put_u2(to, 0);
	put_u2(to, major);
	put_u2(to, w->nr_constants + 1U);
	buf_add(to, buf_str(&w->constants));
	put_u2(to, w->access);
	put_u2(to, w->name);
	put_u2(to, w->super);
	put_u2(to, w->nr_interfaces);
	buf_add(to, buf_str(&w->interfaces));
	put_u2(to, w->nr_fields);
	buf_add(to, buf_str(&w->fields));
	put_u2(to, w->nr_methods);
	buf_add(to, buf_str(&w->methods));
	put_u2(to, 0);
	buf_done(&w->constants);
	buf_done(&w->interfaces);
	buf_done(&w->fields);
	buf_done(&w->methods);
}

#endif
