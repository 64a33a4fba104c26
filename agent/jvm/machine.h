/* The Java machine that we are in, as all parts of the agent share it. */
#ifndef CULPRIT_AGENT_JVM_MACHINE_H
#define CULPRIT_AGENT_JVM_MACHINE_H

#include <stdatomic.h>
#include <stdbool.h>

#include <jvmti.h>

#include "base/str.h"

/* Our environment; set once, before anything else is. */
extern jvmtiEnv *machine __attribute__((visibility("hidden")));
/* It ends: threads that still run in it are not to be kept, and nothing is to be asked any more. */
extern _Atomic bool machine_is_over __attribute__((visibility("hidden")));

/* False: an exception was thrown, which is gone now. */
static inline bool jni_is_clean(JNIEnv *env)
{
	if (!(*env)->ExceptionCheck(env))
		return true;
	(*env)->ExceptionClear(env);
	return false;
}

#endif
