/* What an object has is changed and read under one lock: a thread may set anew what another one
 * reads. */
#include "agent/jvm/kept.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agent/jvm/guest.h"
#include "agent/jvm/kept_table.h"
#include "agent/jvm/machine.h"
#include "agent/jvm/shared.h"
#include "lib/advice/bag.h"

struct part {
	uint64_t request;
	size_t nr;
	uint8_t bytes[];
};

/* Most bags are small, and most objects have one only: it lies in here. */
#define ROOM_WORDS 64u

struct kept {
	struct kept_entry entry;
	uint64_t session;
	bool is_put;   /* it lies in a queue */
	bool is_mixed; /* … for several requests: nobody's */
	bool is_room_used;
	struct part *given; /* for who works on it */
	struct part *result;
	uint64_t room[ROOM_WORDS];
};

#define SPARES 8192u
#define MIXED 4096u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept_table table;
static _Atomic uint64_t nr_kept;
/* Those that are used again, under the lock: what one thread makes another one sweeps away, which
 * is dear for malloc. */
static struct kept_entry *spares;
static size_t nr_spares;
/* Hash and session of objects that are mixed, so that who puts them into a queue again, or takes
 * them out, need not look for more: queues of some caches hold nothing else. */
static _Atomic uint64_t mixed[MIXED];

static uint64_t mixed_of(uint32_t hash)
{
	return (guest_session() << 32 | hash) + 1;
}

static _Atomic uint64_t *mixed_at(uint32_t hash)
{
	return &mixed[(hash >> 7) % MIXED];
}

bool kept_is_mixed(jobject o)
{
	uint32_t hash;

	return kept_hash_noted(o, &hash) &&
	       atomic_load_explicit(mixed_at(hash), memory_order_relaxed) == mixed_of(hash);
}

static void mixed_note(struct kept *k, bool is)
{
	_Atomic uint64_t *at = mixed_at(k->entry.hash);

	if (is)
		atomic_store_explicit(at, mixed_of(k->entry.hash), memory_order_relaxed);
	else if (k->is_mixed && (uint32_t)(atomic_load(at) - 1) == k->entry.hash)
		atomic_store_explicit(at, 0, memory_order_relaxed);
	k->is_mixed = is;
}

uint64_t kept_count(void)
{
	return atomic_load_explicit(&nr_kept, memory_order_relaxed);
}

static struct part *part_new(struct kept *k, const struct kept_bag *b)
{
	bool fits = !k->is_room_used && sizeof(struct part) + b->nr <= sizeof(k->room);
	struct part *p = NULL;

	if (fits)
		p = (struct part *)(void *)k->room;
	else if (b->nr <= KEPT_BYTES)
		p = malloc(sizeof(*p) + b->nr);
	if (!p)
		return NULL;
	k->is_room_used |= fits;
	p->request = b->request;
	p->nr = b->nr;
	memcpy(p->bytes, b->bytes, b->nr);
	return p;
}

static void part_free(struct kept *k, struct part *p)
{
	if ((void *)p == k->room)
		k->is_room_used = false;
	else
		free(p);
}

static void parts_free(struct kept *k)
{
	part_free(k, k->given);
	part_free(k, k->result);
	k->given = k->result = NULL;
}

/* Under the lock. */
static void kept_free(struct kept *k)
{
	atomic_fetch_sub_explicit(&nr_kept, 1, memory_order_relaxed);
	parts_free(k);
	mixed_note(k, false);
	if (nr_spares == SPARES) {
		free(k);
		return;
	}
	k->entry.next = spares;
	spares = &k->entry;
	nr_spares++;
}

static struct kept *kept_make(void)
{
	struct kept *k = (struct kept *)spares;

	if (!k)
		return malloc(sizeof(*k));
	spares = spares->next;
	nr_spares--;
	return k;
}

/* Under the lock. NULL: it has nothing of this session. */
static struct kept *kept_of(JNIEnv *env, jobject o)
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
	parts_free(k);
	mixed_note(k, false);
	k->is_put = false;
	k->session = guest_session();
}

static struct kept *kept_new(JNIEnv *env, jobject o, uint32_t hash)
{
	struct kept *k = kept_make();

	if (!k)
		return NULL;
	k->entry = (struct kept_entry){ .hash = hash };
	k->is_put = k->is_mixed = k->is_room_used = false;
	k->given = k->result = NULL;
	k->session = guest_session();
	atomic_fetch_add_explicit(&nr_kept, 1, memory_order_relaxed);
	if (kept_table_add(&table, env, o, &k->entry))
		return k;
	kept_free(k);
	return NULL;
}

/* Under the lock. Made where there is none. NULL: it is shared, there is no memory, or the machine
 * refuses. (What has something is not shared.) */
static struct kept *kept_for(JNIEnv *env, jobject o, enum kept_result *why)
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
	if (shared_is(env, o)) {
		*why = KEPT_SHARED;
		return NULL;
	}
	return kept_new(env, o, hash);
}

/* Under the lock. What there is no memory for is nothing, rather than what it was before. */
static enum kept_result part_set(struct kept *k, struct part **at, const struct kept_bag *b)
{
	part_free(k, *at);
	*at = b->request ? part_new(k, b) : NULL;
	if (b->request && !*at)
		return KEPT_FAILED;
	return b->nr ? KEPT : KEPT_NOTHING;
}

static enum kept_result given_set(JNIEnv *env, jobject o, const struct kept_bag *b, bool is_put)
{
	enum kept_result why = KEPT_NOTHING;
	struct kept *k = b->request ? kept_for(env, o, &why) : kept_of(env, o);

	if (!k)
		return why;
	if (is_put && k->is_put &&
	    (k->is_mixed || (k->given ? k->given->request : 0) != b->request)) {
		mixed_note(k, true);
		return KEPT_SHARED;
	}
	k->is_put = is_put;
	mixed_note(k, false);
	return part_set(k, &k->given, b);
}

static enum kept_result set(JNIEnv *env, jobject o, const struct kept_bag *b, bool is_put)
{
	enum kept_result r;

	if (!o || (!b->request && !kept_count()))
		return KEPT_NOTHING;
	pthread_mutex_lock(&lock);
	r = given_set(env, o, b, is_put);
	pthread_mutex_unlock(&lock);
	return r;
}

enum kept_result kept_set(JNIEnv *env, jobject o, const struct kept_bag *b)
{
	return set(env, o, b, false);
}

enum kept_result kept_put(JNIEnv *env, jobject o, const struct kept_bag *b)
{
	return set(env, o, b, true);
}

/* What both have, in *b. */
static bool joined(struct kept_bag *b, const struct part *p)
{
	struct bag one, other;
	long nr;

	if (!bag_deserialize(&one, b->bytes, b->nr) || !bag_deserialize(&other, p->bytes, p->nr))
		return false;
	bag_join(&one, &other);
	nr = bag_serialize(&one, b->bytes, sizeof(b->bytes));
	b->nr = nr > 0 ? (size_t)nr : 0;
	return nr > 0;
}

/* Under the lock. */
static enum kept_result result_add(struct kept *k, const struct kept_bag *b)
{
	const struct part *p = k->result;
	struct kept_bag all;

	if (!p || !p->nr)
		return part_set(k, &k->result, b);
	if (p->nr == b->nr && memcmp(p->bytes, b->bytes, b->nr) == 0)
		return KEPT;
	all.request = b->request;
	all.nr = b->nr;
	memcpy(all.bytes, b->bytes, b->nr);
	return joined(&all, p) ? part_set(k, &k->result, &all) : KEPT_FAILED;
}

enum kept_result kept_more(JNIEnv *env, jobject o, const struct kept_bag *b)
{
	struct kept *k;
	enum kept_result r;

	if (!o || !b->nr)
		return KEPT_NOTHING;
	pthread_mutex_lock(&lock);
	k = kept_for(env, o, &r);
	if (k)
		r = result_add(k, b);
	pthread_mutex_unlock(&lock);
	return r;
}

enum want { WANT_GIVEN, WANT_TAKEN, WANT_RESULT };

static bool get(JNIEnv *env, jobject o, struct kept_bag *b, enum want want)
{
	const struct part *p = NULL;
	struct kept *k;

	b->nr = 0;
	b->request = 0;
	if (!o || !kept_count())
		return false;
	pthread_mutex_lock(&lock);
	k = kept_of(env, o);
	if (k && !k->is_mixed)
		p = want == WANT_RESULT && k->result ? k->result : k->given;
	if (p) {
		memcpy(b->bytes, p->bytes, p->nr);
		b->nr = p->nr;
		b->request = p->request;
	}
	/* (one that several have put is in there more than once) */
	if (k && !k->is_mixed && want == WANT_TAKEN)
		k->is_put = false;
	pthread_mutex_unlock(&lock);
	return b->request;
}

bool kept_get(JNIEnv *env, jobject o, struct kept_bag *b)
{
	return get(env, o, b, WANT_GIVEN);
}

bool kept_taken(JNIEnv *env, jobject o, struct kept_bag *b)
{
	return get(env, o, b, WANT_TAKEN);
}

bool kept_result(JNIEnv *env, jobject o, struct kept_bag *b)
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

static void spares_free(void)
{
	while (spares)
		free(kept_make());
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
		if (all)
			spares_free();
		pthread_mutex_unlock(&lock);
	} while (at);
}
