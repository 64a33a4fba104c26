/* Instructions at their new places: branches and switches lead to where their targets have gone. */
#include <stdlib.h>

#include "base/mem.h"
#include "program/insn.h"
#include "program/rewrite/own.h"

/* No instruction changes its size, but for the bytes that align a switch, and jumps that have
 * become too long for two bytes. */
struct moving {
	const struct class *class;
	const struct member *method;
	const struct rewrite_put *puts;
	size_t nr;
};

static bool is_return(const struct insn *i)
{
	return i->op >= OP_IRETURN && i->op <= OP_RETURN;
}

static bool begins_line(const struct code *code, uint32_t pc, uint16_t line)
{
	uint32_t low = 0, high = code->nr_lines;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (code->lines[mid].pc < pc)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < code->nr_lines && code->lines[low].pc == pc; low++)
		if (code->lines[low].line == line)
			return true;
	return false;
}

static bool is_like(struct str wanted, struct str is)
{
	return !wanted.n || str_eq(wanted, is);
}

/* What an instruction calls, read once for all that may be put there. */
struct called {
	bool is; /* one, with an owner */
	bool is_static;
	struct member_ref member;
};

static struct called called_by(const struct moving *v, const struct insn *i)
{
	struct called c = { .is_static = i->op == OP_INVOKESTATIC };

	c.is = i->op >= OP_INVOKEVIRTUAL && i->op <= OP_INVOKEINTERFACE &&
	       class_member(v->class, (uint16_t)i->operand, &c.member);
	return c;
}

static bool is_call(const struct rewrite_call *wanted, const struct called *c)
{
	if (!c->is || wanted->is_static != c->is_static ||
	    (!wanted->name.n && c->member.name.p[0] == '<'))
		return false;
	return is_like(wanted->name, c->member.name) && is_like(wanted->type, c->member.type) &&
	       is_like(wanted->owner, c->member.owner);
}

static bool is_before(const struct moving *v, const struct rewrite_put *p, const struct insn *i,
		      const struct called *c)
{
	switch (p->where) {
	case REWRITE_EXIT:
		return is_return(i);
	case REWRITE_LINE:
		return begins_line(v->method->code, i->pc, p->line);
	case REWRITE_BEFORE_CALL:
		return is_call(&p->call, c);
	default:
		return false;
	}
}

/* Appends it, or counts it; how many bytes. */
static uint32_t put_one(const struct rewrite_put *p, struct buf *out)
{
	if (out)
		buf_add(out, p->code);
	return (uint32_t)p->code.n;
}

static uint32_t put_entry(const struct moving *v, struct buf *out)
{
	uint32_t bytes = 0;

	for (size_t k = 0; k < v->nr; k++)
		if (v->puts[k].where == REWRITE_ENTRY)
			bytes += put_one(&v->puts[k], out);
	return bytes;
}

static uint32_t put_before(const struct moving *v, const struct insn *i, struct buf *out)
{
	struct called c = called_by(v, i);
	uint32_t bytes = 0;

	for (size_t k = 0; k < v->nr; k++)
		if (is_before(v, &v->puts[k], i, &c))
			bytes += put_one(&v->puts[k], out);
	return bytes;
}

static uint32_t put_after(const struct moving *v, const struct insn *i, struct buf *out)
{
	struct called c = called_by(v, i);
	uint32_t bytes = 0;

	for (size_t k = 0; c.is && k < v->nr; k++)
		if (v->puts[k].where == REWRITE_AFTER_CALL && is_call(&v->puts[k].call, &c))
			bytes += put_one(&v->puts[k], out);
	return bytes;
}

static uint32_t size_at(const struct moved *m, const struct insn *i, uint32_t at)
{
	uint32_t size = i->next - i->pc + (m->is_far[i->pc] ? 2 : 0);

	return insn_is_switch(i) ? size - (3 - i->pc % 4) + (3 - at % 4) : size;
}

static const char *find_places(const struct moving *v, struct moved *m)
{
	struct str code = v->method->code->bytes;
	uint32_t at = put_entry(v, NULL);
	struct insn i;

	for (uint32_t pc = 0; pc < m->size; pc = i.next) {
		if (!insn_read(code, pc, &i))
			return "its instructions cannot be read";
		m->to[pc] = at;
		at += put_before(v, &i, NULL);
		m->at[pc] = at;
		at += size_at(m, &i, at);
		at += put_after(v, &i, NULL);
		if (at > CODE_MAX)
			return "it would be larger than a method may be";
	}
	m->at[m->size] = m->to[m->size] = m->until = at;
	return NULL;
}

static bool is_far(const struct moved *m, const struct insn *i)
{
	uint32_t target = moved_to(m, i->operand);
	int64_t by = (int64_t)target - m->at[i->pc];

	return target != NOWHERE && by != (int16_t)by;
}

/* Marks jumps that are too long, those that have a long kind; how many were not marked before. */
static uint32_t mark_far(const struct moving *v, struct moved *m)
{
	struct insn i;
	uint32_t nr = 0;

	for (uint32_t pc = 0; pc < m->size; pc = i.next) {
		insn_read(v->method->code->bytes, pc, &i);
		if ((i.op != OP_GOTO && i.op != OP_JSR) || m->is_far[pc] || !is_far(m, &i))
			continue;
		m->is_far[pc] = true;
		nr++;
	}
	return nr;
}

static const char *write_switch(struct str code, const struct insn *i, const struct moved *m,
				struct buf *out)
{
	uint32_t at = m->at[i->pc], target;
	struct str head = str_skip(code, i->pc + 1 + (3 - i->pc % 4) + 4), keys = i->table;

	put_u1(out, i->op);
	for (uint32_t k = 3 - at % 4; k > 0; k--)
		put_u1(out, 0);
	target = moved_to(m, i->operand);
	if (target == NOWHERE)
		return "a switch leads to no instruction";
	put_u4(out, target - at);
	buf_add(out, str_head(head, i->has_keys ? 4 : 8)); /* how many, or from where to where */
	for (uint32_t k = 0; k < i->nr_targets; k++) {
		if (i->has_keys)
			buf_add(out, str_head(str_skip(keys, 8 * (size_t)k), 4));
		if (!insn_target(code, i, k, &target) || (target = moved_to(m, target)) == NOWHERE)
			return "a switch leads to no instruction";
		put_u4(out, target - at);
	}
	return NULL;
}

static const char *write_branch(const struct insn *i, const struct moved *m, struct buf *out)
{
	uint32_t target = moved_to(m, i->operand);
	int64_t by = (int64_t)target - m->at[i->pc];

	if (target == NOWHERE)
		return "a branch leads to no instruction";
	/* a far jump of the other kinds would need a frame behind it that nobody has told us */
	if (m->is_far[i->pc])
		put_u1(out, i->op == OP_GOTO ? OP_GOTO_W : OP_JSR_W);
	else
		put_u1(out, i->op);
	if (m->is_far[i->pc] || i->op == OP_GOTO_W || i->op == OP_JSR_W)
		put_u4(out, (uint32_t)by);
	else if (by != (int16_t)by)
		return "a branch would be too long";
	else
		put_u2(out, (uint32_t)by);
	return NULL;
}

static const char *write_code(const struct moving *v, const struct moved *m, struct buf *out)
{
	struct str code = v->method->code->bytes;
	const char *why = NULL;
	struct insn i;

	put_entry(v, out);
	for (uint32_t pc = 0; pc < m->size && !why; pc = i.next) {
		insn_read(code, pc, &i);
		put_before(v, &i, out);
		if (insn_is_branch(&i))
			why = write_branch(&i, m, out);
		else if (insn_is_switch(&i))
			why = write_switch(code, &i, m, out);
		else
			buf_add(out, str_head(str_skip(code, pc), i.next - pc));
		put_after(v, &i, out);
	}
	return why;
}

const char *rewrite_move(const struct class *class, const struct member *method,
			 const struct rewrite_put *puts, size_t nr, struct moved *m,
			 struct buf *out)
{
	const struct moving v = { .class = class, .method = method, .puts = puts, .nr = nr };
	uint32_t size = (uint32_t)method->code->bytes.n;
	const char *why;

	*m = (struct moved){ .size = size };
	m->at = mem_alloc(mem_bytes(size + 1, sizeof(*m->at)));
	m->to = mem_alloc(mem_bytes(size + 1, sizeof(*m->to)));
	m->is_far = mem_zalloc(mem_bytes(size + 1, sizeof(*m->is_far)));
	for (uint32_t pc = 0; pc <= size; pc++)
		m->at[pc] = m->to[pc] = NOWHERE;
	/* a jump that is made longer may push another's target away: it ends, as none shrinks */
	do
		why = find_places(&v, m);
	while (!why && mark_far(&v, m));
	return why ? why : write_code(&v, m, out);
}

void moved_done(struct moved *m)
{
	free(m->at);
	free(m->to);
	free(m->is_far);
	*m = (struct moved){ 0 };
}
