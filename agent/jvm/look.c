#include "agent/jvm/look.h"

#include "agent/jvm/answer.h"
#include "agent/jvm/machine.h"
#include "agent/jvm/meant.h"
#include "agent/jvm/order.h"
#include "program/class.h"

/* Whether it is one of those, and has code. */
static bool is_wanted(const struct wanted *w, jmethodID id, struct str *name)
{
	static struct code some;
	struct member m = { 0 };
	jint access = 0;

	if ((*machine)->GetMethodModifiers(machine, id, &access) != JVMTI_ERROR_NONE)
		return false;
	m.access = (uint16_t)access;
	m.name = *name;
	m.code = access & (ACCESS_NATIVE | ACCESS_ABSTRACT) ? NULL : &some;
	return wanted_has_method(w, &m);
}

/* Several methods of a name are told once. */
static bool methods_tell(const struct wanted_look *l, jclass class, struct str name)
{
	jmethodID *v = NULL;
	bool has = false;
	jint nr = 0;

	if ((*machine)->GetClassMethods(machine, class, &nr, &v) != JVMTI_ERROR_NONE)
		return false;
	for (jint i = 0; i < nr; i++) {
		char *text = NULL;
		struct str method;

		if ((*machine)->GetMethodName(machine, v[i], &text, NULL, NULL) != JVMTI_ERROR_NONE)
			continue;
		method = str_of(text);
		if (is_wanted(&l->of, v[i], &method)) {
			answer_say("found\t%u\t" STR_FMT "\t" STR_FMT, l->number, STR_ARG(name),
				   STR_ARG(method));
			has = true;
		}
		(*machine)->Deallocate(machine, (unsigned char *)text);
	}
	(*machine)->Deallocate(machine, (unsigned char *)v);
	return has;
}

static void above_tell(JNIEnv *env, const struct wanted_look *l, jclass class)
{
	jclass super = (*env)->GetSuperclass(env, class);
	char room[MEANT_NAME_BYTES];

	if (!super)
		return;
	if (!methods_tell(l, super, meant_name(super, room)))
		above_tell(env, l, super);
	(*env)->DeleteLocalRef(env, super);
}

static void class_look(JNIEnv *env, const struct wanted_look *l, jclass class, struct str name)
{
	if (meant_is(env, &l->of, class, name) && !methods_tell(l, class, name) &&
	    wanted_is_named(&l->of, name))
		above_tell(env, l, class);
}

static void interfaces_note(struct order *o, jclass class, struct str name)
{
	jboolean is = JNI_FALSE;

	vec_each (&o->looks, l)
		if (!l->of.is_interface && wanted_is_named(&l->of, name)) {
			(*machine)->IsInterface(machine, class, &is);
			l->of.is_interface = is;
		}
}

void look_tell(JNIEnv *env, struct order *o, const jclass *classes, jint nr)
{
	char room[MEANT_NAME_BYTES];

	if (!o->looks.nr)
		return;
	for (jint i = 0; i < nr; i++)
		interfaces_note(o, classes[i], meant_name(classes[i], room));
	for (jint i = 0; i < nr; i++) {
		struct str name = meant_name(classes[i], room);

		vec_each (&o->looks, l)
			class_look(env, l, classes[i], name);
	}
}
