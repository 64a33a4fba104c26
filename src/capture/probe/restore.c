#include "capture/probe/restore.h"

#include "base/cleanup.h"
#include "base/mem.h"

/* In memory of ours, or of a stub: it may have read what is changed here. */
static bool is_in_ours(const struct family *f, uint64_t rip)
{
	if (rip >= f->code && rip < f->code + f->region->code_bytes)
		return true;
	for (uint32_t i = 0; i < f->nr_areas; i++)
		if (rip >= f->areas[i].start && rip < f->areas[i].start + f->areas[i].bytes)
			return true;
	return false;
}

/* From the last call to the first: calls that a jump made share a slot. Of those whose address is
 * back the slot is forgotten: another thread may go on with that stack, and it will be another
 * call's. Who is about to return finds the address there. The list stays, but nobody is told. */
static void frames_restore(const struct tracee *t, const struct probe_thread *v, uint64_t leave)
{
	uint64_t from = (uint64_t)v->base, until = (uint64_t)v->top;
	size_t nr = (until - from) / sizeof(struct probe_frame);
	cleanup(free) struct probe_frame *frames = NULL;

	if (until <= from || nr >= PROBE_DEPTH)
		return;
	frames = mem_alloc(mem_bytes(nr, sizeof(*frames)));
	if (tracee_read(t, from, frames, nr * sizeof(*frames)) < 0)
		return;
	for (size_t i = nr; i-- > 0;) {
		uint64_t now;

		if (frames[i].slot && tracee_read(t, frames[i].slot, &now, 8) == 0 &&
		    now == leave && tracee_write(t, frames[i].slot, &frames[i].back, 8) == 0)
			frames[i].slot = 0;
		frames[i].what |= PROBE_WANT_SILENT;
		frames[i].what &= ~(uint64_t)PROBE_WANT_EXIT;
		tracee_write(t, from + i * sizeof(*frames), &frames[i], sizeof(*frames));
	}
}

/* Places of threads that have ended stay as they were. */
static bool is_here(const struct tracee *t, uint64_t key)
{
	vec_each (&t->threads, v)
		if (v->is_stopped && v->regs.fs_base == key)
			return true;
	return false;
}

int restore_stacks(const struct family *f, const struct tracee *t)
{
	size_t bytes = PROBE_THREADS * sizeof(struct probe_thread);
	cleanup(free) struct probe_thread *v = mem_alloc(bytes);
	uint64_t own = f->region->own, leave = f->region->leave;
	int nr_left = 0;

	vec_each (&t->threads, thread)
		nr_left += thread->is_stopped && is_in_ours(f, thread->regs.rip);
	if (tracee_read(t, own, v, bytes) < 0)
		return nr_left;
	for (size_t i = 0; i < PROBE_THREADS; i++) {
		if (v[i].key <= PROBE_KEY_GONE)
			continue;
		/* it is at work on its own list, maybe below a signal's handler */
		nr_left += v[i].busy && is_here(t, v[i].key);
		frames_restore(t, &v[i], leave);
	}
	return nr_left;
}
