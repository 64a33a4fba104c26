/*
 * What threads carry, in the messages of Cassandra's nodes: as one of the entries that its headers
 * have room for, by name, for who extends it. A node without an agent keeps it and does nothing.
 */
#ifndef CULPRIT_AGENT_JVM_PARAMS_H
#define CULPRIT_AGENT_JVM_PARAMS_H

#include <stdbool.h>
#include <stddef.h>

#include <jni.h>

/* Whether the object is such a message. */
bool params_has(JNIEnv *env, jobject message);
/* As message.h has it, of one that is. */
jobject params_with(JNIEnv *env, jobject message, const void *bytes, size_t nr);
struct parcel *params_carried(JNIEnv *env, jobject message, bool *is_lost);

#endif
