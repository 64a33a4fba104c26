/*
 * A node is a service: the name of a process and the lowest port that it listens at
 * ("postgres:5432"), whichever of its processes or addresses is talked to; a process that listens
 * nowhere is its name alone ("curl"). So the calls that a process takes and those that it makes
 * meet in one node. Services of other network namespaces (containers) say at which address they
 * are.
 *
 * What is kept is bounded: ends of connections in two halves, of which the older is forgotten when
 * the younger is full; processes are forgotten all at once, and looked up again.
 */
#include "capture/sockets_who.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"
#include "source/capture_packets.h"
#include "wire/socket_record.h"

#define ENDS_MAX (1u << 16) /* in each half */
#define ENDS_FIRST 64       /* places, a power of two */
#define PROCESSES_SLOTS (1u << 12)
#define SERVICES_MAX (1u << 14)

struct process {
	uint32_t tgid; /* 0: free */
	sym_t name, node;
	bool is_service; /* its port is known */
};

/* By hash, open addressing, at most half full. */
struct half {
	struct sockets_end *v;
	uint32_t nr, room; /* room is a power of two */
};

struct sockets_who {
	struct sockets_listeners listeners;
	uint32_t own_netns;
	struct names names;
	struct half young, old;
	struct process *processes;
	uint32_t nr_processes;
	struct names services;    /* "netns port name" … */
	VEC(sym_t) service_nodes; /* … and their nodes */
	struct buf text;
};

static void half_init(struct half *h, uint32_t room)
{
	*h = (struct half){ mem_zalloc(mem_bytes(room, sizeof(*h->v))), 0, room };
}

struct sockets_who *sockets_who_new(const struct sockets_listeners *l, uint32_t own_netns)
{
	struct sockets_who *w = mem_zalloc(sizeof(*w));

	w->listeners = *l;
	w->own_netns = own_netns;
	half_init(&w->young, ENDS_FIRST);
	half_init(&w->old, ENDS_FIRST);
	w->processes = mem_zalloc(mem_bytes(PROCESSES_SLOTS, sizeof(*w->processes)));
	return w;
}

void sockets_who_free(struct sockets_who *w)
{
	names_done(&w->names);
	names_done(&w->services);
	vec_done(&w->service_nodes);
	buf_done(&w->text);
	free(w->young.v);
	free(w->old.v);
	free(w->processes);
	free(w);
}

static bool is_ipv4(const struct address *a)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(a->b, mapped, sizeof(mapped));
}

static bool is_loopback(const struct address *a)
{
	static const uint8_t one[16] = { [15] = 1 };

	return is_ipv4(a) ? a->b[12] == 127 : !memcmp(a->b, one, sizeof(one));
}

static bool is_nowhere(const struct address *a)
{
	static const uint8_t zero[16];

	return is_ipv4(a) ? !memcmp(a->b + 12, zero, 4) : !memcmp(a->b, zero, sizeof(zero));
}

/* Loopback of another namespace becomes fd6e:6574:NETNS::…, which is nobody's. */
static struct address place_of(const struct sockets_who *w, const struct socket_record *r,
			       const uint8_t bytes[16])
{
	struct address a;

	memcpy(a.b, bytes, sizeof(a.b));
	if (r->kind == SOCKET_UNIX) {
		memcpy(a.b, "\xfdunix\0\0", 8);
		return a;
	}
	if (r->netns == w->own_netns || !is_loopback(&a))
		return a;
	memcpy(a.b, "\xfdnet", 4);
	memcpy(a.b + 4, &r->netns, sizeof(r->netns));
	return a;
}

void sockets_who_ends(const struct sockets_who *w, const struct socket_record *r,
		      struct endpoint *local, struct endpoint *remote)
{
	remote->address = place_of(w, r, r->remote);
	remote->port = r->remote_port;
	local->address = place_of(w, r, r->local);
	local->port = r->local_port;
	/* a socket of datagrams need not know at which of its addresses it got them */
	if (is_nowhere(&local->address) && is_loopback((const struct address *)r->remote))
		local->address = remote->address;
}

static uint64_t hash_ends(const struct endpoint *end, const struct endpoint *other)
{
	uint8_t key[36];

	memcpy(key, end->address.b, 16);
	memcpy(key + 16, other->address.b, 16);
	memcpy(key + 32, &end->port, 2);
	memcpy(key + 34, &other->port, 2);
	return str_hash((struct str){ (const char *)key, sizeof(key) });
}

static bool is_same(const struct endpoint *a, const struct endpoint *b)
{
	return a->port == b->port && !memcmp(&a->address, &b->address, sizeof(a->address));
}

/* Where it stands, or the free place where it would. */
static struct sockets_end *look(const struct half *h, const struct endpoint *end,
				const struct endpoint *other)
{
	uint64_t at = hash_ends(end, other);

	while (h->v[at & (h->room - 1)].is_used) {
		struct sockets_end *e = &h->v[at & (h->room - 1)];

		if (is_same(&e->end, end) && is_same(&e->other, other))
			return e;
		at++;
	}
	return &h->v[at & (h->room - 1)];
}

static void grow(struct half *h)
{
	struct half larger;

	half_init(&larger, 2 * h->room);
	for (uint32_t i = 0; i < h->room; i++)
		if (h->v[i].is_used)
			*look(&larger, &h->v[i].end, &h->v[i].other) = h->v[i];
	larger.nr = h->nr;
	free(h->v);
	*h = larger;
}

static void make_room(struct sockets_who *w)
{
	if (w->young.nr >= ENDS_MAX) {
		free(w->old.v);
		w->old = w->young;
		half_init(&w->young, ENDS_FIRST);
	}
	if (w->young.nr >= w->young.room / 2)
		grow(&w->young);
}

struct sockets_end *sockets_who_find(struct sockets_who *w, const struct endpoint *end,
				     const struct endpoint *other)
{
	struct sockets_end *e = look(&w->young, end, other);

	if (e->is_used)
		return e;
	e = look(&w->old, end, other);
	return e->is_used ? e : NULL;
}

struct sockets_end *sockets_who_end(struct sockets_who *w, const struct endpoint *end,
				    const struct endpoint *other)
{
	struct sockets_end *e = look(&w->young, end, other), *was;
	struct sockets_end made = { .end = *end, .other = *other, .is_used = true };

	if (e->is_used)
		return e;
	was = look(&w->old, end, other);
	if (was->is_used)
		made = *was;
	make_room(w);
	e = look(&w->young, end, other);
	*e = made;
	w->young.nr++;
	return e;
}

static sym_t name_service(struct sockets_who *w, sym_t name, uint16_t port, uint32_t netns,
			  const struct address *at)
{
	buf_clear(&w->text);
	buf_add(&w->text, names_str(&w->names, name));
	buf_fmt(&w->text, ":%u", port);
	if (netns != w->own_netns && is_loopback(at)) {
		buf_fmt(&w->text, "@net%u", netns);
	} else if (netns != w->own_netns) {
		buf_char(&w->text, '@');
		address_text(&w->text, at);
	}
	return names_add(&w->names, buf_str(&w->text));
}

/* The node of a service. Where it was seen at first gives it its name. */
static sym_t service(struct sockets_who *w, sym_t name, uint16_t port,
		     const struct socket_record *r)
{
	struct address at;
	char key[48];
	sym_t known;

	memcpy(at.b, r->local, sizeof(at.b));
	snprintf(key, sizeof(key), "%u %u %u", r->netns, port, name);
	known = names_find(&w->services, str_of(key));
	if (known)
		return w->service_nodes.v[known];
	if (w->service_nodes.nr >= SERVICES_MAX)
		return name_service(w, name, port, r->netns, &at);
	known = names_add(&w->services, str_of(key));
	while (w->service_nodes.nr <= known)
		vec_push(&w->service_nodes, 0);
	w->service_nodes.v[known] = name_service(w, name, port, r->netns, &at);
	return w->service_nodes.v[known];
}

static struct process *find_process(struct sockets_who *w, uint32_t tgid)
{
	uint32_t at = tgid * 0x9e3779b1u;

	if (w->nr_processes > PROCESSES_SLOTS / 2) {
		memset(w->processes, 0, PROCESSES_SLOTS * sizeof(*w->processes));
		w->nr_processes = 0;
	}
	while (w->processes[at % PROCESSES_SLOTS].tgid &&
	       w->processes[at % PROCESSES_SLOTS].tgid != tgid)
		at++;
	return &w->processes[at % PROCESSES_SLOTS];
}

static sym_t name_of(struct sockets_who *w, const uint8_t name[16])
{
	struct str s = { (const char *)name, 16 };

	s = str_head(s, str_find_char(s, '\0'));
	return names_add(&w->names, s.n ? s : STR("?"));
}

static uint16_t port_of(const struct sockets_who *w, uint32_t tgid)
{
	return w->listeners.port_of ? w->listeners.port_of(w->listeners.to, tgid) : 0;
}

/* The first sight of a process, or of a new program in it. */
static void meet(struct sockets_who *w, struct process *p, const struct socket_record *r,
		 sym_t name)
{
	uint16_t port = port_of(w, r->tgid);

	w->nr_processes += !p->tgid;
	*p = (struct process){ r->tgid, name, name, port != 0 };
	if (port)
		p->node = service(w, name, port, r);
}

/* A child that was forked to serve one connection may listen nowhere: its port is the parent's. */
static void serve(struct sockets_who *w, struct process *p, const struct socket_record *r)
{
	if (p->is_service || !r->local_port)
		return;
	p->is_service = true;
	p->node = service(w, p->name, r->local_port, r);
}

static bool is_listened_at(struct sockets_who *w, uint32_t netns, uint16_t port)
{
	char name[16];

	return w->listeners.at && w->listeners.at(w->listeners.to, netns, port, name);
}

/*
 * Of a connection that was open before: who listens at one of its ports is the server. Of
 * datagrams: who gets one before he sends any.
 */
static void find_role(struct sockets_who *w, struct sockets_end *e, const struct socket_record *r)
{
	if (e->pid || e->is_server || e->is_client)
		return;
	if (r->kind == SOCKET_UDP) {
		e->is_server = r->act == SOCKET_RECEIVE;
		e->is_client = !e->is_server;
	}
	if (r->kind != SOCKET_TCP)
		return;
	e->is_server = is_listened_at(w, r->netns, r->local_port);
	e->is_client = !e->is_server && is_loopback((const struct address *)r->remote) &&
		       is_listened_at(w, r->netns, r->remote_port);
}

void sockets_who_acts(struct sockets_who *w, const struct socket_record *r)
{
	struct endpoint local, remote;
	struct sockets_end *e;
	struct process *p;
	sym_t name;

	sockets_who_ends(w, r, &local, &remote);
	e = sockets_who_end(w, &local, &remote);
	e->netns = r->netns;
	if (!r->tgid)
		return;
	find_role(w, e, r);
	name = name_of(w, r->process);
	p = find_process(w, r->tgid);
	if (p->tgid != r->tgid || p->name != name)
		meet(w, p, r, name);
	if (e->is_server)
		serve(w, p, r);
	e->pid = r->tgid;
	e->process = name;
	e->node = p->node;
	if (!e->tid)
		e->tid = r->tid;
}

/* Nobody has acted there yet, but someone of this machine listens. */
static bool find_listener(struct sockets_who *w, const struct sockets_end *e,
			  struct capture_party *party)
{
	struct socket_record r = { .netns = e->netns };
	uint8_t name[17] = { 0 };

	memcpy(r.local, e->end.address.b, sizeof(r.local));
	r.tgid = w->listeners.at
			 ? w->listeners.at(w->listeners.to, e->netns, e->end.port, (char *)name)
			 : 0;
	if (!r.tgid)
		return false;
	*party = (struct capture_party){ .process = names_str(&w->names, name_of(w, name)),
					 .pid = r.tgid };
	party->node = names_str(&w->names, service(w, name_of(w, name), e->end.port, &r));
	return true;
}

bool sockets_who_party(void *who, const struct endpoint *end, const struct endpoint *other,
		       bool is_server, struct capture_party *party)
{
	struct sockets_who *w = who;
	struct sockets_end *e = sockets_who_find(w, end, other);

	if (!e || !e->pid)
		return is_server && e && find_listener(w, e, party);
	*party = (struct capture_party){ .node = names_str(&w->names, e->node),
					 .process = names_str(&w->names, e->process),
					 .pid = e->pid,
					 .tid = e->tid };
	return true;
}
