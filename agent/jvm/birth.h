/*
 * What threads carry, in the environment of processes that they start: a Java machine that begins
 * with it works for who started it, and its threads carry it from their beginning. Programs that
 * are not asked pass it on to those that they start.
 */
#ifndef CULPRIT_AGENT_JVM_BIRTH_H
#define CULPRIT_AGENT_JVM_BIRTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jni.h>

struct parcel;

/* map: as java.lang.ProcessImpl gets it; NULL: that of this process. An equal one with this bag,
 * which may be empty, a new local reference; NULL, and no exception: it cannot be. */
jobject birth_environment(JNIEnv *env, jobject map, const void *bag, size_t nr);
/* Whether this process was born with something: cheap. */
bool birth_is(void);
/* The thread that runs carries what the process was born with, unless something was given to it;
 * once while somebody watches. */
void birth_here(void);
/* As carried_carry; where nothing is to be carried, it is what the process was born with. */
void birth_carry(struct parcel *p);
/* It was told by who made it what it carries. */
void birth_told(void);
/* When that was, or the process's own was taken up, is this from now on; when it was before. */
uint64_t birth_use(uint64_t told);

#endif
