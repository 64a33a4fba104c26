/*
 * Decides who may ask. On loopback: pages of this server only, so that no other page in the same
 * browser reads a run (Host against names that were bent to 127.0.0.1, Origin and Sec-Fetch-Site
 * against foreign pages). Elsewhere: who knows the token, over TLS.
 */
#ifndef CULPRIT_WEB_GUARD_H
#define CULPRIT_WEB_GUARD_H

#include <stdbool.h>
#include <stdint.h>

struct asked;
struct reply;

#define GUARD_TOKEN_MAX 64

struct guard {
	const char *token; /* NULL: only loopback may ask, and no token is needed */
	bool is_tls;
	uint16_t port;
	const char *name; /* by which it was told to listen, where that is loopback; may be NULL */
};

/* Whether nobody guesses it, and a link and a cookie carry it as it is. */
bool guard_can_use(const char *token);

/* Whether the asker may go on; if not, *r says why, or leads to the page without the token in its
 * address. */
bool guard_lets_in(const struct guard *g, const struct asked *a, struct reply *r);

#endif
