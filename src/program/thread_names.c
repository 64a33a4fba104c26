/*
 * By shape: setName() of a thread, a name given to the constructor of a thread or of a class below
 * it, and the formats that thread factories are given (setNameFormat("worker-%d")). Names that are
 * parameters are looked for at the callers, as messages are.
 */
#include "program/thread_names.h"

#include <stdlib.h>

#include "base/crew.h"
#include "program/callers.h"
#include "program/closure.h"
#include "program/descriptor.h"
#include "program/handoff.h"
#include "program/insn.h"
#include "program/wording.h"

enum {
	CHUNK = 128,
	CALLERS_MAX = 64, /* of a method that names its thread after what it is told */
};

#define TEXT_TYPE STR("Ljava/lang/String;")

struct chunk {
	VEC(struct thread_name) names;
	struct arena arena;
};

struct search {
	const struct program *program;
	const struct callers *callers;
	const bool *are_naming; /* by class */
	struct chunk *chunks;
};

/* A call that names a thread. */
struct naming {
	struct where name;
	bool is_format;
	bool is_own;
	uint32_t runs;
};

static bool is_thread(const struct program *p, struct str class)
{
	return str_eq(class, STR("java/lang/Thread")) ||
	       program_is_a(p, program_class(p, class), STR("java/lang/Thread"));
}

/* The name alone decides whether the class is looked at. */
static bool may_name(const struct member_ref *m)
{
	if (str_find(m->type, TEXT_TYPE) == m->type.n)
		return false;
	return str_eq(m->name, STR("setName")) || str_eq(m->name, STR("setNameFormat")) ||
	       str_eq(m->name, STR("namingPattern")) ||
	       (str_eq(m->name, STR("<init>")) && str_eq(m->owner, STR("java/lang/Thread")));
}

static bool is_this(struct where w)
{
	const struct value *v = where_value(where_source(w));

	return v->kind == VALUE_PARAMETER && !v->number &&
	       !(w.scope->v->method->access & ACCESS_STATIC);
}

static bool is_current(struct where w)
{
	struct member_ref m;

	w = where_source(w);
	return where_value(w)->kind == VALUE_CALL && where_member(w, &m) &&
	       str_eq(m.name, STR("currentThread"));
}

/* The argument that is of the type; -1 for none. */
static int argument_of(const struct member_ref *m, struct str type)
{
	struct str rest = descriptor_parameters(m->type), one;

	for (int i = 1; descriptor_take(&rest, &one); i++)
		if (str_eq(one, type))
			return i;
	return -1;
}

/* new Thread(task, name), or super(name) in a class below. */
static void runs_of(struct where call, const struct member_ref *m, struct arena *a,
		    struct naming *n)
{
	const struct scope *s;
	int task = argument_of(m, STR("Ljava/lang/Runnable;"));

	if (task > 0)
		n->runs = handoff_runs(where_arg(call, (uint32_t)task), a);
	if (n->runs == NO_METHOD)
		n->runs = closure_method(where_arg(call, 0), STR("run"), a, &s);
}

static bool is_naming(struct where call, struct arena *a, struct naming *n)
{
	const struct program *p = call.scope->all->program;
	struct member_ref m;
	struct str type;
	int name;

	if (where_value(call)->op == OP_INVOKEDYNAMIC || !where_member(call, &m) || !may_name(&m))
		return false;
	name = argument_of(&m, TEXT_TYPE);
	*n = (struct naming){ .name = where_arg(call, (uint32_t)name), .runs = NO_METHOD };
	if (str_eq(m.name, STR("<init>"))) {
		runs_of(call, &m, a, n);
		return true;
	}
	if (!str_eq(m.name, STR("setName"))) {
		n->is_format = true;
		return true;
	}
	type = descriptor_class(where_type(where_source(where_arg(call, 0))));
	if (!is_thread(p, m.owner) && !is_thread(p, type))
		return false;
	n->is_own = is_current(where_arg(call, 0));
	if (!n->is_own)
		runs_of(call, &m, a, n);
	if (is_this(where_arg(call, 0)) && str_eq(call.scope->v->method->name, STR("run")))
		n->is_own = true;
	return true;
}

static bool says_something(const struct text *t)
{
	for (uint32_t i = 0; i < t->nr; i++)
		if (t->versions[i].letters)
			return true;
	return false;
}

static void keep_name(struct chunk *c, const struct scope *s, struct thread_name t)
{
	if (!says_something(&t.text))
		return;
	t.text = text_keep(&c->arena, t.text);
	t.line = code_line(s->v->method->code, t.pc);
	vec_push(&c->names, t);
}

/* setStatus("Receiving block " + block): what the caller says stands somewhere in the name. */
static void add_told(struct chunk *c, const struct scope *s, uint32_t call, uint32_t argument,
		     struct arena *scratch)
{
	struct wording w = { scratch, WORDING_STEPS, 0, 0 };
	struct text around = text_any(scratch, STR(""));
	struct where told = where_arg((struct where){ s, call }, argument);
	struct thread_name t = {
		.method = s->method, .runs = NO_METHOD, .pc = s->v->v[call].pc, .is_own = true
	};

	t.text = text_join(scratch, around, wording_of(&w, told, 0));
	t.text = text_tidy(scratch, text_join(scratch, t.text, around));
	keep_name(c, s, t);
}

static void add_tellers(struct chunk *c, struct scopes *scopes, uint32_t method,
			struct arena *scratch)
{
	const struct member *m = scopes->program->methods.v[method].member;
	struct member_ref as_ref = { .type = m->type };
	int argument = argument_of(&as_ref, TEXT_TYPE);
	struct caller places[CALLERS_MAX];
	uint32_t nr = 0;

	if (m->access & ACCESS_STATIC)
		argument--;
	if (argument >= 0)
		nr = callers_of(scopes->callers, scopes->program, method, places, CALLERS_MAX);
	for (uint32_t i = 0; i < nr; i++) {
		struct scope s;

		if (!scope_init(&s, scopes, places[i].method))
			continue;
		for (uint32_t k = 1; k < s.v->nr; k++)
			if (s.v->v[k].kind == VALUE_CALL && s.v->v[k].pc == places[i].pc)
				add_told(c, &s, k, (uint32_t)argument, scratch);
	}
}

static void look_at_method(struct chunk *c, struct scopes *scopes, uint32_t method,
			   struct arena *scratch)
{
	struct scope s;

	if (!scope_init(&s, scopes, method))
		return;
	for (uint32_t i = 1; i < s.v->nr; i++) {
		struct where at = { &s, i };
		struct wording w = { scratch, WORDING_STEPS, 0, 0 };
		struct thread_name t = { .method = method, .pc = s.v->v[i].pc };
		struct naming n;

		if (s.v->v[i].kind != VALUE_CALL || !is_naming(at, scratch, &n))
			continue;
		t.text = n.is_format ? wording_format(&w, FORMAT_PERCENT, n.name, NULL, 0, 0)
				     : wording_of(&w, n.name, 0);
		t.text = text_tidy(scratch, t.text);
		t.runs = n.runs;
		t.is_own = n.is_own;
		keep_name(c, &s, t);
		if (n.is_own)
			add_tellers(c, scopes, method, scratch);
		arena_reset(scratch);
	}
}

static bool names_threads(const struct class *c)
{
	struct member_ref m;

	for (uint32_t i = 1; i < c->nr_constants; i++) {
		enum constant_tag tag = class_tag(c, (uint16_t)i);

		if ((tag == CONSTANT_METHOD || tag == CONSTANT_INTERFACE_METHOD) &&
		    class_member(c, (uint16_t)i, &m) && may_name(&m))
			return true;
	}
	return false;
}

static void look_at_chunk(void *ctx, uint32_t item)
{
	struct search *s = ctx;
	const struct program *p = s->program;
	size_t end = ((size_t)item + 1) * CHUNK;
	struct scopes scopes;
	struct arena scratch = { 0 };

	scopes_init(&scopes, p);
	scopes.callers = s->callers;
	for (size_t i = (size_t)item * CHUNK; i < end && i < p->classes.nr; i++) {
		const struct program_class *c = &p->classes.v[i];

		if (!s->are_naming[i])
			continue;
		for (uint16_t k = 0; k < c->c.nr_methods; k++)
			if (c->c.methods[k].code)
				look_at_method(&s->chunks[item], &scopes, c->first_method + k,
					       &scratch);
		scopes_trim(&scopes);
	}
	scopes_done(&scopes);
	arena_done(&scratch);
}

/* Those that may be handed a name; ctx: by class, whether it names threads. */
static bool is_handed_name(const struct program *p, uint32_t method, const void *ctx)
{
	const struct program_method *m = &p->methods.v[method];

	return ((const bool *)ctx)[m->class] &&
	       str_find(m->member->type, TEXT_TYPE) < m->member->type.n;
}

void thread_names_find(struct thread_names *t, const struct program *p)
{
	uint32_t nr_chunks = (uint32_t)((p->classes.nr + CHUNK - 1) / CHUNK);
	struct callers callers;
	struct search s = { .program = p, .callers = &callers };
	bool *are_naming = mem_zalloc(p->classes.nr + 1);

	*t = (struct thread_names){ 0 };
	for (size_t i = 0; i < p->classes.nr; i++)
		are_naming[i] = names_threads(&p->classes.v[i].c);
	s.are_naming = are_naming;
	callers_init(&callers, p, is_handed_name, are_naming);
	s.chunks = mem_zalloc(mem_bytes(nr_chunks + 1U, sizeof(*s.chunks)));
	crew_run_with(p->threads, nr_chunks, look_at_chunk, &s);
	for (uint32_t i = 0; i < nr_chunks; i++) {
		vec_each (&s.chunks[i].names, n) {
			vec_push(&t->v, *n);
			t->v.v[t->v.nr - 1].text = text_keep(&t->arena, n->text);
		}
		vec_done(&s.chunks[i].names);
		arena_done(&s.chunks[i].arena);
	}
	free(s.chunks);
	free(are_naming);
	callers_done(&callers);
}

void thread_names_done(struct thread_names *t)
{
	vec_done(&t->v);
	arena_done(&t->arena);
}
