#include "capture/probe/members.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "capture/probe/kin.h"
#include "capture/probe/spawn.h"

#define MEMBERS_MAX 16384
#define TRIES_MAX 5
#define LOOK_EVERY 10 /* ticks, for modules that were loaded since */
#define UNDO_TRIES 500
#define FAMILIES_MAX 1024
#define RETIRE_TICKS 20 /* without a process that lives */
#define REPLANS 5
#define PUNCH_FROM 4096

static int mem_open(int pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int64_t process_cpu_ns(int pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Which part of the work each of them did since this was last asked. */
static void shares_look(struct members *m)
{
	int64_t all = 0;

	vec_each (&m->v, p) {
		int64_t now = p->family < 0 ? 0 : process_cpu_ns(p->pid);

		p->did_ns = now > p->cpu_ns ? now - p->cpu_ns : 0;
		p->cpu_ns = now;
		all += p->did_ns;
	}
	vec_each (&m->v, p)
		p->share = all ? (double)p->did_ns / (double)all : 1 / (double)m->v.nr;
}

static void held(struct members *m, const struct family_held *h, double share)
{
	if ((uint64_t)h->longest_ns > m->shared->held_ns)
		m->shared->held_ns = (uint64_t)h->longest_ns;
	m->shared->lost_ns += (uint64_t)((double)h->all_ns * share);
}

static enum probe_why want_one(struct family *f, const struct wanted *w, const struct image *im,
			       int mem)
{
	const struct image_module *m = image_module(im, w->module);
	bool is_called = f->has_generated && !(w->f.what & PROBE_WANT_SITE);

	if (!m)
		return WHY_UNMAPPED;
	if (!m->is_64bit)
		return WHY_OUTSIDE;
	if (f->has_handlers && !f->has_unwinder)
		return WHY_UNWINDER;
	f->region->taken[w->f.id] = w->f.taken;
	return family_want(
		f, im, m, mem,
		&(struct family_wish){ .address = w->f.address,
				       .size = w->f.size,
				       .site = w->f.site,
				       .semaphore = w->f.semaphore,
				       .what = w->f.what | (is_called ? PROBE_WANT_CALLER : 0) });
}

/* All that is wanted from a place in the list on, written down for one family. is_news: only when
 * modules came or went. */
static int want_from(struct members *m, struct family *f, int pid, size_t from, bool is_news,
		     uint8_t *whys, struct error *err)
{
	cleanup(close_fd) int mem = mem_open(pid);
	struct image im;
	int r;

	if (mem < 0)
		return error_set(err, errno, "process %d is gone", pid);
	r = image_read(&im, pid, mem, err);
	if (r == 0 && (!is_news || family_modules(&im) != f->modules)) {
		f->modules = family_modules(&im);
		family_callers(f, &im);
		family_want_exits(f, pid, &im, mem);
		for (size_t i = from; i < m->wanted.nr; i++) {
			enum probe_why why = WHY_NONE;

			if (m->wanted.v[i].is_on)
				why = want_one(f, &m->wanted.v[i], &im, mem);
			if (whys)
				whys[i - from] = (uint8_t)why;
		}
	}
	image_done(&im);
	return r;
}

static int apply(struct members *m, const struct member *p, struct error *err)
{
	struct family_held h = { 0 };
	int r = family_apply(m->families.v[p->family].f, p->pid, &m->late, &h, err);

	held(m, &h, p->share);
	return r;
}

static int family_new(struct members *m, int pid, struct error *err)
{
	struct family *f = NULL;
	struct family_held h = { 0 };
	int r;

	if (m->nr_families >= FAMILIES_MAX)
		return error_set(err, E2BIG, "no more than %d programs at once", FAMILIES_MAX);
	f = mem_zalloc(sizeof(*f));
	r = family_enter(f, pid, m->max_bytes, m->handover, NULL, &m->late, &h, err);
	/* nobody has asked yet what it does */
	held(m, &h, 1 / (double)(m->v.nr + 1));
	if (r < 0) {
		free(f);
		return r;
	}
	m->nr_families++;
	vec_push(&m->families, (struct family_of){ .f = f, .pid = pid });
	namesakes_init(&m->families.v[m->families.nr - 1].names, pid);
	return (int)m->families.nr - 1;
}

int members_open(struct members *m, int pid, int root, struct error *err)
{
	struct member p = { .pid = pid, .started = kin_started(pid) };

	p.family = family_new(m, pid, err);
	if (p.family < 0)
		return p.family;
	vec_push(&m->v, p);
	if (root && root != pid)
		vec_push(&m->v, (struct member){
					.pid = root, .started = kin_started(root), .family = -1 });
	vec_each (&m->v, v)
		births_of(&m->births, v->pid);
	m->shared->nr_members = m->shared->nr_processes = 1;
	return apply(m, &p, err);
}

void members_alive(struct members *m)
{
	uint64_t until =
		__builtin_ia32_rdtsc() + (uint64_t)(GUARDIAN_ALIVE_NS * m->shared->ticks_per_ns);

	/* not before somebody reads what it says */
	vec_each (&m->families, f) {
		if (!f->f || !f->is_told)
			continue;
		__atomic_store_n(&f->f->region->there_until, until, __ATOMIC_RELAXED);
		__atomic_store_n(&f->f->region->alive_until,
				 __atomic_load_n(&m->shared->is_paused, __ATOMIC_RELAXED) ? 0
											  : until,
				 __ATOMIC_RELAXED);
	}
}

static bool lives(const struct member *p)
{
	return kin_started(p->pid) == p->started;
}

/* Every member as it is wanted; those that have ended are no failure. What became of the first that
 * lives; that there is none is a failure, unless somebody lives who may start another one. */
static int apply_all(struct members *m, struct error *err)
{
	bool has_first = false, has_any = false;
	struct error other;
	int first = 0;

	shares_look(m);
	for (size_t i = 0; i < m->v.nr; i++) {
		const struct member *p = &m->v.v[i];
		int r;

		has_any |= lives(p);
		if (p->family < 0 || !lives(p))
			continue;
		r = apply(m, p, has_first ? &other : err);
		first = has_first ? first : r;
		has_first = true;
		members_alive(m);
	}
	return has_any ? first : error_set(err, ESRCH, "process %d is gone", m->v.v[0].pid);
}

static void members_follow(struct members *m);

/* Which process stands for a family: the first that lives. */
static int family_pid(const struct members *m, size_t family)
{
	vec_each (&m->v, p)
		if (p->family == (int)family && lives(p))
			return p->pid;
	return 0;
}

/* The one that verdicts are of; NULL when nobody of any lives. */
static struct family *family_first(const struct members *m, int *pid)
{
	for (size_t i = 0; i < m->families.nr; i++)
		if ((*pid = family_pid(m, i)))
			return m->families.v[i].f;
	return NULL;
}

static void busy_tell(const struct members *m, const struct family *f, size_t from, uint8_t *whys)
{
	for (uint32_t i = 0; i < f->nr_patches; i++)
		for (size_t k = from; f->patches[i].is_on == 2 && k < m->wanted.nr; k++)
			if (m->wanted.v[k].f.id == (f->patches[i].what & 0xffff))
				whys[k - from] = WHY_BUSY;
}

int members_add(struct members *m, const struct guardian_function *v, size_t nr, const char *text,
		uint8_t *whys, struct error *err)
{
	size_t from = m->wanted.nr;
	struct family *first;
	int first_pid, r;

	if (!m->families.nr)
		return error_set(err, EINVAL, "no process is watched");
	for (size_t i = 0; i < nr; i++)
		vec_push(&m->wanted,
			 (struct wanted){ .f = v[i],
					  .module = arena_z(&m->arena, str_of(text + v[i].module)),
					  .is_on = true });
	first = family_first(m, &first_pid);
	for (size_t i = 0; i < m->families.nr; i++) {
		struct family *f = m->families.v[i].f;
		int pid = family_pid(m, i);

		if (pid)
			want_from(m, f, pid, from, false, f == first ? whys : NULL, err);
		members_alive(m);
	}
	r = apply_all(m, err);
	for (int i = 0; r == -EEXIST && i < REPLANS && family_replan(first); i++) {
		*err = (struct error){ 0 };
		want_from(m, first, first_pid, 0, false, NULL, err);
		r = apply_all(m, err);
	}
	if (first)
		busy_tell(m, first, from, whys);
	for (size_t i = 0; first && first->has_generated && i < nr; i++)
		whys[i] |= whys[i] ? WHY_FINAL : 0;
	members_follow(m);
	return r;
}

int members_remove(struct members *m, const uint32_t *ids, size_t nr, struct error *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		vec_each (&m->families, f)
			if (f->f)
				family_unwant(f->f, ids[i]);
		vec_each (&m->wanted, w)
			if (w->f.id == ids[i])
				w->is_on = false;
	}
	for (size_t i = 0; i < m->wanted.nr; i++)
		if (m->wanted.v[i].is_on)
			m->wanted.v[kept++] = m->wanted.v[i];
	m->wanted.nr = kept;
	apply_all(m, err);
	return 0;
}

static struct member *member_of(struct members *m, int pid)
{
	vec_each (&m->v, p)
		if (p->pid == pid)
			return p;
	return NULL;
}

/* Whether the process has a module that something is wanted of. */
static bool is_concerned(const struct members *m, int pid)
{
	cleanup(close_fd) int mem = mem_open(pid);
	struct error err;
	struct image im;
	bool is = false;

	if (mem < 0 || image_read(&im, pid, mem, &err) < 0)
		return false;
	vec_each (&m->wanted, w)
		is |= w->is_on && image_module(&im, w->module);
	image_done(&im);
	return is;
}

/* A process of which nothing is known yet: a child with our code in it, or one with none. */
static void member_look(struct members *m, struct member *p)
{
	struct error err = { 0 };

	for (size_t i = 0; i < m->families.nr; i++)
		if (m->families.v[i].f && family_has(m->families.v[i].f, p->pid)) {
			p->family = (int)i;
			m->shared->nr_processes++;
			apply(m, p, &err);
			return;
		}
	p->family = -1;
	if (!m->follows || p->nr_tries >= TRIES_MAX || !is_concerned(m, p->pid))
		return;
	p->nr_tries++;
	p->family = family_new(m, p->pid, &err);
	if (p->family < 0) {
		if (p->nr_tries == TRIES_MAX)
			m->shared->nr_refused++;
		return;
	}
	m->shared->nr_processes++;
	want_from(m, m->families.v[p->family].f, p->pid, 0, false, NULL, &err);
	apply(m, p, &err);
}

static void member_see(struct members *m, int pid)
{
	struct member *p = member_of(m, pid);
	uint64_t started = kin_started(pid);

	if (!started)
		return;
	if (p && p->started == started && p->family >= 0 &&
	    family_has(m->families.v[p->family].f, pid))
		return;
	if (!p && m->v.nr < MEMBERS_MAX) {
		vec_push(&m->v, (struct member){ .pid = pid });
		p = &m->v.v[m->v.nr - 1];
	}
	if (!p)
		return;
	if (p->started != started)
		*p = (struct member){ .pid = pid, .started = started };
	member_look(m, p);
}

/* Those whose parents ended before they were seen have told of themselves. */
static void rings_follow(struct members *m, struct family_of *f)
{
	for (uint32_t i = 0; i < f->f->nr_rings && i < f->f->region->nr_claimed; i++) {
		struct probe_ring *r =
			(void *)((char *)f->f->region + PROBE_RINGS_AT + i * PROBE_RING_BYTES);
		uint64_t owner = __atomic_load_n(&r->owner, __ATOMIC_RELAXED);
		int pid = owner ? (int)(namesakes_here(&f->names, owner) >> 32) : 0;

		if (pid > 0 && !member_of(m, pid) && family_has(f->f, pid))
			member_see(m, pid);
	}
}

static void members_follow(struct members *m)
{
	cleanup(free) int *pids = mem_alloc(MEMBERS_MAX * sizeof(int));
	size_t nr = 0;

	/* all that we know may have children, even when their parent is gone */
	vec_each (&m->v, p)
		if (nr < MEMBERS_MAX && lives(p))
			pids[nr++] = p->pid;
	vec_each (&m->births.made, pid)
		if (nr < MEMBERS_MAX && !member_of(m, *pid))
			pids[nr++] = *pid;
	vec_clear(&m->births.made);
	for (size_t i = 0, known = nr; i < nr; i++) {
		size_t before = nr, kept = nr;

		kin_children(pids[i], m->nr_ticks % LOOK_EVERY == 0, pids, &nr, MEMBERS_MAX);
		for (size_t k = before; k < nr; k++) {
			bool is_known = false;

			for (size_t j = 0; j < known && !is_known; j++)
				is_known = pids[j] == pids[k];
			if (!is_known)
				pids[kept++] = pids[k];
		}
		nr = kept;
	}
	for (size_t i = 0; i < nr; i++)
		member_see(m, pids[i]);
	for (size_t i = 0; i < m->families.nr; i++)
		if (m->families.v[i].f)
			rings_follow(m, &m->families.v[i]);
}

/* Whether the program itself is one that something is wanted of; its libraries may come later. */
static bool is_wanted_program(const struct members *m, int pid)
{
	char path[32], to[4096];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, to, sizeof(to) - 1);
	to[n > 0 ? n : 0] = 0;
	vec_each (&m->wanted, w)
		if (w->is_on && strcmp(w->module, to) == 0)
			return true;
	return false;
}

/* A process that has become another program is watched from its beginning, if it can be had. */
static void member_began(void *to, int pid)
{
	struct members *m = to;
	struct member *p = member_of(m, pid);

	if (!m->follows || !is_wanted_program(m, pid))
		return;
	if (p)
		*p = (struct member){ .pid = pid, .started = p->started, .family = -1 };
	spawn_catch(pid);
	member_see(m, pid);
	members_alive(m);
}

size_t members_hear(struct members *m)
{
	return births_read(&m->births, member_began, m);
}

static void members_leave_out_the_dead(struct members *m)
{
	size_t kept = 0, nr_live = 0;

	for (size_t i = 0; i < m->v.nr; i++) {
		bool is_alive = lives(&m->v.v[i]);

		nr_live += is_alive && m->v.v[i].family >= 0;
		/* the first is whom it is all about */
		if (is_alive || !i)
			m->v.v[kept++] = m->v.v[i];
	}
	m->v.nr = kept;
	m->shared->nr_members = nr_live;
}

static bool place_read(int pid, uint64_t at, struct probe_thread *t)
{
	struct iovec to = { t, sizeof(*t) }, from = { (void *)at, sizeof(*t) };

	return process_vm_readv(pid, &to, 1, &from, 1, 0) == (ssize_t)sizeof(*t);
}

/* A new thread may have its stack where one that has ended had it, and is in the same place then. */
static void place_free(int pid, uint64_t at, const struct probe_thread *was)
{
	uint64_t gone = PROBE_KEY_GONE;
	struct iovec to = { &gone, sizeof(gone) }, from = { (void *)at, sizeof(gone) };
	struct probe_thread now;

	if (place_read(pid, at, &now) && now.key == was->key && now.tid == was->tid)
		process_vm_writev(pid, &to, 1, &from, 1, 0);
}

static bool has_ended(int pid, const struct probe_thread *t)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%u", pid, t->tid);
	return t->key > PROBE_KEY_GONE && access(path, F_OK) < 0;
}

/* Places of threads that have ended are free again, before there are none left: those that were seen
 * to have ended twice, since who has just taken a place says a little later who it is. */
static void threads_sweep(struct family_of *f, int pid)
{
	uint64_t own = f->f->region->own, nr = 0;
	struct iovec to = { &nr, sizeof(nr) };
	struct iovec from = { (void *)(own + offsetof(struct probe_own, nr_threads)), sizeof(nr) };
	struct probe_thread t;

	if (process_vm_readv(pid, &to, 1, &from, 1, 0) != sizeof(nr) || nr < PROBE_THREADS / 2)
		return;
	if (!f->ended)
		f->ended = mem_zalloc(mem_bytes(PROBE_THREADS, sizeof(*f->ended)));
	for (size_t i = 0; i < PROBE_THREADS; i++) {
		uint64_t at = own + i * sizeof(t);

		if (!place_read(pid, at, &t))
			return;
		if (!has_ended(pid, &t)) {
			f->ended[i] = 0;
		} else if (f->ended[i] != t.tid) {
			f->ended[i] = t.tid;
		} else {
			place_free(pid, at, &t);
			f->ended[i] = 0;
		}
	}
}

/* The code of processes that are all gone is forgotten, and who reads what they told is told so. */
static void families_retire(struct members *m)
{
	for (size_t i = 0; i < m->families.nr; i++) {
		struct family_of *f = &m->families.v[i];

		if (!f->f || !f->is_told || family_pid(m, i)) {
			f->nr_idle = 0;
			continue;
		}
		if (++f->nr_idle < RETIRE_TICKS)
			continue;
		vec_each (&m->v, p)
			if (p->family == (int)i)
				p->family = -1;
		family_done(f->f);
		namesakes_done(&f->names);
		free(f->ended);
		f->ended = NULL;
		free(f->f);
		f->f = NULL;
		m->nr_families--;
	}
}

void members_tick(struct members *m)
{
	struct error err = { 0 };

	tracee_late(&m->late);
	if (!m->v.nr)
		return;
	members_follow(m);
	members_leave_out_the_dead(m);
	families_retire(m);
	if (m->nr_ticks % LOOK_EVERY == 0)
		births_sweep(&m->births);
	if (++m->nr_ticks % LOOK_EVERY)
		return;
	for (size_t i = 0; i < m->families.nr; i++) {
		struct family *f = m->families.v[i].f;
		int pid = family_pid(m, i);
		uint32_t nr = pid ? f->nr_patches : 0;

		if (pid)
			threads_sweep(&m->families.v[i], pid);
		if (pid && want_from(m, f, pid, 0, true, NULL, &err) == 0 && f->nr_patches != nr)
			apply_all(m, &err);
	}
}

/* What was read is given back to the system; heads and tails stay, as threads go by them. */
static void rings_empty(const struct family *f)
{
	for (uint32_t i = 0; i < f->nr_rings && i < f->region->nr_claimed; i++)
		fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			  (off_t)(PROBE_RINGS_AT + i * PROBE_RING_BYTES + PUNCH_FROM),
			  (off_t)(PROBE_RING_BYTES - PUNCH_FROM));
}

/* Until it is done, or there is nothing more to be done. */
static void undo(struct members *m, const struct member *p)
{
	for (int i = 0; i < UNDO_TRIES; i++) {
		struct error err = { 0 };

		if (family_leave(m->families.v[p->family].f, p->pid, &m->late, &err) == 0 ||
		    !lives(p))
			return;
		nanosleep(&(struct timespec){ .tv_nsec = i < 10 ? 1000000 : 20000000 }, NULL);
	}
}

void members_close(struct members *m)
{
	vec_each (&m->families, f)
		if (f->f)
			__atomic_store_n(&f->f->region->alive_until, 0, __ATOMIC_RELAXED);
	/* children that were made since are looked for once more */
	if (m->v.nr) {
		m->follows = false;
		members_follow(m);
	}
	vec_each (&m->v, p)
		if (p->family >= 0)
			undo(m, p);
	vec_each (&m->families, f) {
		if (!f->f)
			continue;
		rings_empty(f->f);
		/* last: whoever waits for it to be free begins to write there at once */
		__atomic_store_n(&f->f->region->session, 0, __ATOMIC_RELEASE);
		family_done(f->f);
		namesakes_done(&f->names);
		free(f->ended);
		f->ended = NULL;
		free(f->f);
	}
	for (int i = 0; m->late.tids.nr && i < 100; i++) {
		tracee_late(&m->late);
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	vec_done(&m->families);
	vec_done(&m->v);
	vec_done(&m->wanted);
	vec_done(&m->late.tids);
	births_close(&m->births);
	arena_done(&m->arena);
}
