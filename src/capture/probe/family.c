#include "capture/probe/family.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/time.h"
#include "capture/probe/callers.h"
#include "capture/probe/exits.h"
#include "capture/probe/family_own.h"
#include "capture/probe/filter.h"
#include "capture/probe/probe.h"
#include "capture/probe/remote.h"
#include "capture/probe/share.h"

#define STUB_FRONT 8u /* bytes of a stub in front of its push */
#define SITE_FRONT 6u
#define SITE_HEAD 32u /* and in front of what was moved, as STUB_HEAD */
#define STUB_MAX 224u
#define FUNCTION_MAX (1u << 20) /* bytes of a function that are looked at */
#define BEHIND 16u
#define NOP 0x90
#define RINGS_MIN 256u
#define RINGS_MAX PROBE_THREADS

/* Of a module: what it has of functions that leave by other ways is known; and its own runtime
 * looks at return addresses. */
enum { SEEN = 1, SEEN_WALKS };

void family_done(struct family *f)
{
	if (f->region)
		munmap(f->region, f->bytes);
	if (f->fd >= 0)
		close(f->fd);
	for (size_t i = 0; i < f->nr_areas; i++)
		free(f->masters[i]);
	free(f->patches);
	relocator_done(&f->how);
	map_done(&f->by_origin);
	map_done(&f->modules_seen);
	map_done(&f->leaving);
	*f = (struct family){ .fd = -1 };
}

/* Rings for all threads that there are and for children to come. */
static uint32_t rings_wanted(size_t nr_threads, size_t max_bytes)
{
	size_t nr = 4 * nr_threads < RINGS_MIN ? RINGS_MIN : 4 * nr_threads;
	size_t most = max_bytes ? max_bytes / PROBE_RING_BYTES : RINGS_MAX;

	nr = nr < most ? nr : most;
	return (uint32_t)(nr < 1 ? 1 : nr > RINGS_MAX ? RINGS_MAX : nr);
}

void family_held_add(struct family_held *h, int64_t ns)
{
	h->all_ns += ns;
	if (ns > h->longest_ns)
		h->longest_ns = ns;
}

/* Stopped where it can be asked, if that comes soon: a program that gets signals all the time may
 * have one to take wherever it is stopped. */
static int stop_to_ask(struct tracee *t, int pid, struct image *im, struct tracee_late *late,
		       struct family_held *held, struct error *err)
{
	int64_t until = time_tick() + BUSY_NS;

	for (int i = 0;;) {
		int64_t ns;
		int r = tracee_stop(t, pid, late, err);

		if (r < 0)
			return r;
		r = filter_check(t, err);
		if (r == 0)
			r = image_read(im, pid, t->mem, err);
		if (r == 0 && (i == TRIES || time_tick() > until || tracee_can_be_asked(t, im)))
			return 0;
		ns = tracee_go(t, late);
		i += ns > 0; /* where nobody was held they wait for a disk */
		family_held_add(held, ns);
		image_done(im);
		if (r < 0)
			return r;
		*im = (struct image){ 0 };
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}

int family_enter(struct family *f, int pid, size_t max_bytes, int handover,
		 const struct family_first *first, struct tracee_late *late,
		 struct family_held *held, struct error *err)
{
	struct image im = { 0 };
	struct tracee t;
	int r;

	*f = (struct family){ .fd = -1 };
	r = remote_check(pid, err);
	if (r == 0)
		r = stop_to_ask(&t, pid, &im, late, held, err);
	if (r < 0)
		return r;
	f->patches = mem_alloc(mem_bytes(PROBE_FUNCTIONS, sizeof(*f->patches)));
	r = remote_adopt(f, &t, &im, err);
	if (r == 0)
		r = remote_enter(f, &t, &im, rings_wanted(t.threads.nr, max_bytes), err);
	if (r >= 0)
		share_handover(f, &t, &im, filter_lets_carry(&t) ? handover : -1);
	if (r >= 0 && first)
		r = first->run(first->to, f, &t, err);
	family_held_add(held, tracee_go(&t, late));
	image_done(&im);
	if (r < 0) {
		family_done(f);
		return r;
	}
	f->region->session = (uint64_t)getpid();
	return 0;
}

bool family_has(const struct family *f, int pid)
{
	struct probe_code head;
	struct iovec to = { &head, sizeof(head) }, from = { (void *)f->code, sizeof(head) };

	return process_vm_readv(pid, &to, 1, &from, 1, 0) == (ssize_t)sizeof(head) &&
	       head.magic == PROBE_CODE_MAGIC &&
	       head.region == (struct probe_region *)f->region->here;
}

static bool reaches(uint64_t from, uint64_t to)
{
	int64_t d = (int64_t)(to - from);

	return d > -(int64_t)0x7ff00000 && d < (int64_t)0x7ff00000;
}

/* An area with room for one more stub that all of the module can reach, maybe a new one. */
static int area_find(struct family *f, const struct image *im, const struct image_module *m)
{
	struct probe_area *a;
	uint64_t doors[2] = { f->code + remote_code()->enter, f->code + remote_code()->site }, at;

	for (uint32_t i = 0; i < f->nr_areas; i++) {
		a = &f->areas[i];
		if (a->used + STUB_MAX <= a->bytes && reaches(a->start, m->low) &&
		    reaches(a->start, m->high))
			return (int)i;
	}
	at = f->nr_areas < PROBE_AREAS ? image_room(im, m, AREA_BYTES) : 0;
	for (uint32_t i = 0; at && i < f->nr_areas; i++)
		/* one that is only planned yet */
		if (at < f->areas[i].start + f->areas[i].bytes + AREA_BYTES &&
		    f->areas[i].start < at + AREA_BYTES)
			at = f->areas[i].start - AREA_BYTES;
	if (!at || !reaches(at, m->low) || !reaches(at, m->high) || image_map_at(im, at) ||
	    image_map_at(im, at + AREA_BYTES - 1))
		return -1;
	f->masters[f->nr_areas] = mem_alloc(AREA_BYTES);
	memset(f->masters[f->nr_areas], 0xcc, AREA_BYTES);
	memcpy(f->masters[f->nr_areas], doors, sizeof(doors));
	a = &f->areas[f->nr_areas];
	*a = (struct probe_area){ at, AREA_BYTES, 16 };
	f->region->areas[f->nr_areas] = *a;
	f->region->nr_areas = ++f->nr_areas;
	return (int)f->nr_areas - 1;
}

/* Sets the stack pointer back to where it was when the function began; push $what; call *enter;
 * lea 8(%rsp), %rsp; what was moved. In the middle of a function the red zone and the flags are
 * kept instead. */
static void stub_write(struct family *f, int area, uint32_t what, const struct relocated *r)
{
	bool is_site = what & PROBE_WANT_SITE;
	struct probe_area *a = &f->areas[area];
	uint8_t *start = f->masters[area] + a->used, *p = start;
	int32_t back;

	if (is_site) {
		memcpy(p, "\x48\x8d\x64\x24\x80\x9c", SITE_FRONT);
	} else {
		memcpy(p, "\x48\x8d\xa4\x24", 4);
		memcpy(p + 4, &r->pushed, 4);
	}
	p += is_site ? SITE_FRONT : STUB_FRONT;
	back = (is_site ? 8 : 0) - (int32_t)(p + 11 - f->masters[area]);
	p[0] = 0x68;
	memcpy(p + 1, &what, 4);
	p[5] = 0xff;
	p[6] = 0x15;
	memcpy(p + 7, &back, 4);
	memcpy(p + 11, "\x48\x8d\x64\x24\x08", 5);
	if (is_site)
		memcpy(p + 16, "\x9d\x48\x8d\xa4\x24\x80\x00\x00\x00\x90", 10);
	memcpy(start + (is_site ? SITE_HEAD : STUB_HEAD), r->code, r->nr);
	a->used += ((is_site ? SITE_HEAD : STUB_HEAD) + r->nr + 15) & ~(size_t)15;
	f->region->areas[area].used = a->used;
}

static void stub_rename(struct family *f, const struct probe_patch *p)
{
	for (uint32_t i = 0; i < f->nr_areas; i++)
		if (p->stub >= f->areas[i].start && p->stub < f->areas[i].start + f->areas[i].bytes)
			memcpy(f->masters[i] + (p->stub - f->areas[i].start) +
				       (p->what & PROBE_WANT_SITE ? SITE_FRONT : STUB_FRONT) + 1,
			       &p->what, 4);
}

static enum probe_why patch_again(struct family *f, size_t nr, uint32_t what)
{
	struct probe_patch *p = &f->patches[nr];

	if (p->is_on)
		return p->what == what ? WHY_NONE : WHY_TWICE;
	if ((p->what ^ what) & PROBE_WANT_SITE)
		return WHY_TWICE;
	p->what = what;
	p->is_on = p->is_again = 1;
	stub_rename(f, p);
	f->region->patches[nr] = *p;
	return WHY_NONE;
}

static void call_note(struct probe_patch *p, const uint8_t *bytes, const struct relocated *r)
{
	for (size_t i = 0; i < r->nr_moved; i++)
		if (memcmp(bytes + r->skip + r->at_old[i], "\x0f\x05", SYSCALL_BYTES) == 0) {
			p->call_old = (uint8_t)(1 + r->at_old[i]);
			p->call_new = (uint8_t)(1 + r->at_new[i]);
		}
}

static enum probe_why patch_new(struct family *f, int area, uint64_t address, const uint8_t *bytes,
				const struct relocated *r, uint32_t what, uint64_t origin,
				uint64_t semaphore)
{
	struct probe_patch p = { .address = address + r->skip,
				 .is_on = 1,
				 .stub = f->areas[area].start + f->areas[area].used,
				 .origin = origin,
				 .semaphore = semaphore,
				 .nr = (uint32_t)r->nr_old,
				 .what = what };
	int64_t d = (int64_t)(p.stub - (p.address + PROBE_JUMP));
	int32_t near = (int32_t)d;

	if (f->nr_patches >= PROBE_FUNCTIONS || near != d)
		return WHY_ROOM;
	memcpy(p.old, bytes + r->skip, PROBE_JUMP);
	if (!(what & PROBE_WANT_SITE))
		call_note(&p, bytes, r);
	p.new[0] = 0xe9;
	memcpy(p.new + 1, &near, 4);
	stub_write(f, area, what, r);
	f->patches[f->nr_patches] = p;
	f->region->patches[f->nr_patches] = p;
	__atomic_store_n(&f->region->nr_patches, ++f->nr_patches, __ATOMIC_RELEASE);
	*map_at(&f->by_origin, origin) = f->nr_patches;
	return WHY_NONE;
}

/* Behind the nop of a static probe: others patch that one themselves (uprobes). */
static uint64_t behind_nop(const struct family_wish *w, const uint8_t *bytes)
{
	uint64_t at = w->site - w->address;

	return bytes[at] == NOP && at + 1 < w->size ? at + 1 : at;
}

static uint64_t origin_of(const struct family_wish *w, const struct image_module *m)
{
	return w->what & PROBE_WANT_SITE ? (w->site + m->bias) | PROBE_ORIGIN_SITE
					 : w->address + m->bias;
}

/* What of the arguments is read where it begins; and who looks at return addresses has to be
 * patched wherever that can be. */
static uint32_t asked_of(const struct family *f, uint32_t what)
{
	const struct probe_taken *k = &f->region->taken[what & 0xffff];
	uint32_t asked = 0;

	if (what & (PROBE_WANT_UNWIND | PROBE_WANT_CATCH))
		return RELOCATE_FRONT;
	if (what & PROBE_WANT_HOLD)
		return 1u << 1;
	if (what & PROBE_WANT_BIRTH)
		asked |= 1u << 2 | 1u << 3;
	if (what & PROBE_WANT_DEATH)
		asked |= 1u << 0;
	if (what & PROBE_WANT_ADVICE && k->arguments)
		asked |= k->arguments & RELOCATE_ARGUMENTS;
	if (what & (PROBE_WANT_BIRTH | PROBE_WANT_DEATH) ||
	    (what & PROBE_WANT_ADVICE && k->arguments))
		return what & PROBE_WANT_CARRY ? RELOCATE_ARGUMENTS : asked;
	if (what & (PROBE_WANT_ADVICE | PROBE_WANT_CARRY | PROBE_WANT_BIRTH | PROBE_WANT_DEATH))
		return RELOCATE_ARGUMENTS;
	if (what & PROBE_WANT_ENTRY && k->at_entry.from == TAKE_ARGUMENT)
		asked |= 1u << (k->at_entry.argument & 7);
	if (what & PROBE_WANT_EXIT && k->at_exit.from == TAKE_ARGUMENT)
		asked |= 1u << (k->at_exit.argument & 7);
	return asked;
}

static enum probe_why want_new(struct family *f, int area, const struct family_wish *w,
			       const struct image_module *m, const uint8_t *bytes, size_t nr)
{
	bool is_site = w->what & PROBE_WANT_SITE;
	uint64_t address = w->address + m->bias;
	uint64_t to =
		f->areas[area].start + f->areas[area].used + (is_site ? SITE_HEAD : STUB_HEAD);
	size_t size = w->size < nr ? w->size : nr;
	struct relocated r;
	enum probe_why why =
		is_site ? relocate_at(&f->how, bytes, size, nr, address, behind_nop(w, bytes), to,
				      &r)
			: relocate(&f->how, bytes, size, nr, address, to, asked_of(f, w->what), &r);

	if (!why && SITE_HEAD + r.nr > STUB_MAX)
		why = WHY_UNKNOWN;
	if (why)
		return why;
	return patch_new(f, area, address, bytes, &r, w->what, origin_of(w, m),
			 w->semaphore ? w->semaphore + m->bias : 0);
}

enum probe_why family_want(struct family *f, const struct image *im, const struct image_module *m,
			   int mem, const struct family_wish *w)
{
	cleanup(free) uint8_t *bytes = NULL;
	uint64_t address = w->address + m->bias, *known;
	uint64_t size = w->size < FUNCTION_MAX ? w->size : FUNCTION_MAX;
	const struct image_map *map = image_map_at(im, address);
	ssize_t got;
	int area;

	if (!map || !map->is_code || (w->what & PROBE_WANT_SITE && w->site - w->address >= size))
		return WHY_OUTSIDE;
	if (map_find(&f->leaving, address) &&
	    !(w->what & (PROBE_WANT_UNWIND | PROBE_WANT_CATCH | PROBE_WANT_SITE)))
		return WHY_LEAVES;
	known = map_find(&f->modules_seen, str_hash(str_of(m->path)) ^ m->bias);
	if (known && *known == SEEN_WALKS)
		return WHY_WALKS;
	bytes = mem_alloc(size + BEHIND);
	got = pread(mem, bytes, size + BEHIND, (off_t)address);
	if (got < (ssize_t)size || got < 8)
		return WHY_OUTSIDE;
	known = map_find(&f->by_origin, origin_of(w, m));
	if (known && *known)
		return w->what & PROBE_WANT_SITE ||
				       relocate_keeps(&f->how, bytes, size, asked_of(f, w->what))
			       ? patch_again(f, *known - 1, w->what)
			       : WHY_FIRST;
	area = area_find(f, im, m);
	return area < 0 ? WHY_ROOM : want_new(f, area, w, m, bytes, (size_t)got);
}

/* Whether its own runtime walks over stacks. */
static bool exits_want(struct family *f, int pid, const struct image *im,
		       const struct image_module *m, int mem)
{
	char path[4096];
	struct exits e;

	snprintf(path, sizeof(path), "/proc/%d/root%s", pid, m->path);
	exits_read(&e, path);
	vec_each (&e.v, x)
		*map_at(&f->leaving, m->bias + x->address) = 1;
	vec_each (&e.v, x)
		if (x->kind != EXIT_LEAVES)
			family_want(f, im, m, mem,
				    &(struct family_wish){ .address = x->address,
							   .size = x->size,
							   .what = x->kind == EXIT_UNWINDS
									   ? PROBE_WANT_UNWIND
									   : PROBE_WANT_CATCH });
	f->has_unwinder |= e.has_unwinder;
	f->has_handlers |= e.has_handlers && m == im->modules.v;
	exits_done(&e);
	return e.has_walker;
}

uint64_t family_modules(const struct image *im)
{
	uint64_t sum = 0;

	vec_each (&im->modules, m)
		sum += str_hash(str_of(m->path)) ^ m->bias;
	vec_each (&im->maps, m)
		sum += m->is_code && !m->file;
	return sum;
}

/* What is watched and its callers: those that return to code that the process has made itself. */
static bool has_callers(uint32_t what)
{
	return !(what & (PROBE_WANT_UNWIND | PROBE_WANT_CATCH | PROBE_WANT_SITE | PROBE_WANT_HOLD));
}

void family_callers(struct family *f, const struct image *im)
{
	if (!callers_read(f, im) || f->has_generated)
		return;
	f->has_generated = true;
	for (uint32_t i = 0; i < f->nr_patches; i++)
		if (has_callers(f->patches[i].what)) {
			f->patches[i].what |= PROBE_WANT_CALLER;
			stub_rename(f, &f->patches[i]);
			f->region->patches[i].what = f->patches[i].what;
		}
}

void family_want_exits(struct family *f, int pid, const struct image *im, int mem)
{
	vec_each (&im->modules, m) {
		uint64_t *seen = map_at(&f->modules_seen, str_hash(str_of(m->path)) ^ m->bias);

		if (!*seen && m->is_64bit)
			*seen = exits_want(f, pid, im, m, mem) ? SEEN_WALKS : SEEN;
	}
}

void family_unwant(struct family *f, uint32_t function)
{
	for (uint32_t i = 0; i < f->nr_patches; i++)
		if (f->patches[i].is_on && (f->patches[i].what & 0xffff) == function &&
		    !(f->patches[i].what &
		      (PROBE_WANT_UNWIND | PROBE_WANT_CATCH | PROBE_WANT_HOLD)))
			f->patches[i].is_on = 0;
}

bool family_replan(struct family *f)
{
	struct probe_area *a = f->taken ? &f->areas[f->taken - 1] : NULL;

	if (!a)
		return false;
	for (uint32_t i = 0; i < f->nr_patches; i++)
		if (f->patches[i].stub >= a->start && f->patches[i].stub < a->start + a->bytes) {
			*map_at(&f->by_origin, f->patches[i].origin) = 0;
			f->patches[i].is_on = 0;
			f->region->patches[i].is_on = 0;
		}
	map_clear(&f->modules_seen);
	/* nobody looks for it, and nothing is put there any more */
	a->start = a->bytes = a->used = 0;
	f->region->areas[f->taken - 1] = *a;
	f->taken = 0;
	return true;
}
