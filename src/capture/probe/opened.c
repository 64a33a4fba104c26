#include "capture/probe/opened.h"

#include <string.h>
#include <sys/uio.h>

#include "base/cleanup.h"
#include "base/mem.h"

static bool memory_read(int pid, uint64_t at, void *to, size_t n)
{
	struct iovec here = { to, n }, there = { (void *)(uintptr_t)at, n };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

static struct probe_thread *thread_of(struct probe_thread *v, uint32_t tid)
{
	for (size_t i = 0; i < PROBE_THREADS; i++)
		if (v[i].key > PROBE_KEY_GONE && v[i].tid == tid)
			return &v[i];
	return NULL;
}

static int thread_read(struct rings *r, uint64_t here, const struct probe_thread *t,
		       const struct ticks *ticks, struct sites *sites,
		       const struct probe_reader *to, struct error *err)
{
	cleanup(free) struct probe_frame *v = NULL;
	uint64_t from = (uint64_t)t->base, until = (uint64_t)t->top, now = ticks_now();
	size_t nr = (until - from) / sizeof(*v);
	int pid = (int)(here >> 32);

	if (until <= from || nr >= PROBE_DEPTH)
		return 0;
	v = mem_alloc(mem_bytes(nr, sizeof(*v)));
	if (!memory_read(pid, from, v, nr * sizeof(*v)))
		return 0;
	vec_clear(&r->calls);
	for (size_t i = nr; i-- > 0;)
		if (!(v[i].what & PROBE_WANT_SILENT) && v[i].start <= now)
			vec_push(&r->calls, (struct function_call){
						    .start = ticks_ns(ticks, v[i].start),
						    .end = ticks_ns(ticks, now),
						    .function = (uint32_t)(v[i].what & 0xffff),
						    .site = rings_site(r, sites, pid, v[i].back),
						    .process = (uint32_t)(here >> 32),
						    .thread = (uint32_t)here,
						    .is_open = true });
	if (!r->calls.nr)
		return 0;
	return to->call(to->to, r->calls.v, r->calls.nr, err);
}

int opened_read(struct rings *r, const struct ticks *ticks, struct sites *sites,
		const struct probe_reader *to, struct error *err)
{
	size_t bytes = PROBE_THREADS * sizeof(struct probe_thread);
	cleanup(free) struct probe_thread *threads = mem_alloc(bytes);
	uint64_t own = r->region->own;
	int last = 0, e = 0;

	for (uint32_t i = 0; i < r->nr && e >= 0; i++) {
		uint64_t owner = r->seen[i].owner;
		int pid = (int)(r->seen[i].here >> 32);
		struct probe_thread *t;

		if (!owner || (r->only && r->only != pid))
			continue;
		if (pid != last && !memory_read(pid, own, threads, bytes))
			continue;
		last = pid;
		t = thread_of(threads, (uint32_t)owner);
		if (t)
			e = thread_read(r, r->seen[i].here, t, ticks, sites, to, err);
	}
	vec_clear(&r->calls);
	return e < 0 ? e : 0;
}
