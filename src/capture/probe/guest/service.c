/*
 * What an agent of a virtual machine calls that lives in the same process (agent/jvm): it knows
 * where its program is, and we what is asked there and what the thread carries.
 */
#include "capture/probe/guest/carry.h"
#include "capture/probe/guest/courier.h"
#include "capture/probe/guest/guest.h"
#include "capture/probe/guest/thread.h"
#include "capture/probe/guest/weave.h"
#include "lib/advice/spill.h"

void culprit_advise(uint32_t function, uint32_t moment, const struct probe_met *met)
	__attribute__((visibility("hidden")));
const void *culprit_see(void) __attribute__((visibility("hidden")));
void culprit_carry(const void *bag) __attribute__((visibility("hidden")));
void culprit_join(const void *bag) __attribute__((visibility("hidden")));
const struct probe_bag *culprit_place(void) __attribute__((visibility("hidden")));
void culprit_tell(uint32_t function, uint32_t kind, uint64_t start, uint64_t end)
	__attribute__((visibility("hidden")));
long culprit_become(uint64_t number, const struct probe_self *is, struct probe_self *was)
	__attribute__((visibility("hidden")));

/* The thread, until serve_end; NULL: nobody watches, or a signal came while we were at work. what:
 * the function, where advice is to run. */
static struct probe_thread *serve_begin(uint64_t what)
{
	struct probe_thread *t = guest_thread_find();
	uint64_t tick = now();
	uint64_t until = __atomic_load_n(&culprit_code.region->alive_until, __ATOMIC_RELAXED);

	if (!t)
		weave_unseen(what);
	else if (until < tick)
		weave_asleep(t, what, until);
	if (!t || until < tick)
		return NULL;
	if (t->busy) {
		if (t->ring)
			t->ring->nr_nested++;
		return NULL;
	}
	t->busy = (uint64_t)__builtin_frame_address(0);
	t->tick = tick;
	return t;
}

static void serve_end(struct probe_thread *t)
{
	t->busy = 0;
}

/* It did not come by a connection. */
static void came_otherwise(const struct probe_thread *t)
{
	uint64_t *carried = weave_place(t)->carried;

	for (size_t i = 0; i < sizeof(weave_place(t)->carried) / 8; i++)
		carried[i] = 0;
}

void culprit_advise(uint32_t function, uint32_t moment, const struct probe_met *met)
{
	struct probe_thread *t = serve_begin(PROBE_WANT_ADVICE | (function & 0xffff));

	if (!t)
		return;
	weave_met(t, function, moment, met);
	if (met->nr_unread && t->ring)
		t->ring->results.tally.nr_unread += met->nr_unread;
	serve_end(t);
}

const void *culprit_see(void)
{
	struct probe_thread *t = serve_begin(0);
	const struct bag *b = NULL;

	if (!t)
		return NULL;
	carry_settle(t);
	if (!weave_bag_is_empty(t))
		b = weave_bag(t);
	serve_end(t);
	return b;
}

void culprit_carry(const void *bag)
{
	struct probe_thread *t = serve_begin(0);

	if (!t)
		return;
	came_otherwise(t);
	if (bag)
		bag_adopt(weave_bag(t), bag, weave_writer(t));
	else if (!weave_bag_is_empty(t))
		bag_clear(weave_bag(t), weave_writer(t));
	serve_end(t);
}

void culprit_join(const void *bag)
{
	struct probe_thread *t = serve_begin(0);
	struct bag_spill spill;

	if (!t)
		return;
	carry_settle(t);
	bag_join_spilling(weave_bag(t), bag, weave_writer(t), weave_spill(t, &spill));
	serve_end(t);
}

const struct probe_bag *culprit_place(void)
{
	struct probe_thread *t = guest_thread_find();

	return t ? weave_place(t) : NULL;
}

void culprit_tell(uint32_t function, uint32_t kind, uint64_t start, uint64_t end)
{
	struct probe_thread *t = guest_thread_find();

	if (!t)
		return;
	if (t->busy) {
		if (t->ring)
			t->ring->nr_nested++;
		return;
	}
	t->busy = (uint64_t)__builtin_frame_address(0);
	t->tick = kind >= PROBE_KIND_ENTRY ? start : end;
	if (start)
		guest_tell(t, function, kind, start, end);
	else if (t->ring)
		t->ring->nr_too_deep++;
	serve_end(t);
}

/* It goes on whether anybody watches or not, so that nobody is taken for another afterwards. */
long culprit_become(uint64_t number, const struct probe_self *is, struct probe_self *was)
{
	struct probe_thread *t = guest_thread_find();

	if (!t || t->busy)
		return -1;
	t->busy = (uint64_t)__builtin_frame_address(0);
	weave_self_keep(t, was);
	weave_self_be(t, number, is);
	serve_end(t);
	return 0;
}
