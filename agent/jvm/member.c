/*
 * JVMTI lists the members of a class, whatever their access, and runs no code of the application
 * for it, as reflection may. It is slow: a place does it once for each class.
 */
#include "agent/jvm/member.h"

#include <stdlib.h>
#include <string.h>

#define ACC_STATIC 0x8
#define ACC_BRIDGE 0x40
#define LOCALS 64 /* references that a search holds at once, as a rule */

struct search {
	JNIEnv *env;
	jvmtiEnv *jvmti;
	struct str name;
	bool is_getter;
	struct member *found;
};

static void give_back(const struct search *s, void *memory)
{
	(*s->jvmti)->Deallocate(s->jvmti, memory);
}

static struct member *make(const struct search *s, const char *type)
{
	size_t n = strlen(type) + 1;
	struct member *m = calloc(1, sizeof(*m) + n);

	if (!m)
		return NULL;
	m->is_getter = s->is_getter;
	memcpy(m->type, type, n);
	return m;
}

/* --- in one class ----------------------------------------------------------------------------- */

static void try_field(struct search *s, jclass class, jfieldID field)
{
	char *name, *type;
	jint modifiers;

	if ((*s->jvmti)->GetFieldName(s->jvmti, class, field, &name, &type, NULL))
		return;
	if (str_eq(str_of(name), s->name) &&
	    !(*s->jvmti)->GetFieldModifiers(s->jvmti, class, field, &modifiers) &&
	    !(modifiers & ACC_STATIC)) {
		s->found = make(s, type);
		if (s->found)
			s->found->field = field;
	}
	give_back(s, name);
	give_back(s, type);
}

static void try_method(struct search *s, jmethodID method, bool with_bridges)
{
	char *name, *type;
	jint modifiers;

	if ((*s->jvmti)->GetMethodName(s->jvmti, method, &name, &type, NULL))
		return;
	if (str_eq(str_of(name), s->name) && str_starts(str_of(type), STR("()")) &&
	    type[2] != 'V' && !(*s->jvmti)->GetMethodModifiers(s->jvmti, method, &modifiers) &&
	    !(modifiers & ACC_STATIC) && (with_bridges || !(modifiers & ACC_BRIDGE))) {
		s->found = make(s, type + 2);
		if (s->found)
			s->found->getter = method;
	}
	give_back(s, name);
	give_back(s, type);
}

static void look_at_fields(struct search *s, jclass class)
{
	jfieldID *fields;
	jint nr;

	if ((*s->jvmti)->GetClassFields(s->jvmti, class, &nr, &fields))
		return;
	for (jint i = 0; i < nr && !s->found; i++)
		try_field(s, class, fields[i]);
	give_back(s, fields);
}

/* A bridge has the type of what the method overrides: the method itself tells more. */
static void look_at_methods(struct search *s, jclass class)
{
	jmethodID *methods;
	jint nr;

	if ((*s->jvmti)->GetClassMethods(s->jvmti, class, &nr, &methods))
		return;
	for (jint i = 0; i < nr && !s->found; i++)
		try_method(s, methods[i], false);
	for (jint i = 0; i < nr && !s->found; i++)
		try_method(s, methods[i], true);
	give_back(s, methods);
}

static bool look_at(struct search *s, jclass class)
{
	if (s->is_getter)
		look_at_methods(s, class);
	else
		look_at_fields(s, class);
	return s->found;
}

/* --- in all that it is ------------------------------------------------------------------------ */

typedef bool (*look_fn)(struct search *s, jclass class, void *arg);

/* The interfaces of one class, and theirs. */
static bool walk_interfaces(struct search *s, jclass class, look_fn look, void *arg)
{
	jclass *interfaces;
	bool is_done = false;
	jint nr;

	if ((*s->jvmti)->GetImplementedInterfaces(s->jvmti, class, &nr, &interfaces))
		return false;
	for (jint i = 0; i < nr && !is_done; i++)
		is_done =
			look(s, interfaces[i], arg) || walk_interfaces(s, interfaces[i], look, arg);
	give_back(s, interfaces);
	return is_done;
}

/* The class and what it extends, then what these implement; until one is what was looked for. */
static bool walk(struct search *s, jclass class, look_fn look, void *arg)
{
	for (jclass c = class; c; c = (*s->env)->GetSuperclass(s->env, c))
		if (look(s, c, arg))
			return true;
	for (jclass c = class; c; c = (*s->env)->GetSuperclass(s->env, c))
		if (walk_interfaces(s, c, look, arg))
			return true;
	return false;
}

static bool has_member(struct search *s, jclass class, void *arg)
{
	(void)arg;
	return look_at(s, class);
}

static bool has_member_if_called(struct search *s, jclass class, void *declared)
{
	bool is_it;
	char *name;

	if ((*s->jvmti)->GetClassSignature(s->jvmti, class, &name, NULL))
		return false;
	is_it = !strcmp(name, declared);
	give_back(s, name);
	if (is_it)
		walk(s, class, has_member, NULL);
	return is_it;
}

struct member *member_find(struct class_cache *c, JNIEnv *env, jvmtiEnv *jvmti, jclass class,
			   const char *declared, struct str name, bool is_getter)
{
	struct search s = { env, jvmti, name, is_getter, NULL };
	struct class_entry *known = class_cache_find(c, env, class, declared);

	if (known)
		return (struct member *)known;
	if ((*env)->PushLocalFrame(env, LOCALS)) {
		(*env)->ExceptionClear(env);
		return NULL;
	}
	if (declared)
		walk(&s, class, has_member_if_called, (void *)declared);
	if (!s.found)
		walk(&s, class, has_member, NULL);
	(*env)->PopLocalFrame(env, NULL);
	if (!s.found) {
		s.found = make(&s, "");
		if (!s.found)
			return NULL;
		s.found->is_missing = true;
	}
	return (struct member *)class_cache_add(c, env, class, declared, &s.found->entry);
}
