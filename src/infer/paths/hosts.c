/*
 * "10.0.0.5" calls somebody, and "10.0.0.5:80" is called: both may be the same process. A host with
 * one service is that service. Among several services, those calls to one callee are given to the
 * service whose calls are open around them more often than around other moments, the surplus being
 * largest: callers of the caller are open around them too, but longer, and so more often by chance.
 * Such a choice is a guess and counted. A service is not taken to call itself: who calls the only
 * service of a host from that host is somebody else there.
 */
#include "infer/paths/hosts.h"

#include <stdlib.h>

#include "base/names.h"
#include "infer/paths/calls.h"
#include "infer/paths/feed.h"
#include "model/loss.h"

enum { SERVICES_MAX = 64, LOOKED_AT = 2048, SHIFTS = 4, LEAST = 8, CHOICES_MAX = 4096 };
#define LEAST_SHARE 0.8
#define LEAST_SURPLUS 0.1

/* Who of a host calls somebody. */
struct choice {
	uint32_t from, to; /* the host and the callee, as nodes */
	uint32_t service;  /* 0: none of them */
};

/* The services of one host. */
struct group {
	uint32_t nr;
	uint32_t service[SERVICES_MAX];
};

struct hosts {
	const struct feed *feed;
	struct losses *losses;
	struct names names;
	VEC(struct group *) groups; /* by number of the name */
	VEC(bool) is_service;       /* by node: is in its group */
	VEC(struct choice) choices;
	struct sides sides; /* of the window at hand, made when first needed */
	bool has_sides;
};

struct hosts *hosts_new(const struct feed *f, struct losses *losses)
{
	struct hosts *h = mem_zalloc(sizeof(*h));

	h->feed = f;
	h->losses = losses;
	return h;
}

void hosts_free(struct hosts *h)
{
	if (!h)
		return;
	vec_each (&h->groups, g)
		free(*g);
	vec_done(&h->groups);
	vec_done(&h->is_service);
	vec_done(&h->choices);
	names_done(&h->names);
	free(h);
}

/* "host:port" and "[host]:port"; what is left is the host. */
static bool take_host(struct str name, struct str *host)
{
	size_t n = name.n;

	while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9')
		n--;
	if (n < 2 || n == name.n || name.p[n - 1] != ':')
		return false;
	*host = str_head(name, n - 1);
	if (host->n > 2 && host->p[0] == '[' && host->p[host->n - 1] == ']')
		*host = str_head(str_skip(*host, 1), host->n - 2);
	return true;
}

static void add_service(struct hosts *h, uint32_t node)
{
	struct str host;
	sym_t at;

	if (!take_host(feed_node(h->feed, node), &host))
		return;
	at = names_add(&h->names, host);
	while (h->groups.nr <= at)
		vec_push(&h->groups, NULL);
	if (!h->groups.v[at])
		h->groups.v[at] = mem_zalloc(sizeof(struct group));
	if (h->groups.v[at]->nr < SERVICES_MAX)
		h->groups.v[at]->service[h->groups.v[at]->nr++] = node;
}

static void find_services(struct hosts *h, const struct window *w, const bool *receives)
{
	while (h->is_service.nr < w->nr_nodes)
		vec_push(&h->is_service, false);
	for (uint32_t i = 1; i < w->nr_nodes; i++) {
		if (!receives[i] || h->is_service.v[i])
			continue;
		h->is_service.v[i] = true;
		add_service(h, i);
	}
}

static const struct group *group_of(const struct hosts *h, uint32_t node)
{
	sym_t at;

	if (h->is_service.v[node])
		return NULL;
	at = names_find(&h->names, feed_node(h->feed, node));
	return at && at < h->groups.nr ? h->groups.v[at] : NULL;
}

/* The spans of a service by t1, and the latest end among those up to each. */
struct cover {
	const struct window *w;
	const uint32_t *in;
	uint32_t nr;
	int64_t *latest;
};

static void cover_init(struct cover *c, const struct window *w, const struct sides *s,
		       uint32_t node)
{
	*c = (struct cover){ w, s->in + s->in_first[node],
			     s->in_first[node + 1] - s->in_first[node], NULL };
	c->latest = mem_alloc(mem_bytes(c->nr + 1, sizeof(*c->latest)));
	for (uint32_t i = 0; i < c->nr; i++) {
		int64_t t4 = w->calls.v[c->in[i]].t4;

		t4 = t4 == CALL_OPEN ? INT64_MIN : t4;
		c->latest[i] = i && c->latest[i - 1] > t4 ? c->latest[i - 1] : t4;
	}
}

static bool is_covered(const struct cover *c, int64_t from, int64_t until)
{
	uint32_t lo = 0, hi = c->nr;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (c->w->calls.v[c->in[mid]].t1 <= from)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && c->latest[lo - 1] >= until;
}

/* How much more often the service is open around the calls than around moments beside them. */
static double surplus_of(const struct hosts *h, const struct window *w, uint32_t service,
			 const uint32_t *calls, uint32_t nr)
{
	int64_t length = w->calls.v[w->calls.nr - 1].t1 - w->calls.v[0].t1;
	double in = 0, beside = 0;
	struct cover c;

	cover_init(&c, w, &h->sides, service);
	for (uint32_t i = 0; i < nr; i++) {
		const struct call *one = &w->calls.v[calls[i]];

		in += is_covered(&c, one->t1, one->t4);
		for (int k = 1; k <= SHIFTS; k++) {
			int64_t by = length / 100 * (k % 2 ? k : -k) * (1 + (int64_t)i % 3);

			beside += is_covered(&c, one->t1 + by, one->t4 + by);
		}
	}
	free(c.latest);
	beside /= SHIFTS;
	return in >= LEAST_SHARE * nr && in - beside >= LEAST_SURPLUS * nr ? in - beside : 0;
}

static uint32_t choose(struct hosts *h, const struct window *w, const struct group *g,
		       uint32_t from, uint32_t to)
{
	const uint32_t *out = h->sides.out + h->sides.out_first[from];
	uint32_t nr_out = h->sides.out_first[from + 1] - h->sides.out_first[from];
	VEC(uint32_t) calls = { 0 };
	uint32_t best = 0;
	double most = 0;

	for (uint32_t i = 0; i < nr_out && calls.nr < LOOKED_AT; i++)
		if (w->calls.v[out[i]].to == to && w->calls.v[out[i]].t4 != CALL_OPEN)
			vec_push(&calls, out[i]);
	for (uint32_t i = 0; i < g->nr && calls.nr >= LEAST; i++) {
		double surplus = g->service[i] == to ? 0
						     : surplus_of(h, w, g->service[i], calls.v,
								  (uint32_t)calls.nr);

		if (surplus <= most)
			continue;
		most = surplus;
		best = g->service[i];
	}
	vec_done(&calls);
	return best;
}

static uint32_t choice_of(struct hosts *h, const struct window *w, const struct group *g,
			  uint32_t from, uint32_t to)
{
	struct choice made = { from, to, 0 };

	vec_each (&h->choices, c)
		if (c->from == from && c->to == to)
			return c->service;
	if (h->choices.nr >= CHOICES_MAX)
		return 0;
	if (!h->has_sides)
		sides_init(&h->sides, w);
	h->has_sides = true;
	made.service = choose(h, w, g, from, to);
	h->losses->count[LOSS_CALLERS_GUESSED] += made.service != 0;
	vec_push(&h->choices, made);
	return made.service;
}

/* Which service of the group made the call; 0 when it was somebody else. */
static uint32_t service_of(struct hosts *h, const struct window *w, const struct group *g,
			   const struct call *c)
{
	if (g->nr > 1)
		return choice_of(h, w, g, c->from, c->to);
	return g->service[0] == c->to ? 0 : g->service[0];
}

void hosts_join(struct hosts *h, struct window *w, const bool *receives)
{
	const struct group **groups;
	uint32_t *service;

	find_services(h, w, receives);
	if (!h->names.nr)
		return;
	groups = mem_zalloc(mem_bytes(w->nr_nodes + 1, sizeof(*groups)));
	service = mem_zalloc(mem_bytes(w->calls.nr + 1, sizeof(*service)));
	for (uint32_t i = 1; i < w->nr_nodes; i++)
		groups[i] = group_of(h, i);
	/* all are asked before any is changed, as the answers rest on what is there */
	for (size_t i = 0; i < w->calls.nr; i++)
		if (groups[w->calls.v[i].from])
			service[i] = service_of(h, w, groups[w->calls.v[i].from], &w->calls.v[i]);
	for (size_t i = 0; i < w->calls.nr; i++)
		if (service[i])
			w->calls.v[i].from = service[i];
	if (h->has_sides)
		sides_done(&h->sides);
	h->has_sides = false;
	free(groups);
	free(service);
}
