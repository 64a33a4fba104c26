/* Puts records of sockets in the order of their times: a send is told when it ends, with the time
 * when it began. */
#ifndef CULPRIT_CAPTURE_SOCKETS_ORDER_H
#define CULPRIT_CAPTURE_SOCKETS_ORDER_H

#include <stdint.h>

#include "base/str.h"

struct socket_record;
struct sockets_order;

typedef void sockets_take(void *to, const struct socket_record *r, struct str payload);

/* At most max_bytes wait; beyond that the oldest go. */
struct sockets_order *sockets_order_new(size_t max_bytes, sockets_take *take, void *to);
/* Hands all out, and frees. */
void sockets_order_free(struct sockets_order *o);
void sockets_order_add(struct sockets_order *o, const struct socket_record *r, struct str payload);
/* Nothing older than this will come any more, as far as one can wait. */
void sockets_order_until(struct sockets_order *o, uint64_t ns);

#endif
