#include "agent/jvm/here.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "agent/jvm/guest.h"

#define CALLS 256

struct call {
	uint32_t site;
	uint64_t method;
	uint64_t tick;
};

struct here {
	struct here *next, **at;     /* of all threads' */
	_Atomic uint64_t nr_limited; /* runs that were left out, … */
	uint64_t nr_told;            /* … and have been told */
	uint32_t nr_calls;
	struct call calls[CALLS];
};

static _Atomic uint32_t turn = 1; /* no thread has had it */
static __thread bool is_ours;
static __thread uint32_t own_turn;
static __thread uint64_t nr_left;
static __thread struct here *own;
static struct here *all; /* under lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void limited_tell(struct here *h)
{
	uint64_t now = atomic_load_explicit(&h->nr_limited, memory_order_relaxed);

	if (now != h->nr_told)
		guest_tell_limited(now - h->nr_told);
	h->nr_told = now;
}

static void here_free(void *p)
{
	struct here *h = p;

	pthread_mutex_lock(&lock);
	limited_tell(h);
	*h->at = h->next;
	if (h->next)
		h->next->at = h->at;
	pthread_mutex_unlock(&lock);
	free(h);
	own = NULL;
}

static void key_make(void)
{
	pthread_key_create(&key, here_free);
}

static struct here *here_get(void)
{
	if (own)
		return own;
	pthread_once(&once, key_make);
	own = calloc(1, sizeof(*own));
	if (!own)
		return NULL;
	pthread_setspecific(key, own);
	pthread_mutex_lock(&lock);
	own->next = all;
	own->at = &all;
	if (all)
		all->at = &own->next;
	all = own;
	pthread_mutex_unlock(&lock);
	return own;
}

bool here_begin(void)
{
	if (is_ours)
		return false;
	is_ours = true;
	return true;
}

void here_end(void)
{
	is_ours = false;
}

void here_enter(uint32_t site, uint64_t method, uint64_t tick)
{
	struct here *h = here_get();

	if (h && h->nr_calls < CALLS)
		h->calls[h->nr_calls] = (struct call){ site, method, tick };
	/* deeper ones are counted, so that they are left as they were entered */
	if (h)
		h->nr_calls++;
}

/* What lies above the last one of this method belongs to calls that it has made, and are over. Of
 * the method itself there is one for each of its sites. */
uint64_t here_leave(uint32_t site, uint64_t method)
{
	struct here *h = own;
	uint32_t top = h ? h->nr_calls : 0, at;
	uint64_t tick;

	if (top > CALLS) {
		h->nr_calls--;
		return HERE_TOO_DEEP;
	}
	while (top && h->calls[top - 1].method != method)
		top--;
	for (at = top; at && h->calls[at - 1].site != site; at--)
		if (h->calls[at - 1].method != method)
			return 0;
	if (!at)
		return 0;
	tick = h->calls[at - 1].tick;
	for (; at < top; at++)
		h->calls[at - 1] = h->calls[at];
	h->nr_calls = top - 1;
	return tick;
}

void here_tell(void)
{
	pthread_mutex_lock(&lock);
	for (struct here *h = all; h; h = h->next)
		limited_tell(h);
	pthread_mutex_unlock(&lock);
}

/* One thread writes. */
static void limited_note(void)
{
	struct here *h = here_get();

	if (h)
		atomic_store_explicit(&h->nr_limited,
				      atomic_load_explicit(&h->nr_limited, memory_order_relaxed) +
					      1,
				      memory_order_relaxed);
	else
		guest_tell_limited(1);
}

void here_turn(void)
{
	atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed);
}

bool here_may_run(void)
{
	uint32_t now = atomic_load_explicit(&turn, memory_order_relaxed);

	if (now != own_turn || !nr_left) {
		uint64_t limit = guest_run_limit();

		if (!limit)
			return true;
		if (now == own_turn) {
			limited_note();
			return false;
		}
		own_turn = now;
		nr_left = limit;
	}
	nr_left--;
	return true;
}
