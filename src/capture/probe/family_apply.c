#include "capture/probe/family_own.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/time.h"
#include "capture/probe/hold.h"
#include "capture/probe/remote.h"
#include "capture/probe/restore.h"
#include "capture/probe/standing.h"

#define IOVECS 512

/* What stands at the patches now. */
static int bytes_now(const struct family *f, int pid, uint8_t (*now)[8])
{
	struct iovec from[IOVECS], to = { 0 };
	uint8_t got[IOVECS][PROBE_JUMP];

	for (uint32_t at = 0, nr; at < f->nr_patches; at += nr) {
		nr = f->nr_patches - at < IOVECS ? f->nr_patches - at : IOVECS;
		for (uint32_t i = 0; i < nr; i++)
			from[i] = (struct iovec){ (void *)f->patches[at + i].address, PROBE_JUMP };
		to = (struct iovec){ got, nr * PROBE_JUMP };
		if (process_vm_readv(pid, &to, 1, from, nr, 0) != (ssize_t)to.iov_len)
			/* one at a time: a module may be gone */
			for (uint32_t i = 0; i < nr; i++) {
				to = (struct iovec){ got[i], PROBE_JUMP };
				if (process_vm_readv(pid, &to, 1, &from[i], 1, 0) != PROBE_JUMP) {
					if (errno == ESRCH)
						return -ESRCH;
					memset(got[i], 0, PROBE_JUMP);
				}
			}
		for (uint32_t i = 0; i < nr; i++)
			memcpy(now[at + i], got[i], PROBE_JUMP);
	}
	return 0;
}

/* Whether this one is to be written: it stands there as the other. */
static bool is_due(const struct probe_patch *p, const uint8_t *now)
{
	return memcmp(now, p->is_on ? p->old : p->new, PROBE_JUMP) == 0;
}

static bool area_is_due(const struct family *f, int pid, uint32_t i)
{
	cleanup(free) uint8_t *now = mem_alloc(AREA_BYTES);
	struct iovec to = { now, f->areas[i].used },
		     from = { (void *)f->areas[i].start, f->areas[i].used };

	return process_vm_readv(pid, &to, 1, &from, 1, 0) != (ssize_t)f->areas[i].used ||
	       memcmp(now, f->masters[i], f->areas[i].used) != 0;
}

static int areas_write(struct family *f, struct tracee *t, struct error *err)
{
	struct image im = { 0 };
	int r = 0;

	for (uint32_t i = 0; i < f->nr_areas && r == 0; i++) {
		const struct probe_area *a = &f->areas[i];
		const struct image_map *map;

		if (!a->bytes || !area_is_due(f, t->pid, i))
			continue;
		if (!im.maps.nr)
			r = image_read(&im, t->pid, t->mem, err);
		map = image_map_at(&im, a->start);
		if (r == 0 && !map)
			r = remote_map_code(t, &im, a->start, a->bytes, err);
		else if (r == 0 && (!map->is_code || map->is_writable || map->file ||
				    map->end < a->start + a->bytes))
			/* the process has taken the place for itself meanwhile */
			r = error_set(err, EEXIST, "process %d has no room for code of ours",
				      t->pid);
		if (r == -EEXIST)
			f->taken = i + 1;
		if (r == 0 && tracee_write(t, a->start, f->masters[i], a->used) < 0)
			r = error_set(err, EFAULT, "the memory of process %d cannot be written",
				      t->pid);
	}
	image_done(&im);
	return r;
}

/* A number that says whether anybody watches; others may have raised it, too. */
static void semaphore_set(const struct tracee *t, const struct probe_patch *p)
{
	uint16_t now, next = p->is_on ? 1 : 0;

	if (p->semaphore && tracee_read(t, p->semaphore, &now, 2) == 0 && now == 1 - next)
		tracee_write(t, p->semaphore, &next, 2);
}

/* Where threads stand that a patch must not be written under. */
static void standing_find(const struct family *f, const struct tracee *t, uint8_t (*now)[8],
			  struct standing *s)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (uint32_t i = 0; i < f->nr_patches; i++) {
		const struct probe_patch *p = &f->patches[i];

		if (!p->is_on || !is_due(p, now[i]))
			continue;
		low = p->address < low ? p->address : low;
		high = p->address + p->nr > high ? p->address + p->nr : high;
	}
	standing_read(s, t, low, high);
}

static void call_move(struct tracee_thread *v, uint64_t from, uint64_t to)
{
	if (tracee_is_in_call(v) && v->regs.rip == from + SYSCALL_BYTES)
		tracee_move(v, to + SYSCALL_BYTES);
	else if (v->is_stopped && !v->is_borrowed && !tracee_is_in_call(v) && v->regs.rip == from)
		tracee_move(v, to);
}

/* Threads that wait in a system call which is moved, or are about to make it, go on in its copy. */
static void calls_move(const struct family *f, struct tracee *t, uint8_t (*now)[8])
{
	for (uint32_t i = 0; i < f->nr_patches; i++) {
		const struct probe_patch *p = &f->patches[i];

		if (!p->call_old || !p->is_on || !is_due(p, now[i]))
			continue;
		vec_each (&t->threads, v)
			call_move(v, p->address + p->call_old - 1,
				  p->stub + STUB_HEAD + p->call_new - 1);
	}
}

/* Whether requests may have begun, or been handed on, while it was not patched. */
static bool ends_gap(const struct probe_patch *p)
{
	const uint32_t hands_on = PROBE_WANT_CARRY | PROBE_WANT_BIRTH | PROBE_WANT_DEATH;

	return p->is_on && p->what & (p->is_again ? hands_on | PROBE_WANT_ADVICE : hands_on);
}

/* How many could not be written yet. */
static int patches_write(struct family *f, struct tracee *t, uint8_t (*now)[8])
{
	struct standing s = { 0 };
	bool is_gap = false;
	int nr_left = 0;

	calls_move(f, t, now);
	standing_find(f, t, now, &s);
	for (uint32_t i = 0; i < f->nr_patches; i++) {
		const struct probe_patch *p = &f->patches[i];

		if (!is_due(p, now[i]))
			continue;
		if (p->is_on && standing_in(&s, p->address, p->nr)) {
			nr_left++;
			continue;
		}
		if (tracee_write(t, p->address, p->is_on ? p->new : p->old, PROBE_JUMP) == 0) {
			memcpy(now[i], p->is_on ? p->new : p->old, PROBE_JUMP);
			semaphore_set(t, p);
			is_gap |= ends_gap(p);
		}
	}
	/* all its threads stand still: nobody goes on with what was carried before */
	if (is_gap)
		__atomic_fetch_add(&f->region->nr_gaps, 1, __ATOMIC_RELEASE);
	standing_done(&s);
	return nr_left;
}

/* How many patches could not be written yet; -EAGAIN, with the reason in *err, where it does not
 * harm the process to be asked again soon. */
static int apply_once(struct family *f, int pid, uint8_t (*now)[8], struct tracee_late *late,
		      struct family_held *held, struct error *err)
{
	struct tracee t;
	int r = tracee_stop(&t, pid, late, err);

	/* nobody was held: no thread of it has got a processor */
	if (r == -EBUSY && !t.since)
		return -EAGAIN;
	if (r < 0)
		return r;
	/* it may have begun another program since: our code is not in that one */
	if (!family_has(f, pid))
		r = error_set(err, ESRCH, "process %d runs another program now", pid);
	if (r == 0)
		r = areas_write(f, &t, err);
	/* each thread had a signal to take */
	if (r == -EBUSY)
		r = -EAGAIN;
	if (r == 0)
		r = patches_write(f, &t, now);
	family_held_add(held, tracee_go(&t, late));
	return r;
}

int family_apply_stopped(struct family *f, struct tracee *t, struct error *err)
{
	cleanup(free) uint8_t(*now)[8] = mem_alloc(mem_bytes(f->nr_patches + 1, 8));
	int r;

	if (bytes_now(f, t->pid, now) < 0)
		return error_set(err, ESRCH, "process %d is gone", t->pid);
	r = areas_write(f, t, err);
	return r < 0 ? r : patches_write(f, t, now);
}

int family_apply(struct family *f, int pid, struct tracee_late *late, struct family_held *held,
		 struct error *err)
{
	cleanup(free) uint8_t(*now)[8] = mem_alloc(mem_bytes(f->nr_patches + 1, 8));
	int64_t until = time_tick() + BUSY_NS;
	bool is_due_any = false;
	int r = 0;

	if (bytes_now(f, pid, now) < 0)
		return error_set(err, ESRCH, "process %d is gone", pid);
	for (uint32_t i = 0; i < f->nr_patches; i++)
		is_due_any |= is_due(&f->patches[i], now[i]);
	for (uint32_t i = 0; i < f->nr_areas; i++)
		is_due_any |= f->areas[i].bytes && area_is_due(f, pid, i);
	/* (that nobody was held costs the process nothing, and is not counted: its threads wait for
	 * a disk, or for a processor) */
	for (int i = 0; is_due_any && i < TRIES;) {
		int64_t before = held->all_ns;

		r = apply_once(f, pid, now, late, held, err);
		if (r <= 0 && !(r == -EAGAIN && time_tick() < until))
			break;
		i += r > 0 || held->all_ns != before;
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	for (uint32_t i = 0; r > 0 && i < f->nr_patches; i++)
		if (f->patches[i].is_on && is_due(&f->patches[i], now[i]))
			f->patches[i].is_on = 2;
	for (uint32_t i = 0; i < f->nr_patches; i++)
		f->region->patches[i].is_on = f->patches[i].is_on;
	return r == -EAGAIN ? -EBUSY : r < 0 ? r : 0;
}

static void exits_switch(struct family *f, uint32_t is_on)
{
	for (uint32_t i = 0; i < f->nr_patches; i++)
		f->patches[i].is_on =
			f->patches[i].what & (PROBE_WANT_UNWIND | PROBE_WANT_CATCH) ? is_on : 0;
}

int family_leave(struct family *f, int pid, struct tracee_late *late, struct error *err)
{
	cleanup(free) uint8_t(*now)[8] = mem_alloc(mem_bytes(f->nr_patches + 1, 8));
	struct tracee t;
	int r;

	/* who waits for us would be in our code for ever */
	hold_let_go(f->region);
	if (bytes_now(f, pid, now) < 0)
		return error_set(err, ESRCH, "process %d is gone", pid);
	r = tracee_stop(&t, pid, late, err);
	if (r < 0)
		return r;
	if (family_has(f, pid)) {
		r = restore_stacks(f, &t);
		exits_switch(f, r > 0);
		patches_write(f, &t, now);
	}
	tracee_go(&t, late);
	return r > 0;
}
