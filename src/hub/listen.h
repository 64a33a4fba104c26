/* Takes messages from the network for a hub: over RELP, which acknowledges each, or over plain TCP.
 */
#ifndef CULPRIT_HUB_LISTEN_H
#define CULPRIT_HUB_LISTEN_H

struct error;
struct hub;
struct listener;

/* Certificates for TLS, over RELP only; all NULL for none. */
struct listen_tls {
	const char *ca, *cert, *key;
};

/* Begins to listen at "HOST:PORT", "relp://HOST:PORT" or "tcp://HOST:PORT" (HOST may be empty or in
 * brackets), on a thread of its own. */
int listener_start(struct listener **l, struct hub *h, const char *address,
		   const struct listen_tls *tls, struct error *err);
void listener_stop(struct listener *l);

#endif
