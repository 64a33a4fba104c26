/* Objects that are everybody's: small numbers, texts, constants. What one request is told of them
 * would be told of all. */
#ifndef CULPRIT_AGENT_JVM_SHARED_H
#define CULPRIT_AGENT_JVM_SHARED_H

#include <stdbool.h>

#include <jni.h>

bool shared_is(JNIEnv *env, jobject o);

#endif
