#include "agent/jvm/hop.h"

#include <pthread.h>

#include "agent/jvm/guest.h"
#include "agent/jvm/hot.h"

HOT void hop_count(struct site *s, enum hop what)
{
	if (s)
		atomic_fetch_add_explicit(&s->counts[what], 1, memory_order_relaxed);
}

void hop_lost(struct site *s)
{
	hop_count(s, HOP_LOST);
	guest_count(GUEST_UNKEPT, 1);
}

HOT void hop_kept(struct site *s, enum kept_result r)
{
	if (r == KEPT_FAILED) {
		hop_lost(s);
	} else if (r == KEPT_SHARED) {
		hop_count(s, HOP_SHARED);
	} else {
		hop_count(s, r == KEPT ? HOP_GAVE : HOP_NOTHING);
	}
}

HOT void hop_came(struct site *s, bool is)
{
	hop_count(s, is ? HOP_CAME : HOP_NOTHING);
}

static unsigned long long count_of(struct site *s, enum hop what)
{
	return atomic_load_explicit(&s->counts[what], memory_order_relaxed);
}

void hops_tell_shared(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	uint32_t nr = sites_count();
	uint64_t all = 0;

	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < nr; i++) {
		struct site *s = site_at(i);
		uint64_t now = s ? count_of(s, HOP_SHARED) : 0;

		if (!s)
			continue;
		all += now - s->nr_shared_told;
		s->nr_shared_told = now;
	}
	if (all)
		guest_count(GUEST_SHARED, all);
	pthread_mutex_unlock(&lock);
}

void hops_tell(FILE *f)
{
	uint32_t nr = sites_count();

	for (uint32_t i = 0; i < nr; i++) {
		struct site *s = site_at(i);

		if (s->name && atomic_load_explicit(&s->is_on, memory_order_relaxed))
			fprintf(f, "hop\t%s\t%llu\t%llu\t%llu\t%llu\t%llu\n", s->name,
				count_of(s, HOP_GAVE), count_of(s, HOP_CAME),
				count_of(s, HOP_NOTHING),
				count_of(s, HOP_LOST) + count_of(s, HOP_SHARED),
				count_of(s, HOP_PASSED));
	}
}
