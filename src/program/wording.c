#include "program/wording.h"

#include "program/callers.h"
#include "program/closure.h"
#include "program/descriptor.h"
#include "program/fields.h"
#include "program/insn.h"
#include "program/origin.h"

enum {
	DEPTH_MAX = 6,      /* of helpers and toString() within each other */
	RETURNS_MAX = 4,    /* of a helper with several */
	PRINTED_MAX = 2,    /* versions of what toString() gives */
	OVERRIDES_MAX = 4,  /* of toString() in classes below */
	CALLERS_MAX = 12,   /* of a method that is handed a text */
	BEGINNINGS_MAX = 4, /* of a field: constructors that set it */
};

struct text wording_hole(struct wording *w, struct where at)
{
	struct path *path = arena_new(w->arena, struct path);

	*path = origin_path(at, w->arena);
	return text_hole_at(w->arena, origin_hole(at), origin_name(at, w->arena), path);
}

static struct text number_text(struct wording *w, int64_t number, struct str type)
{
	char c = (char)number;

	if (type.n && type.p[0] == 'C' && number > 0 && number < 128)
		return text_of(w->arena, (struct str){ &c, 1 });
	if (type.n && type.p[0] == 'Z')
		return text_of(w->arena, number ? STR("true") : STR("false"));
	return text_of(w->arena, arena_fmt(w->arena, "%lld", (long long)number));
}

struct text wording_as(struct wording *w, struct where at, struct str type, unsigned depth)
{
	struct where source = where_source(at);
	const struct value *v = where_value(source);
	bool is_whole = type.n && strchr("CZIJSB", type.p[0]);

	if (v->kind == VALUE_NUMBER && is_whole)
		return number_text(w, v->number, type);
	if (is_whole && type.p[0] != 'I' && type.p[0] != 'J' && v->kind != VALUE_PHI) {
		struct text t = wording_hole(w, at);

		t.versions->parts->type = type.p[0] == 'C'   ? HOLE_CHAR
					  : type.p[0] == 'Z' ? HOLE_BOOLEAN
							     : HOLE_INTEGER;
		return t;
	}
	return wording_of(w, at, depth);
}

struct text wording_part(struct wording *w, struct where at, struct str type, unsigned depth)
{
	struct text t;

	w->nr_around++;
	t = wording_as(w, at, type, depth);
	w->nr_around--;
	return t;
}

static bool is_null(struct text t)
{
	for (uint32_t i = 0; i < t.nr; i++)
		if (t.versions[i].nr != 1 || t.versions[i].parts->kind != PART_TEXT ||
		    !str_eq(t.versions[i].parts->text, STR("null")))
			return false;
	return true;
}

static bool has_lone_hole(struct text t)
{
	for (uint32_t i = 0; i < t.nr; i++)
		if (t.versions[i].nr == 1 && t.versions[i].parts->kind != PART_TEXT)
			return true;
	return false;
}

/* Either of both; "null" is no version of its own where a hole holds it. */
static struct text either_text(struct wording *w, struct text x, struct text y)
{
	if (is_null(x) && has_lone_hole(y))
		return y;
	if (is_null(y) && has_lone_hole(x))
		return x;
	return text_or(w->arena, x, y);
}

/* An enum whose constants are printed as they are called. */
static bool prints_its_name(const struct program *p, uint32_t class)
{
	sym_t name = names_find(&p->names, STR("toString"));
	sym_t type = names_find(&p->names, STR("()Ljava/lang/String;"));

	return !name || !type || program_resolve(p, class, name, type) == NO_METHOD;
}

static uint32_t text_letters(struct text t)
{
	uint32_t letters = 0;

	for (uint32_t i = 0; i < t.nr; i++)
		letters += t.versions[i].letters;
	return letters;
}

/* The constant of a field, or the texts that constructors or the class itself put into it. */
static bool field_text(struct wording *w, struct where at, struct text *t, unsigned depth)
{
	struct where values[BEGINNINGS_MAX];
	const struct class *c;
	struct field f;
	int64_t number;
	uint32_t nr;

	if (!field_of(at, &f))
		return false;
	c = &at.scope->all->program->classes.v[f.class].c;
	if (f.member->constant) {
		*t = class_number(c, f.member->constant, &number)
			     ? number_text(w, number, f.member->type)
			     : text_of(w->arena, class_named(c, f.member->constant));
		return true;
	}
	if ((f.member->access & ACCESS_ENUM) && prints_its_name(at.scope->all->program, f.class)) {
		*t = text_of(w->arena, f.member->name);
		return true;
	}
	if (!str_eq(f.member->type, STR("Ljava/lang/String;")) || depth >= DEPTH_MAX)
		return false;
	nr = field_beginnings(at.scope->all, &f, values, BEGINNINGS_MAX, w->arena);
	for (uint32_t i = 0; i < nr; i++) {
		struct text one = wording_of(w, values[i], depth + 1);

		/* the field says more than the parameter that it was set from */
		if (!text_letters(one))
			one = wording_hole(w, at);
		*t = i ? either_text(w, *t, one) : one;
	}
	if (nr && !(f.member->access & ACCESS_FINAL))
		*t = either_text(w, *t, wording_hole(w, at));
	return nr > 0;
}

/* Everything the method may give back, its parameters bound. */
static bool result_text(struct wording *w, const struct scope *inside, struct text *t,
			unsigned depth)
{
	const struct values *v = inside->v;
	unsigned nr = 0;

	for (uint32_t i = 1; i < v->nr && nr < RETURNS_MAX; i++) {
		struct text one;

		if (v->v[i].kind != VALUE_RETURN || !v->v[i].nr)
			continue;
		one = wording_of(w, (struct where){ inside, v->args[v->v[i].first] }, depth + 1);
		*t = nr++ ? either_text(w, *t, one) : one;
	}
	return nr > 0;
}

static bool is_text(struct str type)
{
	return str_eq(type, STR("Ljava/lang/String;")) ||
	       str_eq(type, STR("Ljava/lang/CharSequence;")) ||
	       str_eq(type, STR("Ljava/lang/Object;"));
}

/* toString() as declared for the class, and as overridden by classes below of which there are
 * objects. */
static bool object_text(struct wording *w, struct where at, struct str class, struct text *t,
			unsigned depth)
{
	const struct program *p = at.scope->all->program;
	sym_t name = names_find(&p->names, STR("toString"));
	sym_t type = names_find(&p->names, STR("()Ljava/lang/String;"));
	uint32_t number = program_class(p, class), methods[1 + OVERRIDES_MAX], nr = 0;
	bool is_found = false;

	if (number == NO_CLASS || depth >= DEPTH_MAX)
		return false;
	methods[nr] = program_resolve(p, number, name, type);
	nr += methods[nr] != NO_METHOD;
	for (uint32_t i = 0; i < p->classes.v[number].nr_below && nr <= OVERRIDES_MAX; i++) {
		methods[nr] = program_declared(p, p->classes.v[number].below[i], name, type);
		nr += methods[nr] != NO_METHOD;
	}
	for (uint32_t i = 0; i < nr; i++) {
		const struct scope *inside =
			scope_enter_this(at.scope, at.value, methods[i], w->arena);
		struct text one;

		if (!inside || !result_text(w, inside, &one, depth))
			continue;
		if (i) /* only if it is an object of a class below */
			text_guess(one);
		*t = is_found ? text_or(w->arena, *t, one) : one;
		is_found = true;
	}
	return is_found;
}

static struct text printed(struct wording *w, struct where at, unsigned depth)
{
	struct str class = descriptor_class(where_type(at));
	struct text t, unknown = wording_hole(w, at);

	if (!object_text(w, at, class, &t, depth))
		return unknown;
	t = text_tidy(w->arena, t);
	if (t.nr > PRINTED_MAX)
		t.nr = PRINTED_MAX;
	text_guess(unknown);
	return text_or(w->arena, t, unknown);
}

/* invokedynamic of StringConcatFactory: a recipe with places for arguments and for constants. */
static struct text concat_text(struct wording *w, struct where at, const struct member_ref *m,
			       unsigned depth)
{
	const struct class *c = at.scope->v->class;
	const struct bootstrap *b = &c->bootstraps[m->bootstrap];
	struct str recipe = b->nr ? class_named(c, b->args[0]) : STR("");
	struct str types = descriptor_parameters(m->type), type = STR("");
	struct text t = text_empty(w->arena);
	uint32_t arg = 0;
	uint16_t constant = 1;
	bool is_plain = str_eq(m->name, STR("makeConcat"));

	if (is_plain)
		recipe = STR("");
	while (is_plain ? arg < where_value(at)->nr : recipe.n > 0) {
		size_t n = 0;

		while (n < recipe.n && recipe.p[n] != 1 && recipe.p[n] != 2)
			n++;
		t = text_join(w->arena, t, text_of(w->arena, str_head(recipe, n)));
		recipe = str_skip(recipe, n);
		if (is_plain || str_take_char(&recipe, 1)) {
			descriptor_take(&types, &type);
			t = text_join(w->arena, t,
				      wording_part(w, where_arg(at, arg++), type, depth));
		} else if (str_take_char(&recipe, 2)) {
			struct str text =
				constant < b->nr ? class_named(c, b->args[constant]) : STR("");

			constant++;
			t = text_join(w->arena, t, text_of(w->arena, text));
		}
	}
	return t;
}

static bool is_string_method(const struct member_ref *m, const char *name)
{
	return str_eq(m->owner, STR("java/lang/String")) && str_eq(m->name, str_of(name));
}

/* Those that give their first argument as it is, or nearly. */
static bool is_print(const struct member_ref *m, const struct value *v)
{
	if (!v->nr)
		return false;
	return is_string_method(m, "valueOf") || is_string_method(m, "trim") ||
	       is_string_method(m, "intern") || is_string_method(m, "toString") ||
	       is_string_method(m, "strip") || (str_eq(m->name, STR("toString")) && v->nr == 1) ||
	       (str_eq(m->owner, STR("java/util/Objects")) && str_eq(m->name, STR("toString")));
}

static struct text format_text(struct wording *w, struct where at, const struct member_ref *m,
			       unsigned depth)
{
	bool has_locale = str_starts(m->type, STR("(Ljava/util/Locale;"));
	enum format_style style =
		str_eq(m->owner, STR("java/lang/String")) ? FORMAT_PERCENT : FORMAT_NUMBERS;
	struct where args[1] = { where_arg(at, has_locale ? 2 : 1) };

	return wording_format(w, style, where_arg(at, has_locale ? 1 : 0), args, 1, depth);
}

/* An object of a class that Scala or Java made for one function. */
static bool is_closure(struct where at)
{
	const struct program *p = at.scope->all->program;
	uint32_t class = program_class(p, descriptor_class(where_type(at)));

	return program_is_a(p, class, STR("scala/Function0")) ||
	       program_is_a(p, class, STR("scala/runtime/AbstractFunction0")) ||
	       program_is_a(p, class, STR("java/util/function/Supplier"));
}

/* A message by name: the text that the closure would give. */
static bool closure_text(struct wording *w, struct where at, struct text *t, unsigned depth)
{
	const struct scope *inside;

	if (depth >= DEPTH_MAX)
		return false;
	if (closure_method(at, STR("apply"), w->arena, &inside) == NO_METHOD)
		closure_method(at, STR("get"), w->arena, &inside);
	return inside && result_text(w, inside, t, depth);
}

/* Foo.class.getName() and its like. */
static bool is_class_name(struct where at, const struct member_ref *m)
{
	return str_eq(m->owner, STR("java/lang/Class")) && where_value(at)->nr == 1 &&
	       (str_eq(m->name, STR("getName")) || str_eq(m->name, STR("getSimpleName")) ||
		str_eq(m->name, STR("getCanonicalName"))) &&
	       where_value(where_source(where_arg(at, 0)))->kind == VALUE_TYPE;
}

static struct str class_text(struct where at, const struct member_ref *m, struct arena *a)
{
	struct where type = where_source(where_arg(at, 0));
	struct str name = class_named(type.scope->v->class, where_value(type)->constant);
	bool is_simple = str_eq(m->name, STR("getSimpleName"));
	char *dotted;

	name = is_simple ? origin_simple(name) : name;
	dotted = arena_z(a, name);
	for (size_t i = 0; i < name.n; i++)
		if (dotted[i] == '/')
			dotted[i] = '.';
	if (is_simple)
		for (size_t i = name.n; i--;)
			if (dotted[i] == '$')
				return str_skip((struct str){ dotted, name.n }, i + 1);
	return (struct str){ dotted, name.n };
}

/* A builder as an object: what it holds where it is used, if that is one place only. */
static struct text builder_text(struct wording *w, struct where at, unsigned depth)
{
	const struct values *v = at.scope->v;
	uint32_t use = UINT32_MAX, nr = 0;

	for (uint32_t i = at.value + 1; i < v->nr; i++) {
		uint32_t k = v->v[i].kind == VALUE_CALL          ? 0
			     : v->v[i].kind == VALUE_PUT_ELEMENT ? 2
								 : v->v[i].nr;
		struct member_ref m;

		if (v->v[i].kind == VALUE_CALL && class_member(v->class, v->v[i].constant, &m) &&
		    wording_is_builder(m.owner))
			continue;
		for (; k < v->v[i].nr; k++) {
			if (v->args[v->v[i].first + k] != at.value)
				continue;
			use = i;
			nr++;
		}
	}
	return wording_builder(w, at, nr == 1 ? use : UINT32_MAX, depth);
}

/* The toString() that the compiler gives to a record: Point[x=1, y=2]. */
static bool record_text(struct wording *w, struct where at, const struct member_ref *m,
			struct text *t)
{
	const struct class *c = at.scope->v->class;
	const struct bootstrap *b = &c->bootstraps[m->bootstrap];
	struct handle_ref h;
	struct str simple = origin_simple(c->name), separator = STR("[");

	if (!str_eq(m->name, STR("toString")) || !class_handle(c, b->handle, &h) ||
	    !str_eq(h.member.owner, STR("java/lang/runtime/ObjectMethods")))
		return false;
	for (size_t i = simple.n; i--;)
		if (simple.p[i] == '$')
			simple = str_skip(simple, i + 1);
	*t = text_of(w->arena, simple);
	for (uint16_t i = 2; i < b->nr; i++) {
		if (!class_handle(c, b->args[i], &h))
			continue;
		*t = text_join(
			w->arena, *t,
			text_of(w->arena, arena_fmt(w->arena, STR_FMT STR_FMT "=",
						    STR_ARG(separator), STR_ARG(h.member.name))));
		*t = text_join(w->arena, *t,
			       origin_field_hole(where_arg(at, 0), &h.member, w->arena));
		separator = STR(", ");
	}
	*t = text_join(w->arena, *t, text_of(w->arena, b->nr > 2 ? STR("]") : STR("[]")));
	return true;
}

static bool known_call_text(struct wording *w, struct where at, struct member_ref *m,
			    struct text *t, unsigned depth)
{
	const struct value *v = where_value(at);

	if (v->op == OP_INVOKEDYNAMIC) {
		if (m->bootstrap >= at.scope->v->class->nr_bootstraps)
			return false;
		if (record_text(w, at, m, t))
			return true;
		if (!str_starts(m->name, STR("makeConcat")))
			return closure_text(w, at, t, depth);
		*t = concat_text(w, at, m, depth);
	} else if (wording_is_builder(m->owner) && v->nr) {
		*t = str_eq(m->name, STR("toString"))
			     ? wording_builder(w, where_arg(at, 0), at.value, depth)
			     : builder_text(w, at, depth);
	} else if (is_string_method(m, "format") || is_string_method(m, "formatted") ||
		   (str_eq(m->owner, STR("java/text/MessageFormat")) &&
		    str_eq(m->name, STR("format")) && v->op == OP_INVOKESTATIC)) {
		*t = format_text(w, at, m, depth);
	} else if (is_string_method(m, "concat")) {
		*t = text_join(w->arena, wording_part(w, where_arg(at, 0), STR(""), depth),
			       wording_part(w, where_arg(at, 1), STR(""), depth));
	} else if (is_class_name(at, m)) {
		*t = text_of(w->arena, class_text(at, m, w->arena));
	} else if (is_print(m, v) && where_callee(at) == NO_METHOD) {
		*t = wording_as(w, where_arg(at, 0), descriptor_parameters(m->type), depth);
	} else {
		return false;
	}
	return true;
}

static struct text call_text(struct wording *w, struct where at, unsigned depth)
{
	const struct scope *inside;
	struct member_ref m;
	struct text t, unknown;
	uint32_t callee;

	if (!where_member(at, &m))
		return wording_hole(w, at);
	if (known_call_text(w, at, &m, &t, depth) || wording_scala(w, at, &m, &t, depth))
		return t;
	callee = where_callee(at);
	if (callee == NO_METHOD || depth >= DEPTH_MAX)
		return wording_hole(w, at);
	if (!is_text(descriptor_result(m.type)))
		return printed(w, at, depth);
	inside = scope_enter(at.scope, at.value, callee, w->arena);
	unknown = wording_hole(w, at);
	if (!inside || !result_text(w, inside, &t, depth))
		return unknown;
	text_guess(unknown);
	return text_or(w->arena, t, unknown);
}

/* Where the array of an element was made: here, by a helper, or for a field. */
static bool array_of(struct wording *w, struct where at, struct where *array)
{
	const struct scope *inside;
	struct field f;
	uint32_t callee;

	at = where_source(at);
	if (field_of(at, &f))
		return field_beginnings(at.scope->all, &f, array, 1, w->arena) == 1;
	*array = at;
	if (where_value(at)->kind != VALUE_CALL)
		return true;
	callee = where_callee(at);
	inside = callee == NO_METHOD ? NULL : scope_enter(at.scope, at.value, callee, w->arena);
	for (uint32_t i = 1; inside && i < inside->v->nr; i++) {
		const struct value *v = &inside->v->v[i];

		if (v->kind != VALUE_RETURN || !v->nr)
			continue;
		*array = (struct where){ inside, inside->v->args[v->first] };
		return true;
	}
	return false;
}

/* Any of the texts that were put into an array. */
static struct text element_text(struct wording *w, struct where at, unsigned depth)
{
	struct where array, elements[VERSIONS_MAX];
	struct text t = wording_hole(w, at);
	uint32_t nr = 0;
	struct str type = where_type(where_source(where_arg(at, 0)));

	if (depth < DEPTH_MAX && is_text(str_skip(type, 1)) &&
	    array_of(w, where_arg(at, 0), &array))
		nr = wording_elements(array, elements, VERSIONS_MAX);
	for (uint32_t i = 0; i < nr; i++)
		if (elements[i].value)
			t = text_or(w->arena, t, wording_of(w, elements[i], depth + 1));
	return t;
}

static struct text phi_text(struct wording *w, struct where at, unsigned depth)
{
	const struct value *v = where_value(at);
	struct text t = { 0 };

	for (uint32_t i = 0; i < v->nr && i < VERSIONS_MAX; i++) {
		struct where arg = where_arg(at, i);
		struct text one;

		if (where_value(where_source(arg))->kind == VALUE_NULL)
			continue; /* a hole of the others holds it */
		one = where_value(arg)->kind == VALUE_PHI ? wording_hole(w, at)
							  : wording_of(w, arg, depth + 1);
		t = t.nr ? either_text(w, t, one) : one;
	}
	return t.nr ? t : wording_hole(w, at);
}

/* A text that the method is handed: what its callers hand over. */
static struct text handed_text(struct wording *w, struct where at, unsigned depth)
{
	struct scopes *all = at.scope->all;
	struct caller places[CALLERS_MAX];
	struct text t = wording_hole(w, at);
	uint32_t nr;

	if (!all->callers || w->nr_around || w->nr_callers >= 3 ||
	    !str_eq(where_type(at), STR("Ljava/lang/String;")) || at.scope->nr_parameters)
		return t;
	w->nr_callers++;
	nr = callers_of(all->callers, all->program, at.scope->method, places, CALLERS_MAX);
	for (uint32_t i = 0; i < nr; i++) {
		struct scope *s = arena_new(w->arena, struct scope);

		if (!scope_init(s, all, places[i].method))
			continue;
		for (uint32_t k = 1; k < s->v->nr; k++) {
			struct where call = { s, k };

			if (s->v->v[k].kind == VALUE_CALL && s->v->v[k].pc == places[i].pc)
				t = text_or(w->arena, t,
					    wording_of(w,
						       where_arg(call,
								 (uint32_t)where_value(at)->number),
						       depth + 1));
		}
	}
	w->nr_callers--;
	return t;
}

struct text wording_of(struct wording *w, struct where at, unsigned depth)
{
	const struct value *v;
	struct text t;

	at = where_source(at);
	v = where_value(at);
	if (!w->steps || depth > DEPTH_MAX)
		return wording_hole(w, at);
	w->steps--;
	switch ((enum value_kind)v->kind) {
	case VALUE_TEXT:
		return text_of(w->arena, class_named(at.scope->v->class, v->constant));
	case VALUE_NULL:
		return text_of(w->arena, STR("null"));
	case VALUE_NUMBER:
		if (v->op >= OP_FCONST_0 && v->op <= OP_DCONST_1)
			return wording_hole(w, at);
		return number_text(w, v->number, STR("I"));
	case VALUE_FIELD:
	case VALUE_STATIC:
		return field_text(w, at, &t, depth) ? t : printed(w, at, depth);
	case VALUE_CALL:
		return call_text(w, at, depth);
	case VALUE_NEW:
		if (wording_is_builder(class_named(at.scope->v->class, v->constant)))
			return builder_text(w, at, depth);
		return is_closure(at) && closure_text(w, at, &t, depth) ? t : printed(w, at, depth);
	case VALUE_PHI:
		return phi_text(w, at, depth);
	case VALUE_ELEMENT:
		return element_text(w, at, depth);
	case VALUE_PARAMETER:
		if (str_eq(where_type(at), STR("Ljava/lang/String;")))
			return handed_text(w, at, depth);
		return is_closure(at) ? wording_hole(w, at) : printed(w, at, depth);
	default:
		return printed(w, at, depth);
	}
}
