#include "agent/jvm/birth.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/jvm/carried.h"
#include "agent/jvm/guest.h"
#include "agent/jvm/header.h"
#include "agent/jvm/hot.h"
#include "agent/jvm/machine.h"
#include "agent/jvm/parcel.h"

#define VARIABLE "CULPRIT_BAGGAGE"
#define VALUE_BYTES (HEADER_BYTES + 1)

/* --- what others are born with ------------------------------------------------------------------
 */

/* A copy of this process's own environment, which may be changed. */
static jobject environment_new(JNIEnv *env, jclass *class)
{
	jclass of = (*env)->FindClass(env, "java/lang/ProcessEnvironment");
	jmethodID make;
	jobject made = NULL;

	if (jni_is_clean(env) && of) {
		make = (*env)->GetStaticMethodID(env, of, "environment", "()Ljava/util/Map;");
		if (jni_is_clean(env) && make)
			made = (*env)->CallStaticObjectMethod(env, of, make);
		if (!jni_is_clean(env))
			made = NULL;
		(*env)->DeleteLocalRef(env, of);
	}
	*class = made ? (*env)->GetObjectClass(env, made) : NULL;
	return made;
}

/* It has what the other has, and nothing else. */
static bool copy(JNIEnv *env, jclass class, jobject to, jobject from)
{
	jmethodID clear = (*env)->GetMethodID(env, class, "clear", "()V");
	jmethodID all = jni_is_clean(env)
				? (*env)->GetMethodID(env, class, "putAll", "(Ljava/util/Map;)V")
				: NULL;

	if (!jni_is_clean(env) || !clear || !all)
		return false;
	(*env)->CallVoidMethod(env, to, clear);
	if (jni_is_clean(env))
		(*env)->CallVoidMethod(env, to, all, from);
	return jni_is_clean(env);
}

static bool set(JNIEnv *env, jclass class, jobject map, const char *value)
{
	jmethodID put = (*env)->GetMethodID(
		env, class, "put", "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;");
	jstring name = jni_is_clean(env) ? (*env)->NewStringUTF(env, VARIABLE) : NULL;
	jstring text = jni_is_clean(env) ? (*env)->NewStringUTF(env, value) : NULL;
	jobject was;

	if (!jni_is_clean(env) || !put || !name || !text)
		return false;
	was = (*env)->CallObjectMethod(env, map, put, name, text);
	if (!jni_is_clean(env))
		return false;
	if (was)
		(*env)->DeleteLocalRef(env, was);
	(*env)->DeleteLocalRef(env, name);
	(*env)->DeleteLocalRef(env, text);
	return true;
}

jobject birth_environment(JNIEnv *env, jobject map, const void *bag, size_t nr)
{
	char value[VALUE_BYTES];
	jclass class = NULL;
	jobject made = header_write(value, "", bag, nr) < 0 ? NULL : environment_new(env, &class);
	bool is = made && (!map || copy(env, class, made, map)) && set(env, class, made, value);

	if (class)
		(*env)->DeleteLocalRef(env, class);
	if (made && !is)
		(*env)->DeleteLocalRef(env, made);
	return is ? made : NULL;
}

/* --- what this one was born with ----------------------------------------------------------------
 */

static struct parcel *own;
static bool is_there; /* also when it is empty */
static uint64_t request;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic bool is_known;
static __thread uint64_t own_session;

static void look(void)
{
	const char *value = getenv(VARIABLE);
	uint8_t bytes[PARCEL_BYTES];
	long nr = value ? header_read(value, bytes, sizeof(bytes)) : -1;

	is_there = nr >= 0;
	own = nr > 0 ? parcel_read(bytes, (size_t)nr) : NULL;
	request = carried_new();
	is_known = true;
}

HOT bool birth_is(void)
{
	if (!atomic_load_explicit(&is_known, memory_order_acquire))
		pthread_once(&once, look);
	return is_there;
}

void birth_told(void)
{
	own_session = guest_session();
}

uint64_t birth_use(uint64_t told)
{
	uint64_t was = own_session;

	own_session = told;
	return was;
}

HOT void birth_carry(struct parcel *p)
{
	carried_carry(!p && birth_is() ? own : p);
}

HOT void birth_here(void)
{
	struct carried *c;

	if (!birth_is() || !own || own_session == guest_session())
		return;
	own_session = guest_session();
	if (guest_holds())
		return;
	carried_join(own);
	c = carried_here();
	if (c)
		carried_set(c, CARRIED_MESSAGE, request);
}
