/* Reads lines that warn back from their files: what most of them say, and which address they name.
 */
#ifndef CULPRIT_ASK_COMPLAINTS_H
#define CULPRIT_ASK_COMPLAINTS_H

#include "ask/activity.h"
#include "base/buf.h"

/* Text without what varies: "Connection to <*> refused". The front of it, without the line's head
 * as far as the point (logger, file) tells where that ends. */
void complaints_mask(struct str text, struct str point, struct buf *out);

#define COMPLAINT_NAMES 4

/* One thing that nodes warn of. */
struct complaint {
	struct str text;
	VEC(int64_t) times;           /* in order */
	sym_t node;                   /* of the activity */
	sym_t named[COMPLAINT_NAMES]; /* addresses that its first line names */
};

/* Zero is empty. */
struct complaints {
	struct names texts;
	VEC(struct complaint) v; /* by node, then text */
	struct names addresses;
	VEC(struct address_count) named; /* by address - 1 */
	struct buf text, masked;
};

struct address_count {
	uint64_t lines, nodes;
	sym_t last; /* the node that named it last, as nodes come one after the other */
};

/* The warnings of all nodes but one (0: of all) from a moment on until another; of no node
 * are more than so many read, and of each the same part. Lines whose files are gone are left out.
 */
int complaints_read(struct complaints *c, struct store *s, const struct activity *a, sym_t but,
		    int64_t from, int64_t until, size_t at_most, struct error *err);
/* Lines that were chosen otherwise, by the numbers of their events. */
int complaints_read_lines(struct complaints *c, struct store *s, const struct activity *a,
			  const uint64_t *events, size_t nr, struct error *err);
void complaints_done(struct complaints *c);
/* The most frequent, or NULL. */
const struct complaint *complaints_most(const struct complaints *c);
/* The address that most nodes name, in most lines; empty if none is named by a good part. */
struct str complaints_address(const struct complaints *c);
/* The first that names that address, or NULL. */
const struct complaint *complaints_about(const struct complaints *c, struct str address);
/* The address at a place in the order in which they are named first, empty behind the last; and how
 * many lines name it. */
struct str complaints_named(const struct complaints *c, size_t at, uint64_t *lines);

#endif
