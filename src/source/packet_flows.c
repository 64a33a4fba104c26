#include "source/packet_flows.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct flows {
	size_t max, nr;
	void (*forget)(void *to, struct flow *f);
	void *to;
	struct flow *newest, *oldest;
	size_t nr_chains; /* a power of two */
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

static struct flow **chain_of(const struct flows *t, const struct endpoint end[2],
			      enum packet_proto proto)
{
	return &t->chains[hash_end(hash_end(proto, &end[0]), &end[1]) & (t->nr_chains - 1)];
}

static void unlink_age(struct flows *t, struct flow *f)
{
	*(f->newer ? &f->newer->older : &t->newest) = f->older;
	*(f->older ? &f->older->newer : &t->oldest) = f->newer;
}

static void link_newest(struct flows *t, struct flow *f)
{
	f->newer = NULL;
	f->older = t->newest;
	*(t->newest ? &t->newest->newer : &t->oldest) = f;
	t->newest = f;
}

static void drop_oldest(struct flows *t)
{
	struct flow *f = t->oldest, **at = chain_of(t, f->end, f->proto);

	t->forget(t->to, f);
	while (*at != f)
		at = &(*at)->chain;
	*at = f->chain;
	unlink_age(t, f);
	t->nr--;
	tcp_done(&f->tcp[0]);
	tcp_done(&f->tcp[1]);
	free(f);
}

bool flows_drop(struct flows *t)
{
	if (t->oldest == t->newest)
		return false;
	drop_oldest(t);
	return true;
}

void flows_free(struct flows *t)
{
	while (t->oldest)
		drop_oldest(t);
	free(t->chains);
	free(t);
}

static void grow(struct flows *t)
{
	free(t->chains);
	t->nr_chains *= 2;
	t->chains = mem_zalloc(t->nr_chains * sizeof(*t->chains));
	for (struct flow *f = t->oldest; f; f = f->newer) {
		struct flow **at = chain_of(t, f->end, f->proto);

		f->chain = *at;
		*at = f;
	}
}

static struct flow *add(struct flows *t, const struct endpoint end[2], enum packet_proto proto)
{
	struct flow *f, **at;

	if (t->nr == t->max)
		drop_oldest(t);
	if (t->nr == t->nr_chains)
		grow(t);
	f = mem_zalloc(sizeof(*f));
	f->end[0] = end[0];
	f->end[1] = end[1];
	f->proto = proto;
	at = chain_of(t, end, proto);
	f->chain = *at;
	*at = f;
	link_newest(t, f);
	t->nr++;
	return f;
}

struct flow *flows_get(struct flows *t, const struct packet *p, unsigned *side)
{
	unsigned from = end_cmp(&p->from, &p->to) > 0;
	struct endpoint end[2];
	struct flow *f;

	end[from] = p->from;
	end[!from] = p->to;
	*side = from;
	f = *chain_of(t, end, p->proto);
	while (f && (f->proto != p->proto || end_cmp(&f->end[0], &end[0]) ||
		     end_cmp(&f->end[1], &end[1])))
		f = f->chain;
	if (!f)
		return add(t, end, p->proto);
	if (f != t->newest) {
		unlink_age(t, f);
		link_newest(t, f);
	}
	return f;
}
