#include "program/fields.h"

bool field_find(const struct program *p, const struct member_ref *ref, struct field *f)
{
	uint32_t class = program_class(p, ref->owner), kin[KIN_MAX];
	uint32_t nr = class == NO_CLASS ? 0 : program_kin(p, class, kin);

	/* supers, and constants may stand in interfaces */
	for (uint32_t k = 0; k < nr; k++) {
		const struct class *c = &p->classes.v[kin[k]].c;

		for (uint16_t i = 0; i < c->nr_fields; i++) {
			if (!str_eq(c->fields[i].name, ref->name))
				continue;
			*f = (struct field){ kin[k], &c->fields[i] };
			return true;
		}
	}
	return false;
}

bool field_of(struct where at, struct field *f)
{
	const struct value *v = where_value(at);
	struct member_ref ref;

	return (v->kind == VALUE_FIELD || v->kind == VALUE_STATIC) && where_member(at, &ref) &&
	       field_find(at.scope->all->program, &ref, f);
}

/* What is put into the field last by this method; 0 for nothing. */
static uint32_t put_in(const struct values *v, const struct member *field)
{
	struct member_ref m;
	uint32_t found = 0;

	for (uint32_t i = 1; i < v->nr; i++) {
		const struct value *at = &v->v[i];

		if ((at->kind == VALUE_PUT_STATIC || at->kind == VALUE_PUT_FIELD) &&
		    class_member(v->class, at->constant, &m) && str_eq(m.name, field->name))
			found = v->args[at->first + at->nr - 1];
	}
	return found;
}

uint32_t field_beginnings(struct scopes *all, const struct field *f, struct where *values,
			  uint32_t max, struct arena *a)
{
	const struct program_class *c = &all->program->classes.v[f->class];
	struct str name = f->member->access & ACCESS_STATIC ? STR("<clinit>") : STR("<init>");
	uint32_t nr = 0, value;

	for (uint16_t i = 0; i < c->c.nr_methods && nr < max; i++) {
		struct scope *s;

		if (!str_eq(c->c.methods[i].name, name))
			continue;
		s = arena_new(a, struct scope);
		if (!scope_init(s, all, c->first_method + i))
			continue;
		value = put_in(s->v, f->member);
		if (value)
			values[nr++] = (struct where){ s, value };
	}
	return nr;
}
