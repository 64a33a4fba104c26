/* What a program did on a socket, as the kernel's side of capture/sockets tells it. */
#ifndef CULPRIT_WIRE_SOCKET_RECORD_H
#define CULPRIT_WIRE_SOCKET_RECORD_H

#include <stdint.h>

enum socket_act {
	SOCKET_SEND = 1,
	SOCKET_RECEIVE,
	SOCKET_CONNECTED, /* the local end asked for the connection */
	SOCKET_ACCEPTED,  /* the remote end did */
	SOCKET_CLOSED,
};

enum socket_kind { SOCKET_TCP = 1, SOCKET_UDP, SOCKET_UNIX };

enum socket_flag {
	SOCKET_LISTENS = 1, /* a UNIX socket that is bound to a name: the server's end */
};

/* Of a message at most so many bytes are taken along. */
#define SOCKET_PAYLOAD_MAX 1024

/*
 * Followed by payload_bytes of what was sent or received, which may be fewer than bytes. Addresses
 * are IPv6, or IPv4 in its mapped form. Those of a UNIX socket are two numbers that name its ends,
 * in the last 8 bytes.
 */
struct socket_record {
	uint64_t ns; /* CLOCK_MONOTONIC: a send when it began, a receive when it ended */
	uint32_t tgid, tid;
	uint32_t netns; /* the number of the network namespace */
	uint32_t seq;   /* TCP's number of the first byte */
	uint32_t ack;   /* TCP's number of the byte that comes next in the other direction */
	uint32_t bytes;
	uint32_t payload_bytes;
	uint16_t local_port, remote_port;
	uint8_t act, kind, flags, reserved;
	uint8_t local[16], remote[16];
	uint8_t process[16]; /* the name of the process, filled up with zeros */
	uint32_t reserved_end;
};

#endif
