/*
 * What threads carry, in the messages of Cassandra's clients: as one of the entries, by name, that
 * their protocol has room for since its fourth version (custom payload). A server without an agent
 * passes over it. Used by header_object.c, which has the words.
 */
#ifndef CULPRIT_AGENT_JVM_PAYLOAD_H
#define CULPRIT_AGENT_JVM_PAYLOAD_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>

/* Where objects of the class have such entries; NULL: nowhere. */
jfieldID payload_field(JNIEnv *env, jclass class);
/* Beside what is there already; false, and no exception: it cannot be. */
bool payload_set(JNIEnv *env, jobject message, jfieldID field, const void *bag, size_t nr);
/* As header_get has it. */
long payload_get(JNIEnv *env, jobject message, jfieldID field, void *bag, size_t room);

#endif
