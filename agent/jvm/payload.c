#include "agent/jvm/payload.h"

#include <stdint.h>

#include "agent/jvm/machine.h"

#define NAME "culprit"
#define ANY "Ljava/lang/Object;"
#define BYTES "Ljava/nio/ByteBuffer;"
#define MAP "Ljava/util/Map;"
#define LOCALS 16

jfieldID payload_field(JNIEnv *env, jclass class)
{
	jfieldID f = (*env)->GetFieldID(env, class, "customPayload", MAP);

	return jni_is_clean(env) ? f : NULL;
}

static jobject wrapped(JNIEnv *env, const void *bag, size_t nr)
{
	jclass class = (*env)->FindClass(env, "java/nio/ByteBuffer");
	jmethodID wrap = class ? (*env)->GetStaticMethodID(env, class, "wrap", "([B)" BYTES) : NULL;
	jbyteArray bytes = wrap ? (*env)->NewByteArray(env, (jsize)nr) : NULL;

	if (!bytes)
		return NULL;
	if (nr)
		(*env)->SetByteArrayRegion(env, bytes, 0, (jsize)nr, bag);
	return (*env)->CallStaticObjectMethod(env, class, wrap, bytes);
}

/* A map of its own: the program may use the one that it has given for other messages as well. */
static jobject copied(JNIEnv *env, jobject map, jmethodID *put)
{
	jclass class = (*env)->FindClass(env, "java/util/HashMap");
	jmethodID make =
		class ? (*env)->GetMethodID(env, class, "<init>", map ? "(" MAP ")V" : "()V")
		      : NULL;

	*put = make ? (*env)->GetMethodID(env, class, "put", "(" ANY ANY ")" ANY) : NULL;
	if (!*put)
		return NULL;
	return map ? (*env)->NewObject(env, class, make, map) : (*env)->NewObject(env, class, make);
}

static bool set(JNIEnv *env, jobject message, jfieldID field, const void *bag, size_t nr)
{
	jstring name = (*env)->NewStringUTF(env, NAME);
	jobject value = name ? wrapped(env, bag, nr) : NULL, map;
	jmethodID put;

	if ((*env)->ExceptionCheck(env) || !value)
		return false;
	map = copied(env, (*env)->GetObjectField(env, message, field), &put);
	if ((*env)->ExceptionCheck(env) || !map)
		return false;
	(*env)->CallObjectMethod(env, map, put, name, value);
	if ((*env)->ExceptionCheck(env))
		return false;
	(*env)->SetObjectField(env, message, field, map);
	return true;
}

bool payload_set(JNIEnv *env, jobject message, jfieldID field, const void *bag, size_t nr)
{
	bool is;

	if ((*env)->PushLocalFrame(env, LOCALS) < 0) {
		jni_is_clean(env);
		return false;
	}
	is = set(env, message, field, bag, nr);
	is = jni_is_clean(env) && is;
	(*env)->PopLocalFrame(env, NULL);
	return is;
}

/* Its own place in the bytes, so that others read them from where they are. NULL, perhaps with an
 * exception: there are none. */
static jobject found(JNIEnv *env, jobject map, jclass buffers)
{
	jclass maps = (*env)->FindClass(env, "java/util/Map");
	jmethodID get = maps ? (*env)->GetMethodID(env, maps, "get", "(" ANY ")" ANY) : NULL;
	jmethodID again = get ? (*env)->GetMethodID(env, buffers, "duplicate", "()" BYTES) : NULL;
	jstring name = again ? (*env)->NewStringUTF(env, NAME) : NULL;
	jobject value = name ? (*env)->CallObjectMethod(env, map, get, name) : NULL;

	if ((*env)->ExceptionCheck(env) || !value || !(*env)->IsInstanceOf(env, value, buffers))
		return NULL;
	return (*env)->CallObjectMethod(env, value, again);
}

static long get(JNIEnv *env, jobject map, void *bag, size_t room)
{
	jclass buffers = (*env)->FindClass(env, "java/nio/ByteBuffer");
	jobject value = buffers ? found(env, map, buffers) : NULL;
	jmethodID left, take;
	jbyteArray bytes;
	jint nr;

	if ((*env)->ExceptionCheck(env) || !value)
		return -1;
	left = (*env)->GetMethodID(env, buffers, "remaining", "()I");
	take = left ? (*env)->GetMethodID(env, buffers, "get", "([B)" BYTES) : NULL;
	nr = take ? (*env)->CallIntMethod(env, value, left) : 0;
	if (nr <= 0 || (size_t)nr > room)
		return 0;
	bytes = (*env)->NewByteArray(env, nr);
	if (!bytes)
		return 0;
	(*env)->CallObjectMethod(env, value, take, bytes);
	if ((*env)->ExceptionCheck(env))
		return 0;
	(*env)->GetByteArrayRegion(env, bytes, 0, nr, bag);
	return nr;
}

long payload_get(JNIEnv *env, jobject message, jfieldID field, void *bag, size_t room)
{
	jobject map;
	long nr;

	if ((*env)->PushLocalFrame(env, LOCALS) < 0) {
		jni_is_clean(env);
		return -1;
	}
	map = (*env)->GetObjectField(env, message, field);
	nr = map ? get(env, map, bag, room) : -1;
	jni_is_clean(env);
	(*env)->PopLocalFrame(env, NULL);
	return nr;
}
