/* A class file (JVMS 4) copied, with constants added and the code of some methods exchanged. */
#include "program/rewrite/rewrite.h"

#include <errno.h>

#include "base/error.h"
#include "base/vec.h"
#include "program/bytes.h"
#include "program/insn.h"
#include "program/rewrite/own.h"

#define HEAD_BYTES 8 /* magic and version */
#define CONSTANTS_MAX 65535

typedef VEC(struct rewrite_put) put_list;

void rewrite_done(struct rewrite *r)
{
	buf_done(&r->constants);
}

/* --- constants ----------------------------------------------------------------------------- */

static unsigned hash_of(struct str s)
{
	uint32_t hash = 2166136261; /* FNV-1a */

	for (size_t i = 0; i < s.n; i++)
		hash = (hash ^ (uint8_t)s.p[i]) * 16777619;
	return (hash ^ hash >> 16) % REWRITE_RECENT;
}

/* The number of one that was added before, or is added now. */
static uint16_t number_of(struct rewrite *r, struct str constant)
{
	__typeof__(&*r->recent) recent = &r->recent[hash_of(constant)];
	struct str there = str_head(str_skip(buf_str(&r->constants), recent->at), recent->bytes);
	uint32_t number = r->class->nr_constants + r->nr;

	if (recent->number && str_eq(there, constant))
		return recent->number;
	if (number >= CONSTANTS_MAX)
		return 0;
	recent->at = (uint32_t)r->constants.n;
	recent->bytes = (uint32_t)constant.n;
	recent->number = (uint16_t)number;
	buf_add(&r->constants, constant);
	r->nr++;
	return (uint16_t)number;
}

/* The same of what was written apart, which is given back. */
static uint16_t number_of_made(struct rewrite *r, struct buf *made)
{
	uint16_t number = number_of(r, buf_str(made));

	buf_done(made);
	return number;
}

uint16_t rewrite_utf8(struct rewrite *r, struct str text)
{
	struct buf made = { 0 };

	if (text.n > UINT16_MAX)
		return 0;
	put_u1(&made, CONSTANT_UTF8);
	put_u2(&made, (uint32_t)text.n);
	buf_add(&made, text);
	return number_of_made(r, &made);
}

/* One that names one or two others. */
static uint16_t constant_of(struct rewrite *r, enum constant_tag tag, uint16_t a, uint16_t b)
{
	struct buf made = { 0 };

	if (!a || (!b && tag != CONSTANT_CLASS))
		return 0;
	put_u1(&made, (uint8_t)tag);
	put_u2(&made, a);
	if (tag != CONSTANT_CLASS)
		put_u2(&made, b);
	return number_of_made(r, &made);
}

uint16_t rewrite_class_named(struct rewrite *r, struct str name)
{
	return constant_of(r, CONSTANT_CLASS, rewrite_utf8(r, name), 0);
}

uint16_t rewrite_integer(struct rewrite *r, int32_t number)
{
	struct buf made = { 0 };

	put_u1(&made, CONSTANT_INTEGER);
	put_u4(&made, (uint32_t)number);
	return number_of_made(r, &made);
}

uint16_t rewrite_method(struct rewrite *r, struct str owner, struct str name, struct str type)
{
	uint16_t class = rewrite_class_named(r, owner);
	uint16_t called = rewrite_utf8(r, name), typed = rewrite_utf8(r, type);

	return constant_of(r, CONSTANT_METHOD, class,
			   constant_of(r, CONSTANT_NAME_AND_TYPE, called, typed));
}

bool rewrite_push(struct rewrite *r, struct buf *code, int32_t number)
{
	uint16_t constant = 0;

	if (number >= -1 && number <= 5) {
		put_u1(code, (uint8_t)(OP_ICONST_M1 + 1 + number));
	} else if (number == (int8_t)number) {
		put_u1(code, OP_BIPUSH);
		put_u1(code, (uint8_t)number);
	} else if (number == (int16_t)number) {
		put_u1(code, OP_SIPUSH);
		put_u2(code, (uint16_t)number);
	} else {
		constant = rewrite_integer(r, number);
		if (!constant)
			return false;
		put_u1(code, OP_LDC_W);
		put_u2(code, constant);
	}
	return true;
}

/* --- the class ----------------------------------------------------------------------------- */

/* The one attribute of a method that changes. */
static bool is_code(const struct rewrite *r, uint16_t name)
{
	return str_eq(class_utf8(r->class, name), STR("Code"));
}

static const char *write_changed(struct rewrite *r, uint16_t method, struct str body,
				 const struct rewrite_put *puts, size_t nr, struct buf *out)
{
	struct buf code = { 0 };
	const char *why = rewrite_code(r, &r->class->methods[method], body, puts, nr, &code);

	if (!why) {
		put_u4(out, (uint32_t)code.n);
		buf_add(out, buf_str(&code));
	}
	buf_done(&code);
	return why;
}

static void refuse(struct rewrite_put *puts, size_t nr, uint16_t method, const char *why)
{
	for (size_t i = 0; i < nr; i++)
		if (puts[i].method == method && !puts[i].refused)
			puts[i].refused = why;
}

struct copying {
	struct rewrite *r;
	struct rewrite_put *puts;
	size_t nr;
	struct str s; /* what is not copied yet */
	struct buf *out;
};

static bool copy(struct copying *c, size_t n)
{
	struct str part;

	if (!bytes_take(&c->s, n, &part))
		return false;
	buf_add(c->out, part);
	return true;
}

static bool copy_u2(struct copying *c, uint16_t *v)
{
	if (!bytes_take_u2(&c->s, v))
		return false;
	put_u2(c->out, *v);
	return true;
}

/* method: its number, with what is put into it; NULL: as they are. */
static bool copy_attributes(struct copying *c, uint16_t method, const put_list *own)
{
	uint16_t nr, name;
	uint32_t length;
	struct str body;

	if (!copy_u2(c, &nr))
		return false;
	for (uint16_t i = 0; i < nr; i++) {
		const char *why = "";

		if (!copy_u2(c, &name) || !bytes_take_u4(&c->s, &length) ||
		    !bytes_take(&c->s, length, &body))
			return false;
		if (own && own->nr && is_code(c->r, name)) {
			why = write_changed(c->r, method, body, own->v, own->nr, c->out);
			refuse(c->puts, c->nr, method, why);
		}
		if (why) {
			put_u4(c->out, length);
			buf_add(c->out, body);
		}
	}
	return true;
}

static bool copy_fields(struct copying *c)
{
	uint16_t nr;

	if (!copy_u2(c, &nr))
		return false;
	for (uint16_t i = 0; i < nr; i++)
		if (!copy(c, 6) || !copy_attributes(c, 0, NULL))
			return false;
	return true;
}

static bool copy_methods(struct copying *c)
{
	put_list own = { 0 };
	uint16_t nr;
	bool is = copy_u2(c, &nr);

	for (uint16_t i = 0; is && i < nr; i++) {
		vec_clear(&own);
		for (size_t k = 0; k < c->nr; k++)
			if (c->puts[k].method == i && !c->puts[k].refused)
				vec_push(&own, c->puts[k]);
		is = copy(c, 6) && copy_attributes(c, i, &own);
	}
	vec_done(&own);
	return is;
}

static bool copy_class(struct copying *c)
{
	uint16_t nr;

	return copy(c, 6) && copy_u2(c, &nr) && copy(c, 2 * (size_t)nr) && copy_fields(c) &&
	       copy_methods(c) && copy_attributes(c, 0, NULL) && !c->s.n;
}

/* What nothing can be put into. */
static void refuse_first(struct rewrite *r, struct rewrite_put *puts, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		puts[i].refused = NULL;
		if (puts[i].method >= r->class->nr_methods)
			puts[i].refused = "there is no such method";
		else if (!r->class->methods[puts[i].method].code)
			puts[i].refused = "it has no code: it is abstract or native";
		/* before another constructor has run nothing may be caught for good */
		else if (puts[i].where == REWRITE_THROW &&
			 str_eq(r->class->methods[puts[i].method].name, STR("<init>")))
			puts[i].refused = "what a constructor throws cannot be caught in all of it";
	}
}

int rewrite_write(struct rewrite *r, struct rewrite_put *puts, size_t nr, struct buf *out,
		  struct error *err)
{
	struct buf rest = { 0 };
	struct copying c = { .r = r,
			     .puts = puts,
			     .nr = nr,
			     .s = str_skip(r->class->bytes, r->class->constants_end),
			     .out = &rest };
	uint32_t end = r->class->constants_end - HEAD_BYTES - 2;
	bool is;

	refuse_first(r, puts, nr);
	is = copy_class(&c);
	if (is) {
		buf_add(out, str_head(r->class->bytes, HEAD_BYTES));
		put_u2(out, r->class->nr_constants + r->nr);
		buf_add(out, str_head(str_skip(r->class->bytes, HEAD_BYTES + 2), end));
		buf_add(out, buf_str(&r->constants));
		buf_add(out, buf_str(&rest));
	}
	buf_done(&rest);
	return is ? 0 : error_set(err, EBADMSG, "class file is cut or has more than a class");
}
