/* What operators ask of a hub. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "bus/hub_own.h"
#include "model/loss_pack.h"

#define PEERS_AT_ONCE 200

static const char *const count_names[HUB_COUNT_NR] = {
#define HUB_NAME(id, name) name,
	HUB_COUNTS(HUB_NAME)
#undef HUB_NAME
};

static void reply(struct bus_hub *h, struct hub_peer *p, int64_t request, int code, uint64_t id,
		  const char *sentence)
{
	struct message m = { .kind = MESSAGE_REPLY };

	h->counts[HUB_REFUSED] += code < 0;
	message_n(&m, request, -code, (int64_t)id);
	message_text(&m, str_of(sentence));
	hub_say(h, p, &m);
}

/* --- installing ---------------------------------------------------------------------------- */

static int check_limits(const struct bus_hub *h, const char *tenant, size_t nr_advice,
			struct error *err)
{
	uint64_t queries = 1, advice = nr_advice;

	vec_each (&h->queries, s)
		if (!(*s)->why_ending && !strcmp((*s)->tenant, tenant)) {
			queries++;
			advice += (*s)->nr_advice;
		}
	if (queries > h->limits.queries)
		return error_set(err, EDQUOT,
				 "the tenant '%s' has %llu queries standing, and no more are "
				 "allowed; remove one",
				 tenant, (unsigned long long)queries - 1);
	if (advice > h->limits.advice)
		return error_set(err, EDQUOT,
				 "the queries of the tenant '%s' would have advice at %llu "
				 "tracepoints, and %llu are allowed",
				 tenant, (unsigned long long)advice,
				 (unsigned long long)h->limits.advice);
	return 0;
}

static void install(struct bus_hub *h, struct hub_peer *p, const struct message *m)
{
	const char *tenant = strcmp(p->tenant, "*") != 0 ? p->tenant : "default";
	struct hubquery *s = NULL;
	struct error err = { 0 };
	int r = m->t[0].n > BUS_TEXT_MAX || m->t[1].n > BUS_TEXT_MAX
			? error_set(&err, E2BIG, "the query is too long")
			: hubquery_new(&s, m->t[0], m->t[1], &err);

	if (!r) {
		r = check_limits(h, tenant, s->nr_advice, &err);
		if (r < 0)
			hubquery_free(s);
	}
	if (r < 0) {
		reply(h, p, m->n[0], r, 0, err.msg);
		return;
	}
	s->id = bus_epoch_new();
	s->operator_name = hub_copied(str_of(p->name));
	memcpy(s->tenant, tenant, strlen(tenant) + 1);
	if (m->n[1] > 0)
		s->until_ns = time_now() + (m->n[1] < INT64_MAX / 4 ? m->n[1] : INT64_MAX / 4);
	if (m->n[2]) {
		s->owner = p->epoch;
		s->owner_tick = h->tick;
	}
	hubquery_add(h, s);
	/* who asks gets every second from the first on, when it comes to watch */
	hubquery_expect(s, p, 0);
	h->counts[HUB_INSTALLED]++;
	/* what an operator was promised stands, whatever happens next */
	if (h->state)
		r = hub_state_save(h, &err);
	reply(h, p, m->n[0], r, s->id, r < 0 ? err.msg : "");
	if (r < 0)
		hubquery_remove(h, s, "it could not be saved");
}

/* --- asking -------------------------------------------------------------------------------- */

struct listing {
	struct bus_hub *h;
	struct hub_peer *to;
	int64_t request;
};

static void send_item(void *ctx, const struct bus_standing *q, struct partial *whole)
{
	const struct listing *l = ctx;
	struct message m = { .kind = MESSAGE_ITEM };
	struct buf losses = { 0 }, tenant = { 0 };

	(void)whole;
	buf_add(&tenant, q->query.tenant);
	buf_char(&tenant, 0);
	if (hub_may_see(l->to->tenant, tenant.p)) {
		losses_pack(&losses, &q->losses);
		message_n(&m, l->request, (int64_t)q->query.id, q->query.until_ns, q->nr_agents,
			  q->nr_silent, (int64_t)q->nr_groups, (int64_t)q->nr_rows);
		message_text(&m, q->query.text);
		message_text(&m, q->query.tracepoints);
		message_text(&m, q->query.tenant);
		message_text(&m, q->operator_name);
		message_text(&m, buf_str(&losses));
		hub_say(l->h, l->to, &m);
	}
	buf_done(&losses);
	buf_done(&tenant);
}

static void send_peer(struct bus_hub *h, struct hub_peer *to, int64_t request,
		      const struct hub_peer *p)
{
	struct message m = { .kind = MESSAGE_PEER };
	struct buf losses = { 0 };
	uint64_t missing = 0;

	for (size_t i = 0; i < HUB_EPOCHS; i++)
		missing += p->seen[i].nr_missing;
	losses_pack(&losses, &p->health.losses);
	message_n(&m, request, p->role, p->since_ns, p->heard_ns,
		  p->has_left ? 2 : p->id.n && !hub_peer_is_silent(h, p), (int64_t)p->nr_reports,
		  (int64_t)p->nr_bytes, (int64_t)p->nr_twice, (int64_t)p->nr_late, (int64_t)missing,
		  p->health.nr_processes, p->health.nr_tracepoints, (int64_t)p->health.overhead_ppm,
		  (int64_t)p->health.resident_bytes, p->nr_below, p->nr_silent_below);
	message_text(&m, str_of(p->name));
	message_text(&m, str_of(p->tenant));
	message_text(&m, buf_str(&losses));
	hub_say(h, to, &m);
	buf_done(&losses);
}

/* Some at a time: more would not fit what waits for one that reads. */
static void send_peers(struct bus_hub *h, struct hub_peer *to, int64_t request, int64_t from)
{
	size_t at = from > 0 ? (size_t)from : 0, end;

	end = at + PEERS_AT_ONCE < h->peers.nr ? at + PEERS_AT_ONCE : h->peers.nr;
	for (; at < end; at++) {
		const struct hub_peer *one = h->peers.v[at];

		if (hub_may_see(to->tenant, one->tenant) || !strcmp(one->tenant, "*"))
			send_peer(h, to, request, one);
	}
	reply(h, to, request, 0, end < h->peers.nr ? end : 0, "");
}

static void send_counts(struct bus_hub *h, struct hub_peer *to, int64_t request)
{
	struct buslink_counts link = { 0 };

	if (h->link)
		buslink_counts(h->link, &link);
	h->counts[HUB_REFUSED_KEYS] = link.nr_refused;
	for (int i = 0; i < HUB_COUNT_NR; i++) {
		struct message m = { .kind = MESSAGE_COUNT };

		message_n(&m, request, (int64_t)h->counts[i]);
		message_text(&m, str_of(count_names[i]));
		hub_say(h, to, &m);
	}
}

/* The query, if it is one of the operator's tenant. */
static struct hubquery *own(struct bus_hub *h, struct hub_peer *p, int64_t id)
{
	struct hubquery *s = hubquery_find(h, (uint64_t)id);

	return s && hub_may_see(p->tenant, s->tenant) ? s : NULL;
}

/* To one that had watched it before the hub began anew. */
static void say_gone(struct bus_hub *h, struct hub_peer *p, int64_t id)
{
	struct message m = { .kind = MESSAGE_GONE };

	message_n(&m, id);
	message_text(&m, STR("it ended while the hub was away"));
	hub_say(h, p, &m);
}

static void of_one(struct bus_hub *h, struct hub_peer *p, const struct message *m)
{
	struct hubquery *s = own(h, p, m->n[1]);
	struct error err;

	if (!s && !m->n[0]) {
		say_gone(h, p, m->n[1]);
	} else if (!s) {
		reply(h, p, m->n[0], -ENOENT, 0, "there is no such query");
	} else if (m->kind == MESSAGE_WATCH) {
		reply(h, p, m->n[0], 0, s->id, "");
		hubquery_watch(h, s, p, (uint64_t)m->n[2], m->n[3]);
	} else if (s->is_from_parent) {
		reply(h, p, m->n[0], -EPERM, 0,
		      "it was installed at the hub above: remove it there");
	} else {
		hubquery_remove(h, s, "an operator has removed it");
		/* it is so, whatever happens next; what cannot be saved now is tried again */
		if (h->state)
			hub_state_save(h, &err);
		reply(h, p, m->n[0], 0, 0, "");
	}
}

void hub_take_operator(struct bus_hub *h, struct hub_peer *p, const struct message *m)
{
	struct listing l = { h, p, m->n[0] };
	struct hubquery *s;

	switch (m->kind) {
	case MESSAGE_INSTALL:
		install(h, p, m);
		return;
	case MESSAGE_REMOVE:
	case MESSAGE_WATCH:
		of_one(h, p, m);
		return;
	case MESSAGE_LIST:
		bus_hub_each(h, send_item, &l);
		break;
	case MESSAGE_PEERS:
		send_peers(h, p, m->n[0], m->n[1]);
		return;
	case MESSAGE_COUNTS:
		send_counts(h, p, m->n[0]);
		break;
	case MESSAGE_READ:
		s = own(h, p, m->n[0]);
		if (s)
			hubquery_read(h, s, p, (uint64_t)m->n[1]);
		return;
	default:
		return;
	}
	reply(h, p, m->n[0], 0, 0, "");
}
