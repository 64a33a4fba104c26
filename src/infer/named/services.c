#include "infer/named/services.h"

#include <stdlib.h>

#include "base/names.h"
#include "base/vec.h"
#include "model/span.h"

struct services {
	struct names names, hosts;
	VEC(sym_t) host;      /* by service: the first host seen */
	VEC(bool) is_several; /* by service */
};

struct services *services_new(void)
{
	return mem_zalloc(sizeof(struct services));
}

void services_free(struct services *s)
{
	if (!s)
		return;
	names_done(&s->names);
	names_done(&s->hosts);
	vec_done(&s->host);
	vec_done(&s->is_several);
	free(s);
}

void services_see(struct services *s, struct str service, struct str host)
{
	sym_t sym = names_add(&s->names, service), at = names_add(&s->hosts, host);

	while (s->host.nr <= sym) {
		vec_push(&s->host, 0);
		vec_push(&s->is_several, false);
	}
	if (!at)
		return;
	if (s->host.v[sym] && s->host.v[sym] != at)
		s->is_several.v[sym] = true;
	s->host.v[sym] = at;
}

struct str services_node(const struct services *s, struct str service, struct str host,
			 struct arena *arena)
{
	sym_t sym = names_find(&s->names, service);

	if (!service.n)
		return host;
	if (!host.n || !sym || !s->is_several.v[sym])
		return service;
	return arena_fmt(arena, STR_FMT "@" STR_FMT, STR_ARG(service), STR_ARG(host));
}

struct str services_clock(const struct span *span)
{
	return span->host.n ? span->host : span->node;
}
