/* What an object has is changed and read under one lock: a thread may set anew what another one
 * reads. */
#include "agent/jvm/kept.h"

#include <pthread.h>
#include <stdatomic.h>

#include "agent/jvm/guest.h"
#include "agent/jvm/hot.h"
#include "agent/jvm/kept_table.h"
#include "agent/jvm/machine.h"
#include "agent/jvm/parcel.h"
#include "agent/jvm/room.h"
#include "agent/jvm/shared.h"

/* Marks of its entry. */
enum mark {
	PUT = 1,   /* it lies in a queue */
	MIXED = 2, /* … for several requests: nobody's */
	OWN = 4,   /* KEPT_OWN */
};

/* Of a bag without a request there is nothing. */
struct kept {
	struct kept_entry entry;
	uint64_t session;
	struct kept_bag given; /* for who works on it */
	struct kept_bag result;
};
_Static_assert(sizeof(struct kept) == 64, "one line of the processor's memory");

#define KNOWN 1024u /* a page */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept_table table;
static _Atomic uint64_t nr_kept;
/* Hashes of objects of which something is known (kept_known), so that of most others nothing is
 * looked for: queues of some caches hold nothing else. */
static _Atomic uint32_t known[KNOWN];

static _Atomic uint32_t *known_at(uint32_t hash)
{
	return &known[(hash >> 7) % KNOWN];
}

HOT static bool known_has(uint32_t hash)
{
	uint32_t v = atomic_load_explicit(known_at(hash), memory_order_relaxed);

	return v && v == hash;
}

static void known_note(uint32_t hash)
{
	atomic_store_explicit(known_at(hash), hash, memory_order_relaxed);
}

static void known_forget(uint32_t hash)
{
	if (known_has(hash))
		atomic_store_explicit(known_at(hash), 0, memory_order_relaxed);
}

HOT static bool has(const struct kept *k, enum mark m)
{
	return k->entry.marks & m;
}

HOT static void mark_set(struct kept *k, enum mark m, bool is)
{
	k->entry.marks = is ? k->entry.marks | m : k->entry.marks & ~(uint32_t)m;
}

HOT static void mixed_note(struct kept *k, bool is)
{
	if (is)
		known_note(k->entry.hash);
	else if (has(k, MIXED))
		known_forget(k->entry.hash);
	mark_set(k, MIXED, is);
}

HOT uint64_t kept_count(void)
{
	return atomic_load_explicit(&nr_kept, memory_order_relaxed);
}

/* b: another user of its parcel, or without a request nothing. */
HOT static void bag_set(struct kept_bag *at, const struct kept_bag *b)
{
	struct parcel *was = at->parcel;

	at->request = b->request;
	at->parcel = b->request ? parcel_use(b->parcel) : NULL;
	parcel_leave(was);
}

static void bags_free(struct kept *k)
{
	static const struct kept_bag none;

	bag_set(&k->given, &none);
	bag_set(&k->result, &none);
}

/* Under the lock. */
static void kept_free(struct kept *k)
{
	atomic_fetch_sub_explicit(&nr_kept, 1, memory_order_relaxed);
	bags_free(k);
	mixed_note(k, false);
	if (has(k, OWN))
		known_forget(k->entry.hash);
	room_give(k, sizeof(*k));
}

/* Under the lock. NULL: it has nothing of this session. */
HOT static struct kept *kept_of(JNIEnv *env, jobject o)
{
	struct kept *k;
	uint32_t hash;

	if (!table.nr || !kept_hash(o, &hash))
		return NULL;
	k = (struct kept *)kept_table_find(&table, env, o, hash);
	return k && k->session == guest_session() ? k : NULL;
}

/* Of a session before, which nobody asks for any more. */
static void renew(struct kept *k)
{
	bags_free(k);
	mixed_note(k, false);
	k->entry.marks = 0;
	k->session = guest_session();
}

HOT static struct kept *kept_new(JNIEnv *env, jobject o, uint32_t hash)
{
	struct kept *k = room_get(sizeof(*k));

	if (!k)
		return NULL;
	k->entry = (struct kept_entry){ .hash = hash };
	k->given = k->result = (struct kept_bag){ 0 };
	k->session = guest_session();
	atomic_fetch_add_explicit(&nr_kept, 1, memory_order_relaxed);
	if (kept_table_add(&table, env, o, &k->entry))
		return k;
	kept_free(k);
	return NULL;
}

/* Under the lock. Made where there is none. NULL: it is shared, there is no memory, or the machine
 * refuses. (What has something is not shared.) */
HOT static struct kept *kept_for(JNIEnv *env, jobject o, bool is_plain, enum kept_result *why)
{
	struct kept *k;
	uint32_t hash;

	*why = KEPT_FAILED;
	if (!kept_hash(o, &hash))
		return NULL;
	k = (struct kept *)kept_table_find(&table, env, o, hash);
	if (k && k->session != guest_session())
		renew(k);
	if (k)
		return k;
	if (!is_plain && shared_is(env, o)) {
		*why = KEPT_SHARED;
		return NULL;
	}
	return kept_new(env, o, hash);
}

HOT static enum kept_result given_set(JNIEnv *env, jobject o, const struct kept_bag *b, bool is_put,
				      bool is_plain)
{
	enum kept_result why = KEPT_NOTHING;
	struct kept *k = b->request ? kept_for(env, o, is_plain, &why) : kept_of(env, o);

	if (!k)
		return why;
	if (is_put && has(k, PUT) && (has(k, MIXED) || k->given.request != b->request)) {
		mixed_note(k, true);
		return KEPT_SHARED;
	}
	mark_set(k, PUT, is_put);
	mixed_note(k, false);
	bag_set(&k->given, b);
	return b->parcel ? KEPT : KEPT_NOTHING;
}

HOT static enum kept_result set(JNIEnv *env, jobject o, const struct kept_bag *b, bool is_put,
				bool is_plain)
{
	enum kept_result r;

	if (!o || (!b->request && !kept_count()))
		return KEPT_NOTHING;
	pthread_mutex_lock(&lock);
	r = given_set(env, o, b, is_put, is_plain);
	pthread_mutex_unlock(&lock);
	return r;
}

HOT enum kept_result kept_set(JNIEnv *env, jobject o, const struct kept_bag *b, bool is_plain)
{
	return set(env, o, b, false, is_plain);
}

HOT enum kept_result kept_put(JNIEnv *env, jobject o, const struct kept_bag *b)
{
	return set(env, o, b, true, false);
}

/* Under the lock. */
HOT static enum kept_result result_add(struct kept *k, const struct kept_bag *b)
{
	struct kept_bag all = { .request = b->request };

	if (!k->result.parcel || k->result.parcel == b->parcel) {
		bag_set(&k->result, b);
		return KEPT;
	}
	all.parcel = parcel_joined(b->parcel, k->result.parcel);
	if (!all.parcel)
		return KEPT_FAILED;
	bag_set(&k->result, &all);
	parcel_leave(all.parcel);
	return KEPT;
}

/* Other objects may have the same hash. */
HOT enum kept_known kept_known(JNIEnv *env, jobject o, uint32_t hash)
{
	enum kept_known is = KEPT_UNKNOWN;
	const struct kept *k;

	if (!known_has(hash))
		return KEPT_UNKNOWN;
	pthread_mutex_lock(&lock);
	k = (const struct kept *)kept_table_find(&table, env, o, hash);
	if (k && k->session == guest_session())
		is = has(k, MIXED) ? KEPT_MIXED : has(k, OWN) ? KEPT_OWN : KEPT_UNKNOWN;
	pthread_mutex_unlock(&lock);
	return is;
}

HOT enum kept_result kept_more(JNIEnv *env, jobject o, const struct kept_bag *b, bool is_plain)
{
	struct kept *k;
	enum kept_result r;

	if (!o || !b->parcel)
		return KEPT_NOTHING;
	pthread_mutex_lock(&lock);
	k = kept_for(env, o, is_plain, &r);
	if (k)
		r = result_add(k, b);
	pthread_mutex_unlock(&lock);
	return r;
}

HOT void kept_own(JNIEnv *env, jobject o)
{
	struct kept *k;

	pthread_mutex_lock(&lock);
	k = kept_of(env, o);
	if (k) {
		mark_set(k, OWN, true);
		known_note(k->entry.hash);
	}
	pthread_mutex_unlock(&lock);
}

enum want { WANT_GIVEN, WANT_TAKEN, WANT_RESULT };

HOT static bool get(JNIEnv *env, jobject o, struct kept_bag *b, enum want want)
{
	struct kept *k;

	*b = (struct kept_bag){ 0 };
	if (!o || !kept_count())
		return false;
	pthread_mutex_lock(&lock);
	k = kept_of(env, o);
	if (k && !has(k, MIXED))
		*b = want == WANT_RESULT && k->result.request ? k->result : k->given;
	parcel_use(b->parcel);
	/* (one that several have put is in there more than once) */
	if (k && !has(k, MIXED) && want == WANT_TAKEN)
		mark_set(k, PUT, false);
	pthread_mutex_unlock(&lock);
	return b->request;
}

HOT bool kept_get(JNIEnv *env, jobject o, struct kept_bag *b)
{
	return get(env, o, b, WANT_GIVEN);
}

HOT bool kept_taken(JNIEnv *env, jobject o, struct kept_bag *b)
{
	return get(env, o, b, WANT_TAKEN);
}

HOT bool kept_result(JNIEnv *env, jobject o, struct kept_bag *b)
{
	return get(env, o, b, WANT_RESULT);
}

static bool is_over(const struct kept_entry *e)
{
	return ((const struct kept *)e)->session != guest_session();
}

static bool is_void(const struct kept_entry *e)
{
	(void)e;
	return true;
}

void kept_sweep(JNIEnv *env, bool all)
{
	size_t at = 0;

	/* a part at a time, so that nobody waits long for the lock */
	do {
		struct kept_entry *gone, *next;

		pthread_mutex_lock(&lock);
		gone = kept_table_sweep(&table, env, &at, all ? is_void : is_over);
		for (; gone; gone = next) {
			next = gone->next;
			kept_free((struct kept *)gone);
		}
		pthread_mutex_unlock(&lock);
	} while (at);
	if (all)
		rooms_free();
}
