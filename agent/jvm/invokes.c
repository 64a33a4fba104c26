#include "agent/jvm/invokes.h"

#include "agent/jvm/answer.h"
#include "agent/jvm/helper.h"
#include "base/buf.h"
#include "base/vec.h"
#include "program/class.h"
#include "program/insn.h"

#define SPECIAL 7 /* kinds of handles: of constructors, private methods, … */
#define STATIC 6
#define NEW_SPECIAL 8

static void tell(uint32_t function, const struct member_ref *to, bool is_virtual)
{
	struct buf owner = { 0 };

	/* arrays have methods, too */
	if (!to->owner.n || to->owner.p[0] == '[' || str_eq(to->owner, helper_name()))
		return;
	for (size_t i = 0; i < to->owner.n; i++)
		buf_char(&owner, to->owner.p[i] == '/' ? '.' : to->owner.p[i]);
	answer_say("calls\t%u\t" STR_FMT "%s\t" STR_FMT, function, STR_ARG(buf_str(&owner)),
		   is_virtual ? "+" : "", STR_ARG(to->name));
	buf_done(&owner);
}

/* What a lambda is made of is called sooner or later. */
static void dynamic_tell(uint32_t function, const struct class *c, uint16_t bootstrap)
{
	const struct bootstrap *b;
	struct handle_ref h;

	if (bootstrap >= c->nr_bootstraps)
		return;
	b = &c->bootstraps[bootstrap];
	for (uint16_t i = 0; i < b->nr; i++)
		if (class_handle(c, b->args[i], &h) && h.kind >= 5)
			tell(function, &h.member,
			     h.kind != STATIC && h.kind != SPECIAL && h.kind != NEW_SPECIAL);
}

static void insn_tell(uint32_t function, const struct class *c, const struct insn *i)
{
	struct member_ref to;

	if (!class_member(c, (uint16_t)i->operand, &to))
		return;
	if (i->op == OP_INVOKEDYNAMIC)
		dynamic_tell(function, c, to.bootstrap);
	else
		tell(function, &to, i->op == OP_INVOKEVIRTUAL || i->op == OP_INVOKEINTERFACE);
}

void invokes_tell(uint32_t function, const struct class *c, const struct member *m)
{
	VEC(uint32_t) told = { 0 };
	struct insn i;

	for (uint32_t pc = 0; m->code && pc < m->code->bytes.n; pc = i.next) {
		bool is_told = false;

		if (!insn_read(m->code->bytes, pc, &i))
			break;
		if (i.op < OP_INVOKEVIRTUAL || i.op > OP_INVOKEDYNAMIC)
			continue;
		vec_each (&told, t)
			is_told |= *t == i.operand;
		if (is_told)
			continue;
		vec_push(&told, i.operand);
		insn_tell(function, c, &i);
	}
	vec_done(&told);
}
