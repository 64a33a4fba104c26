#include "capture/probe/guest/thread.h"

#include "capture/probe/guest/weave.h"

#define SYS_GETPID 39
#define SYS_TGKILL 234
#define NOBODY (-3)

/* Readers look no further. */
static void claimed_note(uint64_t nr)
{
	uint64_t *most = &culprit_code.region->nr_claimed;
	uint64_t was = __atomic_load_n(most, __ATOMIC_RELAXED);

	while (was < nr && !__atomic_compare_exchange_n(most, &was, nr, false, __ATOMIC_RELEASE,
							__ATOMIC_RELAXED))
		;
}

static struct probe_ring *ring_at(uint64_t i)
{
	return (void *)((char *)culprit_code.region + PROBE_RINGS_AT + i * PROBE_RING_BYTES);
}

static bool ring_take(struct probe_thread *t, uint64_t i, uint64_t was)
{
	struct probe_ring *r = ring_at(i);

	if (!__atomic_compare_exchange_n(&r->owner, &was, (uint64_t)t->pid << 32 | t->tid, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	r->space = culprit_code.own->space;
	t->ring = r;
	t->head = r->head;
	claimed_note(i + 1);
	return true;
}

/* One that is free, or of a thread that has ended, maybe of a child of ours or a parent, when
 * nothing of it is left to be read but what does not say whose it is. */
static bool ring_inherit(struct probe_thread *t, uint64_t i)
{
	const struct probe_ring *r = ring_at(i);
	uint64_t owner = __atomic_load_n(&r->owner, __ATOMIC_ACQUIRE);

	if (!owner)
		return ring_take(t, i, 0);
	return r->space == culprit_code.own->space &&
	       r->head == __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE) &&
	       guest_call(SYS_TGKILL, (long)(owner >> 32), (long)(owner & UINT32_MAX), 0, 0, 0,
			  0) == NOBODY &&
	       ring_take(t, i, owner);
}

static void ring_claim(struct probe_thread *t)
{
	uint64_t nr = culprit_code.nr_rings, *last = &culprit_code.own->inherited;
	uint64_t from = __atomic_load_n(last, __ATOMIC_RELAXED);

	t->ring = NULL;
	for (uint64_t i = 0; i < nr; i++)
		if (!__atomic_load_n(&ring_at(i)->owner, __ATOMIC_RELAXED) && ring_take(t, i, 0))
			return;
	/* who reads may have made some free since, or all */
	for (uint64_t i = 1; i <= nr; i++)
		if (ring_inherit(t, (from + i) % nr)) {
			__atomic_store_n(last, (from + i) % nr, __ATOMIC_RELAXED);
			return;
		}
}

static void stack_begin(struct probe_thread *t)
{
	struct probe_own *own = culprit_code.own;
	size_t i = (size_t)(t - own->threads);

	own->stacks[i][0] = (struct probe_frame){ .slot = ~(uint64_t)0 };
	t->base = t->top = &own->stacks[i][1];
	t->limit = &own->stacks[i][PROBE_DEPTH];
	t->unwinder = t->nr_graves = t->busy = t->near_until = t->nr_kept = 0;
}

/* The place was another thread's, or this is a new process in which the thread lives on: what it
 * was in before is the parent's to tell. */
static void thread_renew(struct probe_thread *t, uint32_t tid)
{
	uint32_t pid = (uint32_t)guest_call(SYS_GETPID, 0, 0, 0, 0, 0, 0);
	/* who forks is the first thread there; others that are made there may get old places */
	bool is_forked = t->pid && pid != t->pid && tid == pid;

	if (!is_forked)
		stack_begin(t);
	else
		for (struct probe_frame *f = t->base; f < t->top; f++)
			f->what = (f->what | PROBE_WANT_SILENT) & ~(uint64_t)PROBE_WANT_EXIT;
	/* where processes are numbered anew, numbers of others say nothing */
	if ((is_forked && pid == 1) || !culprit_code.own->space)
		culprit_code.own->space = now() * 0x9e3779b97f4a7c15u ^ pid;
	t->pid = pid;
	t->tid = tid;
	ring_claim(t);
	weave_renew(t, is_forked);
}

/* The thread's place, or where one begins that is free. */
static struct probe_thread *thread_place(uint64_t key)
{
	struct probe_own *own = culprit_code.own;
	struct probe_thread *gone = NULL, *t;
	uint32_t i = ((uint32_t)key * 0x9e3779b1u) >> 21;
	uint64_t was;

	for (;; i = (i + 1) & (PROBE_THREADS - 1)) {
		t = &own->threads[i];
		was = __atomic_load_n(&t->key, __ATOMIC_ACQUIRE);
		if (was == key)
			return t;
		if (was == PROBE_KEY_GONE && !gone)
			gone = t;
		if (was)
			continue;
		if (gone) {
			was = PROBE_KEY_GONE;
			t = gone;
		} else if (__atomic_fetch_add(&own->nr_threads, 1, __ATOMIC_RELAXED) >=
			   PROBE_THREADS_MAX) {
			__atomic_fetch_sub(&own->nr_threads, 1, __ATOMIC_RELAXED);
			return NULL;
		}
		if (__atomic_compare_exchange_n(&t->key, &was, key, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return t;
		gone = NULL;
	}
}

static struct probe_thread *own_place(uint32_t *tid)
{
	struct probe_thread *t;
	uint64_t key;

	__asm__ volatile("mov %%fs:0, %0" : "=r"(key));
	__asm__ volatile("mov %%fs:(%1), %0" : "=r"(*tid) : "r"(culprit_code.tid_offset));
	t = thread_place(key);
	if (!t)
		__atomic_fetch_add(&culprit_code.region->nr_unseen, 1, __ATOMIC_RELAXED);
	return t;
}

struct probe_thread *guest_thread_find(void)
{
	uint32_t tid;
	struct probe_thread *t = own_place(&tid);

	if (t && t->tid != tid)
		thread_renew(t, tid);
	return t;
}

struct probe_thread *guest_thread_begin(void)
{
	uint32_t tid;
	struct probe_thread *t = own_place(&tid);

	if (t)
		thread_renew(t, tid);
	return t;
}

struct probe_thread *guest_thread_known(uint64_t key)
{
	struct probe_own *own = culprit_code.own;
	uint32_t i = ((uint32_t)key * 0x9e3779b1u) >> 21;
	uint64_t was;

	for (;; i = (i + 1) & (PROBE_THREADS - 1)) {
		was = __atomic_load_n(&own->threads[i].key, __ATOMIC_ACQUIRE);
		if (was == key || !was)
			return was ? &own->threads[i] : NULL;
	}
}
