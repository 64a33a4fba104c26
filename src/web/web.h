/* The page over HTTP: on loopback for this machine, elsewhere with a token and TLS. */
#ifndef CULPRIT_WEB_WEB_H
#define CULPRIT_WEB_WEB_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct live_hub;
struct runs;
struct web;

struct web_options {
	const char *host;       /* an address or a name; NULL: 127.0.0.1 */
	uint16_t port;          /* 0: any that is free */
	const char *token;      /* NULL: none, which only loopback may do without */
	const char *cert, *key; /* PEM; NULL: no TLS, likewise */
	const char *version;
	const struct live_hub *live; /* NULL: none */
};

/* Serves on threads of its own from now on, until web_stop. */
int web_start(struct web **w, const struct web_options *o, struct runs *runs, struct error *err);
void web_stop(struct web *w);
uint16_t web_port(const struct web *w);

#endif
