/* Headers of objects, by methods that are found by their names (header_holder.h). A name may have
 * several values; they are one list. */
#include <string.h>

#include "agent/jvm/header.h"
#include "agent/jvm/header_holder.h"
#include "agent/jvm/machine.h"
#include "agent/jvm/payload.h"

#define TEXT "Ljava/lang/String;"
#define ANY "Ljava/lang/Object;"
#define LOCALS 32
#define VALUES 64 /* of one name, that are looked at */

/* What is read, in a room of HEADER_BYTES + 1. */
struct values {
	char *to;
	size_t nr;
	bool is_long; /* it is longer than that */
};

/* What a method without arguments, or with a null, gives; NULL: nothing, or there is none. */
static jobject given(JNIEnv *env, jobject o, const char *name, const char *type)
{
	jclass class = (*env)->GetObjectClass(env, o);
	jmethodID m = (*env)->GetMethodID(env, class, name, type);
	jobject got = jni_is_clean(env) && m ? (*env)->CallObjectMethod(env, o, m, NULL) : NULL;

	(*env)->DeleteLocalRef(env, class);
	return jni_is_clean(env) ? got : NULL;
}

static bool is_a(JNIEnv *env, jobject o, const char *name)
{
	jclass class = (*env)->FindClass(env, name);
	bool is = jni_is_clean(env) && class && (*env)->IsInstanceOf(env, o, class);

	if (class)
		(*env)->DeleteLocalRef(env, class);
	return is;
}

static void text_add(JNIEnv *env, struct values *v, jstring text)
{
	size_t bytes = (size_t)(*env)->GetStringUTFLength(env, text), comma = v->nr ? 1 : 0;

	if (v->nr + comma + bytes > HEADER_BYTES) {
		v->is_long = true;
		return;
	}
	if (comma)
		v->to[v->nr++] = ',';
	(*env)->GetStringUTFRegion(env, text, 0, (*env)->GetStringLength(env, text), v->to + v->nr);
	v->nr += bytes;
	v->to[v->nr] = 0;
}

/* A text, or an object that has one as its value. */
static void one_add(JNIEnv *env, struct values *v, jobject o)
{
	jobject inner = NULL;

	if (o && is_a(env, o, "java/lang/String")) {
		text_add(env, v, o);
		return;
	}
	if (o)
		inner = is_a(env, o, "java/util/Optional")
				? given(env, o, "orElse", "(" ANY ")" ANY)
				: given(env, o, "getValue", "()" TEXT);
	if (inner && is_a(env, inner, "java/lang/String"))
		text_add(env, v, inner);
	if (inner)
		(*env)->DeleteLocalRef(env, inner);
}

static void array_add(JNIEnv *env, struct values *v, jobjectArray array)
{
	jsize nr = (*env)->GetArrayLength(env, array);

	for (jsize i = 0; i < nr && i < VALUES; i++) {
		jobject one = (*env)->GetObjectArrayElement(env, array, i);

		if (jni_is_clean(env) && one)
			one_add(env, v, one);
		(*env)->DeleteLocalRef(env, one);
	}
}

/* Iterators, and what is older: they are asked by the methods of their interface. */
static void turns_add(JNIEnv *env, struct values *v, jobject o, bool is_old)
{
	jclass class =
		(*env)->FindClass(env, is_old ? "java/util/Enumeration" : "java/util/Iterator");
	jmethodID has = NULL, next = NULL;

	if (class)
		has = (*env)->GetMethodID(env, class, is_old ? "hasMoreElements" : "hasNext",
					  "()Z");
	if (has)
		next = (*env)->GetMethodID(env, class, is_old ? "nextElement" : "next", "()" ANY);
	for (int i = 0; next && i < VALUES && (*env)->CallBooleanMethod(env, o, has); i++) {
		jobject one =
			(*env)->ExceptionCheck(env) ? NULL : (*env)->CallObjectMethod(env, o, next);

		if (!jni_is_clean(env) || !one)
			break;
		one_add(env, v, one);
		(*env)->DeleteLocalRef(env, one);
	}
	jni_is_clean(env);
	if (class)
		(*env)->DeleteLocalRef(env, class);
}

static void any_add(JNIEnv *env, struct values *v, jobject o)
{
	if (is_a(env, o, "[Ljava/lang/Object;")) {
		array_add(env, v, o);
	} else if (is_a(env, o, "java/lang/Iterable")) {
		jobject i = given(env, o, "iterator", "()Ljava/util/Iterator;");

		if (i)
			turns_add(env, v, i, false);
	} else if (is_a(env, o, "java/util/Enumeration")) {
		turns_add(env, v, o, true);
	} else {
		one_add(env, v, o);
	}
}

/* "" where there is none; false: it is longer than the room. */
static bool text_get(JNIEnv *env, jobject from, const struct holder *h, char *to)
{
	struct values v = { .to = to };
	jmethodID m = h->all ? h->all : h->get;
	jobject name = m ? holder_name(env, from, h) : NULL;
	jobject got = name ? (*env)->CallObjectMethod(env, from, m, name) : NULL;

	to[0] = 0;
	if (jni_is_clean(env) && got)
		any_add(env, &v, got);
	return !v.is_long;
}

/* A map's value is a list. */
static jobject list_of(JNIEnv *env, jobject value)
{
	jclass class = (*env)->FindClass(env, "java/util/Collections");
	jmethodID m = class ? (*env)->GetStaticMethodID(env, class, "singletonList",
							"(" ANY ")Ljava/util/List;")
			    : NULL;

	return m ? (*env)->CallStaticObjectMethod(env, class, m, value) : NULL;
}

/* Of headers with keys the last value is exchanged: others may have set those before it. */
static void last_remove(JNIEnv *env, jobject to, const struct holder *h, jobject name)
{
	jobject last = (*env)->CallObjectMethod(env, to, h->get, name);

	if (jni_is_clean(env) && last)
		(*env)->CallBooleanMethod(env, to, h->remove, name, last);
	jni_is_clean(env);
}

/* By the call that is for what it gives: the machine takes what is returned for that. */
static bool value_set(JNIEnv *env, jobject to, const struct holder *h, const char *text)
{
	jobject name = holder_name(env, to, h);
	jobject value = name ? (*env)->NewStringUTF(env, text) : NULL;

	if (jni_is_clean(env) && value && h->has_lists)
		value = list_of(env, value);
	if (!jni_is_clean(env) || !value)
		return false;
	if (h->remove)
		last_remove(env, to, h, name);
	if (h->set_gives == 'L')
		(*env)->CallObjectMethod(env, to, h->set, name, value);
	else if (h->set_gives == 'Z')
		(*env)->CallBooleanMethod(env, to, h->set, name, value);
	else
		(*env)->CallVoidMethod(env, to, h->set, name, value);
	return jni_is_clean(env);
}

enum header_set header_set(JNIEnv *env, jobject to, const void *bag, size_t nr, bool beside)
{
	char was[HEADER_BYTES + 1], with[HEADER_BYTES + 1];
	enum header_set done = HEADER_NOT_SET;
	struct holder *h;

	if (!to || (*env)->PushLocalFrame(env, LOCALS) < 0) {
		jni_is_clean(env);
		return HEADER_NOT_SET;
	}
	h = holder_of(env, to);
	if (h && h->payload) {
		if (!beside)
			done = payload_set(env, to, h->payload, bag, nr) ? HEADER_SET : done;
	} else if (h && h->set && text_get(env, to, h, was)) {
		if (beside && !was[0])
			done = HEADER_NONE_THERE;
		else if (header_write(with, was, bag, nr) > 0 && value_set(env, to, h, with))
			done = HEADER_SET;
	}
	holder_leave(h, env);
	(*env)->PopLocalFrame(env, NULL);
	return done;
}

long header_get(JNIEnv *env, jobject from, void *bag, size_t room)
{
	char value[HEADER_BYTES + 1];
	struct holder *h;
	long nr;

	if (!from || (*env)->PushLocalFrame(env, LOCALS) < 0) {
		jni_is_clean(env);
		return -1;
	}
	h = holder_of(env, from);
	if (h && h->payload)
		nr = payload_get(env, from, h->payload, bag, room);
	else
		nr = h && text_get(env, from, h, value) ? header_read(value, bag, room) : -1;
	holder_leave(h, env);
	(*env)->PopLocalFrame(env, NULL);
	return nr;
}
