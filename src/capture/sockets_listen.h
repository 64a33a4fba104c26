/* Which processes listen at which ports, as /proc tells it. */
#ifndef CULPRIT_CAPTURE_SOCKETS_LISTEN_H
#define CULPRIT_CAPTURE_SOCKETS_LISTEN_H

#include <stdint.h>

struct sockets_listen;
struct sockets_listeners;

/* root is "/proc"; what cannot be read there is taken as not there. */
struct sockets_listen *sockets_listen_new(const char *root);
void sockets_listen_free(struct sockets_listen *l);
/* The functions of sockets_who.h that ask here; l is borrowed. */
struct sockets_listeners sockets_listen_ask(struct sockets_listen *l);
/* The number of a process's network namespace, or 0. */
uint32_t sockets_listen_netns(const struct sockets_listen *l, uint32_t tgid);

#endif
