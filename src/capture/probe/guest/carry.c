#include "capture/probe/guest/carry.h"

#include "capture/probe/guest/courier.h"
#include "capture/probe/guest/mark.h"
#include "capture/probe/guest/thread.h"
#include "capture/probe/guest/weave.h"

_Static_assert(sizeof(struct courier_fd) <= PROBE_CARRY_FD_BYTES &&
		       COURIER_FDS == PROBE_CARRY_FDS &&
		       sizeof(struct courier_room) <= PROBE_CARRY_ROOM_BYTES &&
		       sizeof(struct courier_state) <= sizeof(((struct probe_bag *)0)->carried) &&
		       offsetof(struct courier_state, origin) == 8 * PROBE_CARRIED_ORIGIN &&
		       offsetof(struct courier_state, is_due) == PROBE_CARRIED_DUE,
	       "what is carried");

static struct courier_state *state_of(const struct probe_thread *t)
{
	return (struct courier_state *)culprit_code.own->bags[guest_thread_number(t)].carried;
}

/* False: nothing is carried here. */
static bool courier_of(struct probe_thread *t, struct courier *c)
{
	struct probe_region *g = culprit_code.region;
	struct probe_own *own = culprit_code.own;

	c->table = (struct handover *)__atomic_load_n(&g->handover, __ATOMIC_ACQUIRE);
	if (!handover_is_sound(c->table))
		return false;
	c->fds = (struct courier_fd *)own->carry_fds;
	c->counts = &g->carried;
	c->now = t->tick;
	c->time = c->table->reach ? weave_time(c->now) : 0;
	c->until = __atomic_load_n(&g->alive_until, __ATOMIC_RELAXED);
	c->first = NULL;
	c->session = (uint32_t)weave_session();
	c->tid = t->tid;
	c->bag = weave_bag(t);
	c->writer = weave_writer(t);
	c->spill = weave_spill(t, &c->spill_room);
	c->state = state_of(t);
	c->room = (struct courier_room *)own->carry_rooms[guest_thread_number(t)];
	return true;
}

bool carry_enter(struct probe_thread *t, uint32_t kind, const uint64_t *args)
{
	struct courier c;

	if (!courier_of(t, &c))
		return false;
	if (kind == CARRY_OUT && args[2] && guest_memory_is_there(t, args[1], mark_bytes(args[2])))
		c.first = (const void *)args[1];
	return courier_enter(&c, (enum carry_call)kind, args);
}

void carry_leave(struct probe_thread *t, uint32_t kind, const uint64_t *args, int64_t result)
{
	struct courier c;

	if (courier_of(t, &c))
		courier_leave(&c, (enum carry_call)kind, args, result);
}

void carry_asleep(struct probe_thread *t, uint32_t kind, const uint64_t *args, int64_t result)
{
	struct courier c;

	if (courier_of(t, &c))
		courier_asleep(&c, (enum carry_call)kind, args, result);
}

void carry_settle(struct probe_thread *t)
{
	struct courier c;

	if (state_of(t)->is_due && courier_of(t, &c))
		courier_settle(&c);
}

void carry_begin(struct probe_thread *t)
{
	struct courier c;

	culprit_code.own->bags[guest_thread_number(t)].nr_begun++;
	if (courier_of(t, &c))
		courier_begin(&c);
	else
		bag_clear(weave_bag(t), weave_writer(t));
}
