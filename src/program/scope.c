#include "program/scope.h"

#include <stdlib.h>

#include "program/descriptor.h"
#include "program/insn.h"

enum { KEPT_MAX = 4096, DEPTH_MAX = 8 };

void scopes_init(struct scopes *s, const struct program *p)
{
	*s = (struct scopes){ .program = p, .nr_slots = 4 * KEPT_MAX };
	s->slots = mem_zalloc(mem_bytes(s->nr_slots, sizeof(*s->slots)));
}

void scopes_done(struct scopes *s)
{
	free(s->slots);
	vec_done(&s->made);
	arena_done(&s->arena);
}

void scopes_trim(struct scopes *s)
{
	if (s->made.nr < KEPT_MAX)
		return;
	memset(s->slots, 0, s->nr_slots * sizeof(*s->slots));
	vec_clear(&s->made);
	arena_reset(&s->arena);
}

/* Where the method is, or the free place for it; NULL when there is no more room. */
static uint32_t *find_slot(const struct scopes *s, uint32_t method)
{
	uint32_t mask = s->nr_slots - 1, at = (method * 2654435761U) & mask;

	if (s->made.nr >= s->nr_slots / 2)
		return NULL;
	while (s->slots[at] && s->made.v[s->slots[at] - 1].method != method)
		at = (at + 1) & mask;
	return &s->slots[at];
}

const struct values *scopes_values(struct scopes *s, uint32_t method)
{
	uint32_t *slot = find_slot(s, method);
	const struct program_method *m = &s->program->methods.v[method];
	struct values *v;

	if (!slot)
		return NULL;
	if (*slot)
		return s->made.v[*slot - 1].values;
	v = arena_new(&s->arena, struct values);
	if (!m->member->code) {
		v = NULL;
	} else if (!values_init(v, program_class_of(s->program, method), m->member, &s->arena)) {
		s->nr_damaged++;
		v = NULL;
	}
	vec_push(&s->made, (struct made){ method, v });
	*slot = (uint32_t)s->made.nr;
	return v;
}

bool scope_init(struct scope *s, struct scopes *all, uint32_t method)
{
	*s = (struct scope){ .all = all, .method = method, .v = scopes_values(all, method) };
	return s->v != NULL;
}

static struct scope *deeper(const struct scope *s, uint32_t callee, struct arena *a)
{
	struct scope *new;
	const struct values *v = s->depth < DEPTH_MAX ? scopes_values(s->all, callee) : NULL;

	if (!v)
		return NULL;
	new = arena_new(a, struct scope);
	*new = (struct scope){ .all = s->all, .method = callee, .v = v, .depth = s->depth + 1 };
	return new;
}

const struct scope *scope_enter(const struct scope *s, uint32_t call, uint32_t callee,
				struct arena *a)
{
	const struct value *v = &s->v->v[call];
	struct scope *new = deeper(s, callee, a);
	struct where *bound;

	if (!new)
		return NULL;
	bound = arena_array(a, struct where, v->nr + 1U);
	for (uint32_t i = 0; i < v->nr; i++)
		bound[i] = (struct where){ s, s->v->args[v->first + i] };
	new->parameters = bound;
	new->nr_parameters = v->nr;
	return new;
}

const struct scope *scope_enter_this(const struct scope *s, uint32_t value, uint32_t callee,
				     struct arena *a)
{
	struct scope *new = deeper(s, callee, a);
	struct where *bound;

	if (!new)
		return NULL;
	bound = arena_new(a, struct where);
	*bound = (struct where){ s, value };
	new->parameters = bound;
	new->nr_parameters = 1;
	return new;
}

struct where where_source(struct where w)
{
	for (;;) {
		const struct value *v = where_value(w);

		if (v->kind == VALUE_CAST) {
			w = where_arg(w, 0);
		} else if (v->kind == VALUE_PARAMETER && v->number < w.scope->nr_parameters) {
			w = w.scope->parameters[v->number];
		} else {
			return w;
		}
	}
}

bool where_member(struct where w, struct member_ref *m)
{
	return class_member(w.scope->v->class, where_value(w)->constant, m);
}

static struct str as_descriptor(struct where w, struct str class)
{
	if (class.n && class.p[0] == '[')
		return class;
	return class.n ? arena_fmt(&w.scope->all->arena, "L" STR_FMT ";", STR_ARG(class)) : class;
}

static struct str parameter_type(struct where w)
{
	const struct member *m = w.scope->v->method;
	struct str rest = descriptor_parameters(m->type), type = STR("");
	int64_t n = where_value(w)->number;

	if (!(m->access & ACCESS_STATIC) && !n--)
		return as_descriptor(w, w.scope->v->class->name);
	while (n-- >= 0)
		if (!descriptor_take(&rest, &type))
			return STR("");
	return type;
}

static struct str phi_type(struct where w)
{
	const struct value *v = where_value(w);
	struct str type = STR(""), other;

	for (uint32_t i = 0; i < v->nr; i++) {
		struct where arg = where_arg(w, i);

		if (where_value(arg)->kind == VALUE_PHI || where_value(arg)->kind == VALUE_NULL)
			continue;
		other = where_type(arg);
		if (type.n && other.n && !str_eq(type, other))
			return STR("Ljava/lang/Object;");
		type = other;
	}
	return type;
}

struct str where_type(struct where w)
{
	const struct value *v = where_value(w);
	const struct class *c = w.scope->v->class;
	struct member_ref m;

	switch ((enum value_kind)v->kind) {
	case VALUE_TEXT:
		return STR("Ljava/lang/String;");
	case VALUE_TYPE:
		return STR("Ljava/lang/Class;");
	case VALUE_NUMBER:
		return v->op == OP_LDC2_W || (v->op >= OP_LCONST_0 && v->op <= OP_LCONST_1)
			       ? STR("J")
			       : STR("I");
	case VALUE_PARAMETER:
		if (v->number < w.scope->nr_parameters &&
		    where_type(w.scope->parameters[v->number]).n)
			return where_type(w.scope->parameters[v->number]);
		return parameter_type(w);
	case VALUE_FIELD:
	case VALUE_STATIC:
		return where_member(w, &m) ? m.type : STR("");
	case VALUE_CALL:
		return where_member(w, &m) ? descriptor_result(m.type) : STR("");
	case VALUE_NEW:
	case VALUE_CAUGHT:
	case VALUE_CAST:
		return as_descriptor(w, class_named(c, v->constant));
	case VALUE_PHI:
		return phi_type(w);
	case VALUE_MATH:
		return STR("I");
	case VALUE_LENGTH:
	case VALUE_IS:
		return STR("I");
	default:
		return STR("");
	}
}

uint32_t where_callee(struct where w)
{
	const struct program *p = w.scope->all->program;
	const struct value *v = where_value(w);
	struct member_ref m;
	uint32_t class;
	struct str type;

	if (v->kind != VALUE_CALL || v->op == OP_INVOKEDYNAMIC || !where_member(w, &m))
		return NO_METHOD;
	class = program_class(p, m.owner);
	if (v->op == OP_INVOKEVIRTUAL || v->op == OP_INVOKEINTERFACE) {
		/* what is known of the receiver may be closer than what the call names */
		type = descriptor_class(where_type(where_source(where_arg(w, 0))));
		if (program_class(p, type) != NO_CLASS &&
		    program_is_a(p, program_class(p, type), m.owner))
			class = program_class(p, type);
	}
	return program_resolve(p, class, names_find(&p->names, m.name),
			       names_find(&p->names, m.type));
}
