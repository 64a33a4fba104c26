/* What hands on what threads carry, where woven code says so: to objects, from them, and in
 * messages. */
#ifndef CULPRIT_AGENT_JVM_CARRIER_H
#define CULPRIT_AGENT_JVM_CARRIER_H

#include <stdbool.h>

#include <jvmti.h>

struct site;

/* roots: as woven code has handed them over. */
void carrier_act(JNIEnv *env, struct site *s, const jvalue *roots);
/* The same, of an element of a queue, or none, of which nothing is to be told, as is known already:
 * cheap. False: it is to be looked at. */
bool carrier_passes(JNIEnv *env, struct site *s, const jvalue *roots);
/* What stands in the place of a message, or the message itself. */
jobject carrier_change(JNIEnv *env, struct site *s, jobject message);
/* A thread begins, or ends: what its maker carried, and what who waits for it will. */
void carrier_thread_began(JNIEnv *env, jthread thread);
void carrier_thread_ended(JNIEnv *env, jthread thread);

#endif
