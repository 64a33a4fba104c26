#include "program/closure.h"

#include "program/descriptor.h"
#include "program/insn.h"

/* An invokedynamic of LambdaMetafactory: the handle of the body is its second argument. */
static uint32_t lambda_method(struct where at)
{
	const struct program *p = at.scope->all->program;
	const struct class *c = at.scope->v->class;
	const struct bootstrap *b;
	struct member_ref m;
	struct handle_ref maker, body;

	if (!where_member(at, &m) || m.bootstrap >= c->nr_bootstraps)
		return NO_METHOD;
	b = &c->bootstraps[m.bootstrap];
	if (!class_handle(c, b->handle, &maker) || b->nr < 2 ||
	    !str_eq(maker.member.owner, STR("java/lang/invoke/LambdaMetafactory")) ||
	    !class_handle(c, b->args[1], &body))
		return NO_METHOD;
	return program_resolve(p, program_class(p, body.member.owner),
			       names_find(&p->names, body.member.name),
			       names_find(&p->names, body.member.type));
}

/* The method of this name that is no bridge; a bridge when there is nothing else. */
static uint32_t named_method(const struct program *p, uint32_t class, struct str name)
{
	uint32_t bridge = NO_METHOD;

	for (unsigned up = 0; class != NO_CLASS && up < 64; up++) {
		const struct program_class *c = &p->classes.v[class];

		for (uint16_t i = 0; i < c->c.nr_methods; i++) {
			const struct member *m = &c->c.methods[i];

			if (!str_eq(m->name, name) || !m->code)
				continue;
			if (!(m->access & ACCESS_BRIDGE))
				return c->first_method + i;
			bridge = c->first_method + i;
		}
		class = c->super;
	}
	return bridge;
}

uint32_t closure_method(struct where at, struct str name, struct arena *a, const struct scope **s)
{
	const struct program *p = at.scope->all->program;
	uint32_t method = NO_METHOD;
	const struct value *v;

	*s = NULL;
	at = where_source(at);
	v = where_value(at);
	if (v->kind == VALUE_CALL && v->op == OP_INVOKEDYNAMIC) {
		method = lambda_method(at);
		if (method != NO_METHOD)
			*s = scope_enter(at.scope, at.value, method, a);
		return method;
	}
	method = named_method(p, program_class(p, descriptor_class(where_type(at))), name);
	if (method != NO_METHOD)
		*s = scope_enter_this(at.scope, at.value, method, a);
	return method;
}
