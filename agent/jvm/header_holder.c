#include "agent/jvm/header_holder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/jvm/machine.h"
#include "agent/jvm/payload.h"

#define TEXT "Ljava/lang/String;"
#define CHARS "Ljava/lang/CharSequence;"
#define ANY "Ljava/lang/Object;"
#define KINDS "baggage"
#define TYPE_BYTES 256
#define NR(a) (sizeof(a) / sizeof(*(a)))

/* In the order in which they are looked for: a class may have several of them. */
static const char *const setters[] = { "setRequestProperty", "setHeader", "set", "put" };
static const char *const getters[] = { "getFirst",   "getHeader",      "findValue",
				       "firstValue", "getFirstHeader", "get" };
static const char *const alls[] = { "allValues", "getAll", "getHeaders", "getValuesList", "get" };
static const char *const set_types[] = { "(" TEXT TEXT ")", "(" TEXT ANY ")", "(" CHARS ANY ")",
					 "(" CHARS CHARS ")", "(" ANY ANY ")" };
static const char *const get_types[] = { "(" TEXT ")", "(" CHARS ")", "(" ANY ")" };
/* what begins like this are several values, or may be */
static const char *const several[] = { "Ljava/util/List;", "Ljava/util/Enumeration;",
				       "Ljava/lang/Iterable;", "[L" };
static const char *const one_or_more[] = { "L" };
static const char *const anything[] = { "" };

struct search {
	const char *const *names, *const *types, *const *results;
	size_t nr_names, nr_types, nr_results;
	size_t best; /* of what was found: a lower one is better */
	jmethodID found;
	char type[TYPE_BYTES];
};

enum { SET, GET, ALL, SEARCHES };

static bool is_result(const struct search *s, const char *gives)
{
	for (size_t i = 0; i < s->nr_results; i++)
		if (strncmp(gives, s->results[i], strlen(s->results[i])) == 0)
			return true;
	return false;
}

static void consider(struct search *s, jmethodID m, const char *name, const char *type)
{
	for (size_t i = 0; i < s->nr_names; i++)
		for (size_t k = 0; k < s->nr_types; k++) {
			size_t n = strlen(s->types[k]), rank = i * s->nr_types + k;

			if (rank >= s->best || strcmp(name, s->names[i]) != 0 ||
			    strncmp(type, s->types[k], n) != 0 || !is_result(s, type + n))
				continue;
			s->best = rank;
			s->found = m;
			snprintf(s->type, sizeof(s->type), "%s", type);
		}
}

static void class_search(jclass class, struct search *s)
{
	jmethodID *v = NULL;
	jint methods = 0;

	if ((*machine)->GetClassMethods(machine, class, &methods, &v) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < methods; i++) {
		char *name = NULL, *type = NULL;
		jint modifiers = 0;

		(*machine)->GetMethodModifiers(machine, v[i], &modifiers);
		if (!(modifiers & 0x8) && /* not static */
		    (*machine)->GetMethodName(machine, v[i], &name, &type, NULL) ==
			    JVMTI_ERROR_NONE)
			for (size_t k = 0; k < SEARCHES; k++)
				consider(&s[k], v[i], name, type);
		(*machine)->Deallocate(machine, (unsigned char *)name);
		(*machine)->Deallocate(machine, (unsigned char *)type);
	}
	(*machine)->Deallocate(machine, (unsigned char *)v);
}

static void interfaces_search(JNIEnv *env, jclass class, struct search *s)
{
	jclass *v = NULL;
	jint some = 0;

	if ((*machine)->GetImplementedInterfaces(machine, class, &some, &v) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < some; i++) {
		class_search(v[i], s);
		interfaces_search(env, v[i], s);
		(*env)->DeleteLocalRef(env, v[i]);
	}
	(*machine)->Deallocate(machine, (unsigned char *)v);
}

/* Here, and in all that is above it. */
static void search(JNIEnv *env, jclass class, struct search *s)
{
	jclass at = (*env)->NewLocalRef(env, class), above;

	while (at) {
		class_search(at, s);
		interfaces_search(env, at, s);
		above = (*env)->GetSuperclass(env, at);
		(*env)->DeleteLocalRef(env, at);
		at = above;
	}
}

/* --- headers that are named by objects ----------------------------------------------------------
 */

static jclass neighbour(JNIEnv *env, jclass class, const char *name)
{
	jclass classes = (*env)->FindClass(env, "java/lang/Class");
	jmethodID find = classes ? (*env)->GetStaticMethodID(env, classes, "forName",
							     "(" TEXT "ZLjava/lang/ClassLoader;)"
							     "Ljava/lang/Class;")
				 : NULL;
	jstring text = find ? (*env)->NewStringUTF(env, name) : NULL;
	jobject loader = NULL;

	if (!text || (*machine)->GetClassLoader(machine, class, &loader) != JVMTI_ERROR_NONE)
		return NULL;
	return (*env)->CallStaticObjectMethod(env, classes, find, text, JNI_FALSE, loader);
}

/* own: its name, with slashes. False, perhaps with an exception: it is not as we know it. */
static bool key_find(JNIEnv *env, jclass class, const char *own, struct holder *h)
{
	char type[2 * TYPE_BYTES + 128], name[TYPE_BYTES + 8];
	jclass key;

	snprintf(type, sizeof(type), "(L%s$Key;" ANY ")V", own);
	h->set = (*env)->GetMethodID(env, class, "put", type);
	if (!h->set)
		return false;
	snprintf(type, sizeof(type), "(L%s$Key;" ANY ")Z", own);
	h->remove = (*env)->GetMethodID(env, class, "remove", type);
	snprintf(type, sizeof(type), "(L%s$Key;)" ANY, own);
	h->get = h->remove ? (*env)->GetMethodID(env, class, "get", type) : NULL;
	snprintf(type, sizeof(type), "L%s$AsciiMarshaller;", own);
	h->marshaller =
		h->get ? (*env)->GetStaticFieldID(env, class, "ASCII_STRING_MARSHALLER", type)
		       : NULL;
	if (!h->marshaller)
		return false;
	snprintf(name, sizeof(name), "%s$Key", own);
	for (char *p = name; *p; p++)
		*p = *p == '/' ? '.' : *p;
	key = neighbour(env, class, name);
	if ((*env)->ExceptionCheck(env) || !key)
		return false;
	snprintf(type, sizeof(type), "(" TEXT "L%s$AsciiMarshaller;)L%s$Key;", own, own);
	h->key_of = (*env)->GetStaticMethodID(env, key, "of", type);
	h->key_class = h->key_of ? (*env)->NewWeakGlobalRef(env, key) : NULL;
	return h->key_class;
}

static void keyed_make(JNIEnv *env, jclass class, struct holder *h)
{
	char *signature = NULL, own[TYPE_BYTES];
	bool is;

	if ((*machine)->GetClassSignature(machine, class, &signature, NULL) != JVMTI_ERROR_NONE)
		return;
	is = snprintf(own, sizeof(own), "%s", signature + 1) < (int)sizeof(own);
	(*machine)->Deallocate(machine, (unsigned char *)signature);
	own[strcspn(own, ";")] = 0;
	if (!is || (*env)->PushLocalFrame(env, 16) < 0) {
		jni_is_clean(env);
		return;
	}
	h->set_gives = 'V';
	is = key_find(env, class, own, h);
	if (!jni_is_clean(env) || !is)
		h->set = h->get = NULL;
	(*env)->PopLocalFrame(env, NULL);
}

/* --- what a class has ---------------------------------------------------------------------------
 */

static struct holder *holder_make(JNIEnv *env, jclass class)
{
	struct search s[SEARCHES] = {
		[SET] = { setters, set_types, anything, NR(setters), NR(set_types), 1, SIZE_MAX },
		[GET] = { getters, get_types, one_or_more, NR(getters), NR(get_types), 1,
			  SIZE_MAX },
		[ALL] = { alls, get_types, several, NR(alls), NR(get_types), NR(several),
			  SIZE_MAX },
	};
	struct holder *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->payload = payload_field(env, class);
	if (h->payload)
		return h;
	search(env, class, s);
	h->set = s[SET].found;
	h->get = s[GET].found;
	h->all = s[ALL].found;
	if (h->set) {
		h->set_gives = strchr(s[SET].type, ')')[1];
		h->has_lists = strncmp(s[SET].type, set_types[4], strlen(set_types[4])) == 0;
	} else if (!h->get && !h->all) {
		keyed_make(env, class, h);
	}
	return h;
}

struct holder *holder_of(JNIEnv *env, jobject o)
{
	static struct class_cache cache;
	jclass class = (*env)->GetObjectClass(env, o);
	struct holder *h = (struct holder *)class_cache_find(&cache, env, class, KINDS);

	if (!h) {
		h = holder_make(env, class);
		if (h)
			h = (struct holder *)class_cache_add(&cache, env, class, KINDS, &h->entry);
	}
	(*env)->DeleteLocalRef(env, class);
	return h;
}

void holder_leave(struct holder *h, JNIEnv *env)
{
	if (!h || h->entry.is_kept)
		return;
	if (h->key_class)
		(*env)->DeleteWeakGlobalRef(env, h->key_class);
	free(h);
}

jobject holder_name(JNIEnv *env, jobject o, const struct holder *h)
{
	jstring text = (*env)->NewStringUTF(env, "baggage");
	jobject name = NULL, marshaller, key;
	jclass class;

	if (!jni_is_clean(env) || !text || !h->key_class)
		return text;
	class = (*env)->GetObjectClass(env, o);
	marshaller = (*env)->GetStaticObjectField(env, class, h->marshaller);
	key = (*env)->NewLocalRef(env, h->key_class);
	if (key && marshaller)
		name = (*env)->CallStaticObjectMethod(env, key, h->key_of, text, marshaller);
	if (!jni_is_clean(env))
		name = NULL;
	(*env)->DeleteLocalRef(env, key);
	(*env)->DeleteLocalRef(env, marshaller);
	(*env)->DeleteLocalRef(env, class);
	(*env)->DeleteLocalRef(env, text);
	return name;
}
