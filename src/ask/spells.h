/* Times in which one kind of work is slow whoever does it, and whether it is slow with one node
 * only: all of the work tells when, those pieces that did without the node tell who. */
#ifndef CULPRIT_ASK_SPELLS_H
#define CULPRIT_ASK_SPELLS_H

#include "ask/peers.h"

struct types;

/* After peers_find, which sorts the samples. Adds to what is there, and sorts it anew. */
void spells_find(const struct peers *p, const struct types *types, struct peer_faults *out);

#endif
