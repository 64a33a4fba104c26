/*
 * Messages between hosts, by ZeroMQ, which nobody else knows of: who listens hears many and answers
 * each, who dials speaks to one and is connected again by itself. Encrypted and authenticated on
 * both sides (CURVE) where there are keys.
 */
#ifndef CULPRIT_BUS_BUSLINK_H
#define CULPRIT_BUS_BUSLINK_H

#include "bus/bus.h"
#include "bus/keys.h"

struct buslink;

/* Where many links of one process share their threads; NULL instead: each has its own. */
struct bus_context;

struct buslink_message {
	struct str from; /* whom to answer */
	/* Who it is, as his key proves; NULL where there are no keys. */
	const struct granted_one *who;
	struct str body;
};

struct buslink_counts {
	uint64_t nr_refused; /* handshakes of who is not known, or has wrong keys */
	uint64_t nr_full;    /* messages that the other side was too slow for */
};

bool buslink_is_there(void); /* built with ZeroMQ */
int buslink_keypair(char *public_key, char *secret_key, struct error *err);

/* Connecting goes on in the background. */
int buslink_dial(struct buslink **l, struct bus_context *c, const char *endpoint,
		 const struct bus_keys *keys, struct error *err);
/* On all endpoints, parted by commas. */
int buslink_listen(struct buslink **l, const char *endpoints, const struct bus_keys *keys,
		   struct error *err);
void buslink_close(struct buslink *l);

/* 1 and a message, valid until the next call; 0 none has come. */
int buslink_take(struct buslink *l, struct buslink_message *m);
/* Whom: of a link that listens. -EAGAIN: he is too slow, or nobody is connected; -EHOSTUNREACH: he
 * is gone. */
int buslink_send(struct buslink *l, struct str whom, struct str body);
/* Until one of them has something, at most so long. */
void buslink_wait(struct buslink *const *links, size_t nr, int timeout_ms);
int buslink_fd(const struct buslink *l);
void buslink_counts(struct buslink *l, struct buslink_counts *c);
/* Why it is not connected, as far as that is known; empty: nothing is wrong. */
const char *buslink_trouble(struct buslink *l);
/* Whether somebody is at the other end who speaks as we do, as far as that is known. */
bool buslink_is_met(struct buslink *l);

#endif
