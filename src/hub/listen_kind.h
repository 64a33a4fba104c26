/* What the ways to listen have in common. */
#ifndef CULPRIT_HUB_LISTEN_KIND_H
#define CULPRIT_HUB_LISTEN_KIND_H

#include "hub/listen.h"

struct listen_at {
	char host[256], port[16];
};

struct listen_kind {
	const char *scheme;
	int (*start)(void **state, struct hub *h, const struct listen_at *at,
		     const struct listen_tls *tls, struct error *err);
	void (*stop)(void *state);
};

extern const struct listen_kind listen_relp, listen_tcp;

#endif
