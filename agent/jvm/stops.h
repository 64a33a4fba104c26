/* Pauses in which the machine collects garbage, and waits for monitors, told as calls. */
#ifndef CULPRIT_AGENT_JVM_STOPS_H
#define CULPRIT_AGENT_JVM_STOPS_H

#include <stdint.h>

#include <jvmti.h>

/* The functions that they are told by from now on; ORDER_NONE: they are not. */
void stops_watch(uint32_t pauses, uint32_t locks);

/* The machine's events. Of the first two: all threads stand still, and nothing of the machine may
 * be called. */
void JNICALL stops_collection_began(jvmtiEnv *jvmti);
void JNICALL stops_collection_ended(jvmtiEnv *jvmti);
void JNICALL stops_lock_waits(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject o);
void JNICALL stops_lock_has(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject o);

#endif
