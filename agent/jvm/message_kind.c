#include "agent/jvm/message_kind.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "agent/jvm/hot.h"
#include "agent/jvm/machine.h"
#include "agent/jvm/params.h"

#define KINDS 256
#define TYPE 256 /* of a class, with a few letters around it */
#define NAME 1024

static struct message_kind kinds[KINDS];
static _Atomic size_t nr_kinds;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

HOT static const struct message_kind *kind_find(JNIEnv *env, jclass class)
{
	static __thread size_t last; /* a thread meets the same kind again and again */
	size_t nr = atomic_load_explicit(&nr_kinds, memory_order_acquire);

	if (last < nr && (*env)->IsSameObject(env, kinds[last].class, class))
		return &kinds[last];
	for (size_t i = 0; i < nr; i++)
		if ((*env)->IsSameObject(env, kinds[i].class, class))
			return &kinds[last = i];
	return NULL;
}

/* The method of this name without arguments, here or above; its type in *type. */
static jmethodID getter_find(JNIEnv *env, jclass class, const char *name, char *type, size_t room)
{
	jmethodID found = NULL, *v;
	jclass at = (*env)->NewLocalRef(env, class), above;
	jint nr;

	while (at && !found && (*machine)->GetClassMethods(machine, at, &nr, &v) == 0) {
		for (jint i = 0; i < nr && !found; i++) {
			char *n = NULL, *t = NULL;

			if ((*machine)->GetMethodName(machine, v[i], &n, &t, NULL) == 0 &&
			    strcmp(n, name) == 0 && t[0] == '(' && t[1] == ')' &&
			    strlen(t) < room) {
				found = v[i];
				strcpy(type, t);
			}
			(*machine)->Deallocate(machine, (unsigned char *)n);
			(*machine)->Deallocate(machine, (unsigned char *)t);
		}
		(*machine)->Deallocate(machine, (unsigned char *)v);
		above = (*env)->GetSuperclass(env, at);
		(*env)->DeleteLocalRef(env, at);
		at = above;
	}
	if (at)
		(*env)->DeleteLocalRef(env, at);
	return found;
}

/* The type of a method: what it takes and, of the package of `set`, what it returns. */
static const char *returns(char to[NAME], const char *takes, const char *set, const char *name)
{
	const char *slash = strrchr(set, '/');

	snprintf(to, NAME, "(%.*s)L%.*s%s;", TYPE, takes, slash ? (int)(slash - set) : 0, set + 1,
		 name);
	return to;
}

static jmethodID method(JNIEnv *env, jclass class, const char *name, const char *type)
{
	jmethodID m = class ? (*env)->GetMethodID(env, class, name, type) : NULL;

	return jni_is_clean(env) ? m : NULL;
}

static jmethodID static_method(JNIEnv *env, jclass class, const char *name, const char *type)
{
	jmethodID m = class ? (*env)->GetStaticMethodID(env, class, name, type) : NULL;

	return jni_is_clean(env) ? m : NULL;
}

/* set: the type of what getUnknownFields returns. */
static void builder_find(JNIEnv *env, jobject message, jclass class, const char *set,
			 struct message_kind *k)
{
	char t[NAME];
	jobject b;
	jclass of;

	k->builder = method(env, class, "toBuilder", returns(t, "", set, "Message$Builder"));
	b = k->builder ? (*env)->CallObjectMethod(env, message, k->builder) : NULL;
	of = jni_is_clean(env) && b ? (*env)->GetObjectClass(env, b) : NULL;
	k->set_to = method(env, of, "setUnknownFields", returns(t, set, set, "Message$Builder"));
	k->merge = method(env, of, "mergeUnknownFields", returns(t, set, set, "Message$Builder"));
	k->build = method(env, of, "buildPartial", returns(t, "", set, "Message"));
	if (of)
		(*env)->DeleteLocalRef(env, of);
	if (b)
		(*env)->DeleteLocalRef(env, b);
}

/* By either name that it has had. */
static jfieldID size_find(JNIEnv *env, jclass class)
{
	static const char *const names[] = { "memoizedSize", "memoizedSerializedSize" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		jfieldID f = (*env)->GetFieldID(env, class, names[i], "I");

		if (jni_is_clean(env) && f)
			return f;
	}
	return NULL;
}

/* As libraries have it from 2.5 on; of others what was known before will do. */
static void fast_find(JNIEnv *env, jobject message, jclass class, jclass sets, const char *type,
		      struct message_kind *k)
{
	char parse[NAME];
	jmethodID none = static_method(env, sets, "getDefaultInstance", type);
	jobject nothing = none ? (*env)->CallStaticObjectMethod(env, sets, none) : NULL;

	jni_is_clean(env);
	k->set = (*env)->GetFieldID(env, class, "unknownFields", type + 2);
	if (!jni_is_clean(env))
		k->set = NULL;
	k->size = size_find(env, class);
	snprintf(parse, sizeof(parse), "([B)%.*s", TYPE, type + 2);
	k->unknown_parse = static_method(env, sets, "parseFrom", parse);
	builder_find(env, message, class, type + 2, k);
	if (nothing && k->set && k->unknown_parse && k->builder && k->build && k->merge &&
	    k->set_to)
		k->sets = (*env)->NewWeakGlobalRef(env, sets);
	if (k->sets)
		k->nothing = (*env)->NewWeakGlobalRef(env, nothing);
	jni_is_clean(env);
	if (nothing)
		(*env)->DeleteLocalRef(env, nothing);
}

static bool kind_make(JNIEnv *env, jobject message, jclass class, struct message_kind *k)
{
	char *name = NULL, type[TYPE], parse[NAME];
	jobject set;
	jclass of;

	*k = (struct message_kind){ 0 };
	if ((*machine)->GetClassSignature(machine, class, &name, NULL) != 0)
		return false;
	snprintf(parse, sizeof(parse), "([B)%.*s", TYPE, name);
	(*machine)->Deallocate(machine, (unsigned char *)name);
	k->bytes = method(env, class, "toByteArray", "()[B");
	k->parse = static_method(env, class, "parseFrom", parse);
	if (!k->bytes || !k->parse)
		return false;
	k->unknown = getter_find(env, class, "getUnknownFields", type, sizeof(type));
	set = k->unknown ? (*env)->CallObjectMethod(env, message, k->unknown) : NULL;
	if (!jni_is_clean(env) || !set)
		return false;
	of = (*env)->GetObjectClass(env, set);
	k->unknown_bytes = method(env, of, "toByteArray", "()[B");
	fast_find(env, message, class, of, type, k);
	(*env)->DeleteLocalRef(env, of);
	(*env)->DeleteLocalRef(env, set);
	return k->unknown_bytes;
}

HOT const struct message_kind *message_kind_of(JNIEnv *env, jobject message)
{
	jclass class = (*env)->GetObjectClass(env, message);
	const struct message_kind *known = kind_find(env, class);
	struct message_kind k;

	if (!known && !params_has(env, message) && atomic_load(&nr_kinds) < KINDS &&
	    kind_make(env, message, class, &k)) {
		k.class = (*env)->NewWeakGlobalRef(env, class);
		jni_is_clean(env);
		pthread_mutex_lock(&lock);
		if (k.class && nr_kinds < KINDS) {
			kinds[nr_kinds] = k;
			known = &kinds[nr_kinds];
			atomic_fetch_add_explicit(&nr_kinds, 1, memory_order_release);
		}
		pthread_mutex_unlock(&lock);
	}
	return known;
}
