/* The addresses by which this host is known: of our own network namespace, and of those of the
 * processes that were entered. */
#ifndef CULPRIT_CAPTURE_WEAVE_ADDRESSES_H
#define CULPRIT_CAPTURE_WEAVE_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct handover;
struct handover_address;

/* Adds those of the process's namespace (0: of our own) to the table. Loopback is of no interest.
 */
void addresses_look(struct handover *table, int pid);
/* As the kernel writes them in /proc/PID/net/fib_trie and if_inet6. Take the next one; false: there
 * is none. */
bool addresses_take_fib(struct str *text, struct handover_address *a);
bool addresses_take_inet6(struct str *text, struct handover_address *a);
/* Whether other hosts may have the same one. */
bool addresses_is_common(const struct handover_address *a);

#endif
