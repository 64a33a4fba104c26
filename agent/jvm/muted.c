#include "agent/jvm/muted.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agent/jvm/class_cache.h"
#include "agent/jvm/helper.h"
#include "agent/jvm/machine.h"
#include "agent/jvm/meant.h"
#include "agent/jvm/order.h"
#include "agent/jvm/virtual.h"

#define NAMES 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static jclass helper;
static jfieldID fields[HELPER_MUTED_NR];
static jbyteArray loops;
static jclass threads;
static jmethodID current;
/* Under the lock. */
static char *names[NAMES];
static size_t nr_names;
static _Atomic unsigned nr_muted;
static struct class_cache others; /* classes that no name means */

/* --- the helper class --------------------------------------------------------------------------
 */

static bool fields_find(JNIEnv *env, jclass class)
{
	jfieldID f = (*env)->GetStaticFieldID(env, class, HELPER_LOOPS, "[B");
	jobject made = jni_is_clean(env) && f ? (*env)->GetStaticObjectField(env, class, f) : NULL;

	for (unsigned i = 0; made && i < HELPER_MUTED_NR; i++) {
		char name[] = HELPER_MUTED "0";

		name[sizeof(name) - 2] += (char)i;
		fields[i] = (*env)->GetStaticFieldID(env, class, name, "Ljava/lang/Class;");
		if (!jni_is_clean(env) || !fields[i])
			return false;
	}
	loops = made ? (*env)->NewGlobalRef(env, made) : NULL;
	if (made)
		(*env)->DeleteLocalRef(env, made);
	return loops;
}

bool muted_begin(JNIEnv *env, jclass class)
{
	jclass c = (*env)->FindClass(env, "java/lang/Thread");

	if (!jni_is_clean(env) || !c)
		return false;
	current = (*env)->GetStaticMethodID(env, c, "currentThread", "()Ljava/lang/Thread;");
	if (jni_is_clean(env) && current)
		threads = (*env)->NewGlobalRef(env, c);
	(*env)->DeleteLocalRef(env, c);
	if (threads && fields_find(env, class))
		helper = (*env)->NewGlobalRef(env, class);
	return jni_is_clean(env) && helper;
}

/* --- elements ----------------------------------------------------------------------------------
 */

/* Under the lock. */
static void names_forget(void)
{
	while (nr_names)
		free(names[--nr_names]);
}

/* Under the lock: their loaders could not go otherwise. */
static void classes_forget(JNIEnv *env)
{
	unsigned nr = atomic_exchange(&nr_muted, 0);

	for (unsigned i = 0; i < nr; i++)
		(*env)->SetStaticObjectField(env, helper, fields[i], NULL);
}

void muted_want(JNIEnv *env, const struct str *wanted, size_t nr)
{
	pthread_mutex_lock(&lock);
	names_forget();
	for (size_t i = 0; i < nr && nr_names < NAMES; i++) {
		names[nr_names] = strndup(wanted[i].p, wanted[i].n);
		nr_names += names[nr_names] != NULL;
	}
	if (!nr)
		classes_forget(env);
	pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static bool has(JNIEnv *env, jclass class)
{
	for (unsigned i = 0; i < nr_muted; i++) {
		jobject one = (*env)->GetStaticObjectField(env, helper, fields[i]);
		bool is = (*env)->IsSameObject(env, one, class);

		(*env)->DeleteLocalRef(env, one);
		if (is)
			return true;
	}
	return false;
}

/* Under the lock. Those for which there is no room go on to come to us. */
static void mute(JNIEnv *env, jclass class)
{
	if (!nr_names || nr_muted == HELPER_MUTED_NR || has(env, class))
		return;
	(*env)->SetStaticObjectField(env, helper, fields[nr_muted], class);
	atomic_fetch_add(&nr_muted, 1);
}

static bool is_full(void)
{
	return atomic_load_explicit(&nr_muted, memory_order_relaxed) == HELPER_MUTED_NR;
}

void muted_add(JNIEnv *env, jobject o)
{
	jclass class = is_full() ? NULL : (*env)->GetObjectClass(env, o);

	if (!class)
		return;
	pthread_mutex_lock(&lock);
	mute(env, class);
	pthread_mutex_unlock(&lock);
	(*env)->DeleteLocalRef(env, class);
}

/* Under the lock. */
static bool is_meant(jclass class)
{
	char room[MEANT_NAME_BYTES];
	struct str name = meant_name(class, room);

	for (size_t i = 0; name.n && i < nr_names; i++)
		if (wanted_matches(str_of(names[i]), name))
			return true;
	return false;
}

static void other_note(JNIEnv *env, jclass class)
{
	struct class_entry *e = calloc(1, sizeof(*e));

	if (e)
		e = class_cache_add(&others, env, class, NULL, e);
	if (e && !e->is_kept)
		free(e);
}

void muted_add_meant(JNIEnv *env, jobject o)
{
	jclass class = is_full() ? NULL : (*env)->GetObjectClass(env, o);
	bool is;

	if (!class)
		return;
	if (!class_cache_find(&others, env, class, NULL)) {
		pthread_mutex_lock(&lock);
		is = is_meant(class);
		if (is)
			mute(env, class);
		pthread_mutex_unlock(&lock);
		if (!is)
			other_note(env, class);
	}
	(*env)->DeleteLocalRef(env, class);
}

/* --- loops -------------------------------------------------------------------------------------
 */

/* For good: what its code has seen of a loop, it goes on to tell. */
void muted_loop(JNIEnv *env)
{
	static __thread uint64_t noted; /* a thread that carries others is several */
	const jbyte is = 1;
	jobject thread;
	jint hash = 0;

	if (noted == virtual_number() + 1)
		return;
	thread = (*env)->CallStaticObjectMethod(env, threads, current);
	if (!jni_is_clean(env) || !thread ||
	    (*machine)->GetObjectHashCode(machine, thread, &hash) != JVMTI_ERROR_NONE) {
		muted_loops(env);
		return;
	}
	(*env)->SetByteArrayRegion(env, loops, hash & (HELPER_LOOPS_NR - 1), 1, &is);
	(*env)->DeleteLocalRef(env, thread);
	noted = virtual_number() + 1;
}

void muted_loops(JNIEnv *env)
{
	jbyte all[HELPER_LOOPS_NR];

	memset(all, 1, sizeof(all));
	(*env)->SetByteArrayRegion(env, loops, 0, HELPER_LOOPS_NR, all);
}
