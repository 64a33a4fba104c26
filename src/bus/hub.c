#include "bus/hub.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "bus/hub_own.h"

#define QUERIES_MAX 64
#define ADVICE_MAX 512
#define ROWS_MAX 200000
#define SECONDS_MAX 256
#define TAKEN_MAX 4096 /* messages between two looks at the clock */
#define SAVE_NS (250 * NS_MS)
#define SAVE_SHARE 8 /* of the time that saving takes is left between two times */

char *hub_copied(struct str text)
{
	char *z = mem_alloc(text.n + 1);

	if (text.n)
		memcpy(z, text.p, text.n);
	z[text.n] = 0;
	return z;
}

bool hub_may_see(const char *tenant, const char *of)
{
	return !strcmp(tenant, "*") || !strcmp(tenant, of);
}

int hub_say(struct bus_hub *h, struct hub_peer *to, const struct message *m)
{
	if (!to->id.n)
		return -EHOSTUNREACH;
	buf_clear(&h->scratch);
	message_pack(&h->scratch, m);
	return buslink_send(h->link, buf_str(&to->id), buf_str(&h->scratch));
}

/* --- who is there -------------------------------------------------------------------------- */

/* Operators may share a name, agents and hubs do not. */
static uint64_t name_key(enum bus_role role, struct str name, uint64_t epoch)
{
	return str_hash(name) + (role == BUS_OPERATOR ? epoch << 2 : 0) + (uint64_t)role;
}

struct hub_peer *hub_peer_of(struct bus_hub *h, enum bus_role role, struct str name, uint64_t epoch)
{
	uint64_t *at = map_find(&h->by_name, name_key(role, name, epoch));

	return at ? (struct hub_peer *)(uintptr_t)*at : NULL;
}

struct hub_peer *hub_peer_make(struct bus_hub *h, enum bus_role role, struct str name,
			       uint64_t epoch)
{
	struct hub_peer *p = hub_peer_of(h, role, name, epoch);

	if (p || h->peers.nr >= HUB_PEERS)
		return p;
	p = mem_zalloc(sizeof(*p));
	p->role = role;
	if (role == BUS_OPERATOR)
		p->epoch = epoch;
	memcpy(p->name, name.p, name.n < PEER_NAME_MAX ? name.n : PEER_NAME_MAX);
	memcpy(p->tenant, "*", 2);
	p->since_ns = p->heard_ns = time_now();
	p->heard_tick = h->tick;
	vec_push(&h->peers, p);
	*map_at(&h->by_name, name_key(role, name, epoch)) = (uintptr_t)p;
	return p;
}

static void disconnect(struct bus_hub *h, struct hub_peer *p)
{
	if (p->id.n)
		*map_at(&h->by_id, str_hash(buf_str(&p->id))) = 0;
	buf_clear(&p->id);
}

static void peer_free(struct hub_peer *p)
{
	buf_done(&p->id);
	buf_done(&p->names);
	free(p);
}

static void forget_peer(struct bus_hub *h, size_t i)
{
	struct hub_peer *p = h->peers.v[i];

	disconnect(h, p);
	*map_at(&h->by_name, name_key(p->role, str_of(p->name), p->epoch)) = 0;
	for (const struct map_slot *s = NULL; (s = map_next(&h->routes, s));)
		if (s->value == (uintptr_t)p)
			*map_find(&h->routes, s->key) = 0;
	vec_each (&h->queries, q) {
		hubquery_unwatch(*q, p);
		hubquery_ended(*q, p);
	}
	h->peers.v[i] = h->peers.v[--h->peers.nr];
	peer_free(p);
	h->is_dirty = true;
}

bool hub_peer_is_silent(const struct bus_hub *h, const struct hub_peer *p)
{
	return h->tick - p->heard_tick > HUB_SILENT_NS;
}

/* What it had not sent is lost for good. */
static void count_dead(struct bus_hub *h, struct hub_peer *p)
{
	if (p->role == BUS_OPERATOR || p->has_left || p->is_dead)
		return;
	p->is_dead = true;
	p->is_awaited = false;
	h->counts[HUB_DIED]++;
	vec_each (&h->queries, s)
		if (hub_may_see(p->tenant, (*s)->tenant))
			hubquery_lose(h, *s, LOSS_AGENTS_SILENT, 1);
	hub_announce(h, p, false);
	h->is_dirty = true;
}

static void look_after_peers(struct bus_hub *h)
{
	for (size_t i = 0; i < h->peers.nr;) {
		struct hub_peer *p = h->peers.v[i];
		int64_t silent = h->tick - p->heard_tick;

		if (silent > HUB_DEAD_NS) {
			count_dead(h, p);
			disconnect(h, p);
		}
		if (silent > (p->role == BUS_OPERATOR ? HUB_DEAD_NS : HUB_FORGET_NS))
			forget_peer(h, i);
		else
			i++;
	}
}

/* --- hello --------------------------------------------------------------------------------- */

/* Role and tenant are what the key proves; without keys what he says himself. */
static bool take_identity(const struct buslink_message *from, const struct message *m,
			  enum bus_role *role, const char **tenant)
{
	if (m->n[0] < BUS_AGENT || m->n[0] > BUS_HUB || !m->t[0].n || m->t[0].n > BUS_NAME_MAX)
		return false;
	*role = (enum bus_role)m->n[0];
	*tenant = "default";
	if (from->who) {
		*tenant = from->who->tenant;
		return from->who->role == *role;
	}
	if (*role == BUS_HUB)
		*tenant = "*";
	return true;
}

/* His own, or behind that of his key: who shares a key cannot take the name of another. */
static struct str proven_name(const struct buslink_message *from, struct str name, char *to)
{
	if (!from->who || str_eq(name, str_of(from->who->name)))
		return name;
	snprintf(to, PEER_NAME_MAX + 1, "%s/" STR_FMT, from->who->name, STR_ARG(name));
	return str_of(to);
}

/* An address that several hosts have (of a bridge, say) leads to none of them. */
static void route_add(struct bus_hub *h, struct hub_peer *p, struct str name, bool is_address)
{
	uint64_t *route = map_at(&h->routes, str_hash(name));
	const struct hub_peer *was = hub_route_peer(*route);

	if (is_address && was && was != p && was->id.n && !hub_peer_is_silent(h, was))
		*route = HUB_ROUTE_SEVERAL;
	else
		*route = (uintptr_t)p;
	buf_bytes(&p->names, name);
}

static void welcome(struct bus_hub *h, struct hub_peer *p, const struct message *m)
{
	struct message back = { .kind = MESSAGE_WELCOME };

	message_n(&back, (int64_t)h->epoch);
	message_text(&back, str_of(h->name));
	hub_say(h, p, &back);
	if (p->role == BUS_OPERATOR)
		return;
	hubquery_send_all(h, p);
	if (p->role != BUS_AGENT)
		return;
	buf_clear(&p->names);
	for (size_t i = 0; i < m->nr_texts; i++)
		if (m->t[i].n <= BUS_NAME_MAX)
			route_add(h, p, m->t[i], i > 0);
	hub_announce(h, p, true);
}

static void refuse(struct bus_hub *h, struct str id)
{
	struct message no = { .kind = MESSAGE_REPLY };

	h->counts[HUB_REFUSED_KIND]++;
	message_n(&no, 0, EACCES, 0);
	message_text(&no, STR("this key is of another role"));
	buf_clear(&h->scratch);
	message_pack(&h->scratch, &no);
	buslink_send(h->link, id, buf_str(&h->scratch));
}

static void take_hello(struct bus_hub *h, const struct buslink_message *from,
		       const struct message *m)
{
	char name[PEER_NAME_MAX + 1];
	struct hub_peer *p;
	enum bus_role role;
	const char *tenant;

	if (!take_identity(from, m, &role, &tenant)) {
		refuse(h, from->from);
		return;
	}
	p = hub_peer_make(h, role, proven_name(from, m->t[0], name), (uint64_t)m->n[1]);
	if (!p) {
		h->counts[HUB_REFUSED_KIND]++;
		return;
	}
	if (p->epoch && p->epoch != (uint64_t)m->n[1])
		count_dead(h, p);
	disconnect(h, p);
	buf_add(&p->id, from->from);
	*map_at(&h->by_id, str_hash(from->from)) = (uintptr_t)p;
	snprintf(p->tenant, sizeof(p->tenant), "%s", tenant);
	if (p->epoch != (uint64_t)m->n[1]) {
		/* what the one before it had is counted */
		vec_each (&h->queries, q)
			hubquery_ended(*q, p);
		p->epoch = (uint64_t)m->n[1];
		p->since_ns = time_now();
		p->safe = 0;
	}
	p->has_left = p->is_dead = p->is_awaited = false;
	h->is_dirty |= role != BUS_OPERATOR;
	p->heard_tick = h->tick;
	p->heard_ns = time_now();
	welcome(h, p, m);
}

static void ask_who(struct bus_hub *h, struct str id)
{
	struct message m = { .kind = MESSAGE_WHO };

	buf_clear(&h->scratch);
	message_pack(&h->scratch, &m);
	buslink_send(h->link, id, buf_str(&h->scratch));
}

/* --- messages ------------------------------------------------------------------------------ */

static void take_bye(struct bus_hub *h, struct hub_peer *p)
{
	p->has_left = true;
	p->heard_tick = h->tick;
	disconnect(h, p);
	vec_each (&h->queries, s) {
		hubquery_unwatch(*s, p);
		hubquery_ended(*s, p);
		if ((*s)->owner && (*s)->owner == p->epoch)
			(*s)->owner_tick = h->tick - HUB_OWNER_NS;
	}
	hub_announce(h, p, false);
}

static void take_message(struct bus_hub *h, const struct buslink_message *from)
{
	uint64_t *at = map_find(&h->by_id, str_hash(from->from));
	struct hub_peer *p = at ? (struct hub_peer *)(uintptr_t)*at : NULL;
	struct message m;

	h->counts[HUB_MESSAGES]++;
	if (!message_unpack(&m, from->body)) {
		h->counts[HUB_BROKEN]++;
		return;
	}
	if (m.kind == MESSAGE_HELLO) {
		take_hello(h, from, &m);
		return;
	}
	if (!p) {
		ask_who(h, from->from);
		return;
	}
	p->heard_tick = h->tick;
	p->heard_ns = time_now();
	if (!message_is_allowed(m.kind, from->who ? from->who->role : p->role))
		refuse(h, from->from);
	else if (m.kind == MESSAGE_BYE)
		take_bye(h, p);
	else if (p->role == BUS_OPERATOR)
		hub_take_operator(h, p, &m);
	else
		hub_take_agent(h, p, &m);
}

/* --- the clock ----------------------------------------------------------------------------- */

static void end_queries(struct bus_hub *h)
{
	int64_t now = time_now();

	for (size_t i = 0; i < h->queries.nr; i++) {
		struct hubquery *s = h->queries.v[i];
		const char *why = NULL;

		if (s->why_ending)
			continue;
		if (s->until_ns && now > s->until_ns + 2 * NS_S && !s->windows.nr)
			why = "its time is over";
		else if (s->owner && h->tick - s->owner_tick > HUB_OWNER_NS)
			why = "its operator is gone";
		if (why)
			hubquery_remove(h, s, why);
	}
}

static void renew_owners(struct bus_hub *h)
{
	vec_each (&h->peers, p)
		if ((*p)->role == BUS_OPERATOR && (*p)->id.n)
			vec_each (&h->queries, s)
				if ((*s)->owner == (*p)->epoch)
					(*s)->owner_tick = (*p)->heard_tick;
}

static void acknowledge(struct bus_hub *h)
{
	vec_each (&h->peers, p) {
		struct message m = { .kind = MESSAGE_ACK };

		if (!(*p)->is_ack_due)
			continue;
		(*p)->is_ack_due = false;
		(*p)->safe = (*p)->seen[0].epoch == (*p)->epoch ? seen_upto(&(*p)->seen[0]) : 0;
		message_n(&m, (int64_t)(*p)->epoch, (int64_t)(*p)->safe);
		hub_say(h, *p, &m);
	}
}

/* What is acknowledged is in the state. Reports to the hub above, and results, leave only then,
 * too: a hub that was killed tells the same ones under the same numbers. */
static int save(struct bus_hub *h, struct error *err)
{
	int64_t began = time_tick();
	int r = 0;

	if (!h->is_dirty ||
	    (h->state && began - h->saved_tick < (SAVE_NS > SAVE_SHARE * h->save_cost_ns
							  ? SAVE_NS
							  : SAVE_SHARE * h->save_cost_ns)))
		return 0;
	if (h->state) {
		r = hub_state_save(h, err);
		h->saved_tick = time_tick();
		h->save_cost_ns = h->saved_tick - began;
	}
	if (r < 0)
		return r;
	h->counts[HUB_SAVED] += h->state != NULL;
	h->is_dirty = false;
	acknowledge(h);
	vec_each (&h->queries, s)
		hubquery_saved(h, *s);
	if (h->parent)
		bus_agent_poll(h->parent, 0, err);
	return 0;
}

static void each_second(struct bus_hub *h)
{
	uint32_t nr = 0, nr_silent = 0;

	h->second_tick = h->tick;
	look_after_peers(h);
	renew_owners(h);
	end_queries(h);
	if (!h->parent)
		return;
	vec_each (&h->peers, p) {
		bool is_silent = hub_peer_is_silent(h, *p);

		if ((*p)->role == BUS_OPERATOR || (*p)->has_left || (*p)->is_dead)
			continue;
		nr += (*p)->role == BUS_AGENT ? 1 : (*p)->nr_below;
		nr_silent += (*p)->role == BUS_AGENT ? is_silent
			     : is_silent             ? (*p)->nr_below
						     : (*p)->nr_silent_below;
	}
	/* a hub above that came back has to hear all names again */
	if (h->parent->is_welcome && h->nr_announced != h->parent->nr_welcomes) {
		h->nr_announced = h->parent->nr_welcomes;
		vec_each (&h->peers, p)
			if ((*p)->id.n)
				hub_announce(h, *p, true);
	}
	h->parent->nr_below = nr;
	h->parent->nr_silent = nr_silent;
}

static int tick(struct bus_hub *h, struct error *err)
{
	h->tick = time_tick();
	for (size_t i = 0; i < h->queries.nr; i++) {
		struct hubquery *s = h->queries.v[i];

		hubquery_tick(h, s);
		if (s->why_ending && !s->is_closed && hubquery_is_over(h, s))
			hubquery_close(h, s);
		if (s->is_closed && hubquery_is_read(h, s)) {
			hubquery_end(h, s);
			i--;
		}
	}
	if (h->tick - h->second_tick >= NS_S)
		each_second(h);
	return save(h, err);
}

int bus_hub_poll(struct bus_hub *h, int timeout_ms, struct error *err)
{
	int64_t end = time_tick() + timeout_ms * NS_MS;
	int r = 0;

	do {
		struct buslink *links[2] = { h->link, h->parent ? h->parent->link : NULL };
		struct buslink_message m;
		int nr = 0;

		buslink_wait(links, h->parent ? 2 : 1, (int)(HUB_TICK_NS / NS_MS));
		h->tick = time_tick();
		while (nr++ < TAKEN_MAX && buslink_take(h->link, &m) > 0)
			take_message(h, &m);
		/* what is not saved yet stays here, and so do its reports */
		if (h->parent && (!h->state || !h->is_dirty))
			bus_agent_poll(h->parent, 0, err);
		r = tick(h, err);
	} while (r >= 0 && time_tick() < end);
	return r;
}

/* --- the hub above ------------------------------------------------------------------------- */

static void parent_installed(void *ctx, const struct bus_query *q)
{
	struct bus_hub *h = ctx;
	struct hubquery *s = hubquery_find(h, q->id);
	struct error err;

	if (s)
		return;
	if (hubquery_new(&s, q->text, q->tracepoints, &err) < 0) {
		bus_agent_tell(h->parent, q->id, str_of(err.msg));
		return;
	}
	s->id = q->id;
	s->until_ns = q->until_ns;
	s->is_from_parent = true;
	s->operator_name = hub_copied(STR(""));
	snprintf(s->tenant, sizeof(s->tenant), STR_FMT, STR_ARG(q->tenant));
	hubquery_add(h, s);
}

static void parent_removed(void *ctx, uint64_t id)
{
	struct bus_hub *h = ctx;
	struct hubquery *s = hubquery_find(h, id);

	if (s && s->is_from_parent)
		hubquery_remove(h, s, "the hub above has removed it");
	else
		bus_agent_ended(h->parent, id);
}

static int open_parent(struct bus_hub *h, const struct bus_hub_options *o, struct error *err)
{
	struct bus_agent_options up = { .endpoint = o->parent,
					.keys = o->parent_keys,
					.name = h->name,
					/* it waits for those below it */
					.calls = { .ctx = h,
						   .installed = parent_installed,
						   .removed = parent_removed,
						   .says_ended = true } };
	int r = o->parent ? bus_agent_open_as(&h->parent, &up, BUS_HUB, h->epoch, err) : 0;

	if (!r && h->parent) {
		h->parent->hub = h;
		h->parent->outbox.is_saved_first = h->state != NULL;
	}
	return r;
}

/* --- beginning and end --------------------------------------------------------------------- */

static void set_limits(struct bus_hub *h, const struct bus_limits *l)
{
	h->limits.queries = l->queries ? l->queries : QUERIES_MAX;
	h->limits.advice = l->advice ? l->advice : ADVICE_MAX;
	h->limits.rows = l->rows ? l->rows : ROWS_MAX;
	h->limits.seconds = l->seconds ? l->seconds : SECONDS_MAX;
}

struct bus_hub *bus_hub_new(const char *name, const struct bus_limits *limits)
{
	struct bus_hub *h = mem_zalloc(sizeof(*h));

	snprintf(h->name, sizeof(h->name), "%s", name);
	h->epoch = bus_epoch_new();
	h->tick = h->second_tick = time_tick();
	set_limits(h, limits);
	return h;
}

int bus_hub_open(struct bus_hub **to, const struct bus_hub_options *o, struct error *err)
{
	struct bus_hub *h = bus_hub_new(o->name, &o->limits);
	int r = 0;

	if (o->state) {
		h->state = hub_copied(str_of(o->state));
		if (mkdir(o->state, 0700) < 0 && errno != EEXIST)
			r = error_set(err, errno, "cannot make '%s': %s", o->state,
				      strerror(errno));
	}
	if (!r)
		r = open_parent(h, o, err);
	if (!r)
		r = hub_state_load(h, err);
	if (!r)
		r = buslink_listen(&h->link, o->listen, o->keys, err);
	if (r < 0)
		bus_hub_close(h);
	else
		*to = h;
	return r;
}

void bus_hub_close(struct bus_hub *h)
{
	struct error err;

	if (!h)
		return;
	if (h->link && h->state && h->is_dirty)
		hub_state_save(h, &err);
	vec_each (&h->queries, s)
		hubquery_free(*s);
	vec_each (&h->peers, p)
		peer_free(*p);
	if (h->parent)
		bus_agent_close(h->parent, 0);
	buslink_close(h->link);
	map_done(&h->by_id);
	map_done(&h->by_name);
	map_done(&h->routes);
	vec_done(&h->queries);
	vec_done(&h->peers);
	vec_done(&h->tenants);
	buf_done(&h->scratch);
	free(h->state);
	free(h);
}

void bus_hub_each(struct bus_hub *h,
		  void (*each)(void *ctx, const struct bus_standing *q, struct partial *whole),
		  void *ctx)
{
	vec_each (&h->queries, at) {
		struct hubquery *s = *at;
		struct bus_standing q = { .query = { .id = s->id,
						     .text = str_of(s->text),
						     .tracepoints = str_of(s->tracepoints),
						     .tenant = str_of(s->tenant),
						     .until_ns = s->until_ns },
					  .operator_name = str_of(s->operator_name),
					  .nr_groups = s->whole.groups.nr,
					  .nr_rows = s->nr_rows,
					  .losses = s->whole.losses };

		hubquery_agents(h, s, &q.nr_agents, &q.nr_silent);
		if (!s->why_ending)
			each(ctx, &q, &s->whole);
	}
}
