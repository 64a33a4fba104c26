/* Numbers and ports are given out again: who bears one after another has ended is another thing. */
#ifndef CULPRIT_INFER_OBJECTS_LIVES_H
#define CULPRIT_INFER_OBJECTS_LIVES_H

#include <stdbool.h>

struct census;

/* Parts things of such kinds by their lives, before kinds are related. of_addresses: these, which
 * is to be known before they are judged by how long they live; or all others. */
void lives_part(struct census *w, bool of_addresses);

#endif
