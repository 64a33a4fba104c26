/* Finds the fields that most lines of a sample have in common, from the left, as a pattern. */
#ifndef CULPRIT_SOURCE_LAYOUT_PEEL_H
#define CULPRIT_SOURCE_LAYOUT_PEEL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

struct layout_time;
struct layout_times;

struct peel {
	const struct layout_times *times;
	struct buf pattern;             /* grows; the caller gives it back */
	const struct layout_time *past; /* format of %past */
	unsigned has;                   /* bits of the fields found so far */
	bool ends_in_logger, ends_in_duration;
};

/* What stands before the time: false, and the pattern as it was, when lines differ in it. The
 * lines are used up. */
bool peel_before(struct peel *p, struct str *lines, size_t nr);
/* What stands behind it, up to the message. */
void peel_after(struct peel *p, struct str *lines, size_t nr);

#endif
