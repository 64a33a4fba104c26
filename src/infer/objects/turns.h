/* Which life of an identifier a line is of, as far as its log tells: numbers are given out again
 * after a line said that they ended, or after a long silence. */
#ifndef CULPRIT_INFER_OBJECTS_TURNS_H
#define CULPRIT_INFER_OBJECTS_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/names.h"
#include "base/vec.h"
#include "model/object.h"

struct mention;
struct named;
struct shelf;

enum { NR_LULLS = 40 }; /* lengths of silences, by powers of two of milliseconds */

/* How long things of a type are usually silent. */
struct lulls {
	uint32_t nr[NR_LULLS];
	uint64_t all;
};

/* Where an identifier of one log is. */
struct turn {
	int64_t last_ns;
	uint64_t of; /* its log and type */
	sym_t value;
	uint16_t life;
	bool has_ended; /* a line said so */
};

/* Zero is empty. */
struct turns {
	struct shelf *shelf;
	struct map turn_at, lulls_at; /* number + 1, by hash */
	VEC(struct turn) v;
	VEC(struct lulls) lulls;
	uint64_t nr_left; /* lives beyond the number that is told apart */
};

void turns_done(struct turns *t);
/* Whether what is named so may be given out again: small numbers, ports of addresses, names that
 * end in a small number. */
bool turns_may(const struct named *n);
/* The life that the mention's lines are of. log: a hash of the file; value: the number of what n
 * names. */
uint16_t turns_life(struct turns *t, uint64_t log, const struct named *n, sym_t value,
		    enum relation_deed deed, const struct mention *m);
size_t turns_bytes(const struct turns *t);
/* Forgets what was last named before; values have other numbers from now on. */
void turns_forget(struct turns *t, int64_t before_ns, const struct names *old,
		  struct names *values);

void lulls_add(struct lulls *g, int64_t ns);
/* Half of the silences are no longer than this; an hour while there are too few to tell. */
int64_t lulls_usual(const struct lulls *g);
/* Far longer than things of the type are silent. */
bool lulls_is_long(const struct lulls *g, int64_t ns);

#endif
