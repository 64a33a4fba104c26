#include "agent/jvm/guest.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "agent/jvm/hot.h"
#include "lib/advice/bag.h"

/* Neither is ever taken out of the process again: what was once found can be called for good. */
static _Atomic(struct probe_region *) region;
static _Atomic(const struct probe_code *) code;
/* Who ordered what is woven. Numbers of functions mean something to them only: another session, or
 * another copy of this library, may use the same memory before what we have woven is taken out. */
static _Atomic uint64_t ordered_by;

/* Whether all of it is mapped, and readable. */
static bool is_mapped(uint64_t at, uint64_t bytes)
{
	unsigned long long from, to;
	char line[512], rights[8];
	FILE *f = fopen("/proc/self/maps", "re");
	bool is = false;

	while (f && !is && fgets(line, sizeof(line), f))
		is = sscanf(line, "%llx-%llx %7s", &from, &to, rights) == 3 && at >= from &&
		     at < to && to - at >= bytes && rights[0] == 'r';
	if (f)
		fclose(f);
	return is;
}

bool guest_use(uint64_t at, bool *is_another)
{
	struct probe_region *g = (struct probe_region *)(uintptr_t)at;
	const struct probe_code *c;
	uint64_t session;

	if (!is_mapped(at, sizeof(*g)) || g->magic != PROBE_REGION_MAGIC ||
	    g->version != PROBE_REGION_VERSION || g->here != at ||
	    !is_mapped(g->code, sizeof(*c)) || !is_mapped(g->own, sizeof(struct probe_own)))
		return false;
	c = (const struct probe_code *)(uintptr_t)g->code;
	if (c->magic != PROBE_CODE_MAGIC)
		return false;
	code = c;
	region = g;
	session = __atomic_load_n(&g->bags, __ATOMIC_ACQUIRE);
	*is_another = atomic_exchange(&ordered_by, session) != session;
	return true;
}

static bool is_theirs(const struct probe_region *g)
{
	return __atomic_load_n(&g->bags, __ATOMIC_RELAXED) ==
	       atomic_load_explicit(&ordered_by, memory_order_relaxed);
}

HOT bool guest_is_watched(uint64_t tick)
{
	const struct probe_region *g = region;

	return g && __atomic_load_n(&g->alive_until, __ATOMIC_RELAXED) >= tick && is_theirs(g);
}

bool guest_is_attended(uint64_t tick)
{
	const struct probe_region *g = region;

	return g && __atomic_load_n(&g->there_until, __ATOMIC_RELAXED) >= tick && is_theirs(g);
}

HOT uint64_t guest_session(void)
{
	const struct probe_region *g = region;
	const struct probe_own *own = g ? (const struct probe_own *)(uintptr_t)g->own : NULL;

	/* as weave_session of the guest has it */
	return own ? __atomic_load_n(&g->bags, __ATOMIC_RELAXED) +
			       __atomic_load_n(&own->nr_lapses, __ATOMIC_RELAXED)
		   : 0;
}

HOT bool guest_has_advice(uint32_t function, enum probe_moment moment)
{
	const struct probe_region *g = region;
	const struct probe_woven *w;

	if (!g || function >= PROBE_FUNCTIONS || !is_theirs(g))
		return false;
	w = &g->woven[function];
	return __atomic_load_n(moment == PROBE_AT_ENTRY  ? &w->entry
			       : moment == PROBE_AT_EXIT ? &w->exit
							 : &w->unwound,
			       __ATOMIC_RELAXED);
}

uint64_t guest_run_limit(void)
{
	const struct probe_region *g = region;

	return g ? __atomic_load_n(&g->run_limit, __ATOMIC_RELAXED) : 0;
}

void guest_tell_limited(uint64_t nr)
{
	struct probe_region *g = region;

	if (g)
		__atomic_fetch_add(&g->nr_limited, nr, __ATOMIC_RELAXED);
}

HOT static uintptr_t service(enum probe_service which)
{
	const struct probe_code *c = code;

	return c ? (uintptr_t)c + (uintptr_t)c->services[which] : 0;
}

HOT void guest_advise(uint32_t function, enum probe_moment moment, const struct probe_met *met)
{
	void (*f)(uint32_t, uint32_t, const struct probe_met *) = (void (*)(
		uint32_t, uint32_t, const struct probe_met *))service(PROBE_SERVICE_ADVISE);

	if (f)
		f(function, moment, met);
}

void guest_tell(uint32_t function, uint32_t kind, uint64_t start, uint64_t end)
{
	void (*f)(uint32_t, uint32_t, uint64_t, uint64_t) =
		(void (*)(uint32_t, uint32_t, uint64_t, uint64_t))service(PROBE_SERVICE_TELL);

	if (f)
		f(function, kind, start, end);
}

void guest_count_unit(void)
{
	struct probe_region *g = region;

	if (g)
		__atomic_fetch_add(&g->nr_units, 1, __ATOMIC_RELAXED);
}

HOT const struct bag *guest_see(void)
{
	const void *(*f)(void) = (const void *(*)(void))service(PROBE_SERVICE_SEE);

	return f ? f() : NULL;
}

HOT void guest_carry(const struct bag *front)
{
	void (*f)(const void *) = (void (*)(const void *))service(PROBE_SERVICE_CARRY);

	if (f)
		f(front);
}

HOT void guest_join(const struct bag *front)
{
	void (*f)(const void *) = (void (*)(const void *))service(PROBE_SERVICE_JOIN);

	if (f && front)
		f(front);
}

/* A thread has one place for as long as it lives. */
HOT static const struct probe_bag *place(void)
{
	static __thread const struct probe_bag *own;
	static __thread const struct probe_code *own_code;
	const struct probe_code *c = code;
	const struct probe_bag *(*f)(void) =
		(const struct probe_bag *(*)(void))service(PROBE_SERVICE_PLACE);

	if (own && own_code == c)
		return own;
	own = f ? f() : NULL;
	own_code = c;
	return own;
}

HOT uint64_t guest_mark(void)
{
	const struct probe_bag *b = place();

	return b ? (b->nr_begun * 0x9e3779b97f4a7c15u) ^ b->carried[PROBE_CARRIED_ORIGIN] : 0;
}

HOT bool guest_has_begun(void)
{
	const struct probe_bag *b = place();

	return b && b->nr_begun && !b->carried[PROBE_CARRIED_ORIGIN];
}

/* What is due to be taken up first may be something. */
HOT bool guest_holds(void)
{
	const struct probe_bag *b = place();

	return b && ((b->session == guest_session() &&
		      !bag_is_empty((const struct bag *)(const void *)b->bag)) ||
		     ((const uint8_t *)b->carried)[PROBE_CARRIED_DUE]);
}

uint64_t guest_order(void)
{
	return atomic_load_explicit(&ordered_by, memory_order_relaxed);
}

long guest_become(uint64_t number, const struct probe_self *is, struct probe_self *was)
{
	long (*f)(uint64_t, const struct probe_self *, struct probe_self *) =
		(long (*)(uint64_t, const struct probe_self *, struct probe_self *))service(
			PROBE_SERVICE_BECOME);

	return f ? f(number, is, was) : -1;
}

void guest_count(enum guest_loss what, uint64_t nr)
{
	struct probe_region *g = region;

	if (g)
		__atomic_fetch_add(what == GUEST_SHARED ? &g->carried.nr_shared
							: &g->carried.nr_unkept,
				   nr, __ATOMIC_RELAXED);
}
