/*
 * By shape: a value that can be run (Runnable, Callable, Thread, TimerTask, a function) is given to
 * a method that is not part of the program, or is started. What a method of the program does with
 * such a value is seen there.
 */
#include "program/handoff.h"

#include "program/closure.h"
#include "program/descriptor.h"
#include "program/insn.h"

static const struct {
	struct str type, method;
} runnables[] = {
	{ STR("java/lang/Runnable"), STR("run") },
	{ STR("java/util/concurrent/Callable"), STR("call") },
	{ STR("java/lang/Thread"), STR("run") },
	{ STR("java/util/TimerTask"), STR("run") },
	{ STR("java/util/concurrent/ForkJoinTask"), STR("exec") },
	{ STR("java/util/concurrent/RecursiveAction"), STR("compute") },
	{ STR("java/util/concurrent/RecursiveTask"), STR("compute") },
	{ STR("java/util/function/Supplier"), STR("get") },
	{ STR("java/util/function/Function"), STR("apply") },
	{ STR("java/util/function/Consumer"), STR("accept") },
	{ STR("java/util/function/BiConsumer"), STR("accept") },
	{ STR("java/util/function/BiFunction"), STR("apply") },
	{ STR("java/security/PrivilegedExceptionAction"), STR("run") },
	{ STR("java/security/PrivilegedAction"), STR("run") },
};

enum { NR_RUNNABLES = sizeof(runnables) / sizeof(*runnables) };

/* Those run by the caller itself, before the call returns. */
static bool runs_here(struct str owner, struct str type)
{
	return str_starts(type, STR("java/security/Privileged")) ||
	       (str_starts(type, STR("java/util/function/")) &&
		!str_starts(owner, STR("java/util/concurrent/")));
}

static bool is_started(const struct member_ref *m)
{
	return str_eq(m->name, STR("start")) || str_eq(m->name, STR("fork"));
}

bool handoff_may_happen(const struct class *c)
{
	for (uint32_t i = 1; i < c->nr_constants; i++) {
		enum constant_tag tag = class_tag(c, (uint16_t)i);
		struct member_ref m;

		if (tag == CONSTANT_INVOKE_DYNAMIC)
			return true;
		if ((tag != CONSTANT_METHOD && tag != CONSTANT_INTERFACE_METHOD) ||
		    !class_member(c, (uint16_t)i, &m))
			continue;
		if (is_started(&m))
			return true;
		for (unsigned k = 0; k < NR_RUNNABLES; k++)
			if (str_find(m.type, runnables[k].type) < m.type.n)
				return true;
	}
	return false;
}

/* Which of the runnables a parameter takes, or NR_RUNNABLES. */
static unsigned runnable_of(struct str type)
{
	struct str class = descriptor_class(type);
	unsigned i = 0;

	while (i < NR_RUNNABLES && !str_eq(runnables[i].type, class))
		i++;
	return i;
}

static bool is_fork(const struct program *p, uint32_t class)
{
	return program_is_a(p, class, STR("java/util/concurrent/RecursiveAction")) ||
	       program_is_a(p, class, STR("java/util/concurrent/RecursiveTask"));
}

/* t.start(): the run() of its own class, or of what the thread was made with. */
static uint32_t started_method(struct where call, struct arena *a)
{
	const struct program *p = call.scope->all->program;
	struct where thread = where_source(where_arg(call, 0));
	struct str class = descriptor_class(where_type(thread));
	const struct scope *s;

	if (program_is_a(p, program_class(p, class), STR("java/lang/Thread")))
		return closure_method(thread, STR("run"), a, &s);
	if (is_fork(p, program_class(p, class)))
		return closure_method(thread, STR("compute"), a, &s);
	return NO_METHOD;
}

uint32_t handoff_method(struct where call, struct arena *a)
{
	const struct value *v = where_value(call);
	const struct scope *s;
	struct member_ref m;
	struct str rest, type;
	uint32_t arg, method;

	if (v->op == OP_INVOKEDYNAMIC || !where_member(call, &m))
		return NO_METHOD;
	if (is_started(&m) && v->nr == 1 && v->op != OP_INVOKESTATIC)
		return started_method(call, a);
	if (program_class(call.scope->all->program, m.owner) != NO_CLASS &&
	    where_callee(call) != NO_METHOD)
		return NO_METHOD;
	rest = descriptor_parameters(m.type);
	for (arg = v->op == OP_INVOKESTATIC ? 0 : 1; descriptor_take(&rest, &type); arg++) {
		unsigned k = runnable_of(type);

		if (k == NR_RUNNABLES || runs_here(m.owner, runnables[k].type))
			continue;
		method = closure_method(where_arg(call, arg), runnables[k].method, a, &s);
		if (method == NO_METHOD && str_ends(runnables[k].type, STR("/ForkJoinTask")))
			method = closure_method(where_arg(call, arg), STR("compute"), a, &s);
		if (method != NO_METHOD)
			return method;
	}
	return NO_METHOD;
}

/* What the method calls and the class below overrides. */
static uint32_t filled_in_by(const struct program *p, uint32_t class, uint32_t method,
			     uint32_t *filled, uint32_t nr, uint32_t max)
{
	const struct class *c = program_class_of(p, method);
	const struct code *code = p->methods.v[method].member->code;
	struct member_ref m;
	struct insn i;

	for (uint32_t pc = 0; code && pc < code->bytes.n && nr < max; pc = i.next) {
		uint32_t own, found;
		bool is_new;

		if (!insn_read(code->bytes, pc, &i))
			break;
		if (i.op != OP_INVOKEVIRTUAL || !class_member(c, (uint16_t)i.operand, &m) ||
		    !program_is_a(p, class, m.owner))
			continue;
		own = program_resolve(p, p->methods.v[method].class, names_find(&p->names, m.name),
				      names_find(&p->names, m.type));
		found = program_resolve(p, class, names_find(&p->names, m.name),
					names_find(&p->names, m.type));
		is_new = own != NO_METHOD && found != NO_METHOD && found != own &&
			 p->methods.v[found].member->code;
		for (uint32_t k = 0; k < nr; k++)
			is_new &= filled[k] != found;
		if (is_new)
			filled[nr++] = found;
	}
	return nr;
}

uint32_t handoff_filled_in(struct where call, uint32_t method, uint32_t *filled, uint32_t max)
{
	const struct program *p = call.scope->all->program;
	struct str declared;
	uint32_t nr = 0;

	if (method == NO_METHOD)
		return 0;
	declared = program_class_of(p, method)->name;
	for (uint32_t i = 0; i < where_value(call)->nr; i++) {
		struct where arg = where_source(where_arg(call, i));
		uint32_t class = program_class(p, descriptor_class(where_type(arg)));

		if (class != NO_CLASS && class != p->methods.v[method].class &&
		    program_is_a(p, class, declared))
			nr = filled_in_by(p, class, method, filled, nr, max);
	}
	return nr;
}

int handoff_relayed(struct where call)
{
	const struct value *v = where_value(call);
	struct member_ref m;
	struct str rest, type;

	if (v->op == OP_INVOKEDYNAMIC || !where_member(call, &m) || where_callee(call) != NO_METHOD)
		return -1;
	rest = descriptor_parameters(m.type);
	for (uint32_t arg = v->op == OP_INVOKESTATIC ? 0 : 1; descriptor_take(&rest, &type);
	     arg++) {
		unsigned k = runnable_of(type);
		struct where at = where_source(where_arg(call, arg));

		if (k < NR_RUNNABLES && !runs_here(m.owner, runnables[k].type) &&
		    where_value(at)->kind == VALUE_PARAMETER)
			return (int)where_value(at)->number;
	}
	return -1;
}

uint32_t handoff_runs(struct where value, struct arena *a)
{
	const struct program *p = value.scope->all->program;
	struct str class = descriptor_class(where_type(where_source(value)));
	const struct scope *s;

	for (unsigned k = 0; k < NR_RUNNABLES; k++)
		if (str_eq(class, runnables[k].type) ||
		    program_is_a(p, program_class(p, class), runnables[k].type))
			return closure_method(value, runnables[k].method, a, &s);
	return NO_METHOD;
}

/* Whether the value is an argument of a call that hands it over. */
static bool is_handed_over(struct where value, struct arena *a)
{
	const struct values *v = value.scope->v;

	for (uint32_t i = value.value + 1; i < v->nr; i++) {
		if (v->v[i].kind != VALUE_CALL)
			continue;
		for (uint32_t k = 0; k < v->v[i].nr; k++)
			if (v->args[v->v[i].first + k] == value.value)
				return handoff_method((struct where){ value.scope, i }, a) !=
				       NO_METHOD;
	}
	return false;
}

uint32_t handoff_lambda(struct where call, struct arena *a)
{
	const struct scope *s;

	if (where_value(call)->op != OP_INVOKEDYNAMIC || is_handed_over(call, a))
		return NO_METHOD;
	return closure_method(call, STR(""), a, &s);
}
