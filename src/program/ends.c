/*
 * Two walks over the program with all cores: one finds what is written, read, put, taken, sent as
 * an event, and which handlers are registered with a constant; the other finds who mentions those
 * constants. A method's values are made only when its code has a call worth it.
 */
#include "program/ends.h"

#include <stdlib.h>

#include "base/crew.h"
#include "program/dispatch.h"
#include "program/insn.h"
#include "program/origin.h"
#include "program/serial.h"
#include "program/shared.h"

enum { CHUNK = 128 };

enum interest {
	INTEREST_SERIAL = 1,
	INTEREST_OBJECT = 2, /* Java serialization */
	INTEREST_SHARED = 4,
	INTEREST_EVENT = 8,
	INTEREST_CONSTANT = 16, /* of an enumeration */
};

struct chunk {
	struct arena arena;
	VEC(struct end) ends;
	VEC(struct tie) ties;
};

struct search {
	const struct program *program;
	struct dispatch dispatch;
	struct chunk *chunks;
	bool is_second;
};

/* One class under the eye of one thread. */
struct look {
	struct search *search;
	struct chunk *chunk;
	struct scopes *scopes;
	struct arena *scratch;
	const struct program_class *class;
	uint8_t *interest; /* by constant */
	uint32_t method;
};

static void add_end(struct look *l, enum pair_kind kind, struct str channel, bool takes,
		    uint32_t method, uint16_t pc)
{
	vec_push(&l->chunk->ends, (struct end){ .channel = arena_str(&l->chunk->arena, channel),
						.kind = kind,
						.takes = takes,
						.method = method,
						.pc = pc });
}

static struct str outermost(struct str class)
{
	return str_head(class, str_find_char(class, '$'));
}

/* What a class does with itself, and generated messages with each other, is no communication. */
static bool is_within(const struct member_ref *m, struct str class)
{
	return str_eq(m->owner, class) ||
	       (str_eq(outermost(m->owner), outermost(class)) &&
		(str_starts(m->name, STR("parse")) || str_eq(m->name, STR("build"))));
}

static bool is_constant(const struct program *p, const struct member_ref *m)
{
	uint32_t class;

	if (m->type.n != m->owner.n + 2 ||
	    !str_eq(str_head(str_skip(m->type, 1), m->owner.n), m->owner))
		return false;
	class = program_class(p, m->owner);
	return class != NO_CLASS && p->classes.v[class].c.access & ACCESS_ENUM;
}

static uint8_t interest_in(struct look *l, uint16_t constant)
{
	const struct program *p = l->search->program;
	enum constant_tag tag = class_tag(&l->class->c, constant);
	struct member_ref m;
	struct str what;
	uint8_t interest = 0;

	if ((tag != CONSTANT_METHOD && tag != CONSTANT_INTERFACE_METHOD && tag != CONSTANT_FIELD) ||
	    !class_member(&l->class->c, constant, &m))
		return 0;
	if (tag == CONSTANT_FIELD)
		return is_constant(p, &m) ? INTEREST_CONSTANT : 0;
	if (str_eq(m.name, STR("writeObject")) || str_eq(m.name, STR("readObject")))
		interest |= INTEREST_OBJECT;
	if (shared_may(p, &m))
		interest |= INTEREST_SHARED;
	if (l->search->dispatch.is_name[names_find(&p->names, m.name)])
		interest |= INTEREST_EVENT;
	if (!is_within(&m, l->class->c.name) && serial_of(p, &m, l->scratch, &what) != SERIAL_NOT)
		interest |= INTEREST_SERIAL;
	return interest;
}

static void add_serial(struct look *l, uint16_t constant, uint16_t pc)
{
	struct member_ref m;
	struct str what;
	enum serial s;

	if (!class_member(&l->class->c, constant, &m))
		return;
	s = serial_of(l->search->program, &m, l->scratch, &what);
	if (s != SERIAL_NOT)
		add_end(l, PAIR_SOCKET, what, s == SERIAL_READS, l->method, pc);
}

static void add_event(struct look *l, struct where call)
{
	const struct program *p = l->search->program;
	uint32_t declared, event = dispatch_event(&l->search->dispatch, call, &declared);

	if (event != NO_CLASS)
		add_end(l, PAIR_QUEUE,
			arena_fmt(l->scratch, STR_FMT " %u", STR_ARG(p->classes.v[event].c.name),
				  declared),
			false, l->method, where_value(call)->pc);
}

/* Calls that need to know their arguments. */
static void look_at_call(struct look *l, struct where call, uint8_t interest)
{
	uint16_t pc = where_value(call)->pc;
	struct str what;

	if (interest & INTEREST_OBJECT) {
		enum serial s = serial_of_object(call, &what);

		if (s != SERIAL_NOT)
			add_end(l, PAIR_SOCKET, what, s == SERIAL_READS, l->method, pc);
	}
	if (interest & INTEREST_SHARED) {
		enum shared s = shared_of(call, l->scratch, &what);
		struct member_ref m;

		if (s != SHARED_NOT && where_member(call, &m)) {
			add_end(l, PAIR_QUEUE, what, s == SHARED_TAKES, l->method, pc);
			l->chunk->ends.v[l->chunk->ends.nr - 1].is_weak = !shared_is_queue(m.owner);
		}
	}
	if (interest & INTEREST_EVENT)
		add_event(l, call);
}

static void add_ties(struct look *l, struct where call)
{
	struct tie ties[TIES_MAX];
	uint32_t nr = dispatch_ties(call, l->scratch, ties);

	for (uint32_t i = 0; i < nr; i++) {
		ties[i].constant = arena_str(&l->chunk->arena, ties[i].constant);
		vec_push(&l->chunk->ties, ties[i]);
	}
}

static struct str constant_channel(struct look *l, uint32_t constants, struct str constant)
{
	struct str owner = origin_simple(l->search->program->classes.v[constants].c.name);

	return arena_fmt(l->scratch, STR_FMT "." STR_FMT, STR_ARG(owner), STR_ARG(constant));
}

/* A constant that is given to the program, not to a library: it goes into a message. */
static void add_mentions(struct look *l, struct where call)
{
	const struct program *p = l->search->program;
	struct tie ties[TIES_MAX];
	struct member_ref m;

	if (where_value(call)->op == OP_INVOKEDYNAMIC || !where_member(call, &m) ||
	    program_class(p, m.owner) == NO_CLASS)
		return;
	for (uint32_t i = 0; i < where_value(call)->nr; i++) {
		uint32_t constants;
		struct str constant;

		if (!dispatch_constant(where_arg(call, i), &constants, &constant) ||
		    str_eq(p->classes.v[constants].c.name, m.owner) ||
		    !dispatch_is_tied(&l->search->dispatch, constants, constant) ||
		    dispatch_ties(call, l->scratch, ties))
			continue;
		add_end(l, PAIR_QUEUE, constant_channel(l, constants, constant), false, l->method,
			where_value(call)->pc);
	}
}

static void look_at_values(struct look *l, uint8_t interest)
{
	struct scope s;

	if (!scope_init(&s, l->scopes, l->method))
		return;
	for (uint32_t i = 1; i < s.v->nr; i++) {
		struct where at = { &s, i };
		const struct value *v = &s.v->v[i];

		if (v->kind != VALUE_CALL)
			continue;
		if (l->search->is_second) {
			add_mentions(l, at);
			continue;
		}
		if (v->op != OP_INVOKEDYNAMIC && l->interest[v->constant])
			look_at_call(l, at, l->interest[v->constant]);
		if (interest & INTEREST_CONSTANT && v->nr > 1)
			add_ties(l, at);
	}
	arena_reset(l->scratch);
}

/* The interests of a method; serialization is told by the call alone. */
static uint8_t look_at_code(struct look *l, const struct member *m)
{
	bool is_part = serial_is_part(m);
	uint8_t all = 0;
	struct insn i;

	for (uint32_t pc = 0; pc < m->code->bytes.n; pc = i.next) {
		uint8_t interest;

		if (!insn_read(m->code->bytes, pc, &i))
			break;
		if (i.op < OP_GETSTATIC || i.op > OP_INVOKEINTERFACE ||
		    i.operand >= l->class->c.nr_constants)
			continue;
		interest = l->interest[i.operand];
		if (i.op == OP_PUTSTATIC)
			interest = 0;
		all |= interest;
		if (interest & INTEREST_SERIAL && !is_part && !l->search->is_second)
			add_serial(l, (uint16_t)i.operand, (uint16_t)pc);
	}
	return all & (uint8_t)~INTEREST_SERIAL;
}

static bool has_tied(struct look *l)
{
	const struct program *p = l->search->program;
	bool found = false;
	struct member_ref m;

	for (uint32_t i = 1; i < l->class->c.nr_constants; i++) {
		uint8_t is_tied =
			l->interest[i] & INTEREST_CONSTANT &&
			class_member(&l->class->c, (uint16_t)i, &m) &&
			dispatch_is_tied(&l->search->dispatch, program_class(p, m.owner), m.name);

		l->interest[i] = is_tied ? INTEREST_CONSTANT : 0;
		found |= is_tied;
	}
	return found;
}

static void look_at_class(struct look *l)
{
	const struct class *c = &l->class->c;
	uint8_t any = 0;

	l->interest = mem_zalloc(c->nr_constants + 1U);
	for (uint32_t i = 1; i < c->nr_constants; i++)
		any |= l->interest[i] = interest_in(l, (uint16_t)i);
	if (any && (!l->search->is_second || has_tied(l)))
		for (uint16_t k = 0; k < c->nr_methods; k++) {
			uint8_t interest;

			if (!c->methods[k].code)
				continue;
			l->method = l->class->first_method + k;
			interest = look_at_code(l, &c->methods[k]);
			/* constants of an enumeration are made, not mentioned, where they begin */
			if (c->access & ACCESS_ENUM &&
			    str_eq(c->methods[k].name, STR("<clinit>")) && !l->search->is_second)
				interest |= INTEREST_CONSTANT;
			if (interest)
				look_at_values(l, interest);
		}
	free(l->interest);
	arena_reset(l->scratch);
}

static void look_at_chunk(void *ctx, uint32_t item)
{
	struct search *s = ctx;
	size_t end = ((size_t)item + 1) * CHUNK;
	struct scopes scopes;
	struct arena scratch = { 0 };

	scopes_init(&scopes, s->program);
	for (size_t i = (size_t)item * CHUNK; i < end && i < s->program->classes.nr; i++) {
		struct look l = { .search = s,
				  .chunk = &s->chunks[item],
				  .scopes = &scopes,
				  .scratch = &scratch,
				  .class = &s->program->classes.v[i] };

		look_at_class(&l);
		scopes_trim(&scopes);
	}
	scopes_done(&scopes);
	arena_done(&scratch);
}

static void take_ties(struct search *s, uint32_t nr_chunks)
{
	for (uint32_t i = 0; i < nr_chunks; i++) {
		vec_each (&s->chunks[i].ties, t)
			vec_push(&s->dispatch.ties, *t);
		vec_done(&s->chunks[i].ties);
	}
	dispatch_sort(&s->dispatch);
}

/* Handlers take as a whole. */
static void add_handlers(struct ends *e, struct search *s)
{
	const struct program *p = s->program;

	vec_each (&s->dispatch.ties, t) {
		struct str owner = origin_simple(p->classes.v[t->constants].c.name);
		struct end end = { .kind = PAIR_QUEUE, .takes = true, .method = t->handler };

		end.channel = arena_fmt(&e->arena, STR_FMT "." STR_FMT, STR_ARG(owner),
					STR_ARG(t->constant));
		vec_push(&e->v, end);
	}
	vec_each (&s->dispatch.typed, t) {
		struct end end = { .kind = PAIR_QUEUE, .takes = true, .method = t->handler };

		end.channel = arena_fmt(&e->arena, STR_FMT " %u",
					STR_ARG(p->classes.v[t->event].c.name), t->declared);
		vec_push(&e->v, end);
	}
}

static int by_channel(const void *a, const void *b)
{
	const struct end *x = a, *y = b;
	int r = str_cmp(x->channel, y->channel);

	if (r)
		return r;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->takes != y->takes)
		return x->takes ? 1 : -1;
	if (x->method != y->method)
		return x->method < y->method ? -1 : 1;
	return (x->pc > y->pc) - (x->pc < y->pc);
}

/* Those of one channel; what a serializer was registered for goes to another process. */
static size_t keep_channel(struct end *from, size_t nr, struct end *to)
{
	size_t nr_gives = 0, nr_takes = 0, kept = 0;
	bool is_remote = false;

	for (size_t i = 0; i < nr; i++) {
		is_remote |= from[i].method == NO_METHOD;
		nr_gives += !from[i].takes;
		nr_takes += from[i].takes && from[i].method != NO_METHOD;
	}
	if (!nr_gives || !nr_takes)
		return 0;
	for (size_t i = 0; i < nr; i++) {
		if (from[i].method == NO_METHOD || (kept && to[kept - 1].method == from[i].method &&
						    to[kept - 1].takes == from[i].takes))
			continue;
		to[kept] = from[i];
		if (is_remote)
			to[kept].kind = PAIR_SOCKET;
		kept++;
	}
	return kept;
}

static void keep_paired(struct ends *e)
{
	size_t kept = 0;

	if (e->v.nr)
		qsort(e->v.v, e->v.nr, sizeof(*e->v.v), by_channel);
	for (size_t from = 0, to; from < e->v.nr; from = to) {
		for (to = from + 1; to < e->v.nr && e->v.v[to].kind == e->v.v[from].kind &&
				    str_eq(e->v.v[to].channel, e->v.v[from].channel);)
			to++;
		kept += keep_channel(e->v.v + from, to - from, e->v.v + kept);
	}
	e->v.nr = kept;
}

void ends_find(struct ends *e, const struct callgraph *g)
{
	const struct program *p = g->program;
	uint32_t nr_chunks = (uint32_t)((p->classes.nr + CHUNK - 1) / CHUNK);
	struct search s = { .program = p };

	*e = (struct ends){ 0 };
	s.chunks = mem_zalloc(mem_bytes(nr_chunks + 1U, sizeof(*s.chunks)));
	dispatch_init(&s.dispatch, p);
	crew_run_with(p->threads, nr_chunks, look_at_chunk, &s);
	take_ties(&s, nr_chunks);
	s.is_second = true;
	if (s.dispatch.ties.nr)
		crew_run_with(p->threads, nr_chunks, look_at_chunk, &s);
	add_handlers(e, &s);
	for (uint32_t i = 0; i < nr_chunks; i++) {
		vec_each (&s.chunks[i].ends, end) {
			vec_push(&e->v, *end);
			e->v.v[e->v.nr - 1].channel = arena_str(&e->arena, end->channel);
		}
		vec_done(&s.chunks[i].ends);
	}
	keep_paired(e);
	for (uint32_t i = 0; i < nr_chunks; i++)
		arena_done(&s.chunks[i].arena);
	dispatch_done(&s.dispatch);
	free(s.chunks);
}

void ends_done(struct ends *e)
{
	vec_done(&e->v);
	arena_done(&e->arena);
}
