/* Which process is at each end of a connection, and the name of the node that it is. */
#ifndef CULPRIT_CAPTURE_SOCKETS_WHO_H
#define CULPRIT_CAPTURE_SOCKETS_WHO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "source/packet.h"

struct capture_party;
struct socket_record;
struct sockets_who;

/* What the system tells of processes that listen (capture/sockets_listen.h); may be all NULL. */
struct sockets_listeners {
	void *to;
	/* The lowest port at which the process listens, or 0. */
	uint16_t (*port_of)(void *to, uint32_t tgid);
	/* The process that listens at a port of a network namespace, or 0; fills its name. */
	uint32_t (*at)(void *to, uint32_t netns, uint16_t port, char name[16]);
};

/* One end of one connection. */
struct sockets_end {
	struct endpoint end, other;
	bool is_used;
	bool is_server, is_client; /* neither: not known */
	bool has_sent;             /* a program of this machine sends here */
	bool is_told;              /* the connection was announced to the reader of messages */
	uint32_t netns;
	uint32_t pid, tid; /* 0: not known */
	sym_t node, process;
	uint32_t sent_until; /* TCP's number of the byte that it sends next */
};

struct sockets_who *sockets_who_new(const struct sockets_listeners *l, uint32_t own_netns);
void sockets_who_free(struct sockets_who *w);

/* The local and the remote end as all know them: one namespace's loopback is not another's. */
void sockets_who_ends(const struct sockets_who *w, const struct socket_record *r,
		      struct endpoint *local, struct endpoint *remote);
/* The end, made on first sight. It stays valid until the next call. */
struct sockets_end *sockets_who_end(struct sockets_who *w, const struct endpoint *end,
				    const struct endpoint *other);
/* NULL where it was never seen. */
struct sockets_end *sockets_who_find(struct sockets_who *w, const struct endpoint *end,
				     const struct endpoint *other);
/* A process acts on its end; to be told as soon as it is known. */
void sockets_who_acts(struct sockets_who *w, const struct socket_record *r);
/* As capture_parties of source/capture_packets.h. */
bool sockets_who_party(void *who, const struct endpoint *end, const struct endpoint *other,
		       bool is_server, struct capture_party *party);

#endif
