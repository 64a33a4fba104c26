#include "capture/probe/guest/far.h"

bool far_is_here(const struct handover *h, const struct handover_address *a)
{
	uint64_t nr = __atomic_load_n(&h->nr_here, __ATOMIC_ACQUIRE);

	for (uint64_t i = 0; i < nr && i < HANDOVER_HERE; i++)
		if (h->here[i].high == a->high && h->here[i].low == a->low)
			return true;
	return false;
}

static uint32_t first_of(uint64_t key)
{
	uint64_t h = key * 0x9e3779b97f4a7c15u;

	return (uint32_t)(h >> 40 & (HANDOVER_FARS - 1) & ~(uint64_t)(HANDOVER_NEAR - 1));
}

const struct handover_far *far_find(const struct handover *h, uint64_t key)
{
	const struct handover_far *f = &h->fars[first_of(key)];

	for (uint32_t i = 0; i < HANDOVER_NEAR; i++)
		if (__atomic_load_n(&f[i].key, __ATOMIC_ACQUIRE) == key)
			return &f[i];
	return NULL;
}

/* One that is free, or was not met for long. */
static struct handover_far *far_take(struct handover *h, uint64_t key, uint64_t now)
{
	struct handover_far *f = (struct handover_far *)far_find(h, key);

	for (uint32_t i = 0; !f && i < HANDOVER_NEAR; i++) {
		struct handover_far *at = &h->fars[first_of(key) + i];
		uint64_t was = __atomic_load_n(&at->key, __ATOMIC_RELAXED);
		uint64_t tick = __atomic_load_n(&at->tick, __ATOMIC_RELAXED);

		if (was && (now < tick || now - tick <= h->lives))
			continue;
		if (__atomic_compare_exchange_n(&at->key, &was, key, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED) ||
		    was == key)
			f = at;
	}
	return f;
}

/* Who reads looks at the number before and afterwards. */
static void far_renew(struct handover_far *f, uint64_t since, uint64_t now)
{
	__atomic_store_n(&f->since, since, __ATOMIC_RELEASE);
	__atomic_store_n(&f->nr, now | 1, __ATOMIC_RELEASE);
	__atomic_store_n(&f->tick, now, __ATOMIC_RELEASE);
}

bool far_meet(struct handover *h, uint64_t key, const struct handover_address *peer, bool is_out,
	      uint64_t since, uint64_t now)
{
	struct handover_far *f = far_take(h, key, now);

	if (!f) {
		__atomic_fetch_add(&h->nr_no_room, 1, __ATOMIC_RELAXED);
		return false;
	}
	f->peer = *peer;
	f->is_out = is_out;
	far_renew(f, since, now);
	return true;
}

void far_since(struct handover *h, uint64_t key, uint64_t since, uint64_t now)
{
	struct handover_far *f = (struct handover_far *)far_find(h, key);

	if (f)
		far_renew(f, since, now);
}

void far_touch(struct handover *h, uint64_t key, uint64_t now)
{
	struct handover_far *f = (struct handover_far *)far_find(h, key);

	if (f)
		__atomic_store_n(&f->tick, now, __ATOMIC_RELEASE);
}
