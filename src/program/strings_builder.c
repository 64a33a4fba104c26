/*
 * Compilers write a + b in one way: a new builder, append after append, toString. So one walk over
 * the instructions of a method does, without following values: what is pushed right before an
 * append is what is appended, and when there was a branch in between, nobody knows what it is. A
 * builder that is kept somewhere is filled by other code too, and is left out. wording.h finds out
 * more, and needs the whole program for it.
 */
#include "program/strings_builder.h"

#include "base/buf.h"
#include "program/class.h"
#include "program/insn.h"
#include "program/strings.h"
#include "program/strings_text.h"

enum { NESTED_MAX = 8, PARTS_MAX = 64 };

/* One that is being filled. */
struct builder {
	struct buf text;
	uint16_t parts[PARTS_MAX]; /* constants in it */
	unsigned nr_parts;
};

struct builders {
	const struct class *class;
	bool *used;
	const struct strings_sink *to;
	struct losses *losses;
	struct builder open[NESTED_MAX]; /* within each other */
	unsigned nr, nr_beyond;
	bool is_branched; /* since the last append */
};

static bool is_builder(struct str class)
{
	return str_eq(class, STR("java/lang/StringBuilder")) ||
	       str_eq(class, STR("java/lang/StringBuffer")) ||
	       str_eq(class, STR("scala/collection/mutable/StringBuilder"));
}

static void open_builder(struct builders *b)
{
	if (b->nr == NESTED_MAX) {
		b->nr_beyond++;
		return;
	}
	buf_clear(&b->open[b->nr].text);
	b->open[b->nr++].nr_parts = 0;
	b->is_branched = false;
}

static void close_builder(struct builders *b, bool is_whole)
{
	struct builder *top;

	if (b->nr_beyond) {
		b->nr_beyond--;
		return;
	}
	if (!b->nr)
		return;
	top = &b->open[--b->nr];
	b->is_branched = true; /* what it made is pushed */
	if (!is_whole || !top->nr_parts)
		return;
	strings_give_marked(b->to, buf_str(&top->text), b->losses);
	for (unsigned i = 0; i < top->nr_parts; i++)
		b->used[top->parts[i]] = true;
}

static char hole_of(struct str type)
{
	switch (type.n > 1 ? type.p[1] : 0) {
	case 'I':
	case 'J':
	case 'S':
	case 'B':
		return STRING_INTEGER;
	case 'F':
	case 'D':
		return STRING_DECIMAL;
	case 'C':
		return STRING_CHAR;
	default:
		return STRING_ANY;
	}
}

/* The text that the instruction pushes, if it is a constant one. */
static bool pushed_text(const struct builders *b, const struct insn *i, struct str type,
			struct str *text, char *character)
{
	uint16_t constant = (uint16_t)i->operand;

	if ((i->op == OP_LDC || i->op == OP_LDC_W) &&
	    class_tag(b->class, constant) == CONSTANT_STRING) {
		*text = class_named(b->class, constant);
		return true;
	}
	if (i->op == OP_BIPUSH && str_starts(type, STR("(C)")) && i->number >= ' ' &&
	    i->number < 0x7f) {
		*character = (char)i->number;
		*text = (struct str){ character, 1 };
		return true;
	}
	return false;
}

static void append(struct builders *b, const struct insn *before, struct str type)
{
	struct builder *top = b->nr && !b->nr_beyond ? &b->open[b->nr - 1] : NULL;
	struct str text;
	char character;

	if (!top)
		return;
	if (b->is_branched || !pushed_text(b, before, type, &text, &character) ||
	    top->nr_parts == PARTS_MAX) {
		buf_char(&top->text, hole_of(type));
	} else {
		buf_add(&top->text, text);
		if (before->op != OP_BIPUSH)
			top->parts[top->nr_parts++] = (uint16_t)before->operand;
	}
	b->is_branched = false;
}

/* Whether what is on the stack goes somewhere else instead of being called next. */
static bool is_kept(const struct insn *i)
{
	return (i->op >= OP_ISTORE && i->op <= OP_ASTORE_3) || i->op == OP_POP ||
	       i->op == OP_PUTFIELD || i->op == OP_PUTSTATIC ||
	       (i->op >= OP_IRETURN && i->op <= OP_RETURN);
}

enum call { CALL_OTHER, CALL_INIT, CALL_APPEND, CALL_STRING };

/* What a call does with a builder. */
static enum call call_of(const struct class *c, const struct insn *i, struct member_ref *m)
{
	if ((i->op != OP_INVOKEVIRTUAL && i->op != OP_INVOKESPECIAL) ||
	    !class_member(c, (uint16_t)i->operand, m) || !is_builder(m->owner))
		return CALL_OTHER;
	return str_eq(m->name, STR("append"))     ? CALL_APPEND
	       : str_eq(m->name, STR("toString")) ? CALL_STRING
	       : str_eq(m->name, STR("<init>"))   ? CALL_INIT
						  : CALL_OTHER;
}

static enum call take(struct builders *b, const struct insn *i, const struct insn *before)
{
	struct member_ref m;
	enum call call = call_of(b->class, i, &m);

	if (insn_is_branch(i) || insn_is_switch(i))
		b->is_branched = true;
	else if (i->op == OP_NEW && is_builder(class_named(b->class, (uint16_t)i->operand)))
		open_builder(b);
	else if (call == CALL_STRING)
		close_builder(b, true);
	else if (call == CALL_APPEND ||
		 (call == CALL_INIT && str_starts(m.type, STR("(Ljava/lang/String;"))))
		append(b, before, m.type);
	return call;
}

static void read_method(struct builders *b, struct str code)
{
	struct insn i = { 0 }, before = { 0 };
	enum call last = CALL_OTHER;

	b->nr = b->nr_beyond = 0;
	for (uint32_t pc = 0; pc < code.n && insn_read(code, pc, &i); pc = i.next) {
		if ((last == CALL_INIT || last == CALL_APPEND) && is_kept(&i))
			close_builder(b, false);
		last = take(b, &i, &before);
		before = i;
	}
}

void strings_of_builders(const struct class *c, bool *used, const struct strings_sink *to,
			 struct losses *losses)
{
	struct builders b = { .class = c, .used = used, .to = to, .losses = losses };

	for (uint16_t i = 0; i < c->nr_methods; i++)
		if (c->methods[i].code)
			read_method(&b, c->methods[i].code->bytes);
	for (unsigned i = 0; i < NESTED_MAX; i++)
		buf_done(&b.open[i].text);
}
