#include "agent/jvm/params.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "agent/jvm/machine.h"
#include "agent/jvm/parcel.h"

#define MESSAGE "org/apache/cassandra/net/Message"
#define NAME "culprit"
#define LOCALS 16

/* Of the class, once: a process has one of it. */
static struct {
	jweak class;
	jmethodID builder, with,
		build; /* Message.builder(m).withCustomParam(name, bytes).build() */
	jfieldID header;
	jmethodID params, get; /* header.customParams().get(name) */
} known;
static atomic_bool is_known;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- the class ---------------------------------------------------------------------------------
 */

static bool is_message(jclass c)
{
	char *name = NULL;
	bool is = (*machine)->GetClassSignature(machine, c, &name, NULL) == JVMTI_ERROR_NONE &&
		  strcmp(name, "L" MESSAGE ";") == 0;

	(*machine)->Deallocate(machine, (unsigned char *)name);
	return is;
}

static jmethodID method(JNIEnv *env, jobject o, const char *name, const char *type)
{
	return o ? (*env)->GetMethodID(env, (*env)->GetObjectClass(env, o), name, type) : NULL;
}

/* False, perhaps with an exception: something is not as it is in the version that we know. */
static bool look_up(JNIEnv *env, jobject message, jclass c)
{
	jobject builder, header;
	jclass map;

	known.builder = (*env)->GetStaticMethodID(env, c, "builder",
						  "(L" MESSAGE ";)L" MESSAGE "$Builder;");
	if (!known.builder)
		return false;
	builder = (*env)->CallStaticObjectMethod(env, c, known.builder, message);
	if (!jni_is_clean(env))
		return false;
	known.with = method(env, builder, "withCustomParam",
			    "(Ljava/lang/String;[B)L" MESSAGE "$Builder;");
	known.build = known.with ? method(env, builder, "build", "()L" MESSAGE ";") : NULL;
	known.header =
		known.build ? (*env)->GetFieldID(env, c, "header", "L" MESSAGE "$Header;") : NULL;
	if (!known.header)
		return false;
	header = (*env)->GetObjectField(env, message, known.header);
	known.params = method(env, header, "customParams", "()Ljava/util/Map;");
	map = known.params ? (*env)->FindClass(env, "java/util/Map") : NULL;
	if (!map)
		return false;
	known.get = (*env)->GetMethodID(env, map, "get", "(Ljava/lang/Object;)Ljava/lang/Object;");
	known.class = known.get ? (*env)->NewWeakGlobalRef(env, c) : NULL;
	return known.class;
}

bool params_has(JNIEnv *env, jobject message)
{
	bool is = false;
	jclass c;

	if ((*env)->PushLocalFrame(env, LOCALS) < 0) {
		jni_is_clean(env);
		return false;
	}
	c = (*env)->GetObjectClass(env, message);
	if (atomic_load(&is_known)) {
		is = (*env)->IsSameObject(env, known.class, c);
	} else if (is_message(c)) {
		pthread_mutex_lock(&lock);
		is = is_known || look_up(env, message, c);
		is = jni_is_clean(env) && is;
		atomic_store(&is_known, is);
		pthread_mutex_unlock(&lock);
	}
	(*env)->PopLocalFrame(env, NULL);
	return is;
}

/* --- its objects -------------------------------------------------------------------------------
 */

static jobject with(JNIEnv *env, jobject message, const void *bytes, size_t nr)
{
	jclass c = (*env)->GetObjectClass(env, message);
	jstring name = (*env)->NewStringUTF(env, NAME);
	jbyteArray value = name ? (*env)->NewByteArray(env, (jsize)nr) : NULL;
	jobject builder;

	if (!value)
		return NULL;
	(*env)->SetByteArrayRegion(env, value, 0, (jsize)nr, bytes);
	builder = (*env)->CallStaticObjectMethod(env, c, known.builder, message);
	if (!(*env)->ExceptionCheck(env) && builder)
		builder = (*env)->CallObjectMethod(env, builder, known.with, name, value);
	if ((*env)->ExceptionCheck(env) || !builder)
		return NULL;
	return (*env)->CallObjectMethod(env, builder, known.build);
}

jobject params_with(JNIEnv *env, jobject message, const void *bytes, size_t nr)
{
	jobject made;

	if ((*env)->PushLocalFrame(env, LOCALS) < 0) {
		jni_is_clean(env);
		return NULL;
	}
	made = with(env, message, bytes, nr);
	if (!jni_is_clean(env))
		made = NULL;
	return (*env)->PopLocalFrame(env, made);
}

static jbyteArray value_of(JNIEnv *env, jobject message)
{
	jobject header = (*env)->GetObjectField(env, message, known.header);
	jobject map = header ? (*env)->CallObjectMethod(env, header, known.params) : NULL;
	jstring name = !(*env)->ExceptionCheck(env) && map ? (*env)->NewStringUTF(env, NAME) : NULL;

	return name ? (*env)->CallObjectMethod(env, map, known.get, name) : NULL;
}

struct parcel *params_carried(JNIEnv *env, jobject message, bool *is_lost)
{
	uint8_t bytes[PARCEL_BYTES];
	struct parcel *p;
	jbyteArray value;
	jsize nr = 0;

	if ((*env)->PushLocalFrame(env, LOCALS) < 0) {
		jni_is_clean(env);
		return NULL;
	}
	value = value_of(env, message);
	if (jni_is_clean(env) && value)
		nr = (*env)->GetArrayLength(env, value);
	if (nr > 0 && nr <= PARCEL_BYTES)
		(*env)->GetByteArrayRegion(env, value, 0, nr, (jbyte *)bytes);
	p = nr > 0 && nr <= PARCEL_BYTES ? parcel_read(bytes, (size_t)nr) : NULL;
	*is_lost = nr > 0 && !p;
	(*env)->PopLocalFrame(env, NULL);
	jni_is_clean(env);
	return p;
}
