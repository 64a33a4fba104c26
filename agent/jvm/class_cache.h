/*
 * What was found out about a class, by the class: for the few classes whose objects one place sees.
 *
 * Readers need no lock, so that entries are never freed while the cache is used. Classes are held
 * weakly and may be unloaded; what is kept about one is then never found again, and makes room for
 * another one: it is taken out, and a few bytes of it are lost for good.
 */
#ifndef CULPRIT_JVM_CLASS_CACHE_H
#define CULPRIT_JVM_CLASS_CACHE_H

#include <jni.h>
#include <stdatomic.h>
#include <stdbool.h>

#define CLASS_CACHE_MOST 32 /* of one cache: a search goes through all of them */

/* The first member of what is kept, which is one piece of malloc. */
struct class_entry {
	_Atomic(struct class_entry *) next;
	jweak class;
	const void *key; /* besides the class; compared as a pointer */
	bool is_kept;
};

/* Zero is empty. */
struct class_cache {
	_Atomic(struct class_entry *) first;
	unsigned nr;
};

struct class_entry *class_cache_find(struct class_cache *c, JNIEnv *env, jclass class,
				     const void *key);
/* Keeps e, and returns it; or frees it and returns what another thread has kept meanwhile. Where
 * there is no room, is_kept is not set, and e belongs to the caller. */
struct class_entry *class_cache_add(struct class_cache *c, JNIEnv *env, jclass class,
				    const void *key, struct class_entry *e);
/* Frees all entries. */
void class_cache_done(struct class_cache *c, JNIEnv *env);

#endif
