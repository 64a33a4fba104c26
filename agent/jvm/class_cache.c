#include "agent/jvm/class_cache.h"

#include <pthread.h>
#include <stdlib.h>

/* Of all caches: one is added to as often as a place meets a class that it has not seen. Without
 * it, many threads that come at once would fill the cache with one class. */
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

struct class_entry *class_cache_find(struct class_cache *c, JNIEnv *env, jclass class,
				     const void *key)
{
	struct class_entry *e = atomic_load_explicit(&c->first, memory_order_acquire);

	/* a weak reference to a class that is gone is the same as no class */
	while (e && !(e->key == key && (*env)->IsSameObject(env, e->class, class)))
		e = e->next;
	return e;
}

/* Under the lock. Who is at one of them goes on to those behind it. */
static void dead_take_out(struct class_cache *c, JNIEnv *env)
{
	_Atomic(struct class_entry *) *at = &c->first;
	struct class_entry *e;

	while ((e = atomic_load(at))) {
		if ((*env)->IsSameObject(env, e->class, NULL)) {
			atomic_store(at, e->next);
			c->nr--;
		} else {
			at = &e->next;
		}
	}
}

static void keep(struct class_cache *c, JNIEnv *env, jclass class, const void *key,
		 struct class_entry *e)
{
	if (c->nr == CLASS_CACHE_MOST)
		dead_take_out(c, env);
	if (c->nr == CLASS_CACHE_MOST)
		return;
	e->class = (*env)->NewWeakGlobalRef(env, class);
	if (!e->class) {
		(*env)->ExceptionClear(env);
		return;
	}
	c->nr++;
	e->key = key;
	e->is_kept = true;
	atomic_store(&e->next, atomic_load(&c->first));
	atomic_store_explicit(&c->first, e, memory_order_release);
}

struct class_entry *class_cache_add(struct class_cache *c, JNIEnv *env, jclass class,
				    const void *key, struct class_entry *e)
{
	struct class_entry *other;

	e->is_kept = false;
	pthread_mutex_lock(&adding);
	other = class_cache_find(c, env, class, key);
	if (!other)
		keep(c, env, class, key, e);
	pthread_mutex_unlock(&adding);
	if (!other)
		return e;
	free(e);
	return other;
}

void class_cache_done(struct class_cache *c, JNIEnv *env)
{
	struct class_entry *e = atomic_exchange(&c->first, NULL);

	while (e) {
		struct class_entry *next = e->next;

		(*env)->DeleteWeakGlobalRef(env, e->class);
		free(e);
		e = next;
	}
	c->nr = 0;
}
