#include "capture/probe/rings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"

#define BATCH 4096

static struct probe_ring *ring_at(const struct rings *r, uint32_t i)
{
	return (void *)((char *)r->region + PROBE_RINGS_AT + i * PROBE_RING_BYTES);
}

/* Memory that nobody has touched stays so. */
static uint32_t nr_claimed(const struct rings *r)
{
	uint64_t nr = __atomic_load_n(&r->region->nr_claimed, __ATOMIC_ACQUIRE);

	return nr < r->nr ? (uint32_t)nr : r->nr;
}

/* What stands there is of an earlier session. */
static void ring_begin(struct rings *r, uint32_t i)
{
	struct probe_ring *p = ring_at(r, i);

	__atomic_store_n(&p->tail, __atomic_load_n(&p->head, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
	r->seen[i].nr_dropped = p->nr_dropped;
	r->seen[i].nr_too_deep = p->nr_too_deep;
	r->seen[i].nr_unwound = p->nr_unwound;
}

int rings_open(struct rings *r, int fd, uint64_t bytes, int pid, struct error *err)
{
	struct stat st;
	void *p;

	*r = (struct rings){ .bytes = bytes };
	if (fstat(fd, &st) < 0 || bytes < PROBE_RINGS_AT || (uint64_t)st.st_size < bytes) {
		close(fd);
		return error_set(err, EBADMSG, "the buffers of the process are too short");
	}
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return error_set(err, errno, "cannot map %llu bytes of buffers: %s",
				 (unsigned long long)bytes, strerror(errno));
	r->region = p;
	r->nr = (uint32_t)((bytes - PROBE_RINGS_AT) / PROBE_RING_BYTES);
	r->seen = mem_zalloc(mem_bytes(r->nr + 1, sizeof(*r->seen)));
	r->nr_unseen = r->region->nr_unseen;
	r->nr_generated = r->region->nr_generated;
	namesakes_init(&r->names, pid);
	for (uint32_t i = 0; i < nr_claimed(r); i++)
		ring_begin(r, i);
	return 0;
}

void rings_close(struct rings *r)
{
	if (r->region)
		munmap(r->region, r->bytes);
	free(r->seen);
	namesakes_done(&r->names);
	vec_done(&r->calls);
	vec_done(&r->marks);
	*r = (struct rings){ 0 };
}

uint32_t rings_site(const struct rings *r, struct sites *s, int pid, uint64_t address)
{
	if (address == r->leave || !address)
		return 0;
	return sites_at(s, r->number, pid, address);
}

static int tell(struct rings *r, const struct probe_reader *to, struct error *err)
{
	int e = 0;

	if (r->calls.nr)
		e = to->call(to->to, r->calls.v, r->calls.nr, err);
	if (e >= 0 && r->marks.nr)
		e = to->mark(to->to, r->marks.v, r->marks.nr, err);
	vec_clear(&r->calls);
	vec_clear(&r->marks);
	return e < 0 ? e : 0;
}

/* What is taken when a call is left stands behind it. */
static void amount_take(struct rings *r, const struct probe_record *p)
{
	struct function_call *c = r->calls.nr ? &r->calls.v[r->calls.nr - 1] : NULL;

	if (!c || c->function != (p->what & 0xffff) || !(p->what >> 16 & 1))
		return;
	c->amount = p->end;
	c->has_amount = true;
}

static bool is_behind_call(const struct probe_record *p)
{
	return p->start >> PROBE_KIND_SHIFT == PROBE_KIND_EXIT;
}

static void record_take(struct rings *r, const struct probe_record *p, uint64_t owner,
			const struct ticks *ticks, struct sites *sites, struct rings_counts *counts)
{
	uint64_t kind = p->start >> PROBE_KIND_SHIFT, start = p->start & ~PROBE_KIND_MASK;
	uint32_t process = (uint32_t)(owner >> 32), thread = (uint32_t)owner;

	if (kind >= PROBE_KIND_ENTRY) {
		counts->nr_marks++;
		if (kind == PROBE_KIND_EXIT)
			amount_take(r, p);
		vec_push(&r->marks,
			 (struct mark){ .ns = ticks_ns(ticks, start),
					.value = p->end,
					.function = (uint32_t)(p->what & 0xffff),
					.process = process,
					.thread = thread,
					.place = kind == PROBE_KIND_ENTRY ? MARK_ENTRY : MARK_EXIT,
					.has_value = p->what >> 16 & 1 });
		return;
	}
	if (p->end < start) {
		counts->nr_damaged++;
		return;
	}
	counts->nr_calls++;
	vec_push(&r->calls,
		 (struct function_call){ .start = ticks_ns(ticks, start),
					 .end = ticks_ns(ticks, p->end),
					 .function = (uint32_t)(p->what & 0xffff),
					 .site = rings_site(r, sites, (int)process, p->what >> 16),
					 .process = process,
					 .thread = thread,
					 .is_unwound = kind == PROBE_KIND_UNWOUND });
}

/* Free again when its thread is gone and all was read. */
static bool is_gone(uint64_t owner)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u", (unsigned)(owner >> 32),
		 (unsigned)(owner & UINT32_MAX));
	return access(path, F_OK) < 0;
}

static void counts_take(struct ring_seen *s, const struct probe_ring *p, struct rings_counts *c)
{
	uint64_t now[3] = { p->nr_dropped, p->nr_too_deep, p->nr_unwound };
	uint64_t *was[3] = { &s->nr_dropped, &s->nr_too_deep, &s->nr_unwound };
	uint64_t *sum[3] = { &c->nr_dropped, &c->nr_too_deep, &c->nr_unwound };

	for (int i = 0; i < 3; i++) {
		*sum[i] += now[i] > *was[i] ? now[i] - *was[i] : 0;
		*was[i] = now[i];
	}
}

static int ring_read(struct rings *r, uint32_t i, const struct ticks *ticks, struct sites *sites,
		     const struct probe_reader *to, struct rings_counts *counts, struct error *err)
{
	struct probe_ring *p = ring_at(r, i);
	struct ring_seen *s = &r->seen[i];
	uint64_t owner = __atomic_load_n(&p->owner, __ATOMIC_ACQUIRE), head;
	bool gone, is_full;
	int e = 0;

	if (!owner)
		return 0;
	if (owner != s->owner) {
		s->owner = owner;
		s->here = namesakes_here(&r->names, owner);
		counts->nr_threads++;
		*map_at(&counts->processes, s->here >> 32) = 1;
		s->tail = __atomic_load_n(&p->tail, __ATOMIC_RELAXED);
	}
	gone = is_gone(s->here);
	head = __atomic_load_n(&p->head, __ATOMIC_ACQUIRE);
	if (head - s->tail > PROBE_RING_RECORDS) {
		counts->nr_damaged++;
		s->tail = head;
	}
	for (uint64_t at = s->tail; e >= 0 && at != head; at++) {
		if (!r->only || (uint64_t)r->only == s->here >> 32)
			record_take(r, &p->records[at & (PROBE_RING_RECORDS - 1)], s->here, ticks,
				    sites, counts);
		counts->nr_records++;
		is_full = r->calls.nr >= BATCH || r->marks.nr >= BATCH;
		if (at + 1 == head ||
		    (is_full &&
		     !is_behind_call(&p->records[(at + 1) & (PROBE_RING_RECORDS - 1)]))) {
			s->tail = at + 1;
			__atomic_store_n(&p->tail, at + 1, __ATOMIC_RELEASE);
			e = tell(r, to, err);
		}
	}
	s->tail = head;
	__atomic_store_n(&p->tail, head, __ATOMIC_RELEASE);
	counts_take(s, p, counts);
	if (gone) {
		s->owner = 0;
		/* unless another thread has taken it over */
		__atomic_compare_exchange_n(&p->owner, &owner, 0, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED);
	}
	return e;
}

int rings_read(struct rings *r, const struct ticks *ticks, struct sites *sites,
	       const struct probe_reader *to, struct rings_counts *counts, struct error *err)
{
	int e = 0;

	r->leave = r->region->leave;
	for (uint32_t i = 0; i < nr_claimed(r) && e >= 0; i++)
		e = ring_read(r, i, ticks, sites, to, counts, err);
	return e < 0 ? e : 0;
}
