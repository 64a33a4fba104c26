#include "hub/listen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"
#include "hub/listen_kind.h"

struct listener {
	const struct listen_kind *kind;
	void *state;
};

/* What follows the scheme. */
static bool take_place(struct str s, struct listen_at *at)
{
	struct str host, port;
	size_t colon = s.n;
	uint64_t nr;

	while (colon && s.p[colon - 1] != ':')
		colon--;
	if (!colon)
		return false;
	host = str_head(s, colon - 1);
	port = str_skip(s, colon);
	if (host.n >= 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
		host = (struct str){ host.p + 1, host.n - 2 };
	if (host.n >= sizeof(at->host) || port.n >= sizeof(at->port))
		return false;
	snprintf(at->host, sizeof(at->host), "%.*s", (int)host.n, host.p);
	snprintf(at->port, sizeof(at->port), "%.*s", (int)port.n, port.p);
	return str_take_uint(&port, &nr) && !port.n && nr && nr <= UINT16_MAX;
}

int listener_start(struct listener **out, struct hub *h, const char *address,
		   const struct listen_tls *tls, struct error *err)
{
	static const struct listen_kind *const kinds[] = { &listen_relp, &listen_tcp };
	const struct listen_kind *kind = &listen_relp;
	struct listener *l;
	struct listen_at at;
	struct str place = str_of(address);
	int r;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (str_take(&place, str_of(kinds[i]->scheme)))
			kind = kinds[i];
	if (!take_place(place, &at))
		return error_set(err, EINVAL,
				 "'%s' is no address to listen at; write it like 0.0.0.0:2514 or "
				 "tcp://0.0.0.0:6514",
				 address);
	l = mem_zalloc(sizeof(*l));
	l->kind = kind;
	r = kind->start(&l->state, h, &at, tls, err);
	if (r < 0) {
		error_prefix(err, "cannot listen at '%s'", address);
		free(l);
		return r;
	}
	*out = l;
	return 0;
}

void listener_stop(struct listener *l)
{
	l->kind->stop(l->state);
	free(l);
}
