/*
 * Branches that part and meet again.
 *
 * At a split nothing is moved here but a part of a clock: this branch goes on with its active
 * instance, the other one has it as one that is closed. At a join both active ones become one. So
 * work that forks and joins in a loop carries no more than it packed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/baggage/state.h"

int clock_begin(struct culprit_baggage *b)
{
	struct clock *c;
	int r = clocks_reserve(b, 1);

	if (r)
		return r;
	c = &b->clocks[b->nr_clocks++];
	c->name = random_name();
	c->is_shared = false;
	tree_leaf(&c->id, 1);
	tree_leaf(&c->history, 0);
	return 0;
}

static int name_by(struct culprit_baggage *b, struct clock *c)
{
	struct instance *active = &b->instances[0];
	struct instance named = { .clock = c->name };
	int r = tree_raise(&c->history, &c->id, &named.at, &named.nr);

	if (r)
		return r;
	*active = named;
	b->is_dirty = false;
	return 0;
}

/* A clock that is full up is no reason to fail: another one, or a new one, will do. */
int baggage_name(struct culprit_baggage *b)
{
	int r;

	if (!b->is_dirty)
		return 0;
	for (uint32_t i = 0; i < b->nr_clocks; i++)
		if (!name_by(b, &b->clocks[i]))
			return 0;
	r = clock_begin(b);
	return r ? r : name_by(b, &b->clocks[b->nr_clocks - 1]);
}

static struct clock *clock_named(const struct culprit_baggage *b, uint64_t name)
{
	for (uint32_t i = 0; i < b->nr_clocks; i++)
		if (b->clocks[i].name == name)
			return &b->clocks[i];
	return NULL;
}

#define NONE UINT32_MAX

static void drop_bag(struct culprit_baggage *b, uint32_t at)
{
	bag_done(&b->bags[at]);
	b->nr_bags--;
	memmove(&b->bags[at], &b->bags[at + 1], (b->nr_bags - at) * sizeof(*b->bags));
}

/* Instances without a dot have nothing in them, or what nobody needs any more. */
static void compact(struct culprit_baggage *b)
{
	uint32_t to[INSTANCES_MAX], nr = 1;

	to[0] = 0;
	for (uint32_t i = 1; i < b->nr_instances; i++) {
		to[i] = b->instances[i].nr ? nr : NONE;
		if (b->instances[i].nr)
			b->instances[nr++] = b->instances[i];
	}
	b->nr_instances = nr;
	for (uint32_t k = b->nr_bags; k-- > 0;) {
		b->bags[k].instance = to[b->bags[k].instance];
		if (b->bags[k].instance == NONE)
			drop_bag(b, k);
	}
}

static int copy_clocks(struct culprit_baggage *to, const struct culprit_baggage *from)
{
	int r = clocks_reserve(to, from->nr_clocks);

	for (uint32_t i = 0; i < from->nr_clocks && !r; i++) {
		const struct clock *c = &from->clocks[i];
		struct clock *kid = &to->clocks[to->nr_clocks];

		kid->name = c->name;
		kid->is_shared = true;
		tree_leaf(&kid->id, 0);
		r = tree_copy(&kid->history, &c->history);
		to->nr_clocks += !r;
	}
	return r;
}

/* Instance i of b is i + 1 of the copy, whose active one is empty. */
static int copy_instances(struct culprit_baggage *to, const struct culprit_baggage *from)
{
	int r = instances_reserve(to, from->nr_instances);

	if (!r)
		r = bags_reserve(to, from->nr_bags);
	if (r)
		return r;
	memcpy(to->instances + 1, from->instances, from->nr_instances * sizeof(*to->instances));
	to->nr_instances = from->nr_instances + 1;
	for (uint32_t i = 0; i < from->nr_bags && !r; i++) {
		r = bag_copy(&to->bags[i], &from->bags[i]);
		if (r)
			bag_done(&to->bags[i]);
		to->bags[i].instance++;
		to->nr_bags += !r;
	}
	return r;
}

static int copy(struct culprit_baggage *b, struct culprit_baggage *kid)
{
	int r = baggage_open(b);

	if (!r)
		r = baggage_name(b);
	if (!r)
		r = copy_clocks(kid, b);
	if (!r)
		r = copy_instances(kid, b);
	if (r)
		return r;
	compact(kid);
	kid->now = b->now;
	kid->lost = b->lost;
	kid->diverged = b->diverged;
	kid->bytes = b->bytes;
	return 0;
}

/* One clock that is shared is enough to name what the other branch packs. */
static void share_clocks(struct culprit_baggage *b, struct culprit_baggage *kid)
{
	bool is_split = false;

	for (uint32_t i = 0; i < b->nr_clocks; i++) {
		b->clocks[i].is_shared = true;
		if (!is_split)
			is_split = !tree_split(&b->clocks[i].id, &kid->clocks[i].id);
		if (!is_split)
			tree_leaf(&kid->clocks[i].id, 0);
	}
}

int culprit_baggage_split(struct culprit_baggage *b, struct culprit_baggage **other)
{
	struct culprit_baggage *kid;
	int r;

	*other = NULL;
	if (!b || (b->is_open && !b->nr_bags && !b->lost))
		return 0;
	kid = baggage_new();
	if (!kid)
		return -ENOMEM;
	r = copy(b, kid);
	if (r) {
		baggage_clear(kid);
		kid->lost = 1 + b->lost;
		for (uint32_t i = 0; i < b->nr_bags; i++)
			kid->lost += b->bags[i].nr;
	} else {
		baggage_changed(b);
		share_clocks(b, kid);
	}
	*other = kid;
	return r;
}

/* What becomes of the instances of two that join. */
struct meeting {
	struct culprit_baggage *a, *b;
	struct clock *clocks; /* of both */
	uint32_t nr_clocks;
	bool a_stays[INSTANCES_MAX], b_stays[INSTANCES_MAX];
	uint32_t same[INSTANCES_MAX]; /* of an instance of b: the one of a that it is, or NONE */
};

static int clocks_of_both(struct meeting *m)
{
	const struct culprit_baggage *a = m->a, *b = m->b;
	int r = 0;

	m->clocks = calloc(a->nr_clocks + b->nr_clocks + 1, sizeof(*m->clocks));
	if (!m->clocks)
		return -ENOMEM;
	for (uint32_t i = 0; i < a->nr_clocks + b->nr_clocks && !r; i++) {
		bool is_a = i < a->nr_clocks;
		const struct clock *c = is_a ? &a->clocks[i] : &b->clocks[i - a->nr_clocks];
		const struct clock *d = clock_named(is_a ? b : a, c->name);
		struct clock *to = &m->clocks[m->nr_clocks];

		if (d && !is_a)
			continue;
		d = d ? d : c;
		to->name = c->name;
		to->is_shared = c->is_shared || d->is_shared;
		r = tree_highest(&to->id, &c->id, &d->id);
		if (!r)
			r = tree_highest(&to->history, &c->history, &d->history);
		m->nr_clocks++;
	}
	return !r && m->nr_clocks > CLOCKS_MAX ? -E2BIG : r;
}

static bool knows(const struct culprit_baggage *b, const struct instance *i)
{
	const struct clock *c = clock_named(b, i->clock);

	return c && tree_value(&c->history, &i->at) >= i->nr;
}

static bool same_instance(const struct instance *x, const struct instance *y)
{
	return x->nr && x->nr == y->nr && x->clock == y->clock &&
	       !memcmp(&x->at, &y->at, sizeof(x->at));
}

static void who_stays(struct meeting *m)
{
	const struct culprit_baggage *a = m->a, *b = m->b;

	for (uint32_t i = 0; i < a->nr_instances; i++)
		m->a_stays[i] = a->instances[i].nr && !knows(b, &a->instances[i]);
	for (uint32_t j = 0; j < b->nr_instances; j++) {
		m->b_stays[j] = b->instances[j].nr && !knows(a, &b->instances[j]);
		m->same[j] = NONE;
		for (uint32_t i = 0; i < a->nr_instances; i++) {
			if (!same_instance(&a->instances[i], &b->instances[j]))
				continue;
			m->same[j] = i;
			m->a_stays[i] = true;
			m->b_stays[j] = false;
			break;
		}
	}
}

/* Whether there is room for all of it, before anything is changed. */
static int make_room(struct meeting *m)
{
	const struct culprit_baggage *a = m->a, *b = m->b;
	uint32_t instances = 0, bags = 0;
	size_t bytes = 0;
	int r;

	for (uint32_t j = 0; j < b->nr_instances; j++)
		instances += m->b_stays[j];
	for (uint32_t i = 0; i < a->nr_bags; i++)
		if (m->a_stays[a->bags[i].instance])
			bytes += bag_bytes(&a->bags[i]);
	for (uint32_t j = 0; j < b->nr_bags; j++) {
		uint32_t instance = b->bags[j].instance;

		if (!m->b_stays[instance] && m->same[instance] == NONE)
			continue;
		bags++;
		bytes += m->b_stays[instance] ? bag_bytes(&b->bags[j]) : 0;
	}
	if (bytes > WHOLE_BYTES)
		return -E2BIG;
	r = instances_reserve(m->a, instances);
	return r ? r : bags_reserve(m->a, bags);
}

/* The same instance on both sides, with something else in it: somebody packed without a split. */
static bool unite(struct meeting *m, uint32_t i, uint32_t j)
{
	struct culprit_baggage *a = m->a, *b = m->b;
	bool differs = false;

	for (uint32_t k = 0; k < b->nr_bags; k++) {
		struct bag *theirs = &b->bags[k], *ours;

		if (theirs->instance != j)
			continue;
		ours = bag_of(a, &theirs->q, i);
		if (ours && bag_equal(ours, theirs))
			continue;
		differs = true;
		if (!ours) {
			a->bags[a->nr_bags] = *theirs;
			a->bags[a->nr_bags++].instance = i;
			bag_init(theirs, &theirs->q, j);
		} else if (bag_unite(ours, theirs)) {
			ours->lost += theirs->nr;
		}
	}
	return differs;
}

/* Instance i with all that is in it goes into the active one, which is another one by that. */
static void absorb(struct culprit_baggage *b, uint32_t i)
{
	for (uint32_t k = b->nr_bags; k-- > 0;) {
		struct bag *from = &b->bags[k], *to;

		if (from->instance != i)
			continue;
		to = bag_of(b, &from->q, 0);
		if (!to) {
			from->instance = 0;
			continue;
		}
		if (bag_merge(to, from))
			to->lost += from->nr;
		drop_bag(b, k);
	}
	b->instances[i].nr = 0;
	b->is_dirty = true;
}

static void swap_with_active(struct culprit_baggage *b, uint32_t i)
{
	struct instance active = b->instances[0];

	b->instances[0] = b->instances[i];
	b->instances[i] = active;
	for (uint32_t k = 0; k < b->nr_bags; k++) {
		if (b->bags[k].instance == i)
			b->bags[k].instance = 0;
		else if (!b->bags[k].instance)
			b->bags[k].instance = i;
	}
}

/* Instance j of b comes to a; where it is then. */
static uint32_t move_over(struct meeting *m, uint32_t j)
{
	struct culprit_baggage *a = m->a, *b = m->b;
	uint32_t i = a->nr_instances++;

	a->instances[i] = b->instances[j];
	for (uint32_t k = 0; k < b->nr_bags; k++) {
		if (b->bags[k].instance != j)
			continue;
		a->bags[a->nr_bags] = b->bags[k];
		a->bags[a->nr_bags++].instance = i;
		bag_init(&b->bags[k], &b->bags[k].q, j);
	}
	return i;
}

static void leave_active(struct culprit_baggage *a)
{
	for (uint32_t k = a->nr_bags; k-- > 0;)
		if (!a->bags[k].instance)
			drop_bag(a, k);
	a->instances[0].nr = 0;
}

static void meet(struct meeting *m)
{
	struct culprit_baggage *a = m->a, *b = m->b;
	uint32_t theirs = NONE; /* where the active one of b is in a */
	bool diverged = false;

	if (!m->a_stays[0])
		leave_active(a);
	for (uint32_t i = 1; i < a->nr_instances; i++)
		if (!m->a_stays[i])
			a->instances[i].nr = 0;
	for (uint32_t j = 0; j < b->nr_instances; j++) {
		uint32_t i = m->same[j];

		if (i != NONE)
			diverged |= unite(m, i, j);
		else if (m->b_stays[j])
			i = move_over(m, j);
		if (!j)
			theirs = i;
	}
	a->diverged += diverged;
	if (theirs != NONE && theirs && a->instances[0].nr)
		absorb(a, theirs);
	else if (theirs != NONE && theirs)
		swap_with_active(a, theirs);
	compact(a);
}

static void take_clocks(struct meeting *m)
{
	struct culprit_baggage *a = m->a;

	for (uint32_t i = 0; i < a->nr_clocks; i++) {
		tree_done(&a->clocks[i].id);
		tree_done(&a->clocks[i].history);
	}
	memcpy(a->clocks, m->clocks, m->nr_clocks * sizeof(*m->clocks));
	a->nr_clocks = m->nr_clocks;
	m->nr_clocks = 0;
}

static bool is_named_by(const struct culprit_baggage *b, const struct clock *c)
{
	for (uint32_t i = 0; i < b->nr_instances; i++)
		if (b->instances[i].nr && b->instances[i].clock == c->name)
			return true;
	return false;
}

/*
 * Clocks that are whole again, name nothing, and were never there at a split, are known to nobody
 * else: they are of branches that began with nothing and have ended. The last ones are kept all the
 * same, so that a branch that comes back twice is known.
 */
static void forget_clocks(struct culprit_baggage *b)
{
	uint32_t nr = 0, gone = 0;

	if (b->nr_clocks <= CLOCKS_KEPT || baggage_name(b))
		return;
	for (uint32_t i = 0; i < b->nr_clocks; i++) {
		struct clock *c = &b->clocks[i];

		if (b->nr_clocks - gone > CLOCKS_KEPT / 2 && !c->is_shared && tree_is(&c->id, 1) &&
		    !is_named_by(b, c)) {
			tree_done(&c->id);
			tree_done(&c->history);
			gone++;
			continue;
		}
		b->clocks[nr++] = *c;
	}
	b->nr_clocks = nr;
}

static int prepare(struct meeting *m)
{
	int r = baggage_open(m->a);

	if (!r)
		r = baggage_open(m->b);
	if (!r)
		r = baggage_name(m->a);
	if (!r)
		r = baggage_name(m->b);
	if (!r)
		r = clocks_of_both(m);
	if (r)
		return r;
	who_stays(m);
	r = make_room(m);
	if (!r && m->nr_clocks > m->a->nr_clocks)
		r = clocks_reserve(m->a, m->nr_clocks - m->a->nr_clocks);
	return r;
}

int culprit_baggage_join(struct culprit_baggage **b, struct culprit_baggage *other)
{
	struct meeting m = { .a = *b, .b = other };
	uint64_t before;
	int r;

	if (!other || *b == other)
		return 0;
	if (!*b) {
		*b = other;
		return 0;
	}
	before = m.a->diverged;
	r = prepare(&m);
	if (!r) {
		meet(&m);
		take_clocks(&m);
		r = m.a->diverged > before;
		m.a->now = m.a->now > m.b->now ? m.a->now : m.b->now;
		m.a->lost = m.a->lost > m.b->lost ? m.a->lost : m.b->lost;
		m.a->diverged = m.a->diverged > m.b->diverged ? m.a->diverged : m.b->diverged;
		baggage_count(m.a);
		forget_clocks(m.a);
		baggage_changed(m.a);
		culprit_baggage_free(m.b);
	}
	for (uint32_t i = 0; i < m.nr_clocks; i++) {
		tree_done(&m.clocks[i].id);
		tree_done(&m.clocks[i].history);
	}
	free(m.clocks);
	return r;
}
