#include "source/packet_flows.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define CLOSED_MAX 4096

/* By the time of their last packet. */
struct ages {
	struct flow *newest, *oldest;
	size_t nr;
};

struct flows {
	size_t max;
	void (*forget)(void *to, struct flow *f);
	void *to;
	struct ages open, closed;
	struct flow *last; /* the one that was got last */
	size_t nr_chains;  /* a power of two */
	struct flow **chains;
};

struct flows *flows_new(size_t max, void (*forget)(void *to, struct flow *f), void *to)
{
	struct flows *t = mem_zalloc(sizeof(*t));

	t->max = max;
	t->forget = forget;
	t->to = to;
	t->nr_chains = 1024;
	t->chains = mem_zalloc(t->nr_chains * sizeof(*t->chains));
	return t;
}

static int end_cmp(const struct endpoint *a, const struct endpoint *b)
{
	int d = memcmp(&a->address, &b->address, sizeof(a->address));

	return d ? d : (int)a->port - (int)b->port;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 32;
}

static uint64_t hash_end(uint64_t h, const struct endpoint *e)
{
	uint64_t half[2];

	memcpy(half, e->address.b, sizeof(half));
	return mix(mix(mix(h, half[0]), half[1]), e->port);
}

static uint64_t hash_of(const struct endpoint end[2], enum packet_proto proto)
{
	return hash_end(hash_end(proto, &end[0]), &end[1]);
}

static struct flow **chain_of(const struct flows *t, uint64_t hash)
{
	return &t->chains[hash & (t->nr_chains - 1)];
}

static struct ages *ages_of(struct flows *t, const struct flow *f)
{
	return f->state == FLOW_CLOSED ? &t->closed : &t->open;
}

static void unlink_age(struct ages *a, struct flow *f)
{
	*(f->newer ? &f->newer->older : &a->newest) = f->older;
	*(f->older ? &f->older->newer : &a->oldest) = f->newer;
	a->nr--;
}

static void link_newest(struct ages *a, struct flow *f)
{
	f->newer = NULL;
	f->older = a->newest;
	*(a->newest ? &a->newest->newer : &a->oldest) = f;
	a->newest = f;
	a->nr++;
}

static void drop(struct flows *t, struct flow *f)
{
	struct flow **at = chain_of(t, f->hash);

	t->forget(t->to, f);
	while (*at != f)
		at = &(*at)->chain;
	*at = f->chain;
	unlink_age(ages_of(t, f), f);
	if (t->last == f)
		t->last = NULL;
	tcp_done(&f->tcp[0]);
	tcp_done(&f->tcp[1]);
	free(f);
}

static void drop_oldest(struct flows *t)
{
	drop(t, t->closed.oldest ? t->closed.oldest : t->open.oldest);
}

bool flows_drop(struct flows *t)
{
	if (!t->open.oldest || t->open.oldest == t->last)
		return false;
	drop(t, t->open.oldest);
	return true;
}

static void set_state(struct flows *t, struct flow *f, enum flow_state state)
{
	unlink_age(ages_of(t, f), f);
	f->state = (uint8_t)state;
	link_newest(ages_of(t, f), f);
}

void flows_close(struct flows *t, struct flow *f)
{
	set_state(t, f, FLOW_CLOSED);
	if (t->closed.nr > CLOSED_MAX)
		drop(t, t->closed.oldest);
}

void flows_reopen(struct flows *t, struct flow *f)
{
	set_state(t, f, FLOW_OPEN);
}

static void free_all(struct flows *t, struct ages *a)
{
	struct flow *newer;

	for (struct flow *f = a->oldest; f; f = newer) {
		newer = f->newer;
		t->forget(t->to, f);
		tcp_done(&f->tcp[0]);
		tcp_done(&f->tcp[1]);
		free(f);
	}
}

void flows_free(struct flows *t)
{
	free_all(t, &t->closed);
	free_all(t, &t->open);
	free(t->chains);
	free(t);
}

static void rechain(struct flows *t, const struct ages *a)
{
	for (struct flow *f = a->oldest; f; f = f->newer) {
		struct flow **at = chain_of(t, f->hash);

		f->chain = *at;
		*at = f;
	}
}

static void grow(struct flows *t)
{
	free(t->chains);
	t->nr_chains *= 2;
	t->chains = mem_zalloc(t->nr_chains * sizeof(*t->chains));
	rechain(t, &t->open);
	rechain(t, &t->closed);
}

static struct flow *add(struct flows *t, const struct endpoint end[2], enum packet_proto proto,
			uint64_t hash)
{
	struct flow *f, **at;

	if (t->open.nr + t->closed.nr >= t->max)
		drop_oldest(t);
	else if (t->open.nr + t->closed.nr >= t->nr_chains)
		grow(t);
	f = mem_zalloc(sizeof(*f));
	f->end[0] = end[0];
	f->end[1] = end[1];
	f->proto = (uint8_t)proto;
	f->hash = hash;
	at = chain_of(t, hash);
	f->chain = *at;
	*at = f;
	link_newest(&t->open, f);
	return f;
}

static bool is_of(const struct flow *f, const struct endpoint end[2], const struct packet *p)
{
	return f->proto == p->proto && !end_cmp(&f->end[0], &end[0]) &&
	       !end_cmp(&f->end[1], &end[1]);
}

struct flow *flows_get(struct flows *t, const struct packet *p, unsigned *side)
{
	unsigned from = end_cmp(&p->from, &p->to) > 0;
	struct endpoint end[2];
	struct ages *ages;
	struct flow *f;
	uint64_t hash;

	end[from] = p->from;
	end[!from] = p->to;
	*side = from;
	hash = hash_of(end, p->proto);
	for (f = *chain_of(t, hash); f && (f->hash != hash || !is_of(f, end, p));)
		f = f->chain;
	if (!f) {
		t->last = add(t, end, p->proto, hash);
		return t->last;
	}
	ages = ages_of(t, f);
	if (f != ages->newest) {
		unlink_age(ages, f);
		link_newest(ages, f);
	}
	t->last = f;
	return f;
}
