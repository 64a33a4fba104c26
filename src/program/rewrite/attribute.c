/* The Code attribute (JVMS 4.7.3) around instructions that have moved: what guards them, and the
 * tables that name their places. */
#include "program/bytes.h"
#include "program/insn.h"
#include "program/rewrite/own.h"

enum {
	FRAMES_SINCE = 50, /* versions of class files whose methods say what is where */
	GUARD_BYTES = 8,
	VARIABLE_BYTES = 10,
};

/* Of one method. */
struct coding {
	struct rewrite *r;
	const struct member *method;
	const struct rewrite_put *puts;
	size_t nr;
	struct moved moved;
	struct buf code;        /* instructions */
	struct landing landing; /* of all that is thrown out of it */
	bool has_frames;
	struct buf tables;
	uint16_t nr_tables;
};

static const char damaged[] = "a table of its code is damaged";
static const char no_room[] = "its class has no room for more constants";

/* --- what is thrown ------------------------------------------------------------------------ */

/* What is put where something is thrown stands behind all else. */
static const char *add_handler(struct coding *k)
{
	struct landing *l = &k->landing;

	l->at = NOWHERE;
	for (size_t i = 0; i < k->nr; i++) {
		if (k->puts[i].where != REWRITE_THROW)
			continue;
		if (l->at == NOWHERE)
			l->at = (uint32_t)k->code.n;
		buf_add(&k->code, k->puts[i].code);
	}
	if (l->at == NOWHERE)
		return NULL;
	put_u1(&k->code, OP_ATHROW);
	l->throwable = rewrite_class_named(k->r, STR("java/lang/Throwable"));
	if (!l->throwable || !landing_locals(l, k->r, k->method))
		return no_room;
	return k->code.n > CODE_MAX ? "it would be larger than a method may be" : NULL;
}

static const char *write_guards(struct coding *k, struct buf *out)
{
	const struct code *code = k->method->code;
	bool has_handler = k->landing.at != NOWHERE;

	if (code->nr_guards + has_handler > UINT16_MAX)
		return "it guards too much";
	put_u2(out, code->nr_guards + has_handler);
	for (uint16_t i = 0; i < code->nr_guards; i++) {
		const struct guard *g = &code->guards[i];
		uint32_t from = moved_to(&k->moved, g->from), to = moved_to(&k->moved, g->to),
			 handler = moved_to(&k->moved, g->handler);

		if (from == NOWHERE || to == NOWHERE || handler == NOWHERE)
			return damaged;
		put_u2(out, from);
		put_u2(out, to);
		put_u2(out, handler);
		put_u2(out, g->type);
	}
	if (has_handler) {
		put_u2(out, k->moved.to[0]);
		put_u2(out, k->moved.until);
		put_u2(out, k->landing.at);
		put_u2(out, 0);
	}
	return NULL;
}

/* --- tables -------------------------------------------------------------------------------- */

static void put_table(struct coding *k, uint16_t name, const struct buf *body)
{
	put_u2(&k->tables, name);
	put_u4(&k->tables, (uint32_t)body->n);
	buf_add(&k->tables, buf_str(body));
	k->nr_tables++;
}

static bool move_lines(struct coding *k, struct str s, struct buf *out)
{
	uint16_t nr, pc, line;

	if (!bytes_take_u2(&s, &nr))
		return false;
	put_u2(out, nr);
	for (uint16_t i = 0; i < nr; i++) {
		if (!bytes_take_u2(&s, &pc) || !bytes_take_u2(&s, &line) ||
		    moved_to(&k->moved, pc) == NOWHERE)
			return false;
		put_u2(out, moved_to(&k->moved, pc));
		put_u2(out, line);
	}
	return true;
}

static bool move_variables(struct coding *k, struct str s, struct buf *out)
{
	uint16_t nr, pc, length;
	uint32_t from, to;

	if (!bytes_take_u2(&s, &nr))
		return false;
	put_u2(out, nr);
	for (uint16_t i = 0; i < nr; i++) {
		if (s.n < VARIABLE_BYTES || !bytes_take_u2(&s, &pc) || !bytes_take_u2(&s, &length))
			return false;
		from = moved_to(&k->moved, pc);
		to = moved_to(&k->moved, (uint32_t)pc + length);
		if (from == NOWHERE || to == NOWHERE)
			return false;
		put_u2(out, from);
		put_u2(out, to - from);
		buf_add(out, str_head(s, VARIABLE_BYTES - 4));
		s = str_skip(s, VARIABLE_BYTES - 4);
	}
	return true;
}

static bool move_frames(struct coding *k, struct str s, struct buf *out)
{
	k->has_frames = true;
	return rewrite_frames(s, &k->moved, &k->landing, out);
}

/* Other tables name places that we do not know of: the class runs without them. What is told for
 * debuggers only is left out where it is damaged; frames must be right. */
static const char *move_table(struct coding *k, uint16_t name, struct str body)
{
	static const struct {
		struct str name;
		bool (*move)(struct coding *k, struct str body, struct buf *out);
	} known[] = {
		{ STR("StackMapTable"), move_frames },
		{ STR("LineNumberTable"), move_lines },
		{ STR("LocalVariableTable"), move_variables },
		{ STR("LocalVariableTypeTable"), move_variables },
	};
	struct str called = class_utf8(k->r->class, name);
	struct buf out = { 0 };
	const char *why = NULL;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (!str_eq(known[i].name, called))
			continue;
		if (known[i].move(k, body, &out))
			put_table(k, name, &out);
		else if (!i)
			why = damaged;
	}
	buf_done(&out);
	return why;
}

static const char *move_tables(struct coding *k, struct str s)
{
	uint16_t nr, name;
	uint32_t length;
	struct str body;
	const char *why = NULL;

	if (!bytes_take_u2(&s, &nr))
		return damaged;
	for (uint16_t i = 0; i < nr && !why; i++) {
		if (!bytes_take_u2(&s, &name) || !bytes_take_u4(&s, &length) ||
		    !bytes_take(&s, length, &body))
			return damaged;
		why = move_table(k, name, body);
	}
	return why;
}

/* A method without jumps has no frames yet. */
static const char *first_frames(struct coding *k)
{
	struct buf out = { 0 };
	uint16_t name;

	if (k->landing.at == NOWHERE || k->has_frames || k->r->class->major < FRAMES_SINCE)
		return NULL;
	name = rewrite_utf8(k->r, STR("StackMapTable"));
	if (!name)
		return no_room;
	rewrite_frames(STR(""), &k->moved, &k->landing, &out);
	put_table(k, name, &out);
	buf_done(&out);
	return NULL;
}

/* --- all of it ----------------------------------------------------------------------------- */

static uint32_t stack_of(const struct coding *k)
{
	uint32_t most = 0;

	for (size_t i = 0; i < k->nr; i++)
		if (k->puts[i].stack > most)
			most = k->puts[i].stack;
	/* what is thrown is there, however little the method itself needs */
	return k->method->code->max_stack + most + (k->landing.at != NOWHERE);
}

static uint32_t locals_of(const struct coding *k)
{
	uint32_t most = 0;

	for (size_t i = 0; i < k->nr; i++)
		if (k->puts[i].locals > most)
			most = k->puts[i].locals;
	return k->method->code->max_locals + most;
}

static const char *write_attribute(struct coding *k, struct str old, struct buf *out)
{
	struct str s = old, skipped;
	uint32_t length, stack = stack_of(k), locals = locals_of(k);
	uint16_t nr;
	const char *why;

	/* max_stack, max_locals, code, guards: what is behind them are tables */
	if (!bytes_take(&s, 4, &skipped) || !bytes_take_u4(&s, &length) ||
	    !bytes_take(&s, length, &skipped) || !bytes_take_u2(&s, &nr) ||
	    !bytes_take(&s, (size_t)nr * GUARD_BYTES, &skipped))
		return damaged;
	if (stack > UINT16_MAX)
		return "its stack would be too large";
	if (locals > UINT16_MAX)
		return "it would have too many locals";
	put_u2(out, stack);
	put_u2(out, locals);
	put_u4(out, (uint32_t)k->code.n);
	buf_add(out, buf_str(&k->code));
	why = write_guards(k, out);
	if (!why)
		why = move_tables(k, s);
	if (!why)
		why = first_frames(k);
	put_u2(out, k->nr_tables);
	buf_add(out, buf_str(&k->tables));
	return why;
}

const char *rewrite_code(struct rewrite *r, const struct member *method, struct str old,
			 const struct rewrite_put *puts, size_t nr, struct buf *out)
{
	struct coding k = { .r = r, .method = method, .puts = puts, .nr = nr };
	const char *why = rewrite_move(r->class, method, puts, nr, &k.moved, &k.code);

	if (!why)
		why = add_handler(&k);
	if (!why)
		why = write_attribute(&k, old, out);
	moved_done(&k.moved);
	buf_done(&k.code);
	buf_done(&k.tables);
	buf_done(&k.landing.locals);
	return why;
}
