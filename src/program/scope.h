/* A method under evaluation: its values, and what its parameters are when the caller is known. */
#ifndef CULPRIT_PROGRAM_SCOPE_H
#define CULPRIT_PROGRAM_SCOPE_H

#include "program/program.h"
#include "program/values.h"

/* The values of methods, made when first asked for. Belongs to one thread. */
struct scopes {
	const struct program *program;
	const struct callers *callers; /* may be NULL: then nobody is asked who calls */
	struct arena arena;
	uint32_t *slots; /* by method: 1 + position in made */
	uint32_t nr_slots;
	VEC(struct made) made;
	uint32_t nr_damaged;
};

struct made {
	uint32_t method;
	const struct values *values; /* NULL: there are none */
};

struct callers;

void scopes_init(struct scopes *s, const struct program *p);
void scopes_done(struct scopes *s);
/* Forgets the values when they have become many; no scope may be in use. */
void scopes_trim(struct scopes *s);
/* NULL when the method has no code that makes sense. */
const struct values *scopes_values(struct scopes *s, uint32_t method);

struct scope;

/* A value where it stands. */
struct where {
	const struct scope *scope;
	uint32_t value;
};

struct scope {
	struct scopes *all;
	uint32_t method;
	const struct values *v;
	const struct where *parameters; /* NULL when the caller is not known */
	uint32_t nr_parameters;
	unsigned depth; /* how many callers are known */
};

bool scope_init(struct scope *s, struct scopes *all, uint32_t method);
/* The callee of a call, its parameters bound to the args. Lies in the arena. NULL without code. */
const struct scope *scope_enter(const struct scope *s, uint32_t call, uint32_t callee,
				struct arena *a);
/* A method with one parameter, this, bound to the value. */
const struct scope *scope_enter_this(const struct scope *s, uint32_t value, uint32_t callee,
				     struct arena *a);

static inline const struct value *where_value(struct where w)
{
	return &w.scope->v->v[w.value];
}
static inline struct where where_arg(struct where w, uint32_t n)
{
	const struct value *v = where_value(w);

	return (struct where){ w.scope, n < v->nr ? w.scope->v->args[v->first + n] : 0 };
}

/* Follows casts, and parameters to the caller. */
struct where where_source(struct where w);
/* The type of the value as a descriptor, as exact as it is known; empty if it is not. */
struct str where_type(struct where w);
/* The member that a field, static or call names. */
bool where_member(struct where w, struct member_ref *m);
/* The method that a call surely leads to, or the one that is declared; NO_METHOD when not given. */
uint32_t where_callee(struct where w);

#endif
