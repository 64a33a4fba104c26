#include "agent/jvm/shape.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* First what the class itself is, then what it may be a kind of. */
static const struct {
	const char *name;
	enum shape_kind kind;
	bool is_exact;
} classes[] = {
	{ "java/lang/String", SHAPE_TEXT, true },
	{ "java/lang/Integer", SHAPE_WHOLE, true },
	{ "java/lang/Long", SHAPE_WHOLE, true },
	{ "java/lang/Short", SHAPE_WHOLE, true },
	{ "java/lang/Byte", SHAPE_WHOLE, true },
	{ "java/lang/Double", SHAPE_REAL, true },
	{ "java/lang/Float", SHAPE_REAL, true },
	{ "java/lang/Boolean", SHAPE_BOOL, true },
	{ "java/lang/Character", SHAPE_CHAR, true },
	{ "java/util/concurrent/atomic/AtomicInteger", SHAPE_WHOLE, true },
	{ "java/util/concurrent/atomic/AtomicLong", SHAPE_WHOLE, true },
	{ "java/lang/Enum", SHAPE_ENUM, false },
	{ "java/util/List", SHAPE_LIST, false },
	{ "java/util/Collection", SHAPE_COLLECTION, false },
	{ "java/util/Map", SHAPE_MAP, false },
};
#define NR_CLASSES (sizeof(classes) / sizeof(*classes))

#define AT(member) offsetof(struct shape_methods, member)
static const struct {
	const char *class, *name, *type;
	size_t at;
} methods[] = {
	{ "java/lang/Number", "longValue", "()J", AT(number_long) },
	{ "java/lang/Number", "doubleValue", "()D", AT(number_double) },
	{ "java/lang/Boolean", "booleanValue", "()Z", AT(boolean_value) },
	{ "java/lang/Character", "charValue", "()C", AT(char_value) },
	{ "java/lang/Enum", "name", "()Ljava/lang/String;", AT(enum_name) },
	{ "java/lang/Object", "toString", "()Ljava/lang/String;", AT(to_string) },
	{ "java/util/List", "size", "()I", AT(list_size) },
	{ "java/util/List", "get", "(I)Ljava/lang/Object;", AT(list_get) },
	{ "java/util/Collection", "iterator", "()Ljava/util/Iterator;", AT(iterator) },
	{ "java/util/Iterator", "hasNext", "()Z", AT(has_next) },
	{ "java/util/Iterator", "next", "()Ljava/lang/Object;", AT(next) },
	{ "java/util/Map", "entrySet", "()Ljava/util/Set;", AT(entries) },
};

/* What Java itself has: found once, kept as long as the library is there. */
struct known {
	jclass classes[NR_CLASSES];
	struct shape_methods methods;
};
static _Atomic(struct known *) known_now;

static bool fill_classes(JNIEnv *env, struct known *k)
{
	for (size_t i = 0; i < NR_CLASSES; i++) {
		jclass local = (*env)->FindClass(env, classes[i].name);

		k->classes[i] = local ? (*env)->NewGlobalRef(env, local) : NULL;
		(*env)->DeleteLocalRef(env, local);
		if (!k->classes[i])
			return false;
	}
	return true;
}

static bool fill_methods(JNIEnv *env, struct known *k)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
		jclass local = (*env)->FindClass(env, methods[i].class);
		jmethodID id = NULL;

		if (local)
			id = (*env)->GetMethodID(env, local, methods[i].name, methods[i].type);
		(*env)->DeleteLocalRef(env, local);
		if (!id)
			return false;
		memcpy((char *)&k->methods + methods[i].at, &id, sizeof(id));
	}
	return true;
}

static void forget(JNIEnv *env, struct known *k)
{
	for (size_t i = 0; i < NR_CLASSES; i++)
		if (k->classes[i])
			(*env)->DeleteGlobalRef(env, k->classes[i]);
	free(k);
}

static struct known *known_get(JNIEnv *env)
{
	struct known *k = atomic_load_explicit(&known_now, memory_order_acquire), *other = NULL;

	if (k)
		return k;
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	if (!fill_classes(env, k) || !fill_methods(env, k)) {
		(*env)->ExceptionClear(env);
		forget(env, k);
		return NULL;
	}
	if (atomic_compare_exchange_strong(&known_now, &other, k))
		return k;
	forget(env, k); /* another thread was faster */
	return other;
}

const struct shape_methods *shape_methods(void)
{
	struct known *k = atomic_load_explicit(&known_now, memory_order_acquire);

	return k ? &k->methods : NULL;
}

static enum shape_kind kind_of(JNIEnv *env, const struct known *k, jclass class,
			       const char *signature)
{
	if (signature[0] == '[')
		return SHAPE_ARRAY;
	for (size_t i = 0; i < NR_CLASSES; i++)
		if (classes[i].is_exact ? (*env)->IsSameObject(env, class, k->classes[i])
					: (*env)->IsAssignableFrom(env, class, k->classes[i]))
			return classes[i].kind;
	return SHAPE_OTHER;
}

static struct shape *make(JNIEnv *env, const struct known *k, jclass class, const char *signature)
{
	size_t n = strlen(signature) + 1;
	struct shape *s = calloc(1, sizeof(*s) + n);

	if (!s)
		return NULL;
	s->kind = kind_of(env, k, class, signature);
	memcpy(s->signature, signature, n);
	return s;
}

struct shape *shape_find(struct class_cache *c, JNIEnv *env, jvmtiEnv *jvmti, jclass class)
{
	struct class_entry *seen = class_cache_find(c, env, class, NULL);
	struct known *k;
	struct shape *s;
	char *signature;

	if (seen)
		return (struct shape *)seen;
	k = known_get(env);
	if (!k || (*jvmti)->GetClassSignature(jvmti, class, &signature, NULL))
		return NULL;
	s = make(env, k, class, signature);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	return s ? (struct shape *)class_cache_add(c, env, class, NULL, &s->entry) : NULL;
}
