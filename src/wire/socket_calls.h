/* Which system calls capture/sockets watches, and in which of their arguments the bytes are. */
#ifndef CULPRIT_WIRE_SOCKET_CALLS_H
#define CULPRIT_WIRE_SOCKET_CALLS_H

#define SOCKETS_RING_BYTES (16 << 20)
#define SOCKETS_CALLS_MAX 512 /* a power of two above the numbers of the calls below */

/* Which of its arguments a system call has its bytes in; with SOCKETS_SENDS when it sends. */
enum {
	SOCKETS_BYTES = 1, /* write: buffer */
	SOCKETS_NAMED,     /* sendto: buffer and address */
	SOCKETS_VECTORS,   /* writev: vectors */
	SOCKETS_MESSAGE,   /* sendmsg */
	SOCKETS_SEVERAL,   /* sendmmsg */
	SOCKETS_NOTHING,   /* sendfile: bytes that are in no buffer */
	SOCKETS_FORM = 7,
	SOCKETS_SENDS = 8,
};

#endif
