/*
 * A thread that has ended is joined by its number: its bag lies in its place, until another thread
 * gets the same place, which then puts it aside. The library may hand the place on before the call
 * that waits has returned. Whoever joins takes it away: its number is cleared, by one instruction,
 * so that what was copied before was whole; and what has been joined is not put aside any more.
 *
 *	the next thread in the place:  put aside -> session 0 -> its own number -> its own bag
 *	who waits:                     copy -> number cleared if still there, else what was put
 *aside
 *
 * What was put aside before the waiting began is of an earlier thread with that number.
 */
#include "capture/probe/guest/heir.h"

#include "capture/probe/guest/weave.h"
#include "lib/advice/spill.h"

#define NEAR_LEFT 8u                 /* where what a thread has left may lie */
#define BEING_WRITTEN (~(uint64_t)0) /* a session's number */

struct beginning {
	uint64_t routine, argument;
};

struct beginning culprit_born_take(struct probe_birth *b)
	__attribute__((visibility("hidden"), used));
extern char culprit_born[] __attribute__((visibility("hidden")));

/* What the thread was to run is jumped to: nothing of ours is left on its stack. */
__asm__(".text\n"
	".globl culprit_born\n"
	".hidden culprit_born\n"
	"culprit_born:\n"
	"	sub $8, %rsp\n"
	"	call culprit_born_take\n"
	"	add $8, %rsp\n"
	"	mov %rdx, %rdi\n"
	"	jmp *%rax\n");

static void lost(const struct probe_thread *t)
{
	if (t->ring)
		t->ring->results.tally.nr_lost++;
}

/* --- births ---------------------------------------------------------------------------------- */

static void birth_free(struct probe_birth *b)
{
	struct probe_own *own = culprit_code.own;

	__atomic_store_n(&own->is_birth[b - own->births], 0, __ATOMIC_RELEASE);
}

static struct probe_birth *birth_new(void)
{
	struct probe_own *own = culprit_code.own;

	for (size_t i = 0; i < PROBE_BIRTHS; i++)
		if (!__atomic_exchange_n(&own->is_birth[i], 1, __ATOMIC_ACQUIRE))
			return &own->births[i];
	return NULL;
}

/* Its place is its own from here on, with nothing in it of who was there before. */
struct beginning culprit_born_take(struct probe_birth *b)
{
	struct beginning to = { b->routine, b->argument };
	struct probe_thread *t = guest_thread_begin();

	if (t && b->bag.session == weave_session())
		bag_adopt(weave_bag(t), (const struct bag *)b->bag.bag, weave_writer(t));
	birth_free(b);
	return to;
}

bool heir_begin(struct probe_thread *t, struct entered *e)
{
	bool is_empty = weave_bag_is_empty(t);
	struct probe_birth *b = birth_new();

	if (!b) {
		if (!is_empty)
			lost(t);
		return false;
	}
	b->routine = e->rdx;
	b->argument = e->rcx;
	b->bag.session = is_empty ? 0 : weave_session();
	if (!is_empty)
		bag_serialize(weave_bag(t), b->bag.bag, sizeof(b->bag.bag));
	e->rdx = (uint64_t)culprit_born;
	e->rcx = (uint64_t)b;
	return true;
}

void heir_undo(uint64_t at)
{
	struct probe_birth *b = (struct probe_birth *)at, *all = culprit_code.own->births;

	if (b >= all && b < all + PROBE_BIRTHS)
		birth_free(b);
}

/* --- what was put aside ---------------------------------------------------------------------- */

static uint64_t *left_tick(struct probe_bag *b)
{
	return &b->reserved[0];
}

static struct probe_bag *left_at(uint64_t tid, size_t i)
{
	return &culprit_code.own->left[(tid + i) % PROBE_LEFT];
}

static uint64_t session_of(const struct probe_bag *b)
{
	return __atomic_load_n(&b->session, __ATOMIC_ACQUIRE);
}

/* One that is free, or the oldest: most of these are of threads that nobody waits for. */
static struct probe_bag *left_claim(uint64_t tid)
{
	for (size_t turn = 0; turn < NEAR_LEFT; turn++) {
		struct probe_bag *best = NULL;
		uint64_t was = 0;

		for (size_t i = 0; i < NEAR_LEFT; i++) {
			struct probe_bag *b = left_at(tid, i);
			uint64_t session = session_of(b);

			if (session == BEING_WRITTEN ||
			    (best && *left_tick(b) >= *left_tick(best) &&
			     session == weave_session()))
				continue;
			best = b;
			was = session;
			if (session != weave_session())
				break;
		}
		if (best && __atomic_compare_exchange_n(&best->session, &was, BEING_WRITTEN, false,
							__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return best;
	}
	return NULL;
}

void heir_leave(struct probe_thread *t)
{
	struct probe_bag *b = weave_place(t), *left;
	uint64_t tid = __atomic_load_n(&b->tid, __ATOMIC_ACQUIRE);

	if (tid && !weave_bag_is_empty(t)) {
		left = left_claim(tid);
		if (left) {
			bag_serialize((const struct bag *)b->bag, left->bag, sizeof(left->bag));
			left->tid = tid;
			*left_tick(left) = now();
			__atomic_store_n(&left->session, b->session, __ATOMIC_RELEASE);
		} else {
			lost(t);
		}
	}
	__atomic_store_n(&b->session, 0, __ATOMIC_SEQ_CST);
}

void heir_forget(void)
{
	struct probe_own *own = culprit_code.own;

	for (size_t i = 0; i < PROBE_BIRTHS; i++)
		own->is_birth[i] = 0;
	for (size_t i = 0; i < PROBE_LEFT; i++)
		own->left[i].session = 0;
}

/* --- ends ------------------------------------------------------------------------------------ */

/* By where its library keeps it; of one that has ended by who was last seen there, as that is 0
 * then. */
uint64_t heir_awaited(struct probe_thread *t, uint64_t key)
{
	uint64_t at = key + culprit_code.tid_offset;
	const struct probe_thread *other;
	uint32_t tid = 0;

	if (guest_memory_is_there(t, at, sizeof(tid)))
		tid = __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
	if (tid)
		return tid;
	/* not before: it may have come to us for the first time, and ended, since */
	other = guest_thread_known(key);
	return other ? other->tid : 0;
}

/* The place of one that has ended, which is nobody's any more. */
static struct probe_bag *place_of(uint64_t tid)
{
	struct probe_bag *b = culprit_code.own->bags;

	for (size_t i = 0; i < PROBE_THREADS; i++)
		if (__atomic_load_n(&b[i].tid, __ATOMIC_RELAXED) == tid)
			return &b[i];
	return NULL;
}

/* Another thread may change it meanwhile: what was copied counts if the word was still there, and
 * could be taken away, afterwards. */
static bool bag_take(struct probe_thread *t, const struct probe_bag *from, uint64_t *word,
		     uint64_t was, struct bag *to)
{
	const struct bag *bag = (const struct bag *)from->bag;
	bool is_whole = bag_deserialize(to, bag, bag_bytes(bag));

	if (!__atomic_compare_exchange_n(word, &was, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return false;
	if (!is_whole)
		lost(t);
	return true;
}

static bool take_of_place(struct probe_thread *t, struct probe_bag *b, uint64_t tid, struct bag *to)
{
	return b && __atomic_load_n(&b->tid, __ATOMIC_ACQUIRE) == tid &&
	       session_of(b) == weave_session() && bag_take(t, b, &b->tid, tid, to);
}

static bool take_of_left(struct probe_thread *t, uint64_t tid, uint64_t start, struct bag *to)
{
	size_t nr_newer = 0;

	for (size_t i = 0; i < NEAR_LEFT; i++) {
		struct probe_bag *b = left_at(tid, i);
		uint64_t session = session_of(b);

		if (session != BEING_WRITTEN &&
		    (session != weave_session() || *left_tick(b) < start))
			continue;
		nr_newer++;
		if (b->tid == tid && session != BEING_WRITTEN &&
		    bag_take(t, b, &b->session, session, to))
			return true;
	}
	/* others may have taken its room */
	if (nr_newer == NEAR_LEFT)
		lost(t);
	return false;
}

void heir_join(struct probe_thread *t, uint64_t key, uint64_t tid, uint64_t start)
{
	const struct probe_thread *other = guest_thread_known(key);
	struct probe_birth *room;
	struct bag_spill spill;
	struct bag *bag;

	/* the place of one that had ended may have been cleared (members.c, threads_sweep) */
	if (!tid &&
	    __atomic_load_n(&culprit_code.own->nr_threads, __ATOMIC_RELAXED) >= PROBE_THREADS / 2)
		lost(t);
	if (!tid || other == t)
		return;
	room = birth_new();
	if (!room) {
		lost(t);
		return;
	}
	bag = (struct bag *)room->bag.bag;
	if (take_of_place(t, other ? weave_place(other) : place_of(tid), tid, bag) ||
	    take_of_left(t, tid, start, bag))
		bag_join_spilling(weave_bag(t), bag, weave_writer(t), weave_spill(t, &spill));
	birth_free(room);
}
