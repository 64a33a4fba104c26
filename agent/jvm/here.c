#include "agent/jvm/here.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "agent/jvm/guest.h"
#include "agent/jvm/hot.h"

#define CALLS 256
#define CALLS_FIRST 8u

struct call {
	uint32_t site;
	uint64_t method;
	uint64_t tick;
	uint64_t value;
	bool has_value;
};

/* Those that are beyond the room are counted, so that they are left as they were entered. */
struct here_calls {
	uint32_t nr, room;
	struct call *v;
};

struct here {
	struct here *next, **at;     /* of all threads' */
	_Atomic uint64_t nr_limited; /* runs that were left out, … */
	uint64_t nr_told;            /* … and have been told */
	struct here_calls calls;
	struct call room[CALLS];
};

static _Atomic uint32_t turn = 1; /* no thread has had it */
static __thread bool is_ours;
static __thread uint32_t own_turn;
static __thread uint64_t nr_left;
static __thread struct here *own;
static __thread struct here_calls *used; /* or NULL: its own */
static struct here *all;                 /* under lock */
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
	own->calls = (struct here_calls){ .room = CALLS, .v = own->room };
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

HOT bool here_begin(void)
{
	if (is_ours)
		return false;
	is_ours = true;
	return true;
}

HOT void here_end(void)
{
	is_ours = false;
}

HOT bool here_is_ours(void)
{
	return is_ours;
}

struct here_calls *here_calls_new(void)
{
	return calloc(1, sizeof(struct here_calls));
}

void here_calls_free(struct here_calls *c)
{
	if (c)
		free(c->v);
	free(c);
}

void here_calls_use(struct here_calls *c)
{
	used = c;
}

HOT static struct here_calls *calls_here(void)
{
	struct here *h = used ? NULL : here_get();

	return used ? used : h ? &h->calls : NULL;
}

/* Most threads that others carry are in few watched methods, and there may be very many of them. */
static bool calls_grow(struct here_calls *c)
{
	uint32_t room = c->room ? c->room * 2 : CALLS_FIRST;
	struct call *more = room <= CALLS ? realloc(c->v, room * sizeof(*more)) : NULL;

	if (!more)
		return false;
	c->v = more;
	c->room = room;
	return true;
}

struct here_calls *here_calls_moved(void)
{
	struct here_calls *from = used || own ? calls_here() : NULL, *c = here_calls_new();
	uint32_t nr = from ? from->nr : 0;

	/* (as many as it has room for: the others were not kept either) */
	while (c && c->room < nr && calls_grow(c))
		;
	if (!c || !nr)
		return c;
	for (uint32_t i = 0; i < nr && i < c->room; i++)
		c->v[i] = from->v[i];
	c->nr = nr;
	from->nr = 0;
	return c;
}

HOT void here_enter(uint32_t site, uint64_t method, uint64_t tick)
{
	struct here_calls *c = calls_here();

	if (!c)
		return;
	if (c->nr == c->room)
		calls_grow(c);
	if (c->nr < c->room)
		c->v[c->nr] = (struct call){ .site = site, .method = method, .tick = tick };
	c->nr++;
}

void here_keep(uint64_t value)
{
	struct here_calls *c = calls_here();

	if (!c || !c->nr || c->nr > c->room)
		return;
	c->v[c->nr - 1].value = value;
	c->v[c->nr - 1].has_value = true;
}

/* What lies above the last one of this method belongs to calls that it has made, and are over. Of
 * the method itself there is one for each of its sites. */
HOT uint64_t here_leave(uint32_t site, uint64_t method)
{
	uint64_t ignored;
	bool has;

	return here_leave_with(site, method, &ignored, &has);
}

HOT uint64_t here_leave_with(uint32_t site, uint64_t method, uint64_t *value, bool *has_value)
{
	struct here_calls *c = used || own ? calls_here() : NULL;
	uint32_t top = c ? c->nr : 0, at;
	uint64_t tick;

	*value = 0;
	*has_value = false;
	if (c && top > c->room) {
		c->nr--;
		return HERE_TOO_DEEP;
	}
	while (top && c->v[top - 1].method != method)
		top--;
	for (at = top; at && c->v[at - 1].site != site; at--)
		if (c->v[at - 1].method != method)
			return 0;
	if (!at)
		return 0;
	tick = c->v[at - 1].tick;
	*value = c->v[at - 1].value;
	*has_value = c->v[at - 1].has_value;
	for (; at < top; at++)
		c->v[at - 1] = c->v[at];
	c->nr = top - 1;
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

HOT bool here_may_run(void)
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
