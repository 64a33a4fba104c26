/* The beginning of the largest file of a rotated log: it shows the layout of its lines better than
 * the few lines of one that was begun just now. */
#ifndef CULPRIT_SOURCE_KIN_H
#define CULPRIT_SOURCE_KIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct source_list;

/* Zero is none. Files of one log stand side by side, so one is kept at a time. */
struct kin {
	struct buf log, head;
};

/* Of a file in the list; borrowed until the next call. */
struct str kin_of_listed(struct kin *k, const struct source_list *list, size_t nr);
/* The same in two steps: whether it is of this log, and if not, the file to take it from (-1: there
 * is none). */
bool kin_is_of(const struct kin *k, struct str log);
void kin_set(struct kin *k, struct str log, int fd, uint64_t upto);
void kin_done(struct kin *k);

#endif
