/* What an element of a queue means to the thread that takes it out. */
#ifndef CULPRIT_AGENT_JVM_ELEMENT_H
#define CULPRIT_AGENT_JVM_ELEMENT_H

#include <jni.h>

struct site;

/* o: the element; NULL: there was none. */
void element_next(JNIEnv *env, struct site *s, jobject o);
/* A collection of those that were taken out at once, and what else it had. */
void element_all(JNIEnv *env, struct site *s, jobject collection);

#endif
