#include "agent/jvm/virtual.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agent/jvm/birth.h"
#include "agent/jvm/carried.h"
#include "agent/jvm/carrier.h"
#include "agent/jvm/guest.h"
#include "agent/jvm/here.h"
#include "agent/jvm/hop.h"
#include "agent/jvm/kept_table.h"
#include "agent/jvm/machine.h"
#include "agent/jvm/muted.h"
#include "agent/jvm/site.h"

struct virtual
{
	struct kept_entry entry; /* in the table while it waits */
	uint64_t number;
	uint64_t order; /* who wanted it to be seen */
	bool is_ended;
	struct carried_thread *carried;
	struct here_calls *calls;
	uint64_t born;           /* as birth.h has it */
	struct probe_self *self; /* while it waits; NULL: it carries nothing, and never did */
};

union self {
	struct probe_self head;
	uint8_t bytes[PROBE_SELF_BYTES];
};

/* A thread that carries virtual ones: which one, and what it is itself meanwhile. */
struct mount {
	struct virtual *now; /* or NULL */
	struct carried_thread *carried;
	uint64_t born;
	bool has_self;
	union self self;
};

static __thread struct mount *own;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept_table waiting; /* under the lock */

/* --- virtual threads --------------------------------------------------------------------------
 */

static void virtual_free(JNIEnv *env, struct virtual *v)
{
	if (v->entry.object)
		(*env)->DeleteWeakGlobalRef(env, v->entry.object);
	if (v->carried)
		carried_thread_free(v->carried);
	here_calls_free(v->calls);
	free(v->self);
	free(v);
}

/* As Thread.threadId() has it, behind all numbers of the kernel's. */
static uint64_t number_of(JNIEnv *env, jobject thread)
{
	static _Atomic(jfieldID) field;
	static _Atomic uint64_t nr;
	jfieldID f = field;

	if (!f) {
		jclass class = (*env)->FindClass(env, "java/lang/Thread");

		f = class ? (*env)->GetFieldID(env, class, "tid", "J") : NULL;
		if (class)
			(*env)->DeleteLocalRef(env, class);
		if (!jni_is_clean(env) || !f)
			return PROBE_NUMBERS_AT * 2 + atomic_fetch_add(&nr, 1);
		field = f;
	}
	return PROBE_NUMBERS_AT + (uint64_t)(*env)->GetLongField(env, thread, f);
}

/* carried, calls: its own from now on. */
static struct virtual *virtual_new(JNIEnv *env, jobject o, struct carried_thread *carried,
				   struct here_calls *calls)
{
	struct virtual *v = calloc(1, sizeof(*v));

	if (!v) {
		if (carried)
			carried_thread_free(carried);
		here_calls_free(calls);
		return NULL;
	}
	v->carried = carried;
	v->calls = calls;
	v->order = guest_order();
	if (carried && calls && kept_hash(o, &v->entry.hash)) {
		v->number = number_of(env, o);
		v->entry.object = (*env)->NewWeakGlobalRef(env, o);
		if (jni_is_clean(env) && v->entry.object)
			return v;
	}
	virtual_free(env, v);
	return NULL;
}

/* --- those that wait --------------------------------------------------------------------------
 */

/* NULL: nothing is known of it that is still believed. */
static struct virtual *taken(JNIEnv *env, jobject o)
{
	struct virtual *v = NULL, *one;
	uint32_t hash;

	if (!kept_hash(o, &hash))
		return NULL;
	do {
		pthread_mutex_lock(&lock);
		one = (struct virtual *)kept_table_take(&waiting, env, o, hash);
		pthread_mutex_unlock(&lock);
		/* the last one that was put there is in front */
		if (one && (v || one->order != guest_order()))
			virtual_free(env, one);
		else if (one)
			v = one;
	} while (one);
	return v;
}

static bool put(JNIEnv *env, jobject o, struct virtual *v)
{
	bool is;

	pthread_mutex_lock(&lock);
	is = kept_table_add(&waiting, env, o, &v->entry);
	pthread_mutex_unlock(&lock);
	return is;
}

/* self: NULL where nothing is known of what it carries. */
static void wait(JNIEnv *env, struct site *s, jobject o, struct virtual *v,
		 const struct probe_self *self)
{
	size_t nr = self ? sizeof(*self) + self->nr : 0;

	v->order = guest_order();
	v->self = nr ? malloc(nr) : NULL;
	if (v->self)
		memcpy(v->self, self, nr);
	if ((nr && !v->self) || !put(env, o, v)) {
		hop_lost(s);
		virtual_free(env, v);
		return;
	}
	hop_count(s, self && self->nr ? HOP_GAVE : HOP_NOTHING);
}

/* --- those that run ---------------------------------------------------------------------------
 */

static void own_free(void *p)
{
	own = NULL;
	free(p);
}

static void key_make(void)
{
	pthread_key_create(&key, own_free);
}

static struct mount *mount_get(void)
{
	if (own)
		return own;
	pthread_once(&once, key_make);
	own = calloc(1, sizeof(*own));
	if (own)
		pthread_setspecific(key, own);
	return own;
}

uint64_t virtual_number(void)
{
	return own && own->now ? own->now->number : 0;
}

/* The thread is itself again. What the other one was, or NULL: nobody knows. */
static const struct probe_self *mount_leave(struct mount *m, union self *was)
{
	long r = guest_become(0, m->has_self ? &m->self.head : NULL, &was->head);

	carried_thread_use(m->carried);
	m->now->born = birth_use(m->born);
	here_calls_use(NULL);
	m->now = NULL;
	return r < 0 ? NULL : &was->head;
}

/* It ran here before anybody saw it: what is known of this thread since is its own. */
static struct virtual *unseen(JNIEnv *env, jobject o, union self *was,
			      const struct probe_self **self)
{
	struct virtual *v;

	/* if that is a loop, it is one under another name from now on */
	if (carried_is_loop())
		muted_loops(env);
	v = virtual_new(env, o, carried_thread_moved(), here_calls_moved());
	*self = guest_become(0, NULL, &was->head) < 0 ? NULL : &was->head;
	if (v)
		v->born = birth_use(0);
	return v;
}

static void act_yield(JNIEnv *env, struct site *s, jobject o)
{
	struct mount *m = own;
	struct virtual *v = m ? m->now : NULL;
	const struct probe_self *self;
	union self was;

	if (v)
		self = mount_leave(m, &was);
	else
		v = unseen(env, o, &was, &self);
	if (v)
		wait(env, s, o, v, self);
	else
		hop_lost(s);
}

/* Where it neither waits nor has ended it did not run at all. */
static void act_unmount(JNIEnv *env, struct site *s, jobject o)
{
	struct virtual *v = own ? own->now : NULL;
	const struct probe_self *self;
	union self was;

	if (!v)
		return;
	self = mount_leave(own, &was);
	/* that it waits is not seen any more when it is not wanted any more */
	if (v->is_ended || !atomic_load_explicit(&s->is_on, memory_order_relaxed))
		virtual_free(env, v);
	else
		wait(env, s, o, v, self);
}

static void act_mount(JNIEnv *env, struct site *s, jobject o)
{
	struct mount *m = mount_get();
	struct virtual *v = m ? taken(env, o) : NULL;
	bool is_new = !v;
	union self was;

	/* the end of the last one was not seen */
	if (m && m->now) {
		struct virtual *last = m->now;

		mount_leave(m, &was);
		virtual_free(env, last);
	}
	if (m && !v)
		v = virtual_new(env, o, carried_thread_new(), here_calls_new());
	if (!v) {
		hop_lost(s);
		return;
	}
	hop_came(s, v->self ? v->self->nr : 0);
	m->now = v;
	m->carried = carried_thread_use(v->carried);
	m->born = birth_use(v->born);
	here_calls_use(v->calls);
	m->has_self = guest_become(v->number, v->self, &m->self.head) == 0;
	if (!m->has_self && v->self && v->self->nr)
		hop_lost(s);
	free(v->self);
	v->self = NULL;
	if (is_new && guest_is_watched(guest_tick()))
		carrier_thread_began(env, o);
}

/* What who waits for its end gets was told before (Thread.runWith): here others may see already
 * that it has ended, and JDK 21 would not like to be asked anything. */
static void act_end(JNIEnv *env, struct site *s, jobject o)
{
	(void)env, (void)s, (void)o;
	if (own && own->now)
		own->now->is_ended = true;
}

bool virtual_is(const struct site *s)
{
	return s->action >= WANTED_MOUNT && s->action <= WANTED_END;
}

void virtual_act(JNIEnv *env, struct site *s, const jvalue *roots)
{
	static void (*const acts[])(JNIEnv *, struct site *, jobject) = {
		[WANTED_MOUNT - WANTED_MOUNT] = act_mount,
		[WANTED_YIELD - WANTED_MOUNT] = act_yield,
		[WANTED_UNMOUNT - WANTED_MOUNT] = act_unmount,
		[WANTED_END - WANTED_MOUNT] = act_end,
	};
	const struct site_value *v = s->nr_values ? &s->values[0] : NULL;
	jobject o = v && v->is_root && v->root < SITE_ROOTS ? roots[v->root].l : NULL;

	if (!o)
		return;
	if (v->hash < SITE_ROOTS)
		kept_hash_note(0, o, (int32_t)roots[v->hash].j);
	acts[s->action - WANTED_MOUNT](env, s, o);
	kept_hash_forget();
}

/* --- those that are gone ----------------------------------------------------------------------
 */

static bool is_over(const struct kept_entry *e)
{
	return ((const struct virtual *)(const void *)e)->order != guest_order();
}

static bool is_any(const struct kept_entry *e)
{
	(void)e;
	return true;
}

void virtual_sweep(JNIEnv *env, bool all)
{
	size_t at = 0;

	do {
		struct kept_entry *gone, *next;

		pthread_mutex_lock(&lock);
		gone = kept_table_sweep(&waiting, env, &at, all ? is_any : is_over);
		pthread_mutex_unlock(&lock);
		for (; gone; gone = next) {
			next = gone->next;
			gone->object = NULL; /* it was given back */
			virtual_free(env, (struct virtual *)gone);
		}
	} while (at);
}

uint64_t virtual_count(void)
{
	uint64_t nr;

	pthread_mutex_lock(&lock);
	nr = waiting.nr;
	pthread_mutex_unlock(&lock);
	return nr;
}
