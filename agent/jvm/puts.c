#include "agent/jvm/puts.h"

#include <stdlib.h>
#include <string.h>

#include "agent/jvm/helper.h"
#include "agent/jvm/path.h"
#include "agent/jvm/room.h"
#include "agent/jvm/site.h"
#include "agent/jvm/stitch.h"
#include "lib/advice/java_path.h"
#include "program/class.h"
#include "program/descriptor.h"

#define MIX 0x9e3779b97f4a7c15u

/* What a site is for, besides WANTED_CLOCK_ON and WANTED_CLOCK_OFF. */
enum { ROLE_PLAIN = 100, ROLE_CALL, ROLE_CHANGE };

/* One wish in one method, while it is made. */
struct making {
	struct puts *p;
	const struct wanted *w;
	const struct member *m;
	uint16_t method;
	size_t first; /* of its puts */
	const char *why;
	struct stitch_root roots[STITCH_ROOTS_MAX];
	size_t nr_roots;
	struct site_value values[SITE_EXPORTS];
	uint8_t of_root[SITE_EXPORTS]; /* which root each value begins at */
	uint8_t of_hash[SITE_EXPORTS]; /* … and which is its hash */
	struct site site;
	bool is_known; /* the site is there already, with its values */
};

void puts_init(struct puts *p, const struct class *c, struct arena *arena, JNIEnv *env)
{
	*p = (struct puts){ .arena = arena, .env = env, .class = c, .rewrite = { .class = c } };
}

void puts_done(struct puts *p)
{
	rewrite_done(&p->rewrite);
	vec_done(&p->v);
	vec_done(&p->of);
}

static bool refuse(struct making *k, const char *why)
{
	k->why = arena_z(k->p->arena, str_of(why));
	return false;
}

static void put_add(struct making *k, enum rewrite_where where, const struct stitch *s,
		    uint32_t site, const struct rewrite_call *call)
{
	struct rewrite_put put = { .method = k->method,
				   .where = where,
				   .line = k->w->line,
				   .code = arena_str(k->p->arena, buf_str(&s->code)),
				   .stack = s->stack,
				   .locals = s->locals };

	if (call)
		put.call = *call;
	vec_push(&k->p->v, put);
	vec_push(&k->p->of, (struct put_of){ k->w, k->method, site });
}

static struct stitch_place stitch_place_of(const struct making *k, enum rewrite_where where)
{
	return (struct stitch_place){
		.r = &k->p->rewrite, .method = k->m, .where = where, .advice = helper_name()
	};
}

/* --- values ------------------------------------------------------------------------------------
 */

static bool root_of(struct making *k, const struct java_path *path, uint16_t field, uint8_t *number)
{
	static const int kinds[] = { [JAVA_THIS] = ROOT_THIS,
				     [JAVA_ARGUMENT] = ROOT_ARGUMENT,
				     [JAVA_RETURN] = ROOT_RETURN,
				     [JAVA_THROWN] = ROOT_THROWN };
	struct stitch_root want;

	*number = SITE_NO_ROOT;
	if (path->root >= JAVA_DURATION)
		return true;
	want = (struct stitch_root){ .kind = kinds[path->root],
				     .number = path->argument,
				     .field = field };
	if (want.kind != ROOT_ARGUMENT)
		want.number = 0;
	for (*number = 0; *number < k->nr_roots; ++*number)
		if (k->roots[*number].kind == want.kind &&
		    k->roots[*number].number == want.number &&
		    k->roots[*number].field == want.field)
			return true;
	if (k->nr_roots == STITCH_ROOTS_MAX)
		return refuse(k, "more than eight values are asked for");
	k->roots[k->nr_roots++] = want;
	return true;
}

/* Objects of the program are found by their hash (kept.h): woven code has it sooner than we. */
static uint8_t hash_of(struct making *k, uint8_t root)
{
	if (k->w->action == WANTED_ADVISE || k->nr_roots == STITCH_ROOTS_MAX)
		return SITE_NO_ROOT;
	k->roots[k->nr_roots] = (struct stitch_root){ .kind = ROOT_HASH, .number = root };
	return (uint8_t)k->nr_roots++;
}

/* The type that the root's value is declared with; empty: there is no such argument. */
static struct str type_of(const struct making *k, const struct java_path *path)
{
	struct str parameters = descriptor_parameters(k->m->type), type = { 0 };
	struct buf text = { 0 };

	switch (path->root) {
	case JAVA_THIS:
		buf_fmt(&text, "L" STR_FMT ";", STR_ARG(k->p->class->name));
		type = arena_str(k->p->arena, buf_str(&text));
		buf_done(&text);
		return type;
	case JAVA_ARGUMENT:
		for (unsigned i = 0; i <= path->argument; i++)
			if (!descriptor_take(&parameters, &type))
				return (struct str){ 0 };
		return type;
	case JAVA_RETURN:
		return descriptor_result(k->m->type);
	case JAVA_THROWN:
		return STR("Ljava/lang/Throwable;");
	default:
		return STR("J");
	}
}

/* The constant that names a field, which woven code can load itself: of `this`, or of an argument
 * that the carrier says is never null. 0: it is found otherwise. *type: the field's. */
static uint16_t field_of(const struct making *k, const struct java_path *path, bool is_sure,
			 struct str *type)
{
	struct str owner = descriptor_class(*type);
	struct member_ref m;

	if (k->w->action == WANTED_ADVISE || k->w->moment != WANTED_ENTRY || path->nr_steps != 1 ||
	    path->steps[0].kind != JAVA_FIELD ||
	    !(path->root == JAVA_THIS || (path->root == JAVA_ARGUMENT && is_sure)))
		return 0;
	for (uint16_t i = 1; i < k->p->class->nr_constants; i++)
		if (class_tag(k->p->class, i) == CONSTANT_FIELD &&
		    class_member(k->p->class, i, &m) && str_eq(m.owner, owner) &&
		    str_eq(m.name, path->steps[0].name) && m.type.n &&
		    (m.type.p[0] == 'L' || m.type.p[0] == '[')) {
			*type = m.type;
			return i;
		}
	return 0;
}

/* "arg0!.item": the argument is never null. */
static bool sure_take(struct making *k, struct str *text)
{
	size_t at = str_find_char(*text, '!');
	struct buf rest = { 0 };

	if (at == text->n)
		return false;
	buf_add(&rest, str_head(*text, at));
	buf_add(&rest, str_skip(*text, at + 1));
	*text = arena_str(k->p->arena, buf_str(&rest));
	buf_done(&rest);
	return true;
}

/* Whether what is declared so may be a text or a number in its box, which is known by what it says.
 */
static bool may_be_said(struct str type)
{
	return str_starts(type, STR("Ljava/lang/")) || str_eq(type, STR("Ljava/io/Serializable;"));
}

/* Whether what is declared so is a number, or may be one in its box. */
static bool may_be_number(struct str type)
{
	return (type.p[0] != 'L' && type.p[0] != '[') ||
	       str_starts(type, STR("Ljava/util/concurrent/atomic/")) ||
	       (may_be_said(type) && !str_eq(type, STR("Ljava/lang/String;")));
}

static bool value_add(struct making *k, uint8_t number, struct str text)
{
	struct java_mistake mistake;
	struct java_path path;
	const char *why = "it cannot be evaluated";
	struct site_value v = { .number = number };
	bool is_sure, is_whole;
	uint16_t field;
	uint8_t root;
	struct str type;

	text = str_trim(text);
	is_sure = sure_take(k, &text);
	if (java_path_parse(text, &path, &mistake) < 0)
		return refuse(k, mistake.what);
	if (path.root == JAVA_DURATION) {
		k->site.takes_time = true;
		return true;
	}
	type = type_of(k, &path);
	if (!type.n)
		return refuse(k, "it has no such argument");
	if (k->w->action == WANTED_TIME && k->site.flags & WANTED_AMOUNT &&
	    number == SITE_AT_EXIT && !path.nr_steps && !may_be_number(type))
		return refuse(k, "it is no number");
	if (!k->is_known) {
		v.path = path_new(text, arena_z(k->p->arena, type), &why);
		if (!v.path)
			return refuse(k, why);
	}
	field = field_of(k, &path, is_sure, &type);
	if (!root_of(k, &path, field, &root)) {
		path_free(v.path, k->p->env);
		return false;
	}
	is_whole = !path.nr_steps || field;
	if (number == 0)
		k->site.is_plain = k->w->action == WANTED_OWN ||
				   (path.root == JAVA_THIS && !path.nr_steps &&
				    !str_starts(k->p->class->name, STR("java/lang/")) &&
				    !(k->p->class->access & (ACCESS_INTERFACE | ACCESS_ENUM)));
	k->site.has_no_arrays &=
		is_whole && type.p[0] == 'L' && !str_eq(type, STR("Ljava/lang/Object;"));
	v.is_root = path.root < JAVA_DURATION && is_whole && (type.p[0] == 'L' || type.p[0] == '[');
	v.is_named = v.is_root && !may_be_said(type);
	k->of_root[k->site.nr_values] = root;
	k->of_hash[k->site.nr_values] = v.is_root ? hash_of(k, root) : SITE_NO_ROOT;
	k->values[k->site.nr_values++] = v;
	return true;
}

static bool values_add(struct making *k)
{
	const struct wanted *w = k->w;

	if (w->action == WANTED_ADVISE) {
		for (size_t i = 0; i < w->nr_exports && i < SITE_EXPORTS; i++)
			if (!value_add(k, w->exports[i].number, w->exports[i].path))
				return false;
		return true;
	}
	for (size_t i = 0; i < WANTED_OPERANDS && w->operands[i].n; i++)
		if (!value_add(k, (uint8_t)i, w->operands[i]))
			return false;
	return true;
}

static uint8_t arrives(const struct stitch *s, uint8_t root)
{
	const struct stitch_handed *h = &s->handed[root];

	return (uint8_t)(strchr("L[V", h->type) ? STITCH_LONGS_MAX + h->number : h->number);
}

/* Where each value's root arrives. */
static void roots_set(struct making *k, const struct stitch *s)
{
	for (size_t i = 0; i < k->site.nr_values; i++) {
		k->values[i].root =
			k->of_root[i] == SITE_NO_ROOT ? SITE_NO_ROOT : arrives(s, k->of_root[i]);
		k->values[i].hash =
			k->of_hash[i] == SITE_NO_ROOT ? SITE_NO_ROOT : arrives(s, k->of_hash[i]);
	}
}

/* --- sites -------------------------------------------------------------------------------------
 */

/* Of class and method. */
static uint64_t place_of(const struct making *k)
{
	uint64_t h = str_hash(k->p->class->name) * MIX;

	h = (h ^ str_hash(k->m->name)) * MIX;
	return (h ^ str_hash(k->m->type)) * MIX;
}

static uint64_t key_of(const struct making *k, unsigned role)
{
	return (place_of(k) ^ (k->w->hash * MIX + role)) * MIX;
}

/* For people; NULL where there is no memory. */
static char *name_of(const struct making *k)
{
	struct buf text = { 0 };
	char *name;

	if (k->w->action == WANTED_ADVISE || k->site.action >= WANTED_ACTIONS)
		return NULL;
	buf_fmt(&text, STR_FMT "." STR_FMT STR_FMT "\t%s\t%s", STR_ARG(k->p->class->name),
		STR_ARG(k->m->name), STR_ARG(k->m->type), wanted_moment_name(k->w->moment),
		wanted_action_name(k->w->action));
	name = strndup(text.p, text.n);
	buf_done(&text);
	return name;
}

static void values_free(struct making *k)
{
	for (size_t i = 0; i < k->site.nr_values; i++) {
		path_free(k->values[i].path, k->p->env);
		k->values[i].path = NULL;
	}
}

/* The number that woven code will have. The values are kept for good where it is new. */
static bool site_make(struct making *k, unsigned role, int32_t *number)
{
	struct site s = k->site;
	int known;

	s.key = key_of(k, role);
	s.wish = k->w->hash;
	s.place = place_of(k);
	known = site_find(s.key);
	if (known < 0 && k->is_known)
		return refuse(k, "it is being woven elsewhere");
	/* made by another thread meanwhile, of a class of the same name */
	if (known >= 0 && !k->is_known)
		values_free(k);
	if (known < 0 && s.nr_values) {
		s.values = room_keep(s.nr_values * sizeof(*s.values));
		if (!s.values)
			return refuse(k, "there is no memory");
		memcpy(s.values, k->values, s.nr_values * sizeof(*s.values));
	}
	if (known < 0) {
		s.name = name_of(k);
		known = site_add(&s);
		/* what it leads to is the site's now */
		k->is_known = known >= 0;
	}
	*number = known;
	return known >= 0 || refuse(k, "more places were woven than there are numbers");
}

/* What says when a call was entered, and that it was left otherwise than asked for. */
static bool clock_add(struct making *k, uint32_t site, enum wanted_action action,
		      enum rewrite_where where)
{
	struct making clock = { .p = k->p, .w = k->w, .m = k->m, .method = k->method };
	struct stitch s = { 0 };
	struct stitch_place place = stitch_place_of(k, where);
	bool is;

	clock.site = (struct site){ .action = action, .function = site };
	is = site_make(&clock, (unsigned)action, &place.number);
	if (is && stitch_at(&s, &place, NULL, 0))
		put_add(k, where, &s, (uint32_t)place.number, NULL);
	else
		is = refuse(k, is ? s.refused : clock.why);
	stitch_done(&s);
	return is;
}

/* --- places ------------------------------------------------------------------------------------
 */

static const enum rewrite_where wheres[] = { [WANTED_ENTRY] = REWRITE_ENTRY,
					     [WANTED_EXIT] = REWRITE_EXIT,
					     [WANTED_EXCEPTION] = REWRITE_THROW,
					     [WANTED_LINE] = REWRITE_LINE,
					     [WANTED_CALL] = REWRITE_BEFORE_CALL };

/* Of an element of a queue as it is, the helper class may know already that there is nothing to be
 * told. */
static struct str element_method(const struct making *k)
{
	const struct stitch_root *r = k->roots;

	if (k->nr_roots != 2 || r[1].kind != ROOT_HASH || r[1].number != 0)
		return (struct str){ 0 };
	switch (k->w->action) {
	case WANTED_QUEUE:
		return STR(HELPER_PUT);
	case WANTED_NEXT:
		return STR(HELPER_NEXT);
	case WANTED_IDLE:
		return STR(HELPER_IDLE);
	default:
		return (struct str){ 0 };
	}
}

static bool plain_stitch(const struct making *k, struct stitch *s, const struct stitch_place *p)
{
	struct str method = element_method(k);

	return method.n ? stitch_element(s, p, k->roots, method)
			: stitch_at(s, p, k->roots, k->nr_roots);
}

static bool plain_add(struct making *k)
{
	enum rewrite_where where = wheres[k->w->moment];
	struct stitch_place place = stitch_place_of(k, where);
	struct stitch s = { 0 };
	bool is;

	k->is_known = site_find(key_of(k, ROLE_PLAIN)) >= 0;
	is = values_add(k);
	/* twice: the first time to know how roots arrive, which the site says for good */
	if (is && !plain_stitch(k, &s, &place))
		is = refuse(k, s.refused);
	if (is)
		roots_set(k, &s);
	is = is && site_make(k, ROLE_PLAIN, &place.number);
	if (is && k->site.takes_time)
		is = clock_add(k, (uint32_t)place.number, WANTED_CLOCK_ON, REWRITE_ENTRY);
	if (is && !plain_stitch(k, &s, &place))
		is = refuse(k, s.refused);
	if (is)
		put_add(k, where, &s, (uint32_t)place.number, NULL);
	if (is && k->site.takes_time)
		is = clock_add(k, (uint32_t)place.number, WANTED_CLOCK_OFF,
			       where == REWRITE_THROW ? REWRITE_EXIT : REWRITE_THROW);
	stitch_done(&s);
	return is;
}

static bool call_add(struct making *k)
{
	struct stitch_place place = stitch_place_of(k, REWRITE_BEFORE_CALL);
	struct rewrite_call call = { .type = STR("()V") };
	struct stitch s = { 0 };
	const char *why = "";
	size_t open = str_find_char(k->w->call, '('), dot = open;
	struct buf owner = { 0 };
	bool is;

	if (open < k->w->call.n)
		call.type = str_skip(k->w->call, open);
	while (dot && k->w->call.p[dot - 1] != '.')
		dot--;
	call.name = str_skip(str_head(k->w->call, open), dot);
	for (size_t i = 0; i + 1 < dot; i++)
		buf_char(&owner, k->w->call.p[i] == '.' ? '/' : k->w->call.p[i]);
	call.owner = arena_str(k->p->arena, buf_str(&owner));
	buf_done(&owner);
	k->values[0] = (struct site_value){ .root = STITCH_LONGS_MAX,
					    .hash = SITE_NO_ROOT,
					    .is_root = true };
	k->is_known = site_find(key_of(k, ROLE_CALL)) >= 0;
	if (!k->is_known)
		k->values[0].path = path_new(STR("arg0"), "Ljava/lang/Object;", &why);
	k->site.nr_values = 1;
	is = k->is_known || k->values[0].path ? site_make(k, ROLE_CALL, &place.number)
					      : refuse(k, why);
	if (is && !stitch_receiver(&s, &place, &call))
		is = refuse(k, s.refused);
	if (is)
		put_add(k, REWRITE_BEFORE_CALL, &s, (uint32_t)place.number, &call);
	stitch_done(&s);
	return is;
}

static bool change_add(struct making *k)
{
	enum rewrite_where where = wheres[k->w->moment];
	struct stitch_place place = stitch_place_of(k, where);
	struct java_mistake mistake;
	struct java_path path;
	struct stitch s = { 0 };
	uint8_t root;
	bool is;

	if (java_path_parse(str_trim(k->w->operands[0]), &path, &mistake) < 0 || path.nr_steps)
		return refuse(k, "only what is returned, or an argument, can be exchanged");
	is = root_of(k, &path, 0, &root) && root != SITE_NO_ROOT &&
	     site_make(k, ROLE_CHANGE, &place.number);
	if (is && !stitch_replace(&s, &place, k->roots[root]))
		is = refuse(k, s.refused);
	if (is)
		put_add(k, where, &s, (uint32_t)place.number, NULL);
	stitch_done(&s);
	return is;
}

/* One of the sites by which a call is told; before and after: the values of its marks, or empty. */
static bool time_site(struct making *whole, struct site site, enum rewrite_where where,
		      struct str before, struct str after, uint32_t *number)
{
	struct making k = {
		.p = whole->p, .w = whole->w, .m = whole->m, .method = whole->method, .site = site
	};
	struct stitch_place place = stitch_place_of(&k, where);
	struct stitch s = { 0 };
	bool is;

	k.is_known = site_find(key_of(&k, site.action)) >= 0;
	is = (!before.n || value_add(&k, SITE_AT_ENTRY, before)) &&
	     (!after.n || value_add(&k, SITE_AT_EXIT, after));
	/* as in plain_add */
	if (is && !stitch_at(&s, &place, k.roots, k.nr_roots))
		is = refuse(&k, s.refused);
	for (size_t i = 0; is && i < k.nr_roots; i++)
		if (s.handed[i].type == 'V')
			is = refuse(&k, "there is no this, or it is not made yet");
	if (is)
		roots_set(&k, &s);
	is = is && site_make(&k, site.action, &place.number);
	if (is && !stitch_at(&s, &place, k.roots, k.nr_roots))
		is = refuse(&k, s.refused);
	if (is)
		put_add(&k, where, &s, (uint32_t)place.number, NULL);
	stitch_done(&s);
	if (!is && !k.is_known)
		values_free(&k);
	whole->why = k.why;
	*number = (uint32_t)place.number;
	return is;
}

static bool is_argument(struct str value)
{
	struct java_mistake mistake;
	struct java_path path;

	return value.n && !java_path_parse(str_trim(value), &path, &mistake) &&
	       path.root == JAVA_ARGUMENT && !path.nr_steps;
}

/* A call is told when it is left: its entry has a site, by which the two ways out know it. What a
 * constructor throws is not seen; it is forgotten when what has called it is left. Where something
 * is thrown nothing is returned, and no mark says so. */
static bool time_add(struct making *k)
{
	const struct str none = { 0 }, *values = k->w->operands;
	bool is_early = is_argument(values[SITE_AT_EXIT]);
	struct str early = is_early ? values[SITE_AT_EXIT] : none;
	struct str late = is_early ? none : values[SITE_AT_EXIT];
	struct site s = { .action = WANTED_TIME,
			  .moment = k->w->moment,
			  .function = k->w->function,
			  .flags = k->w->flags };
	uint32_t entry, ignored;
	bool is = time_site(k, s, REWRITE_ENTRY, values[SITE_AT_ENTRY], early, &entry);

	s = (struct site){ .action = WANTED_TIME_OFF, .function = entry, .flags = k->w->flags };
	is = is && time_site(k, s, REWRITE_EXIT, none, late, &ignored);
	s.action = WANTED_TIME_THROWN;
	if (str_starts(late, STR("return"))) {
		s.flags &= (uint8_t)~WANTED_MARK_EXIT;
		late = none;
	}
	if (is && !str_eq(k->m->name, STR("<init>")))
		is = time_site(k, s, REWRITE_THROW, none, late, &ignored);
	return is;
}

/* Something else takes the place of what is there. */
static bool wanted_is_change(const struct wanted *w)
{
	return w->action == WANTED_PUT || w->action == WANTED_FILL || w->action == WANTED_REPLY ||
	       w->action == WANTED_BEAR;
}

static void method_add(struct puts *p, const struct wanted *w, uint16_t method)
{
	struct making k = { .p = p,
			    .w = w,
			    .m = &p->class->methods[method],
			    .method = method,
			    .first = p->v.nr,
			    .site = { .action = w->action,
				      .has_no_arrays =
					      w->action == WANTED_KEEP || w->action == WANTED_OWN ||
					      w->action == WANTED_MORE || w->action == WANTED_JOIN,
				      .moment = w->moment,
				      .function = w->function,
				      .flags = w->flags } };
	bool is = wanted_is_change(w)        ? change_add(&k)
		  : w->action == WANTED_TIME ? time_add(&k)
		  : w->moment == WANTED_CALL ? call_add(&k)
					     : plain_add(&k);

	if (is)
		return;
	if (!k.is_known)
		values_free(&k);
	p->v.nr = p->of.nr = k.first;
	if (p->refused)
		p->refused(w, p->class, k.m, k.why ? k.why : "it cannot be woven");
}

void puts_add(struct puts *p, const struct wanted *w)
{
	for (uint16_t i = 0; i < p->class->nr_methods; i++)
		if (wanted_has_method(w, &p->class->methods[i]) &&
		    wanted_has_annotations(w, p->class, &p->class->methods[i]))
			method_add(p, w, i);
}
