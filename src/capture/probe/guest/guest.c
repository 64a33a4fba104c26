/*
 * What entry.S cannot do in a few instructions: threads seen for the first time, marks, and stacks
 * that did not go the way of call and return (exceptions, longjmp, fork, stacks that are switched).
 *
 * It runs in a stranger's process, maybe in a signal handler: no library, no lock, no memory but
 * what is there. Return addresses of calls that are given up are put back before they are
 * forgotten, so that the worst that can happen is a call that nobody tells of.
 */
#include "capture/probe/guest/guest.h"

#include "capture/probe/guest/hold.h"
#include "capture/probe/guest/thread.h"
#include "capture/probe/guest/weave.h"

#define SYS_SCHED_YIELD 24
#define SYS_MINCORE 27
#define SYS_PROCESS_VM_READV 310
#define FAULT (-14)
#define NEAR (1u << 20)
#define TURNS 64              /* to wait for another thread, before graves are believed */
#define PAGE_TICKS (1u << 28) /* for so long memory that was readable is taken to be */
/* more than a minute: who puts an address back gets a processor */
#define OWNER_TICKS (1ull << 38)

extern char culprit_leave[] __attribute__((visibility("hidden")));

/* What entry.S knows by number. */
_Static_assert(offsetof(struct probe_thread, tid) == 8 &&
		       offsetof(struct probe_thread, top) == 16 &&
		       offsetof(struct probe_thread, limit) == 24 &&
		       offsetof(struct probe_thread, busy) == 32 &&
		       offsetof(struct probe_thread, ring) == 40 &&
		       offsetof(struct probe_thread, head) == 48 &&
		       offsetof(struct probe_thread, unwinder) == 64 &&
		       sizeof(struct probe_thread) == 128 && PROBE_THREADS == 1 << 11,
	       "threads");
_Static_assert(sizeof(struct probe_frame) == 40 && offsetof(struct probe_frame, back) == 8 &&
		       offsetof(struct probe_frame, start) == 16 &&
		       offsetof(struct probe_frame, what) == 24,
	       "frames");
_Static_assert(offsetof(struct probe_region, alive_until) == 16 &&
		       offsetof(struct probe_region, nr_units) == 192 &&
		       offsetof(struct probe_ring, head) == 8 &&
		       offsetof(struct probe_ring, nr_dropped) == 16 &&
		       offsetof(struct probe_ring, tail) == 64 &&
		       offsetof(struct probe_ring, records) == 128 && PROBE_RING_RECORDS == 65536,
	       "rings");

void culprit_enter_slow(struct entered *e) __attribute__((visibility("hidden")));
void culprit_leave_slow(uint64_t *slot, uint64_t result, uint64_t end)
	__attribute__((visibility("hidden")));
void culprit_site_slow(const uint64_t *registers, uint64_t what)
	__attribute__((visibility("hidden")));

long guest_call(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long r;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return r;
}

static uint64_t leave(void)
{
	return (uint64_t)culprit_leave;
}

struct piece {
	uint64_t at, bytes;
};

/* Reads what may not be there any more. How many of the words at the front were read. */
static size_t words_read(const struct probe_thread *t, const struct piece *from, size_t nr,
			 uint64_t *to)
{
	struct piece local = { (uint64_t)to, nr * 8 };
	long r = guest_call(SYS_PROCESS_VM_READV, t->pid, (long)&local, 1, (long)from, (long)nr, 0);

	if (r >= 0)
		return (size_t)r / 8;
	if (r == FAULT)
		return 0;
	/* not allowed here: as its own code would */
	for (size_t i = 0; i < nr; i++)
		to[i] = *(volatile uint64_t *)from[i].at;
	return nr;
}

/* Whether the slot is surely there: all memory from where we are to it is. That was asked for a
 * moment ago, or is asked now. */
static bool is_near(struct probe_thread *t, uint64_t slot)
{
	uint64_t low = (slot < t->busy ? slot : t->busy) & ~(uint64_t)4095;
	uint64_t high = (slot > t->busy ? slot : t->busy) | 4095, at = now();
	uint8_t pages[NEAR / 4096 + 2];

	if (at < t->near_until && low >= t->near_low && high <= t->near_high)
		return true;
	if (high - low > NEAR)
		return false;
	if (at < t->near_until && t->near_low <= t->busy && t->busy <= t->near_high &&
	    (high > t->near_high ? high : t->near_high) - (low < t->near_low ? low : t->near_low) <=
		    NEAR) {
		low = low < t->near_low ? low : t->near_low;
		high = high > t->near_high ? high : t->near_high;
	}
	if (guest_call(SYS_MINCORE, (long)low, (long)(high + 1 - low), (long)pages, 0, 0, 0) != 0)
		return false;
	t->near_low = low;
	t->near_high = high;
	t->near_until = at + PAGE_TICKS;
	return true;
}

static bool slot_read(struct probe_thread *t, uint64_t slot, uint64_t *value)
{
	struct piece p = { slot, 8 };

	if (is_near(t, slot)) {
		*value = *(uint64_t *)slot;
		return true;
	}
	return words_read(t, &p, 1, value) == 1;
}

static struct probe_record *record_new(struct probe_thread *t)
{
	struct probe_ring *r = t->ring;

	if (!r)
		return NULL;
	if (t->head - __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE) >= PROBE_RING_RECORDS) {
		r->nr_dropped++;
		return NULL;
	}
	return &r->records[t->head & (PROBE_RING_RECORDS - 1)];
}

static void record_tell(struct probe_thread *t)
{
	t->head++;
	__atomic_store_n(&t->ring->head, t->head, __ATOMIC_RELEASE);
}

static void call_tell(struct probe_thread *t, const struct probe_frame *f, uint64_t kind,
		      uint64_t end)
{
	struct probe_record *r;

	if (f->what & PROBE_WANT_SILENT || !(r = record_new(t)))
		return;
	r->start = f->start | kind << PROBE_KIND_SHIFT;
	r->end = end;
	r->what = f->back << 16 | (f->what & 0xffff);
	record_tell(t);
}

void guest_tell(struct probe_thread *t, uint32_t function, uint64_t kind, uint64_t start,
		uint64_t end)
{
	struct probe_record *r = record_new(t);

	if (!r)
		return;
	r->start = start | kind << PROBE_KIND_SHIFT;
	r->end = end;
	r->what = function & (kind >= PROBE_KIND_ENTRY ? 0xffff | PROBE_VALUED : 0xffff);
	record_tell(t);
}

/* The word is changed unless somebody else has changed it meanwhile: a stack may go on in another
 * thread. */
static bool word_change(uint64_t *at, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(at, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

/* Of all threads one alone takes a frame: its owner, or who returns from the call in its stead.
 * A frame that was taken has no slot. */
static bool frame_take(struct probe_frame *f, uint64_t slot)
{
	return word_change(&f->slot, slot, 0);
}

/* The frame on top will not return to us: its return address is put back where it still stands. */
static void frame_drop(struct probe_thread *t, uint64_t end)
{
	struct probe_frame *f = t->top - 1;
	struct probe_grave *graves = culprit_code.own->graves[t - culprit_code.own->threads];
	uint64_t slot = __atomic_load_n(&f->slot, __ATOMIC_ACQUIRE), value;
	bool is_there = slot && slot_read(t, slot, &value) && value == leave();

	if (slot && frame_take(f, slot) &&
	    !(is_there && word_change((uint64_t *)slot, leave(), f->back)))
		graves[t->nr_graves++ % PROBE_GRAVES] = (struct probe_grave){ slot, f->back };
	t->top = f;
	call_tell(t, f, PROBE_KIND_UNWOUND, end);
	if (f->what & PROBE_WOVEN)
		weave_leave(t, f, 0, end, true);
	if (t->ring)
		t->ring->nr_unwound++;
}

/* Frames that the stack pointer has passed, or that another call has taken the place of. */
static void frames_close(struct probe_thread *t, uint64_t *slot)
{
	uint64_t at = (uint64_t)slot, end = 0;

	while (t->top[-1].slot < at || (t->top[-1].slot == at && *slot != leave())) {
		/* the clock costs as much as all the rest */
		end = end ? end : now();
		frame_drop(t, end);
	}
}

/* In all slots that hold one, an address is changed for the other. */
static void frames_swap(struct probe_thread *t, bool is_back)
{
	size_t nr = (size_t)(t->top - t->base);
	uint64_t value;

	/* calls that a jump made share a slot: the last one goes first when they are put back */
	for (size_t i = 0; i < nr; i++) {
		struct probe_frame *f = is_back ? t->top - 1 - i : t->base + i;

		if (!f->slot || !slot_read(t, f->slot, &value))
			continue;
		if (is_back && value == leave())
			word_change((uint64_t *)f->slot, leave(), f->back);
		else if (!is_back && value == f->back)
			word_change((uint64_t *)f->slot, f->back, leave());
	}
}

static void frames_arm(struct probe_thread *t, uint64_t *slot)
{
	frames_close(t, slot);
	frames_swap(t, false);
	t->unwinder = 0;
}

bool guest_memory_is_there(struct probe_thread *t, uint64_t at, size_t bytes)
{
	struct probe_pages *known = &culprit_code.own->pages[guest_thread_number(t)];
	uint64_t first = at >> 12, last = (at + bytes - 1) >> 12, word, t0 = t->tick;

	if (at < 4096 || at >> 47)
		return false;
	for (uint64_t page = first; page <= last; page++) {
		struct piece p = { page == first ? at & ~(uint64_t)7 : page << 12, 8 };
		size_t i = page & (PROBE_PAGES - 1);

		if (known->page[i] == page && t0 < known->until[i])
			continue;
		if (words_read(t, &p, 1, &word) != 1)
			return false;
		known->page[i] = page;
		known->until[i] = t0 + PAGE_TICKS;
	}
	return true;
}

bool guest_value_take(struct probe_thread *t, const struct probe_taking *k, uint64_t value,
		      uint64_t *out)
{
	size_t bytes = k->bytes ? k->bytes : 8;

	for (size_t i = 0; i < k->nr_loads && i < 4; i++) {
		uint64_t at = value + (uint64_t)(int64_t)k->offsets[i];
		size_t n = i + 1 == k->nr_loads ? bytes : 8;

		if (!guest_memory_is_there(t, at, n))
			return false;
		value = n == 1   ? *(uint8_t *)at
			: n == 2 ? *(uint16_t *)at
			: n == 4 ? *(uint32_t *)at
				 : *(uint64_t *)at;
	}
	if (bytes < 8)
		value &= ((uint64_t)1 << bytes * 8) - 1;
	*out = value;
	return true;
}

static void mark_tell(struct probe_thread *t, uint64_t kind, uint64_t what,
		      const struct probe_taking *k, uint64_t from)
{
	uint64_t value = 0, at = now();
	bool has = k->from && guest_value_take(t, k, from, &value);
	struct probe_record *r = record_new(t);

	if (!r)
		return;
	r->start = at | kind << PROBE_KIND_SHIFT;
	r->end = value;
	r->what = (uint64_t)has << 16 | (what & 0xffff);
	record_tell(t);
}

static uint64_t argument(const struct entered *e, unsigned nr)
{
	const uint64_t v[] = { e->rdi, e->rsi, e->rdx, e->rcx, e->r8, e->r9 };

	return nr < 6 ? v[nr] : 0;
}

static void keep(struct probe_thread *t, const struct entered *e)
{
	struct probe_kept *to = &culprit_code.own->kept[guest_thread_number(t)][t->nr_kept];

	*to = (struct probe_kept){ { e->rdi, e->rsi, e->rdx, e->rcx, e->r8, e->r9 } };
	if (e->what & PROBE_WANT_DEATH)
		/* which has no sixth argument */
		to->v[5] = t->awaited;
}

/* Whether a call came from code of a file, or from a function that is watched and has jumped. */
static bool is_from_file(uint64_t back)
{
	const struct probe_region *r = culprit_code.region;
	uint64_t low = 0, high = __atomic_load_n(&r->nr_codes, __ATOMIC_ACQUIRE);

	if (back == leave())
		return true;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (r->codes[middle].end <= back)
			low = middle + 1;
		else
			high = middle;
	}
	return low < r->nr_codes && low < PROBE_CODES && r->codes[low].start <= back;
}

static void enter(struct probe_thread *t, struct entered *e)
{
	const struct probe_taken *k = &culprit_code.region->taken[e->what & 0xffff];
	uint64_t what = e->what, at = t->tick = now(), until;
	bool is_kept, has_run;

	if (t->unwinder && (uint64_t)e->slot > t->unwinder)
		frames_arm(t, e->slot);
	frames_close(t, e->slot);
	until = __atomic_load_n(&culprit_code.region->alive_until, __ATOMIC_RELAXED);
	if (until < at) {
		if (what & PROBE_WOVEN)
			weave_asleep(t, what, until);
		return;
	}
	if (what & PROBE_WANT_ENTRY)
		mark_tell(t, PROBE_KIND_ENTRY, what, &k->at_entry,
			  argument(e, k->at_entry.argument));
	if (what & PROBE_WANT_CALLER && !is_from_file(*e->slot)) {
		__atomic_fetch_add(&culprit_code.region->nr_generated, 1, __ATOMIC_RELAXED);
		return;
	}
	has_run = culprit_code.region->woven[what & 0xffff].entry;
	is_kept = what & PROBE_WOVEN && weave_enter(t, e, at);
	if (what & PROBE_WANT_SILENT && !(what & PROBE_WANT_EXIT) && !is_kept)
		return;
	if (t->top >= t->limit || (is_kept && t->nr_kept >= PROBE_KEPT)) {
		if (t->ring)
			t->ring->nr_too_deep++;
		return;
	}
	if (is_kept)
		keep(t, e);
	*t->top++ = (struct probe_frame){ .slot = (uint64_t)e->slot,
					  .back = *e->slot,
					  .what = what,
					  .kept = is_kept ? t->nr_kept++
							  : argument(e, k->at_exit.argument),
					  .start = is_kept && !has_run ? at : now() };
	*e->slot = leave();
}

void culprit_enter_slow(struct entered *e)
{
	uint64_t slot = (uint64_t)e->slot;
	struct probe_thread *t;

	if (e->what & PROBE_WANT_HOLD) {
		hold_here(e);
		return;
	}
	t = guest_thread_find();
	if (!t) {
		weave_unseen(e->what);
		return;
	}
	/* a signal came while we were at work, unless that place was left by a jump */
	if (t->busy && !(slot > t->busy && slot - t->busy < NEAR)) {
		if (t->ring)
			t->ring->nr_nested++;
		if (e->what & PROBE_WANT_UNWIND)
			frames_swap(t, true);
		return;
	}
	t->busy = slot;
	t->near_until = 0;
	if (e->what & PROBE_WANT_CATCH) {
		if (t->unwinder)
			frames_arm(t, e->slot);
	} else if (e->what & PROBE_WANT_UNWIND) {
		if (t->top > t->base) {
			frames_close(t, e->slot);
			frames_swap(t, true);
			t->unwinder = slot;
		}
	} else {
		enter(t, e);
	}
	t->busy = 0;
}

/* The call began in another thread, which has left it to us: a stack that threads hand on. */
static bool back_of_others(uint64_t slot, uint64_t *back)
{
	struct probe_own *own = culprit_code.own;

	for (size_t i = 0; i < PROBE_THREADS; i++)
		for (struct probe_frame *f = own->threads[i].top;
		     own->threads[i].key && f && f-- > own->threads[i].base;) {
			if (__atomic_load_n(&f->slot, __ATOMIC_ACQUIRE) != slot)
				continue;
			*back = f->back;
			if (!frame_take(f, slot))
				continue;
			f->what |= PROBE_WANT_SILENT;
			return true;
		}
	return false;
}

/* A stack that was copied away and back. */
static bool back_of_graves(const struct probe_thread *t, uint64_t slot, uint64_t *back)
{
	struct probe_own *own = culprit_code.own;
	const struct probe_grave *graves = own->graves[t - own->threads];

	for (uint64_t i = 0; i < PROBE_GRAVES && i < t->nr_graves; i++) {
		const struct probe_grave *g = &graves[(t->nr_graves - 1 - i) % PROBE_GRAVES];

		if (g->slot != slot)
			continue;
		*back = g->back;
		return true;
	}
	return false;
}

/* While we look, its owner may be about to put the address back by itself, when it is let: on a
 * machine with much else to do that may take long. */
static uint64_t back_search(const struct probe_thread *t, uint64_t *slot)
{
	uint64_t back, until = now() + OWNER_TICKS;

	for (unsigned turn = 0; now() < until; turn++) {
		back = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
		if (back != leave() || back_of_others((uint64_t)slot, &back))
			return back;
		if (t && turn > TURNS && back_of_graves(t, (uint64_t)slot, &back))
			return back;
		if (turn > TURNS)
			guest_call(SYS_SCHED_YIELD, 0, 0, 0, 0, 0, 0);
		else
			__builtin_ia32_pause();
	}
	__builtin_trap();
}

void culprit_leave_slow(uint64_t *slot, uint64_t result, uint64_t end)
{
	struct probe_thread *t = guest_thread_find();
	struct probe_frame *f;

	if (!t) {
		*slot = back_search(NULL, slot);
		return;
	}
	t->busy = (uint64_t)slot;
	t->tick = end;
	t->near_until = 0;
	for (f = t->top - 1; f >= t->base && f->slot != (uint64_t)slot; f--)
		;
	if (f < t->base) {
		*slot = back_search(t, slot);
	} else {
		const struct probe_taking *k =
			&culprit_code.region->taken[f->what & 0xffff].at_exit;

		while (t->top - 1 > f)
			frame_drop(t, end);
		call_tell(t, f, PROBE_KIND_CALL, end);
		if (f->what & PROBE_WANT_EXIT)
			mark_tell(t, PROBE_KIND_EXIT, f->what, k, k->from == 2 ? result : f->kept);
		if (f->what & PROBE_WOVEN)
			weave_leave(t, f, result, end, false);
		t->top = f;
		*slot = f->back;
	}
	if (t->unwinder && (uint64_t)slot > t->unwinder)
		frames_arm(t, slot + 1);
	t->busy = 0;
}

void culprit_site_slow(const uint64_t *registers, uint64_t what)
{
	const struct probe_taking *k = &culprit_code.region->taken[what & 0xffff].at_entry;
	struct probe_thread *t = guest_thread_find();
	uint64_t tick = now(), until;

	if (what & PROBE_WANT_UNIT)
		__atomic_fetch_add(&culprit_code.region->nr_units, 1, __ATOMIC_RELAXED);
	until = __atomic_load_n(&culprit_code.region->alive_until, __ATOMIC_RELAXED);
	if (!t)
		weave_unseen(what);
	else if (until < tick && what & PROBE_WANT_ADVICE)
		weave_asleep(t, what, until);
	if (!t || until < tick)
		return;
	if (t->busy && !(registers[7] > t->busy && registers[7] - t->busy < NEAR)) {
		if (t->ring)
			t->ring->nr_nested++;
		return;
	}
	t->busy = registers[7];
	t->tick = tick;
	if (what & PROBE_WANT_ADVICE)
		weave_site(t, what & 0xffff, registers);
	else
		mark_tell(t, PROBE_KIND_ENTRY, what, k, registers[k->argument & 15]);
	t->busy = 0;
}
