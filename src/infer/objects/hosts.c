/* A port is given out for one connection, and many are seen once; the host comes again. A host by
 * its number only: names of hosts are known by their keys. */
#include "infer/objects/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/shelf.h"
#include "infer/objects/census.h"
#include "infer/objects/told.h"

/* "10.0.0.1" of "10.0.0.1:40312"; empty: it has no port, or the host has a name. */
static struct str host_of(struct str address)
{
	const char *colon = memrchr(address.p, ':', address.n);
	size_t nr_points = 0;

	if (!colon)
		return STR("");
	address.n = (size_t)(colon - address.p);
	for (size_t i = 0; i < address.n; i++) {
		if (address.p[i] != '.' && (address.p[i] < '0' || address.p[i] > '9'))
			return STR("");
		nr_points += address.p[i] == '.';
	}
	/* 0.0.0.0 is any of the listener's own */
	return nr_points == 3 && !str_eq(address, STR("0.0.0.0")) ? address : STR("");
}

static struct str host_named(const struct census *w, size_t distinct)
{
	const struct told_id *id = &w->distinct.v[distinct];
	const struct kind *k = &w->kinds.v[census_kind(w, id)];

	return k->traits & KIND_ADDRESS ? host_of(names_str(&w->told->values, id->value)) : STR("");
}

/* Of its four numbers; hosts of one network are close to each other, in a table as well. */
static uint64_t number_of(struct str host)
{
	uint64_t all = 0, part;

	while (str_take_uint(&host, &part)) {
		all = all << 16 ^ part;
		str_take_char(&host, '.');
	}
	return all;
}

/* Whether hosts come again: where each has one port only, nothing is to be gained by them. They are
 * known by their numbers until then, since there may be as many as lines. */
static bool are_worth_it(const struct census *w)
{
	struct map seen = { .shelf = w->shelf };
	size_t nr_hosts, nr = 0;

	for (size_t i = 0; i < w->distinct.nr; i++) {
		struct str host = host_named(w, i);

		census_look(w, i);
		if (!host.n)
			continue;
		nr++;
		*map_at(&seen, number_of(host)) = 1;
	}
	nr_hosts = seen.nr;
	map_done(&seen);
	return nr_hosts >= 2 && 2 * nr_hosts <= nr;
}

/* The host of each distinct identifier, 0 for none. */
static void find_hosts(struct census *w, sym_t *hosts)
{
	for (size_t i = 0; i < w->distinct.nr; i++) {
		census_look(w, i);
		hosts[i] = names_add(&w->told->values, host_named(w, i));
	}
}

/* The kind of hosts, made if lines do not name any by itself. */
static uint32_t host_kind(struct census *w)
{
	for (uint32_t i = 0; i < w->kinds.nr; i++) {
		struct kind *k = &w->kinds.v[i];

		if (!str_eq(k->shown, STR("ip")) || !(k->traits & KIND_ADDRESS))
			continue;
		if (k->fate == FATE_RARE || k->fate == FATE_ONCE)
			k->fate = FATE_KEPT;
		return i;
	}
	vec_push(&w->kinds, (struct kind){ .id = UINT64_MAX - 1,
					   .name = STR("ip"),
					   .shown = STR("ip"),
					   .traits = KIND_ADDRESS });
	return (uint32_t)w->kinds.nr - 1;
}

static bool is_named(const uint32_t *v, size_t nr, uint32_t thing)
{
	for (size_t i = 0; i < nr; i++)
		if (v[i] == thing)
			return true;
	return false;
}

static void name_hosts(struct census *w, const sym_t *hosts, uint32_t kind)
{
	VEC(uint32_t) named = { 0 };

	for (size_t i = 0; i < w->told->notes.nr; i++) {
		const struct note *n = &w->told->notes.v[i];
		uint32_t begin = w->named_at.v[i], end = w->named_at.v[i + 1];
		size_t first = named.nr;

		census_look(w, i);
		w->named_at.v[i] = (uint32_t)first;
		for (uint32_t j = begin; j < end; j++)
			shelf_push(w->shelf, &named, w->named.v[j]);
		for (size_t j = 0; j < n->nr; j++) {
			sym_t host = hosts[w->distinct_of[n->ids + j]];
			uint32_t thing;

			if (!host)
				continue;
			thing = census_thing(w, kind, host, 0);
			if (is_named(named.v + first, named.nr - first, thing))
				continue;
			shelf_push(w->shelf, &named, thing);
			census_lives(w, thing, n);
			w->kinds.v[kind].lines += n->count;
		}
	}
	w->named_at.v[w->told->notes.nr] = (uint32_t)named.nr;
	shelf_done(w->shelf, &w->named);
	w->named.v = named.v;
	w->named.nr = named.nr;
	w->named.room = named.room;
}

bool hosts_are_known(struct census *w)
{
	return !w->is_small && are_worth_it(w);
}

void hosts_name(struct census *w)
{
	uint32_t kind;
	sym_t *hosts;

	if (!hosts_are_known(w))
		return;
	kind = host_kind(w);
	if (!kind_is_kept(&w->kinds.v[kind]))
		return;
	hosts = shelf_alloc(w->shelf, mem_bytes(w->distinct.nr + 1, sizeof(*hosts)));
	find_hosts(w, hosts);
	name_hosts(w, hosts, kind);
	shelf_give(w->shelf, hosts);
}
