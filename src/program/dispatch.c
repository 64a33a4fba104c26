/*
 * Two shapes. A generic interface with handlers for several classes of events: the compiler leaves
 * a bridge in each, from handle(Event) to handle(AppEvent), so the class of what is sent tells the
 * handler. And registration: a call, or the constructor of a constant, is given a constant of an
 * enumeration and an object that implements some small interface; who mentions the constant in a
 * message reaches the object.
 */
#include "program/dispatch.h"

#include <stdlib.h>

#include "program/closure.h"
#include "program/descriptor.h"
#include "program/insn.h"
#include "program/made.h"
#include "program/serial.h"

enum {
	ASCENT_MAX = 16,
	ABSTRACT_MAX = 2, /* methods of an interface of handlers */
};

static int by_declared(const void *a, const void *b)
{
	const struct typed_handler *x = a, *y = b;

	if (x->declared != y->declared)
		return x->declared < y->declared ? -1 : 1;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return (x->handler > y->handler) - (x->handler < y->handler);
}

/* The first parameter of which the one method knows more than the other. */
static bool narrowed(const struct program *p, struct str wide, struct str narrow, uint32_t *event,
		     uint16_t *argument)
{
	struct str w = descriptor_parameters(wide), n = descriptor_parameters(narrow), x, y;
	bool found = false;

	for (uint16_t i = 1; descriptor_take(&w, &x); i++) {
		if (!descriptor_take(&n, &y))
			return false;
		if (found || str_eq(x, y))
			continue;
		*event = program_class(p, descriptor_class(y));
		*argument = i;
		found = *event != NO_CLASS;
	}
	return found && !descriptor_take(&n, &y);
}

/* The method above that a bridge answers for. */
static uint32_t declared_above(const struct program *p, uint32_t class, sym_t name, sym_t type)
{
	uint32_t kin[KIN_MAX], nr = program_kin(p, class, kin);

	for (uint32_t i = 1; i < nr; i++) {
		uint32_t found = program_declared(p, kin[i], name, type);

		if (found != NO_METHOD && p->methods.v[found].member->access & ACCESS_ABSTRACT)
			return found;
	}
	return NO_METHOD;
}

static void add_bridge(struct dispatch *d, uint32_t class, uint32_t bridge)
{
	const struct program *p = d->program;
	const struct program_class *c = &p->classes.v[class];
	const struct program_method *b = &p->methods.v[bridge];
	uint32_t declared = declared_above(p, class, b->name, b->type);

	if (declared == NO_METHOD)
		return;
	for (uint16_t k = 0; k < c->c.nr_methods; k++) {
		const struct member *m = &c->c.methods[k];
		struct typed_handler t = { .declared = declared, .handler = c->first_method + k };

		if (m->access & ACCESS_BRIDGE || !m->code || !str_eq(m->name, b->member->name) ||
		    !narrowed(p, b->member->type, m->type, &t.event, &t.argument))
			continue;
		vec_push(&d->typed, t);
	}
}

/* An interface with handlers of one sort only does not choose. */
static void drop_single(struct dispatch *d)
{
	size_t kept = 0;

	for (size_t from = 0, to; from < d->typed.nr; from = to) {
		uint32_t declared = d->typed.v[from].declared;

		for (to = from + 1; to < d->typed.nr && d->typed.v[to].declared == declared;)
			to++;
		if (d->typed.v[from].event == d->typed.v[to - 1].event)
			continue;
		d->is_name[d->program->methods.v[declared].name] = true;
		for (size_t i = from; i < to; i++)
			d->typed.v[kept++] = d->typed.v[i];
	}
	d->typed.nr = kept;
}

void dispatch_init(struct dispatch *d, const struct program *p)
{
	*d = (struct dispatch){ .program = p, .is_name = mem_zalloc(p->names.nr + 1U) };
	for (uint32_t m = 0; m < p->methods.nr; m++) {
		const struct program_method *method = &p->methods.v[m];

		if (method->member->access & ACCESS_BRIDGE && method->member->code)
			add_bridge(d, method->class, m);
	}
	if (d->typed.nr)
		qsort(d->typed.v, d->typed.nr, sizeof(*d->typed.v), by_declared);
	drop_single(d);
}

void dispatch_done(struct dispatch *d)
{
	vec_done(&d->typed);
	vec_done(&d->ties);
	free(d->is_name);
}

/* The handlers of the nearest class above that has any. */
static uint32_t event_above(const struct dispatch *d, size_t from, uint32_t declared,
			    uint32_t class)
{
	const struct program *p = d->program;

	for (unsigned up = 0; class != NO_CLASS && up < ASCENT_MAX; up++) {
		for (size_t i = from; i < d->typed.nr && d->typed.v[i].declared == declared; i++)
			if (d->typed.v[i].event == class)
				return class;
		class = p->classes.v[class].super;
	}
	return NO_CLASS;
}

uint32_t dispatch_event(const struct dispatch *d, struct where call, uint32_t *declared)
{
	const struct program *p = d->program;
	size_t low = 0, high = d->typed.nr;
	struct member_ref m;
	struct where arg;

	if (where_value(call)->op == OP_INVOKEDYNAMIC || !where_member(call, &m) ||
	    !d->is_name[names_find(&p->names, m.name)])
		return NO_CLASS;
	*declared = program_resolve(p, program_class(p, m.owner), names_find(&p->names, m.name),
				    names_find(&p->names, m.type));
	if (*declared == NO_METHOD)
		return NO_CLASS;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (d->typed.v[mid].declared < *declared)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == d->typed.nr || d->typed.v[low].declared != *declared)
		return NO_CLASS;
	arg = made_only(where_arg(call, d->typed.v[low].argument));
	return event_above(d, low, *declared, program_class(p, descriptor_class(where_type(arg))));
}

static bool is_enum(const struct program *p, uint32_t class)
{
	return class != NO_CLASS && p->classes.v[class].c.access & ACCESS_ENUM;
}

bool dispatch_constant(struct where w, uint32_t *constants, struct str *constant)
{
	const struct program *p = w.scope->all->program;
	struct member_ref m;

	w = where_source(w);
	if (where_value(w)->kind != VALUE_STATIC || !where_member(w, &m) ||
	    !str_eq(descriptor_class(m.type), m.owner))
		return false;
	*constants = program_class(p, m.owner);
	*constant = m.name;
	return is_enum(p, *constants);
}

/* The one method, or the first of two, that an interface asks for. */
static uint32_t asked_for(const struct program *p, uint32_t interface)
{
	const struct program_class *c = &p->classes.v[interface];
	uint32_t first = NO_METHOD, nr = 0;

	if (!(c->c.access & ACCESS_INTERFACE))
		return NO_METHOD;
	for (uint16_t k = 0; k < c->c.nr_methods; k++) {
		if (!(c->c.methods[k].access & ACCESS_ABSTRACT))
			continue;
		if (!nr++)
			first = c->first_method + k;
	}
	return nr <= ABSTRACT_MAX ? first : NO_METHOD;
}

/* The method of a class that answers for a small interface above it. */
static uint32_t handler_of(const struct program *p, uint32_t class)
{
	uint32_t kin[KIN_MAX], nr = program_kin(p, class, kin);

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t asked = asked_for(p, kin[i]);

		if (asked != NO_METHOD)
			return program_resolve(p, class, p->methods.v[asked].name,
					       p->methods.v[asked].type);
	}
	return NO_METHOD;
}

/* The method that a bridge leads to. */
static uint32_t without_bridge(const struct program *p, uint32_t method)
{
	const struct program_method *b = &p->methods.v[method];
	const struct program_class *c = &p->classes.v[b->class];
	uint32_t event;
	uint16_t argument;

	for (uint16_t k = 0; b->member->access & ACCESS_BRIDGE && k < c->c.nr_methods; k++) {
		const struct member *m = &c->c.methods[k];

		if (!(m->access & ACCESS_BRIDGE) && m->code && str_eq(m->name, b->member->name) &&
		    narrowed(p, b->member->type, m->type, &event, &argument))
			return c->first_method + k;
	}
	return method;
}

static bool is_serializer(const struct program *p, uint32_t class)
{
	const struct class *c = &p->classes.v[class].c;

	for (uint16_t k = 0; k < c->nr_methods; k++)
		if (str_eq(c->methods[k].name, STR("deserialize")))
			return true;
	for (uint16_t i = 0; i < c->nr_interfaces; i++)
		if (str_ends(c->interfaces[i], STR("Serializer")))
			return true;
	return str_ends(c->name, STR("Serializer"));
}

/* Something to be run once, not something that waits for what is sent. */
static bool is_task(const struct program *p, uint32_t class)
{
	return program_is_a(p, class, STR("java/lang/Runnable")) ||
	       program_is_a(p, class, STR("java/util/concurrent/Callable"));
}

/* What a supplier supplies. */
static uint32_t supplied(const struct scope *body, const struct program *p)
{
	for (uint32_t i = 1; body && i < body->v->nr; i++)
		if (body->v->v[i].kind == VALUE_RETURN && body->v->v[i].nr)
			return program_class(p, descriptor_class(where_type(where_source(
							where_arg((struct where){ body, i }, 0)))));
	return NO_CLASS;
}

/* Whether the value handles something: *handler, or NO_METHOD for a serializer. */
static bool is_handler(struct where w, struct arena *a, uint32_t *handler)
{
	const struct program *p = w.scope->all->program;
	const struct scope *body = NULL;
	struct member_ref m;
	uint32_t class;

	w = made_only(w);
	if (where_value(w)->kind == VALUE_CALL && where_value(w)->op == OP_INVOKEDYNAMIC) {
		*handler = closure_method(w, STR(""), a, &body);
		if (*handler == NO_METHOD || !where_member(w, &m))
			return false;
		if (!str_starts(descriptor_class(descriptor_result(m.type)), STR("java/")))
			return true;
		class = supplied(body, p);
	} else if (where_value(w)->kind == VALUE_NEW || where_value(w)->kind == VALUE_STATIC) {
		class = program_class(p, descriptor_class(where_type(w)));
	} else {
		return false;
	}
	if (class == NO_CLASS || is_enum(p, class) || is_task(p, class))
		return false;
	*handler = NO_METHOD;
	if (is_serializer(p, class))
		return true;
	*handler = handler_of(p, class);
	if (*handler == NO_METHOD || !p->methods.v[*handler].member->code ||
	    serial_is_part(p->methods.v[*handler].member))
		return false;
	*handler = without_bridge(p, *handler);
	return true;
}

/* new Verb("READ", …) in the enumeration itself. */
static bool own_constant(struct where call, struct tie *t)
{
	const struct program *p = call.scope->all->program;
	const struct value *v = where_value(call);
	struct where name;
	struct member_ref m;

	if (v->nr < 3 || !where_member(call, &m) || !str_eq(m.name, STR("<init>")) ||
	    !str_eq(call.scope->v->method->name, STR("<clinit>")) ||
	    !is_enum(p, program_class(p, call.scope->v->class->name)))
		return false;
	name = where_arg(call, 1);
	if (where_value(name)->kind != VALUE_TEXT)
		return false;
	t->constants = program_class(p, call.scope->v->class->name);
	t->constant = class_named(name.scope->v->class, where_value(name)->constant);
	return true;
}

uint32_t dispatch_ties(struct where call, struct arena *a, struct tie *ties)
{
	struct tie t = { .constants = NO_CLASS };
	bool is_own = own_constant(call, &t);
	uint32_t nr = 0;

	for (uint32_t i = 0; i < where_value(call)->nr && nr < TIES_MAX; i++) {
		struct where arg = where_arg(call, i);
		struct tie other;

		/* the constant that stands next to the handler is the one it is for */
		if (!is_own && dispatch_constant(arg, &other.constants, &other.constant))
			t = other;
		else if (t.constants != NO_CLASS && is_handler(arg, a, &t.handler))
			ties[nr++] = t;
	}
	return nr;
}

static int by_constant(const void *a, const void *b)
{
	const struct tie *x = a, *y = b;
	int r;

	if (x->constants != y->constants)
		return x->constants < y->constants ? -1 : 1;
	r = str_cmp(x->constant, y->constant);
	return r ? r : (x->handler > y->handler) - (x->handler < y->handler);
}

void dispatch_sort(struct dispatch *d)
{
	if (d->ties.nr)
		qsort(d->ties.v, d->ties.nr, sizeof(*d->ties.v), by_constant);
}

bool dispatch_is_tied(const struct dispatch *d, uint32_t constants, struct str constant)
{
	size_t low = 0, high = d->ties.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct tie *t = &d->ties.v[mid];
		int r = t->constants != constants ? (t->constants < constants ? -1 : 1)
						  : str_cmp(t->constant, constant);

		if (!r)
			return true;
		if (r < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}
