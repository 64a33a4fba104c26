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
long culprit_hold(void *to, size_t room) __attribute__((visibility("hidden")));
long culprit_carry(const void *bytes, size_t nr) __attribute__((visibility("hidden")));
long culprit_join(const void *bytes, size_t nr) __attribute__((visibility("hidden")));
uint64_t culprit_mark(void) __attribute__((visibility("hidden")));
bool culprit_holds(void) __attribute__((visibility("hidden")));
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

	if (t && until < tick)
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

/* Where bytes become a bag, before it is believed. */
static struct bag *room_of(const struct probe_thread *t)
{
	struct courier_room *r =
		(struct courier_room *)culprit_code.own->carry_rooms[guest_thread_number(t)];

	return &r->bag;
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

long culprit_hold(void *to, size_t room)
{
	struct probe_thread *t = serve_begin(0);
	long nr;

	if (!t)
		return 0;
	carry_settle(t);
	nr = weave_bag_is_empty(t) ? 0 : bag_serialize(weave_bag(t), to, room);
	serve_end(t);
	return nr;
}

long culprit_carry(const void *bytes, size_t nr)
{
	struct probe_thread *t = serve_begin(0);
	long r = 0;

	if (!t)
		return 0;
	came_otherwise(t);
	if (!nr) {
		if (!weave_bag_is_empty(t))
			bag_clear(weave_bag(t), weave_writer(t));
	} else if (bag_deserialize(room_of(t), bytes, nr)) {
		bag_adopt(weave_bag(t), room_of(t), weave_writer(t));
	} else {
		bag_clear(weave_bag(t), weave_writer(t));
		r = -1;
	}
	serve_end(t);
	return r;
}

long culprit_join(const void *bytes, size_t nr)
{
	struct probe_thread *t = serve_begin(0);
	struct bag_spill spill;
	long r = 0;

	if (!t)
		return 0;
	carry_settle(t);
	if (bag_deserialize(room_of(t), bytes, nr))
		bag_join_spilling(weave_bag(t), room_of(t), weave_writer(t),
				  weave_spill(t, &spill));
	else
		r = -1;
	serve_end(t);
	return r;
}

uint64_t culprit_mark(void)
{
	struct probe_thread *t = guest_thread_find();
	const struct probe_bag *b = t ? weave_place(t) : NULL;
	const struct courier_state *c = b ? (const struct courier_state *)b->carried : NULL;

	return b ? (b->nr_begun * 0x9e3779b97f4a7c15u) ^ c->origin : 0;
}

/* What is due to be taken up first may be something. */
bool culprit_holds(void)
{
	struct probe_thread *t = guest_thread_find();

	return t && (!weave_bag_is_empty(t) ||
		     ((const struct courier_state *)weave_place(t)->carried)->is_due);
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
	t->tick = end;
	if (start)
		guest_tell(t, function, kind, start, kind >= PROBE_KIND_ENTRY ? 0 : end);
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
