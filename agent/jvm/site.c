#include "agent/jvm/site.h"

#include <pthread.h>

#include "agent/jvm/hot.h"
#include "agent/jvm/room.h"

#define CHUNK 256

static struct site *_Atomic chunks[SITES_MAX / CHUNK];
static _Atomic uint32_t nr_sites;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

uint32_t sites_count(void)
{
	return atomic_load_explicit(&nr_sites, memory_order_acquire);
}

HOT struct site *site_at(uint32_t number)
{
	if (number >= atomic_load_explicit(&nr_sites, memory_order_acquire))
		return NULL;
	return &chunks[number / CHUNK][number % CHUNK];
}

int site_find(uint64_t key)
{
	uint32_t nr = atomic_load_explicit(&nr_sites, memory_order_acquire);

	for (uint32_t i = 0; i < nr; i++)
		if (site_at(i)->key == key)
			return (int)i;
	return -1;
}

int site_add(const struct site *s)
{
	uint32_t nr;
	int number = -1;

	pthread_mutex_lock(&lock);
	nr = nr_sites;
	if (nr < SITES_MAX && !chunks[nr / CHUNK])
		chunks[nr / CHUNK] = room_keep(CHUNK * sizeof(**chunks));
	if (nr < SITES_MAX && chunks[nr / CHUNK]) {
		chunks[nr / CHUNK][nr % CHUNK] = *s;
		number = (int)nr;
		atomic_store_explicit(&nr_sites, nr + 1, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
	return number;
}

void sites_keep(bool (*is_wanted)(const void *ctx, uint64_t wish), const void *ctx)
{
	uint32_t nr = atomic_load_explicit(&nr_sites, memory_order_acquire);

	for (uint32_t i = 0; i < nr; i++)
		if (!is_wanted(ctx, site_at(i)->wish))
			atomic_store_explicit(&site_at(i)->is_on, false, memory_order_relaxed);
}

uint32_t sites_on(void)
{
	uint32_t nr = sites_count(), found = 0;

	for (uint32_t i = 0; i < nr; i++)
		found += atomic_load_explicit(&site_at(i)->is_on, memory_order_relaxed);
	return found;
}

int site_hot(uint32_t from, uint64_t limit)
{
	uint32_t nr = atomic_load_explicit(&nr_sites, memory_order_acquire);

	for (uint32_t i = from; i < nr; i++) {
		struct site *s = site_at(i);
		uint32_t limited =
			atomic_exchange_explicit(&s->nr_limited, 0, memory_order_relaxed);

		if (limited > limit && atomic_load_explicit(&s->is_on, memory_order_relaxed))
			return (int)i;
	}
	return -1;
}
