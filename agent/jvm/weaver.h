/*
 * Weaves classes of the machine as an order says: those that are loaded, at once, and those that
 * come later when they do. The machine's own verifier has the last word.
 */
#ifndef CULPRIT_AGENT_JVM_WEAVER_H
#define CULPRIT_AGENT_JVM_WEAVER_H

#include <jvmti.h>
#include <stdbool.h>

#include "base/str.h"

struct order;

/* Takes the order, which may be empty: then all is as it was. Lines of what became of it go to
 * answer.h. */
void weaver_apply(JNIEnv *env, struct order *o);
/* Takes everything back, if that may still be; false: it may not. */
bool weaver_clear(JNIEnv *env, bool (*may)(void));
/* A place is passed so often that being woven alone costs too much: it is left alone from now on.
 */
void weaver_leave(JNIEnv *env, uint64_t wish);
/* Whether anything is woven. */
bool weaver_is_at_work(void);

/* The machine's events. */
void weaver_class(JNIEnv *env, jclass class, const unsigned char *bytes, jint nr, jint *new_nr,
		  unsigned char **new_bytes);
/* A class is loaded for the first time: there is no object of it yet. name: with slashes. */
void weaver_loaded(JNIEnv *env, const char *name, const unsigned char *bytes, jint nr, jint *new_nr,
		   unsigned char **new_bytes);
void weaver_prepared(JNIEnv *env, jclass class);

#endif
