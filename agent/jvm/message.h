/*
 * What threads carry, in messages of protocol buffers: as a field that nobody knows, which peers
 * without an agent pass over. Works for every generated class, wherever its library was moved to;
 * and for Cassandra's messages (params.h).
 */
#ifndef CULPRIT_AGENT_JVM_MESSAGE_H
#define CULPRIT_AGENT_JVM_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include <jni.h>

struct parcel;

/* An equal message with this in it, a new local reference; NULL, and no exception: it cannot be. */
jobject message_with(JNIEnv *env, jobject message, const void *bytes, size_t nr);
/* Puts this into a message that nobody has seen yet; false, and no exception: it cannot be, and is
 * as it was. */
bool message_fill(JNIEnv *env, jobject message, const void *bytes, size_t nr);
/* What is in it: the caller is a user of it. NULL: nothing, or it makes no sense (*is_lost). */
struct parcel *message_carried(JNIEnv *env, jobject message, bool *is_lost);

#endif
