#include "agent/jvm/meant.h"

#include <string.h>

#include "agent/jvm/annotated.h"
#include "agent/jvm/machine.h"
#include "agent/jvm/order.h"

struct str meant_name(jclass class, char room[MEANT_NAME_BYTES])
{
	struct str name = { room, 0 };
	char *signature = NULL;
	size_t n;

	if ((*machine)->GetClassSignature(machine, class, &signature, NULL) != JVMTI_ERROR_NONE)
		return name;
	n = strlen(signature);
	if (signature[0] == 'L' && n - 2 < MEANT_NAME_BYTES) {
		name.n = n - 2;
		for (size_t i = 0; i < name.n; i++)
			room[i] = (char)(signature[i + 1] == '/' ? '.' : signature[i + 1]);
	}
	(*machine)->Deallocate(machine, (unsigned char *)signature);
	return name;
}

bool meant_is_anonymous(struct str name)
{
	size_t n = name.n;

	while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9')
		n--;
	return n && n < name.n && name.p[n - 1] == '.';
}

static bool has_interface(JNIEnv *env, const struct wanted *w, jclass class)
{
	char room[MEANT_NAME_BYTES];
	jclass *v = NULL;
	bool is = false;
	jint nr = 0;

	if ((*machine)->GetImplementedInterfaces(machine, class, &nr, &v) != JVMTI_ERROR_NONE)
		return false;
	for (jint i = 0; i < nr; i++) {
		is = is || wanted_is_named(w, meant_name(v[i], room)) ||
		     has_interface(env, w, v[i]);
		(*env)->DeleteLocalRef(env, v[i]);
	}
	(*machine)->Deallocate(machine, (unsigned char *)v);
	return is;
}

/* Whether a type above it is what is wanted. */
static bool has_above(JNIEnv *env, const struct wanted *w, jclass class)
{
	jclass super = (*env)->GetSuperclass(env, class);
	char room[MEANT_NAME_BYTES];
	bool is = has_interface(env, w, class);

	if (super) {
		is = is || (w->has_subtypes && wanted_is_named(w, meant_name(super, room))) ||
		     has_above(env, w, super);
		(*env)->DeleteLocalRef(env, super);
	}
	return is;
}

bool meant_is(JNIEnv *env, const struct wanted *w, jclass class, struct str name)
{
	return name.n && !w->is_left &&
	       (wanted_is_named(w, name) || ((w->has_subtypes || w->is_interface || !w->is_noted) &&
					     has_above(env, w, class))) &&
	       annotated_may_be(w, class, name);
}

void meant_note(struct order *o, jclass class, struct str name)
{
	jboolean is = JNI_FALSE;

	vec_each (&o->v, w)
		if (!w->is_interface && wanted_is_named(w, name)) {
			(*machine)->IsInterface(machine, class, &is);
			w->is_interface = is;
		}
}
