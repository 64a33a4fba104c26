#include "agent/jvm/parcel.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/jvm/hot.h"
#include "lib/advice/bag.h"

/* Most are small, and one thread makes what another one frees, which is dear for malloc: so they
 * are used again, the last one first, which is at hand. */
#define SMALL_BYTES 512u
#define SPARES 512u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct parcel *spares[SPARES]; /* under the lock */
static size_t nr_spares;

static bool is_small(size_t nr)
{
	return sizeof(struct parcel) + nr <= SMALL_BYTES;
}

HOT static struct parcel *room_for(size_t nr)
{
	struct parcel *p = NULL;

	if (!is_small(nr))
		return malloc(sizeof(*p) + nr);
	pthread_mutex_lock(&lock);
	if (nr_spares)
		p = spares[--nr_spares];
	pthread_mutex_unlock(&lock);
	return p ? p : malloc(SMALL_BYTES);
}

HOT static void room_free(struct parcel *p)
{
	if (is_small(p->nr)) {
		pthread_mutex_lock(&lock);
		if (nr_spares < SPARES) {
			spares[nr_spares++] = p;
			p = NULL;
		}
		pthread_mutex_unlock(&lock);
	}
	free(p);
}

HOT static struct parcel *made(const void *bytes, size_t nr)
{
	struct parcel *p = room_for(nr);

	if (!p)
		return NULL;
	p->nr_users = 1;
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
		room_free(p);
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
		room_free(p);
}

void parcels_free(void)
{
	pthread_mutex_lock(&lock);
	while (nr_spares)
		free(spares[--nr_spares]);
	pthread_mutex_unlock(&lock);
}
