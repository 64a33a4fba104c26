/* What agents, and hubs below, say to a hub. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bus/hub_own.h"
#include "model/loss_pack.h"

#define HOPS_MAX 16
#define PASS_TENANT 3 /* of the texts */

/* --- reports ------------------------------------------------------------------------------- */

/* Of that epoch; the one that was used longest ago makes room. */
static struct seen *seen_of(struct hub_peer *p, uint64_t epoch)
{
	struct seen found = { .epoch = epoch };
	size_t i = 0;

	while (i < HUB_EPOCHS - 1 && p->seen[i].epoch != epoch)
		i++;
	if (p->seen[i].epoch == epoch)
		found = p->seen[i];
	memmove(p->seen + 1, p->seen, i * sizeof(*p->seen));
	p->seen[0] = found;
	return &p->seen[0];
}

static struct hub_tenant *tenant_of(struct bus_hub *h, const char *name)
{
	struct hub_tenant made = { 0 };

	vec_each (&h->tenants, t)
		if (!strcmp(t->name, name))
			return t;
	memcpy(made.name, name, sizeof(made.name));
	vec_push(&h->tenants, made);
	return &h->tenants.v[h->tenants.nr - 1];
}

static bool is_within_rows(struct bus_hub *h, const char *tenant, int64_t from_ns, size_t nr_rows)
{
	struct hub_tenant *t = tenant_of(h, tenant);
	int64_t second = from_ns / NS_S;
	size_t at = (uint64_t)second % HUB_SECONDS;

	if (t->of[at].second != second) {
		t->of[at].second = second;
		t->of[at].nr_rows = 0;
	}
	t->of[at].nr_rows += nr_rows;
	return t->of[at].nr_rows <= h->limits.rows;
}

/* Its rows are counted as lost, and what it lost itself stays told. */
static void drop_rows(struct partial *p)
{
	struct losses losses = p->losses;

	vec_each (&p->times, rows)
		losses.count[LOSS_ROWS_DROPPED] += *rows;
	partial_reset(p);
	p->losses = losses;
}

static void take_new(struct bus_hub *h, struct hub_peer *p, const struct message *m)
{
	struct hubquery *s = hubquery_find(h, (uint64_t)m->n[0]);
	struct partial seen;
	struct error err;
	bool is_late;

	if (!s || s->is_closed || !hub_may_see(p->tenant, s->tenant)) {
		h->counts[HUB_NO_QUERY]++;
		return;
	}
	if (partial_unpack(&seen, m->t[0], &err) < 0) {
		h->counts[HUB_BROKEN]++;
		s->whole.losses.count[LOSS_REPORTS_BROKEN]++;
		return;
	}
	if (!is_within_rows(h, s->tenant, m->n[3], seen.groups.nr)) {
		h->counts[HUB_OVER_ROWS]++;
		drop_rows(&seen);
	}
	if (memcmp(&seen.shape, &s->shape, sizeof(s->shape)) != 0) {
		h->counts[HUB_BROKEN]++;
		s->whole.losses.count[LOSS_REPORTS_BROKEN]++;
	} else {
		is_late = hubquery_is_late(s, m->n[3]);
		h->counts[HUB_LATE] += is_late;
		p->nr_late += is_late;
		seen.losses.count[LOSS_REPORTS_LATE] += is_late;
		hubquery_take(h, s, m->n[3], m->n[4], &seen);
	}
	partial_done(&seen);
}

static void take_report(struct bus_hub *h, struct hub_peer *p, const struct message *m)
{
	struct seen *seen = seen_of(p, (uint64_t)m->n[1]);
	uint64_t missing = seen->nr_missing;
	struct hubquery *s;

	p->is_ack_due = h->is_dirty = true;
	if (seen_take(seen, (uint64_t)m->n[2]) != SEEN_NEW) {
		h->counts[HUB_TWICE]++;
		p->nr_twice++;
		return;
	}
	s = hubquery_find(h, (uint64_t)m->n[0]);
	if (s)
		s->whole.losses.count[LOSS_REPORTS_MISSING] += seen->nr_missing - missing;
	h->counts[HUB_MISSING] += seen->nr_missing - missing;
	h->counts[HUB_REPORTS]++;
	h->counts[HUB_REPORT_BYTES] += m->t[0].n;
	p->nr_reports++;
	p->nr_bytes += m->t[0].n;
	take_new(h, p, m);
}

/* --- health -------------------------------------------------------------------------------- */

static void take_ping(struct bus_hub *h, struct hub_peer *p, const struct message *m)
{
	struct message ack = { .kind = MESSAGE_ACK };
	struct str losses = m->t[0];

	p->health = (struct bus_health){ .nr_processes = (uint32_t)m->n[1],
					 .nr_tracepoints = (uint32_t)m->n[2],
					 .overhead_ppm = (uint64_t)m->n[3],
					 .resident_bytes = (uint64_t)m->n[4] };
	losses_take(&losses, &p->health.losses);
	p->nr_below = (uint32_t)m->n[5];
	p->nr_silent_below = (uint32_t)m->n[6];
	message_n(&ack, (int64_t)p->epoch, (int64_t)p->safe);
	hub_say(h, p, &ack);
}

static void take_tell(struct bus_hub *h, struct hub_peer *p, const struct message *m)
{
	struct hubquery *s = hubquery_find(h, (uint64_t)m->n[0]);

	if (s && hub_may_see(p->tenant, s->tenant))
		hubquery_told(h, s, str_head(m->t[0], BUS_NAME_MAX), str_head(m->t[1], 4096));
}

static void take_ended(struct bus_hub *h, struct hub_peer *p, const struct message *m)
{
	struct hubquery *s = hubquery_find(h, (uint64_t)m->n[0]);

	if (s)
		hubquery_ended(s, p);
}

/* --- from agent to agent ------------------------------------------------------------------- */

static void take_route(struct bus_hub *h, struct hub_peer *p, const struct message *m)
{
	for (size_t i = 0; i < m->nr_texts; i++) {
		if (m->t[i].n > BUS_NAME_MAX || h->routes.nr > HUB_PEERS)
			continue;
		*map_at(&h->routes, str_hash(m->t[i])) = m->n[0] ? (uintptr_t)p : 0;
	}
	if (h->parent)
		bus_agent_say(h->parent, m);
}

void hub_announce(struct bus_hub *h, const struct hub_peer *p, bool is_there)
{
	struct str names = buf_str(&p->names), name;
	struct message m = { .kind = MESSAGE_ROUTE };

	if (!h->parent || !names.n)
		return;
	message_n(&m, is_there);
	while (m.nr_texts < MESSAGE_TEXTS && str_take_bytes(&names, &name))
		message_text(&m, name);
	bus_agent_say(h->parent, &m);
}

/* Agents of different tenants have nothing to say to each other. The text behind the bytes is the
 * sender's, as its hub knows it. */
static bool may_pass(const struct hub_peer *to, const struct message *m)
{
	char tenant[BUS_NAME_MAX + 1];

	if (to->role != BUS_AGENT || m->nr_texts <= PASS_TENANT)
		return to->role != BUS_AGENT;
	snprintf(tenant, sizeof(tenant), STR_FMT, STR_ARG(m->t[PASS_TENANT]));
	return hub_may_see(to->tenant, tenant) || hub_may_see(tenant, to->tenant);
}

static void take_pass(struct bus_hub *h, const struct hub_peer *p, const struct message *m)
{
	struct message on = *m;

	if (p->role == BUS_AGENT) {
		on.nr_texts = PASS_TENANT;
		message_text(&on, str_of(p->tenant));
	}
	hub_pass(h, &on);
}

/* To one that is below, or up; what goes round in circles ends. */
void hub_pass(struct bus_hub *h, const struct message *m)
{
	uint64_t *route = map_find(&h->routes, str_hash(m->t[0]));
	struct hub_peer *p = hub_peer_of(h, BUS_AGENT, m->t[0], 0);
	struct message on = *m;

	on.n[0]++;
	if (!p || !p->id.n)
		p = route ? hub_route_peer(*route) : NULL;
	if (on.n[0] < 0 || on.n[0] > HOPS_MAX || (route && *route == HUB_ROUTE_SEVERAL) ||
	    (p && !may_pass(p, m))) {
		h->counts[HUB_NOT_PASSED]++;
	} else if (p && p->id.n && !hub_say(h, p, &on)) {
		h->counts[HUB_PASSED]++;
	} else if (!p && h->parent && !bus_agent_say(h->parent, &on)) {
		h->counts[HUB_PASSED]++;
	} else {
		h->counts[HUB_NOT_PASSED]++;
	}
}

void hub_take_agent(struct bus_hub *h, struct hub_peer *p, const struct message *m)
{
	switch (m->kind) {
	case MESSAGE_PING:
		take_ping(h, p, m);
		break;
	case MESSAGE_REPORT:
		take_report(h, p, m);
		break;
	case MESSAGE_TELL:
		take_tell(h, p, m);
		break;
	case MESSAGE_ROUTE:
		take_route(h, p, m);
		break;
	case MESSAGE_ENDED:
		take_ended(h, p, m);
		break;
	case MESSAGE_PASS:
		take_pass(h, p, m);
		break;
	default:
		break;
	}
}
