/* Interns strings: each distinct one is kept once and travels as a small number, sym_t. */
#ifndef CULPRIT_BASE_NAMES_H
#define CULPRIT_BASE_NAMES_H

#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

typedef uint32_t sym_t; /* 0 is the empty string */

struct names_slot {
	uint32_t hash;
	sym_t sym; /* 0: free */
};

/* Zero is a valid, empty table. */
struct names {
	struct arena arena; /* its shelf is that of the whole table */
	struct str *v;      /* v[sym] */
	uint64_t *hash;
	uint32_t nr, room;
	struct names_slot *slots; /* open addressing */
	uint32_t nr_slots;
};

void names_done(struct names *t);
/* The number of s, made on first sight. */
sym_t names_add(struct names *t, struct str s);
/* The same where str_hash of s is known. */
sym_t names_add_hashed(struct names *t, struct str s, uint64_t hash);
/* The number of s, or 0 when it was never seen. */
sym_t names_find(const struct names *t, struct str s);
struct str names_str(const struct names *t, sym_t sym);

#endif
