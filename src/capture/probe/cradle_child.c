#include "capture/probe/cradle_child.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/time.h"
#include "capture/jvm/target.h"
#include "capture/probe/exported.h"
#include "capture/probe/family.h"
#include "capture/probe/guardian.h"
#include "capture/probe/hold.h"
#include "capture/probe/kin.h"

#define BEGINS_NS (60 * NS_S) /* from its program's begin to where it waits */
#define HOLD_NS (20 * NS_S)   /* … and how long it does at the most */
#define CALLED "dlsym"
#define CALLED_FOR "JVM_FindClassFromBootLoader"
#define LEAVE_TRIES 20
#define TRIES 60 /* half a millisecond apart; one that is too late ends it sooner */

bool cradle_child_begin(struct cradle_child *c, int pid)
{
	*c = (struct cradle_child){ .pid = pid,
				    .started = kin_started(pid),
				    .until = time_tick() + BEGINS_NS };
	return c->started && jvm_is_launcher(pid);
}

/* A machine that waits and has no handler for it does not listen to us (-Xrs). */
static bool takes_quit(int pid)
{
	struct jvm_target t;

	return jvm_target_read(pid, &t, NULL) < 0 || t.takes_quit;
}

/* Whether its loader has got to the launcher's library, which is the last but the C library. */
static bool is_loaded(int pid)
{
	struct buf maps = { 0 };
	bool is = !jvm_proc_read(pid, "maps", &maps) &&
		  str_find(buf_str(&maps), STR("/libjli.so")) < maps.n &&
		  str_find(buf_str(&maps), STR("/libc")) < maps.n;

	buf_done(&maps);
	return is;
}

static bool is_c_library(const char *path)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	return strncmp(name, "libc.", 5) == 0 || strncmp(name, "libc-", 5) == 0 ||
	       strncmp(name, "libdl", 5) == 0 || strncmp(name, "ld-musl", 7) == 0;
}

/* Whether it will be patched. */
static bool call_want(struct family *f, const struct tracee *t)
{
	struct error ignored = { 0 };
	struct image im = { 0 };
	char path[PATH_MAX + 32];
	bool is_wanted = false;

	if (image_read(&im, t->pid, t->mem, &ignored) < 0)
		return false;
	vec_each (&im.modules, m) {
		struct family_wish w = { .what = PROBE_WANT_HOLD };

		snprintf(path, sizeof(path), "/proc/%d/root%s", t->pid, m->path);
		if (is_c_library(m->path) && exported_find(path, CALLED, &w.address, &w.size))
			is_wanted |= family_want(f, &im, m, t->mem, &w) == WHY_NONE;
	}
	image_done(&im);
	return is_wanted;
}

static void put_off(struct probe_hold *h, double ticks_per_ns)
{
	__atomic_store_n(&h->until,
			 __builtin_ia32_rdtsc() + (uint64_t)(GUARDIAN_ALIVE_NS * ticks_per_ns),
			 __ATOMIC_RELAXED);
}

static void forget(struct cradle_child *c)
{
	if (c->f)
		family_done(c->f);
	free(c->f);
	c->f = NULL;
}

/* Whether it is ours again: nobody else is at work there. */
static bool take_back(struct probe_region *r)
{
	uint64_t nobody = 0, own = (uint64_t)getpid();

	return __atomic_load_n(&r->session, __ATOMIC_ACQUIRE) == own ||
	       __atomic_compare_exchange_n(&r->session, &nobody, own, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

void cradle_child_leave(struct cradle_child *c, struct tracee_late *late)
{
	struct error ignored = { 0 };
	bool is_ours;

	if (!c->f)
		return;
	hold_let_go(c->f->region);
	is_ours = take_back(c->f->region);
	for (int i = 0; is_ours && i < LEAVE_TRIES && kin_started(c->pid) == c->started &&
			family_leave(c->f, c->pid, late, &ignored) != 0;
	     i++)
		usleep(2000);
	if (is_ours)
		__atomic_store_n(&c->f->region->session, 0, __ATOMIC_RELEASE);
	forget(c);
}

/* While it stands still: what is not made now has not got to the call. */
static int prepare(void *to, struct family *f, struct tracee *t, struct error *err)
{
	struct probe_hold *h = &f->region->hold;
	const double *ticks_per_ns = to;
	int r;

	if (jvm_may_be_made(t->pid))
		return error_set(err, ETIME, "the machine of process %d is made", t->pid);
	if (!call_want(f, t))
		return error_set(err, ENOENT, "process %d has no " CALLED, t->pid);
	snprintf(h->name, sizeof(h->name), "%s", CALLED_FOR);
	put_off(h, *ticks_per_ns);
	__atomic_store_n(&h->state, PROBE_HOLD_ARMED, __ATOMIC_RELEASE);
	r = family_apply_stopped(f, t, err);
	if (r != 0)
		hold_let_go(f->region);
	return r > 0 ? error_set(err, EBUSY, "process %d is at it", t->pid) : r;
}

/* It cannot be worked on at any moment, as it has just begun: it is tried again. Whether that makes
 * sense, or all is there. */
static bool arm(struct cradle_child *c, double ticks_per_ns, struct tracee_late *late)
{
	const struct family_first first = { &ticks_per_ns, prepare };
	struct family_held stood = { 0 };
	struct error ignored = { 0 };
	int r;

	if (c->nr_tries++ == TRIES)
		return false;
	c->f = mem_zalloc(sizeof(*c->f));
	r = family_enter(c->f, c->pid, 0, -1, &first, late, &stood, &ignored);
	if (r < 0) {
		free(c->f);
		c->f = NULL;
		return r != -ETIME;
	}
	/* whoever comes to watch finds our code there, and goes on with it */
	__atomic_store_n(&c->f->region->session, 0, __ATOMIC_RELEASE);
	return true;
}

/* 1: it is to be held on. */
static bool is_held(struct cradle_child *c)
{
	struct probe_hold *h = &c->f->region->hold;
	uint32_t waits = PROBE_HOLD_WAITS;

	if (__atomic_load_n(&h->state, __ATOMIC_ACQUIRE) == PROBE_HOLD_ARMED)
		return time_tick() < c->until;
	if (!c->waits) {
		c->waits = time_tick();
		return takes_quit(c->pid);
	}
	if (time_tick() - c->waits < HOLD_NS)
		return true;
	__atomic_compare_exchange_n(&h->state, &waits, PROBE_HOLD_RAN_OUT, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_RELAXED);
	return false;
}

bool cradle_child_tend(struct cradle_child *c, double ticks_per_ns, struct tracee_late *late)
{
	if (kin_started(c->pid) != c->started) {
		forget(c);
		return false;
	}
	if (!c->f)
		return time_tick() < c->until && (!is_loaded(c->pid) || arm(c, ticks_per_ns, late));
	/* who watches it has let it go */
	if (!hold_is(c->f->region)) {
		forget(c);
		return false;
	}
	if (!is_held(c)) {
		cradle_child_leave(c, late);
		return false;
	}
	put_off(&c->f->region->hold, ticks_per_ns);
	return true;
}
