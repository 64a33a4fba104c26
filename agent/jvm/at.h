/* Where woven code comes to us: the native methods of the helper class. */
#ifndef CULPRIT_AGENT_JVM_AT_H
#define CULPRIT_AGENT_JVM_AT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jni.h>

/* Defines the helper class, and says what its methods do; false where the machine refuses. */
bool at_ready(JNIEnv *env);
/* How many values could not be had, and which was the last of them, with the reason. */
uint64_t at_unread(char *text, size_t room);

#endif
