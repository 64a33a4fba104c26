#include "agent/jvm/shared.h"

#include <pthread.h>
#include <stdatomic.h>

#include "agent/jvm/machine.h"

/* All but the class Class can be compared, which most tasks and messages cannot be. */
static const char *const names[] = {
	"java/lang/Comparable", "java/lang/Class",     "java/lang/String", "java/lang/Enum",
	"java/lang/Boolean",    "java/lang/Character", "java/lang/Byte",   "java/lang/Short",
	"java/lang/Integer",    "java/lang/Long",      "java/lang/Float",  "java/lang/Double"
};
enum { COMPARABLE, CLASS, FIRST, NR = sizeof(names) / sizeof(*names) };

static jclass classes[NR];
static _Atomic bool is_ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool ready(JNIEnv *env)
{
	bool is = true;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < NR; i++) {
		jclass c = classes[i] ? NULL : (*env)->FindClass(env, names[i]);

		if (jni_is_clean(env) && c) {
			classes[i] = (*env)->NewGlobalRef(env, c);
			(*env)->DeleteLocalRef(env, c);
		}
		is = is && classes[i];
	}
	atomic_store_explicit(&is_ready, is, memory_order_release);
	pthread_mutex_unlock(&lock);
	return is;
}

bool shared_is(JNIEnv *env, jobject o)
{
	/* nobody knows: better nothing than what is wrong */
	if (!atomic_load_explicit(&is_ready, memory_order_acquire) && !ready(env))
		return true;
	if ((*env)->IsInstanceOf(env, o, classes[CLASS]))
		return true;
	if (!(*env)->IsInstanceOf(env, o, classes[COMPARABLE]))
		return false;
	for (size_t i = FIRST; i < NR; i++)
		if ((*env)->IsInstanceOf(env, o, classes[i]))
			return true;
	return false;
}
