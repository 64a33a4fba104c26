#include "program/values_make.h"

#include <stdlib.h>

#include "program/descriptor.h"
#include "program/values_locals.h"

uint32_t maker_value(struct maker *m, enum value_kind kind, uint8_t op, uint16_t constant)
{
	struct value v = { .kind = (uint8_t)kind,
			   .op = op,
			   .constant = constant,
			   .pc = (uint16_t)m->pc,
			   .block = m->now - 1,
			   .first = (uint32_t)m->args.nr };

	vec_push(&m->v, v);
	return (uint32_t)m->v.nr - 1;
}

void maker_arg(struct maker *m, uint32_t value, uint32_t arg)
{
	vec_push(&m->args, arg);
	m->v.v[value].nr++;
}

void maker_push(struct maker *m, uint32_t value)
{
	if (m->stack.nr >= m->code->max_stack)
		m->is_damaged = true;
	else
		vec_push(&m->stack, value);
}

static void push_slots(struct maker *m, uint32_t value, unsigned slots)
{
	if (slots)
		maker_push(m, value);
	if (slots == 2)
		maker_push(m, 0);
}

static uint32_t pop(struct maker *m)
{
	if (!m->stack.nr) {
		m->is_damaged = true;
		return 0;
	}
	return m->stack.v[--m->stack.nr];
}

static uint32_t pop_slots(struct maker *m, unsigned slots)
{
	if (slots == 2)
		pop(m);
	return pop(m);
}

/* A value whose args lie on the stack, each with its number of slots, the last on top. */
static uint32_t make_of_stack(struct maker *m, enum value_kind kind, const struct insn *i,
			      const char *slots)
{
	uint32_t args[4], nr = (uint32_t)strlen(slots);
	uint32_t v;

	for (uint32_t k = nr; k--;)
		args[k] = pop_slots(m, (unsigned)(slots[k] - '0'));
	v = maker_value(m, kind, i->op, (uint16_t)i->operand);
	for (uint32_t k = 0; k < nr; k++)
		maker_arg(m, v, args[k]);
	return v;
}

static void push_number(struct maker *m, const struct insn *i, int64_t number, unsigned slots)
{
	uint32_t v = maker_value(m, VALUE_NUMBER, i->op, 0);

	m->v.v[v].number = number;
	push_slots(m, v, slots);
}

static void load_constant(struct maker *m, const struct insn *i)
{
	const struct class *c = m->values->class;
	uint16_t constant = (uint16_t)i->operand;
	enum constant_tag tag = class_tag(c, constant);
	unsigned slots = i->op == OP_LDC2_W ? 2 : 1;
	int64_t number;

	if (class_number(c, constant, &number)) {
		push_number(m, i, number, slots);
		m->v.v[m->v.nr - 1].constant = constant;
	} else {
		push_slots(m,
			   maker_value(m,
				       tag == CONSTANT_STRING  ? VALUE_TEXT
				       : tag == CONSTANT_CLASS ? VALUE_TYPE
							       : VALUE_CONSTANT,
				       i->op, constant),
			   slots);
	}
}

/* ACONST_NULL up to LDC2_W. */
static void do_constant(struct maker *m, const struct insn *i)
{
	switch (i->op) {
	case OP_ACONST_NULL:
		maker_push(m, maker_value(m, VALUE_NULL, i->op, 0));
		break;
	case OP_ICONST_M1 ... OP_ICONST_5:
		push_number(m, i, (int64_t)i->op - 3, 1);
		break;
	case OP_LCONST_0 ... OP_LCONST_1:
		push_number(m, i, i->op - OP_LCONST_0, 2);
		break;
	case OP_FCONST_0 ... OP_FCONST_2:
		push_number(m, i, i->op - OP_FCONST_0, 1);
		break;
	case OP_DCONST_0 ... OP_DCONST_1:
		push_number(m, i, i->op - OP_DCONST_0, 2);
		break;
	case OP_BIPUSH:
	case OP_SIPUSH:
		push_number(m, i, i->number, 1);
		break;
	case OP_LDC ... OP_LDC2_W:
		load_constant(m, i);
		break;
	default:
		break; /* NOP */
	}
}

/* Types in the order int, long, float, double, reference. */
static unsigned type_slots(unsigned type)
{
	return type == 1 || type == 3 ? 2 : 1;
}

static void do_load(struct maker *m, const struct insn *i)
{
	unsigned type = i->op < OP_ILOAD_0 ? i->op - OP_ILOAD : (i->op - OP_ILOAD_0) / 4;
	uint32_t slot = i->op < OP_ILOAD_0 ? i->operand : (i->op - OP_ILOAD_0) % 4U;

	push_slots(m, locals_read(m, slot), type_slots(type));
}

static void do_store(struct maker *m, const struct insn *i)
{
	unsigned type = i->op < OP_ISTORE_0 ? i->op - OP_ISTORE : (i->op - OP_ISTORE_0) / 4;
	uint32_t slot = i->op < OP_ISTORE_0 ? i->operand : (i->op - OP_ISTORE_0) % 4U;

	locals_write(m, slot, pop_slots(m, type_slots(type)));
}

static void do_element(struct maker *m, const struct insn *i)
{
	bool is_store = i->op >= OP_IASTORE;
	unsigned slots = type_slots(i->op - (is_store ? OP_IASTORE : OP_IALOAD));

	if (is_store)
		make_of_stack(m, VALUE_PUT_ELEMENT, i, slots == 2 ? "112" : "111");
	else
		push_slots(m, make_of_stack(m, VALUE_ELEMENT, i, "11"), slots);
}

/*
 * DUP and its kin as pictures: the slots on top of the stack, first letter deepest, become those
 * behind the arrow.
 */
static const char *const shuffles[] = {
	[OP_POP - OP_POP] = "a>",
	[OP_POP2 - OP_POP] = "ab>",
	[OP_DUP - OP_POP] = "a>aa",
	[OP_DUP_X1 - OP_POP] = "ab>bab",
	[OP_DUP_X2 - OP_POP] = "abc>cabc",
	[OP_DUP2 - OP_POP] = "ab>abab",
	[OP_DUP2_X1 - OP_POP] = "abc>bcabc",
	[OP_DUP2_X2 - OP_POP] = "abcd>cdabcd",
	[OP_SWAP - OP_POP] = "ab>ba",
};

static void do_shuffle(struct maker *m, const struct insn *i)
{
	const char *picture = shuffles[i->op - OP_POP], *after = strchr(picture, '>');
	uint32_t taken[4] = { 0 };

	for (size_t k = (size_t)(after - picture); k--;)
		taken[k] = pop(m);
	while (*++after)
		maker_push(m, taken[*after - 'a']);
}

static void do_math(struct maker *m, const struct insn *i)
{
	/* What conversions take and give, from I2L on. */
	static const char takes[] = "111222111222111", gives[] = "212112122121111";
	const char *args;
	unsigned slots;

	if (i->op < 116) { /* add, sub, mul, div, rem */
		slots = type_slots((i->op - OP_IADD) % 4);
		args = slots == 2 ? "22" : "11";
	} else if (i->op < 120) { /* neg */
		slots = type_slots((i->op - OP_IADD) % 4);
		args = slots == 2 ? "2" : "1";
	} else if (i->op < 126) { /* shifts, by an int */
		slots = i->op % 2 ? 2 : 1;
		args = slots == 2 ? "21" : "11";
	} else if (i->op <= OP_LXOR) {
		slots = i->op % 2 ? 2 : 1;
		args = slots == 2 ? "22" : "11";
	} else if (i->op <= OP_I2S) {
		slots = (unsigned)(gives[i->op - OP_I2L] - '0');
		args = takes[i->op - OP_I2L] == '2' ? "2" : "1";
	} else {
		slots = 1;
		args = i->op == OP_LCMP || i->op > 150 ? "22" : "11";
	}
	push_slots(m, make_of_stack(m, VALUE_MATH, i, args), slots);
}

static void do_increment(struct maker *m, const struct insn *i)
{
	uint32_t before = locals_read(m, i->operand), by, v;

	by = maker_value(m, VALUE_NUMBER, i->op, 0);
	m->v.v[by].number = i->number;
	v = maker_value(m, VALUE_MATH, OP_IADD, 0);
	maker_arg(m, v, before);
	maker_arg(m, v, by);
	locals_write(m, i->operand, v);
}

static void do_branch(struct maker *m, const struct insn *i)
{
	if (i->op == OP_JSR || i->op == OP_JSR_W)
		maker_push(m, maker_value(m, VALUE_UNKNOWN, i->op, 0));
	else if (i->op >= OP_IF_ICMPEQ && i->op <= OP_IF_ACMPNE)
		make_of_stack(m, VALUE_BRANCH, i, "11");
	else if (i->op != OP_GOTO && i->op != OP_GOTO_W && i->op != OP_RET)
		make_of_stack(m, VALUE_BRANCH, i, "1");
}

static void do_return(struct maker *m, const struct insn *i)
{
	if (i->op == OP_RETURN)
		make_of_stack(m, VALUE_RETURN, i, "");
	else
		make_of_stack(m, VALUE_RETURN, i, type_slots(i->op - OP_IRETURN) == 2 ? "2" : "1");
}

static void do_field(struct maker *m, const struct insn *i)
{
	struct member_ref ref;
	unsigned slots;

	if (!class_member(m->values->class, (uint16_t)i->operand, &ref)) {
		m->is_damaged = true;
		return;
	}
	slots = descriptor_slots(ref.type);
	switch (i->op) {
	case OP_GETSTATIC:
		push_slots(m, make_of_stack(m, VALUE_STATIC, i, ""), slots);
		break;
	case OP_PUTSTATIC:
		make_of_stack(m, VALUE_PUT_STATIC, i, slots == 2 ? "2" : "1");
		break;
	case OP_GETFIELD:
		push_slots(m, make_of_stack(m, VALUE_FIELD, i, "1"), slots);
		break;
	default:
		make_of_stack(m, VALUE_PUT_FIELD, i, slots == 2 ? "12" : "11");
		break;
	}
}

static void do_call(struct maker *m, const struct insn *i)
{
	bool has_receiver = i->op != OP_INVOKESTATIC && i->op != OP_INVOKEDYNAMIC;
	uint32_t args[256], slots[256], nr = 0, v;
	struct member_ref ref;
	struct str parameters, type;

	if (!class_member(m->values->class, (uint16_t)i->operand, &ref)) {
		m->is_damaged = true;
		return;
	}
	if (has_receiver)
		slots[nr++] = 1;
	parameters = descriptor_parameters(ref.type);
	while (nr < 256 && descriptor_take(&parameters, &type))
		slots[nr++] = descriptor_slots(type);
	for (uint32_t k = nr; k--;)
		args[k] = pop_slots(m, slots[k]);
	v = maker_value(m, VALUE_CALL, i->op, (uint16_t)i->operand);
	for (uint32_t k = 0; k < nr; k++)
		maker_arg(m, v, args[k]);
	push_slots(m, v, descriptor_slots(descriptor_result(ref.type)));
}

static void do_new_arrays(struct maker *m, const struct insn *i)
{
	uint32_t lengths[256], nr = (uint32_t)i->number & 0xff, v;

	for (uint32_t k = nr; k--;)
		lengths[k] = pop(m);
	v = maker_value(m, VALUE_ARRAY, i->op, (uint16_t)i->operand);
	for (uint32_t k = 0; k < nr; k++)
		maker_arg(m, v, lengths[k]);
	maker_push(m, v);
}

/* NEW up to MONITOREXIT, and MULTIANEWARRAY. */
static void do_object(struct maker *m, const struct insn *i)
{
	switch (i->op) {
	case OP_NEW:
		maker_push(m, make_of_stack(m, VALUE_NEW, i, ""));
		break;
	case OP_NEWARRAY:
	case OP_ANEWARRAY:
		maker_push(m, make_of_stack(m, VALUE_ARRAY, i, "1"));
		break;
	case OP_ARRAYLENGTH:
		maker_push(m, make_of_stack(m, VALUE_LENGTH, i, "1"));
		break;
	case OP_ATHROW:
		make_of_stack(m, VALUE_THROW, i, "1");
		break;
	case OP_CHECKCAST:
		maker_push(m, make_of_stack(m, VALUE_CAST, i, "1"));
		break;
	case OP_INSTANCEOF:
		maker_push(m, make_of_stack(m, VALUE_IS, i, "1"));
		break;
	case OP_MONITORENTER:
		make_of_stack(m, VALUE_LOCK, i, "1");
		break;
	case OP_MONITOREXIT:
		make_of_stack(m, VALUE_UNLOCK, i, "1");
		break;
	default:
		do_new_arrays(m, i);
		break;
	}
}

void maker_insn(struct maker *m, const struct insn *i)
{
	switch (i->op) {
	case 0 ... OP_LDC2_W:
		return do_constant(m, i);
	case OP_ILOAD ... OP_ALOAD_3:
		return do_load(m, i);
	case OP_IALOAD ... OP_SALOAD:
	case OP_IASTORE ... OP_SASTORE:
		return do_element(m, i);
	case OP_ISTORE ... OP_ASTORE_3:
		return do_store(m, i);
	case OP_POP ... OP_SWAP:
		return do_shuffle(m, i);
	case OP_IINC:
		return do_increment(m, i);
	case OP_IADD ... OP_LXOR:
	case OP_I2L ... OP_DCMPG:
		return do_math(m, i);
	case OP_IFEQ ... OP_LOOKUPSWITCH:
	case OP_IFNULL ... OP_JSR_W:
		return do_branch(m, i);
	case OP_IRETURN ... OP_RETURN:
		return do_return(m, i);
	case OP_GETSTATIC ... OP_PUTFIELD:
		return do_field(m, i);
	case OP_INVOKEVIRTUAL ... OP_INVOKEDYNAMIC:
		return do_call(m, i);
	default:
		return do_object(m, i);
	}
}

/* Parameters stand in the first locals. */
static void take_parameters(struct maker *m)
{
	const struct member *method = m->values->method;
	struct str parameters = descriptor_parameters(method->type), type = STR("L");
	bool is_more = !(method->access & ACCESS_STATIC);
	uint32_t slot = 0;

	if (!is_more)
		is_more = descriptor_take(&parameters, &type);
	for (int64_t n = 0; is_more && slot < m->code->max_locals; n++) {
		m->parameters[slot] = maker_value(m, VALUE_PARAMETER, 0, 0);
		m->v.v[m->parameters[slot]].number = n;
		slot += descriptor_slots(type);
		is_more = descriptor_take(&parameters, &type);
	}
}

void maker_init(struct maker *m)
{
	size_t locals = m->code->max_locals + 1U;

	m->places = arena_array(m->arena, struct place, m->values->flow.nr);
	m->parameters = arena_array(m->arena, uint32_t, locals);
	m->current = arena_array(m->arena, uint32_t, locals);
	m->stamp = arena_array(m->arena, uint32_t, locals);
	m->now = 1;
	maker_value(m, VALUE_UNKNOWN, 0, 0);
	take_parameters(m);
}

void maker_done(struct maker *m)
{
	for (uint32_t i = 0; i < m->values->flow.nr; i++) {
		vec_done(&m->places[i].entries);
		vec_done(&m->places[i].defines);
	}
	vec_done(&m->v);
	vec_done(&m->args);
	vec_done(&m->pending);
	vec_done(&m->stack);
}
