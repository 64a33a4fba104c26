#include "agent/jvm/carried.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agent/jvm/guest.h"
#include "agent/jvm/hot.h"
#include "agent/jvm/parcel.h"

#define ASIDE_FIRST 16u
#define ASIDE_MOST 65536u
#define NOTED 2

struct aside {
	uint64_t place;
	struct carried how;
	struct parcel *parcel;
};

struct carried_thread {
	struct carried now;
	struct parcel *last; /* what it carried when it was last handed on, or came */
	uint32_t nr_aside, room;
	struct aside *aside;
	uint64_t place;
	jobject noted[NOTED];        /* global references */
	struct carried_thread *next; /* of those that have ended with something noted */
};

static _Atomic bool is_any;
static _Atomic uint64_t nr_requests;
static __thread struct carried_thread *own;
static _Atomic(struct carried_thread *) ended;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

HOT uint64_t carried_new(void)
{
	return atomic_fetch_add_explicit(&nr_requests, 1, memory_order_relaxed) + 1;
}

HOT static void forget_down_to(struct carried_thread *t, uint32_t nr)
{
	while (t->nr_aside > nr)
		parcel_leave(t->aside[--t->nr_aside].parcel);
}

void carried_thread_free(struct carried_thread *t)
{
	forget_down_to(t, 0);
	parcel_leave(t->last);
	free(t->aside);
	if (!t->noted[0] && !t->noted[1]) {
		free(t);
		return;
	}
	/* the machine may not know this thread any more: another one gives them back */
	t->next = atomic_load(&ended);
	while (!atomic_compare_exchange_weak(&ended, &t->next, t))
		;
}

static void own_free(void *p)
{
	own = NULL;
	carried_thread_free(p);
}

static void key_make(void)
{
	pthread_key_create(&key, own_free);
}

HOT static struct carried_thread *thread_get(void)
{
	if (own)
		return own;
	pthread_once(&once, key_make);
	own = calloc(1, sizeof(*own));
	if (own)
		pthread_setspecific(key, own);
	return own;
}

struct carried_thread *carried_thread_new(void)
{
	return calloc(1, sizeof(struct carried_thread));
}

struct carried_thread *carried_thread_moved(void)
{
	struct carried_thread *t = carried_thread_new();

	if (t && own) {
		*t = *own;
		*own = (struct carried_thread){ 0 };
	}
	return t;
}

struct carried_thread *carried_thread_use(struct carried_thread *t)
{
	struct carried_thread *was = own;

	own = t;
	return was;
}

/* A request that came over a connection may be one of before, which goes on. */
HOT static uint64_t begun_new(void)
{
	return carried_new() | (guest_has_begun() ? CARRIED_APART : 0);
}

/* What it did for others who watched is over. */
HOT static void refresh(struct carried_thread *t)
{
	struct carried *c = &t->now;
	uint64_t mark = guest_mark(), session = guest_session();

	if (mark && !atomic_load_explicit(&is_any, memory_order_relaxed))
		is_any = true;
	if (c->session != session) {
		forget_down_to(t, 0);
		*c = (struct carried){ .how = mark ? CARRIED_BEGUN : CARRIED_LIFE,
				       .request = begun_new(),
				       .is_named = mark,
				       .mark = mark,
				       .session = session };
	} else if (c->mark != mark) {
		c->how = CARRIED_BEGUN;
		c->request = begun_new();
		c->is_named = true;
		c->mark = mark;
	}
}

HOT struct carried *carried_here(void)
{
	struct carried_thread *t = thread_get();

	if (!t)
		return NULL;
	refresh(t);
	return &t->now;
}

HOT bool carried_is_settled(void)
{
	return own && own->now.how != CARRIED_LIFE && own->now.how != CARRIED_ELEMENT;
}

HOT bool carried_is_loop(void)
{
	return own && own->now.how == CARRIED_ELEMENT;
}

HOT void carried_set(struct carried *c, enum carried_how how, uint64_t request)
{
	if (how == CARRIED_MESSAGE && !carried_any())
		is_any = true;
	c->how = how;
	c->is_named = request;
	c->request = request ? request : carried_new();
	c->mark = guest_mark();
}

HOT bool carried_any(void)
{
	return atomic_load_explicit(&is_any, memory_order_relaxed);
}

static void noted_drop(JNIEnv *env, struct carried_thread *t)
{
	for (size_t i = 0; i < NOTED; i++) {
		if (t->noted[i])
			(*env)->DeleteGlobalRef(env, t->noted[i]);
		t->noted[i] = NULL;
	}
}

static void ended_free(JNIEnv *env)
{
	struct carried_thread *t = atomic_load_explicit(&ended, memory_order_relaxed), *next;

	for (t = t ? atomic_exchange(&ended, NULL) : NULL; t; t = next) {
		next = t->next;
		noted_drop(env, t);
		free(t);
	}
}

bool carried_note(JNIEnv *env, uint64_t place, jobject a, jobject b)
{
	struct carried_thread *t = thread_get();
	const jobject v[NOTED] = { a, b };
	bool is = t;

	ended_free(env);
	if (t) {
		noted_drop(env, t);
		t->place = place;
	}
	for (size_t i = 0; t && i < NOTED; i++) {
		t->noted[i] = v[i] ? (*env)->NewGlobalRef(env, v[i]) : NULL;
		is = is && (t->noted[i] || !v[i]);
	}
	return is;
}

void carried_unnote(JNIEnv *env, uint64_t place)
{
	if (own && own->place == place)
		noted_drop(env, own);
}

jobject carried_noted(unsigned which)
{
	return own ? own->noted[which % NOTED] : NULL;
}

HOT static struct aside *aside_new(struct carried_thread *t)
{
	uint32_t room = t->room ? t->room * 2 : ASIDE_FIRST;
	struct aside *more;

	if (t->nr_aside == t->room) {
		more = room <= ASIDE_MOST ? realloc(t->aside, room * sizeof(*more)) : NULL;
		if (!more)
			return NULL;
		t->aside = more;
		t->room = room;
	}
	return &t->aside[t->nr_aside++];
}

HOT struct parcel *carried_hold(bool *is_lost)
{
	const struct bag *bag = guest_see();
	struct carried_thread *t = bag ? thread_get() : NULL;

	if (t && !parcel_is(t->last, bag)) {
		parcel_leave(t->last);
		t->last = parcel_new(bag);
	}
	*is_lost = bag && !(t && t->last);
	return t ? parcel_use(t->last) : NULL;
}

HOT bool carried_is_as_asked(const struct bag *bag)
{
	const struct carried *c = carried_here();
	const struct parcel *p = c ? own->last : NULL;

	return p && p->asked && p->asked == c->request && parcel_is(p, bag);
}

HOT void carried_carry(struct parcel *p)
{
	struct carried_thread *t = p ? thread_get() : NULL;

	guest_carry(parcel_bag(p));
	if (t && t->last != p) {
		parcel_leave(t->last);
		t->last = parcel_use(p);
	}
}

HOT void carried_join(const struct parcel *p)
{
	guest_join(parcel_bag(p));
}

HOT int carried_put_aside(uint64_t place, struct parcel *p)
{
	struct aside *a = carried_here() ? aside_new(own) : NULL;

	if (!a)
		return -1;
	*a = (struct aside){ .place = place, .how = own->now, .parcel = parcel_use(p) };
	return 0;
}

HOT bool carried_take_up(uint64_t place, struct parcel **p, struct carried *how)
{
	struct carried_thread *t = carried_here() ? own : NULL;
	uint32_t nr = t ? t->nr_aside : 0;
	const struct aside *a;

	while (nr && t->aside[nr - 1].place != place)
		nr--;
	if (!nr)
		return false;
	forget_down_to(t, nr);
	a = &t->aside[nr - 1];
	*p = parcel_use(a->parcel);
	*how = a->how;
	forget_down_to(t, nr - 1);
	return true;
}
