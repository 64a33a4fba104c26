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

/* The object has this from now on, for who works on it. is_plain: it is known to be nobody else's
 * (of the class whose method was woven), and need not be looked at for that. */
enum kept_result kept_set(JNIEnv *env, jobject o, const struct kept_bag *b, bool is_plain);
/* … and it lies in a queue until somebody takes it out. */
enum kept_result kept_put(JNIEnv *env, jobject o, const struct kept_bag *b);
/* It has this as well for who waits for it: a part of its result. */
enum kept_result kept_more(JNIEnv *env, jobject o, const struct kept_bag *b, bool is_plain);
/* For who works on it: the caller is a user of its parcel. False: it has nothing of this session; b
 * has no parcel and no request then. */
bool kept_get(JNIEnv *env, jobject o, struct kept_bag *b);
/* The same of one that was taken out of a queue. */
bool kept_taken(JNIEnv *env, jobject o, struct kept_bag *b);
/* For who waits for it; of one that has no result what it got otherwise. */
bool kept_result(JNIEnv *env, jobject o, struct kept_bag *b);
/* What is known of an object before anything else of it is looked at. */
enum kept_known {
	KEPT_UNKNOWN,
	KEPT_MIXED, /* several requests have put it into queues: there is nothing to be had of it */
	KEPT_OWN,   /* whoever works on it knows where to get it from: queues need not tell */
};
/* hash: as kept_hash_of has it. Cheap where nothing is known of any object with that hash. */
enum kept_known kept_known(JNIEnv *env, jobject o, uint32_t hash);
/* It has something, and is KEPT_OWN from now on. */
void kept_own(JNIEnv *env, jobject o);
/* Forgets what objects had that are gone by now, or got it in a session before; or all of it. */
void kept_sweep(JNIEnv *env, bool all);
/* Objects that have something now: without any there is nothing to get. */
uint64_t kept_count(void);

#endif
