#include "agent/jvm/parcel.h"

#include <string.h>

#include "agent/jvm/hot.h"
#include "agent/jvm/room.h"
#include "lib/advice/bag.h"

HOT static struct parcel *made(const void *bytes, size_t nr)
{
	struct parcel *p = room_get(sizeof(*p) + nr);

	if (!p)
		return NULL;
	p->nr_users = 1;
	p->asked = 0;
	p->nr = (uint32_t)nr;
	memcpy(p->bag, bytes, nr);
	return p;
}

HOT struct parcel *parcel_new(const struct bag *bag)
{
	return made(bag, bag_bytes(bag));
}

HOT struct parcel *parcel_read(const void *bytes, size_t nr)
{
	struct parcel *p = nr && nr <= PARCEL_BYTES ? made(bytes, nr) : NULL;

	if (p && bag_front_is_sound((struct bag *)(void *)p->bag, nr) &&
	    !bag_is_empty(parcel_bag(p)))
		return p;
	if (p)
		room_give(p, sizeof(*p) + p->nr);
	return NULL;
}

struct parcel *parcel_joined(const struct parcel *a, const struct parcel *b)
{
	struct bag all;

	if (a->nr == b->nr && memcmp(a->bag, b->bag, a->nr) == 0)
		return made(a->bag, a->nr);
	if (!bag_deserialize(&all, a->bag, a->nr))
		return NULL;
	bag_join(&all, parcel_bag(b));
	return parcel_new(&all);
}

HOT bool parcel_is(const struct parcel *p, const struct bag *bag)
{
	return p && p->nr == bag_bytes(bag) && memcmp(p->bag, bag, p->nr) == 0;
}

HOT struct parcel *parcel_use(struct parcel *p)
{
	if (p)
		atomic_fetch_add_explicit(&p->nr_users, 1, memory_order_relaxed);
	return p;
}

HOT void parcel_leave(struct parcel *p)
{
	if (p && atomic_fetch_sub_explicit(&p->nr_users, 1, memory_order_acq_rel) == 1)
		room_give(p, sizeof(*p) + p->nr);
}
