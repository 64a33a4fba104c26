/* What objects of the program have got of what threads carry, for as long as they are there. */
#ifndef CULPRIT_AGENT_JVM_KEPT_H
#define CULPRIT_AGENT_JVM_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jvmti.h>

struct parcel;

struct kept_bag {
	uint64_t request; /* as carried.h numbers them; 0: nobody knows, and there is nothing */
	struct parcel *parcel; /* or NULL: nothing yet */
};

enum kept_result {
	KEPT,
	KEPT_NOTHING, /* there was nothing to keep */
	KEPT_SHARED,  /* the object is everybody's, or several requests have handed it over at once:
			 it gets nothing */
	KEPT_FAILED,  /* there is no memory, or the machine refused */
};

/* The object has this from now on, for who works on it. */
enum kept_result kept_set(JNIEnv *env, jobject o, const struct kept_bag *b);
/* … and it lies in a queue until somebody takes it out. */
enum kept_result kept_put(JNIEnv *env, jobject o, const struct kept_bag *b);
/* It has this as well for who waits for it: a part of its result. */
enum kept_result kept_more(JNIEnv *env, jobject o, const struct kept_bag *b);
/* For who works on it: the caller is a user of its parcel. False: it has nothing of this session; b
 * has no parcel and no request then. */
bool kept_get(JNIEnv *env, jobject o, struct kept_bag *b);
/* The same of one that was taken out of a queue. */
bool kept_taken(JNIEnv *env, jobject o, struct kept_bag *b);
/* For who waits for it; of one that has no result what it got otherwise. */
bool kept_result(JNIEnv *env, jobject o, struct kept_bag *b);
/* Whether it is known, without looking for it, that several requests have put it into queues: there
 * is nothing to be had of it. (Of what woven code has told the hash of, that is.) */
bool kept_is_mixed(jobject o);
/* Forgets what objects had that are gone by now, or got it in a session before; or all of it. */
void kept_sweep(JNIEnv *env, bool all);
/* Objects that have something now: without any there is nothing to get. */
uint64_t kept_count(void);

#endif
