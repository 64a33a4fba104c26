/* Entries that several bags and spills have told, put together as a bag that is endless would have
 * them: each once, in its latest state, and of FIRST and RECENT those that are kept. */
#ifndef CULPRIT_QUERY_SPILLS_PILE_H
#define CULPRIT_QUERY_SPILLS_PILE_H

#include <stdint.h>

#include "base/vec.h"
#include "lib/advice/bag.h"
#include "wire/advice.h"

struct pile {
	VEC(const struct bag_entry *) v; /* in any order, and more than once */
	VEC(uint64_t) words;
};

void pile_done(struct pile *p);
/* Makes words of v, as struct advice_pile wants them for this child. */
void pile_settle(struct pile *p, const struct advice_child *c);

#endif
