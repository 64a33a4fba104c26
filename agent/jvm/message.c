#include "agent/jvm/message.h"

#include <stdlib.h>
#include <string.h>

#include "agent/jvm/field.h"
#include "agent/jvm/hot.h"
#include "agent/jvm/machine.h"
#include "agent/jvm/message_kind.h"
#include "agent/jvm/params.h"
#include "agent/jvm/parcel.h"

#define LOCALS 16
#define SIZE_UNKNOWN (-1) /* what messages say of their length before it was asked for */
#define SMALL 1024        /* bytes of most bags, with what is around them */

HOT static jbyteArray array_of(JNIEnv *env, const void *bytes, size_t nr)
{
	jbyteArray a = (*env)->NewByteArray(env, (jsize)nr);

	if (a)
		(*env)->SetByteArrayRegion(env, a, 0, (jsize)nr, bytes);
	else
		jni_is_clean(env);
	return a;
}

/* Of its bytes and these: for libraries that we know little of. */
static jobject parsed(JNIEnv *env, jobject message, const struct message_kind *k,
		      const unsigned char *field, size_t nr)
{
	jbyteArray was = (*env)->CallObjectMethod(env, message, k->bytes), with = NULL;
	jsize old = jni_is_clean(env) && was ? (*env)->GetArrayLength(env, was) : 0;
	unsigned char *all = was ? malloc((size_t)old + nr) : NULL;
	jclass class = (*env)->GetObjectClass(env, message);
	jobject made = NULL;

	if (all) {
		(*env)->GetByteArrayRegion(env, was, 0, old, (jbyte *)all);
		memcpy(all + old, field, nr);
		with = array_of(env, all, (size_t)old + nr);
	}
	if (with)
		made = (*env)->CallStaticObjectMethod(env, class, k->parse, with);
	free(all);
	(*env)->DeleteLocalRef(env, class);
	return jni_is_clean(env) ? made : NULL;
}

/* Beside what is there already. */
static jobject built(JNIEnv *env, jobject message, const struct message_kind *k,
		     const unsigned char *field, size_t nr)
{
	jobject was = (*env)->GetObjectField(env, message, k->set), set, builder;
	jclass class = was ? (*env)->GetObjectClass(env, was) : NULL;
	jbyteArray bytes = class ? array_of(env, field, nr) : NULL;

	if (!bytes)
		return NULL;
	set = (*env)->CallStaticObjectMethod(env, class, k->unknown_parse, bytes);
	if ((*env)->ExceptionCheck(env) || !set)
		return NULL;
	builder = (*env)->CallObjectMethod(env, message, k->builder);
	if ((*env)->ExceptionCheck(env) || !builder)
		return NULL;
	(*env)->CallObjectMethod(env, builder,
				 (*env)->IsSameObject(env, was, k->nothing) ? k->set_to : k->merge,
				 set);
	if ((*env)->ExceptionCheck(env))
		return NULL;
	return (*env)->CallObjectMethod(env, builder, k->build);
}

/* What is made on the way goes with the frame. */
static jobject field_with(JNIEnv *env, jobject message, const struct message_kind *k,
			  const void *bytes, size_t nr)
{
	unsigned char small[SMALL];
	unsigned char *field = nr + FIELD_HEAD <= SMALL ? small : malloc(nr + FIELD_HEAD);
	jobject made = NULL;

	if (field && (*env)->PushLocalFrame(env, LOCALS) == 0) {
		size_t length = field_put(field, bytes, nr);

		made = k->nothing ? built(env, message, k, field, length)
				  : parsed(env, message, k, field, length);
		if (!jni_is_clean(env))
			made = NULL;
		made = (*env)->PopLocalFrame(env, made);
	}
	if (field != small)
		free(field);
	return made;
}

jobject message_with(JNIEnv *env, jobject message, const void *bytes, size_t nr)
{
	const struct message_kind *k = message ? message_kind_of(env, message) : NULL;

	if (k)
		return field_with(env, message, k, bytes, nr);
	return message && params_has(env, message) ? params_with(env, message, bytes, nr) : NULL;
}

/* What is made on the way goes when the native method that called us is left. */
HOT static bool filled(JNIEnv *env, jobject message, const struct message_kind *k,
		       const unsigned char *field, size_t nr)
{
	jobject was = (*env)->GetObjectField(env, message, k->set), set;
	jbyteArray bytes;

	/* its length is known already: it would be written too short; or it has something */
	if ((*env)->GetIntField(env, message, k->size) != SIZE_UNKNOWN ||
	    !(*env)->IsSameObject(env, was, k->nothing))
		return false;
	bytes = array_of(env, field, nr);
	if (!bytes)
		return false;
	set = (*env)->CallStaticObjectMethod(env, k->sets, k->unknown_parse, bytes);
	if (!jni_is_clean(env) || !set)
		return false;
	(*env)->SetObjectField(env, message, k->set, set);
	return true;
}

HOT bool message_fill(JNIEnv *env, jobject message, const void *bytes, size_t nr)
{
	const struct message_kind *k = message ? message_kind_of(env, message) : NULL;
	unsigned char small[SMALL], *field;
	bool is;

	if (!k || !k->nothing || !k->size)
		return false;
	field = nr + FIELD_HEAD <= SMALL ? small : malloc(nr + FIELD_HEAD);
	is = field && filled(env, message, k, field, field_put(field, bytes, nr));
	if (field != small)
		free(field);
	return is;
}

/* Of what nobody knows in the message; NULL: there is nothing. (Local references here go when the
 * native method that called us is left.) */
HOT static jbyteArray unknown_of(JNIEnv *env, jobject message, const struct message_kind *k)
{
	jobject set = k->nothing ? (*env)->GetObjectField(env, message, k->set)
				 : (*env)->CallObjectMethod(env, message, k->unknown);
	jbyteArray bytes = NULL;

	if (!jni_is_clean(env) || !set)
		return NULL;
	if (!k->nothing || !(*env)->IsSameObject(env, set, k->nothing))
		bytes = (*env)->CallObjectMethod(env, set, k->unknown_bytes);
	if (!jni_is_clean(env))
		bytes = NULL;
	return bytes;
}

HOT static struct parcel *field_carried(JNIEnv *env, jobject message, const struct message_kind *k,
					bool *is_lost)
{
	struct parcel *p = NULL;
	jbyteArray bytes = unknown_of(env, message, k);
	const unsigned char *found = NULL;
	unsigned char small[SMALL], *copy;
	size_t length = 0;
	jsize nr;

	if (!bytes)
		return NULL;
	nr = (*env)->GetArrayLength(env, bytes);
	copy = nr <= SMALL ? small : malloc((size_t)nr);
	if (copy) {
		(*env)->GetByteArrayRegion(env, bytes, 0, nr, (jbyte *)copy);
		found = field_find(copy, (size_t)nr, &length);
	}
	if (found && length)
		p = parcel_read(found, length);
	*is_lost = !copy || (found && length && !p);
	if (copy != small)
		free(copy);
	return p;
}

HOT struct parcel *message_carried(JNIEnv *env, jobject message, bool *is_lost)
{
	const struct message_kind *k = message ? message_kind_of(env, message) : NULL;

	*is_lost = false;
	if (k)
		return field_carried(env, message, k, is_lost);
	return message && params_has(env, message) ? params_carried(env, message, is_lost) : NULL;
}
