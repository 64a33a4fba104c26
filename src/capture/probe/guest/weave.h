/* What advice does in a watched process: it runs where functions begin and end, and each thread
 * carries a bag from one to the next. */
#ifndef CULPRIT_CAPTURE_PROBE_GUEST_WEAVE_H
#define CULPRIT_CAPTURE_PROBE_GUEST_WEAVE_H

#include "capture/probe/guest/thread.h"

struct bag;
struct bag_spill;
struct bag_writer;

#define PROBE_WOVEN (PROBE_WANT_ADVICE | PROBE_WANT_CARRY | PROBE_WANT_BIRTH | PROBE_WANT_DEATH)

/* Bags of another session are empty, and so are those from before our code stood still: requests
 * may have begun and ended since. */
static inline uint64_t weave_session(void)
{
	return __atomic_load_n(&culprit_code.region->bags, __ATOMIC_RELAXED) +
	       __atomic_load_n(&culprit_code.own->nr_lapses, __ATOMIC_RELAXED);
}

static inline struct probe_bag *weave_place(const struct probe_thread *t)
{
	return &culprit_code.own->bags[guest_thread_number(t)];
}

/* What the thread carries, of this session; PROBE_BAG_BYTES. */
struct bag *weave_bag(struct probe_thread *t);
/* Under which name the thread writes into bags. */
struct bag_writer *weave_writer(struct probe_thread *t);
/* Where what finds no room in its bag goes: fills it, or NULL. */
struct bag_spill *weave_spill(const struct probe_thread *t, struct bag_spill *s);
/* One test: nothing was packed by anybody since the session began. */
bool weave_bag_is_empty(const struct probe_thread *t);

/* ns since 1970, as advice has it. */
uint64_t weave_time(uint64_t tick);

/* A place was passed by a thread for which there is no room in the table: what advice is there has
 * not run, and that is counted. */
void weave_unseen(uint64_t what);
/* A function of PROBE_WOVEN was passed, and nobody has said for long that we are watched (until:
 * who watches was last known to live): nothing is done, and that is counted. */
void weave_asleep(struct probe_thread *t, uint64_t what, uint64_t until);
/* A function of PROBE_WOVEN begins. True: its end is wanted, and its arguments are kept. */
bool weave_enter(struct probe_thread *t, struct entered *e, uint64_t tick);
/* … and ends, or is left by an exception. */
void weave_leave(struct probe_thread *t, const struct probe_frame *f, uint64_t result, uint64_t end,
		 bool is_unwound);
/* In the middle of a function; registers by DWARF's numbers. */
void weave_site(struct probe_thread *t, uint32_t function, const uint64_t *registers);
/* Where an agent in the process has found values for us. */
void weave_met(struct probe_thread *t, uint32_t function, uint32_t moment,
	       const struct probe_met *met);
/* The place is a new thread's. is_forked: the same one in a new process, with what it carries. */
void weave_renew(struct probe_thread *t, bool is_forked);
/* What it is so far, and what it is from now on (NULL: one that begins), as PROBE_SERVICE_BECOME
 * has it. */
void weave_self_keep(struct probe_thread *t, struct probe_self *to);
void weave_self_be(struct probe_thread *t, uint64_t number, const struct probe_self *is);

#endif
