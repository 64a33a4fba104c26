/*
 * What compiled code knows of queues, so that it comes to us with what may mean something only:
 * classes whose elements tell nothing (entries of caches, which lie in a queue each time they are
 * read; tasks that say themselves what they carry), and which threads may be loops (element.h).
 */
#ifndef CULPRIT_AGENT_JVM_MUTED_H
#define CULPRIT_AGENT_JVM_MUTED_H

#include <stdbool.h>

#include <jni.h>

#include "base/str.h"

/* class: of helper.h. False, and no exception: the machine refuses. */
bool muted_begin(JNIEnv *env, jclass class);
/* What is wanted from now on: names of classes, with dots, which may have stars; nothing is muted
 * yet. Copied. */
void muted_want(JNIEnv *env, const struct str *names, size_t nr);
/* Elements of its class tell nothing from now on. */
void muted_add(JNIEnv *env, jobject o);
/* The same, if a name means its class. */
void muted_add_meant(JNIEnv *env, jobject o);
/* The thread that runs may be a loop from now on, … */
void muted_loop(JNIEnv *env);
/* … any thread may be one. */
void muted_loops(JNIEnv *env);

#endif
