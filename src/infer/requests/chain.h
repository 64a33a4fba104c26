/* Windows of time one after the other, each with what is left of the one before. */
#ifndef CULPRIT_INFER_REQUESTS_CHAIN_H
#define CULPRIT_INFER_REQUESTS_CHAIN_H

#include <stdbool.h>

#include "infer/requests/harvest.h"

struct course;
struct error;
struct matcher;
struct outlet;

/* The most windows of one chain, where there are several. */
enum { CHAIN_WINDOWS = 4 };

struct chain {
	struct harvest *h;
	size_t first, end; /* windows */
	size_t at;         /* the next of them */
	struct harvest_cursor cursor;
	struct gather left; /* of the windows so far */
	struct course *course;
	bool has_families; /* found so far: requests of any length */
};

/* How many chains the windows are cut into: one where there are few, or where requests go on from
 * one chain to the next. */
size_t chain_nr(const struct harvest *h, bool has_families);
/* Where the nr-th of so many begins: a window. */
size_t chain_first(const struct harvest *h, size_t nr, size_t nr_chains);
/* From which time on lines are looked at, and until when, ns. */
int64_t chain_from(const struct harvest *h, size_t first);
int64_t chain_until(const struct harvest *h, size_t end);

void chain_begin(struct chain *c, struct harvest *h, size_t first, size_t end,
		 const struct matcher *m);
void chain_done(struct chain *c);
/* The next window. */
int chain_window(struct chain *c, const struct outlet *out, struct error *err);
/* After the last one: what is left, with what may belong to it of the chain behind. A line that the
 * chain behind lays claim to, too, is that one's. */
int chain_seam(struct chain *c, const struct outlet *out, struct error *err);

#endif
