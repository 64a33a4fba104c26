/* What there is in a run beside the bulk: files, facts, clocks, losses, totals, types, names. */
#ifndef CULPRIT_STORE_CATALOG_H
#define CULPRIT_STORE_CATALOG_H

#include "base/vec.h"
#include "store/store.h"
#include "store/sym.h"

struct db;

struct catalog_file {
	struct stored_file f;
	struct str absolute; /* where it stood, should someone ask from another directory */
};

struct catalog_fact {
	struct str name, value;
};

struct catalog_type {
	struct str name;
	uint64_t nr;
};

/* Zero is a valid, empty catalog. */
struct catalog {
	struct arena arena;             /* of every string below */
	VEC(struct catalog_file) files; /* number n stands at n - 1 */
	VEC(struct catalog_fact) facts;
	VEC(struct clock_fix) fixes;
	VEC(struct catalog_type) types; /* the most frequent first */
	struct store_totals totals;
	struct losses losses;
};

void catalog_done(struct catalog *c);
uint32_t catalog_add_file(struct catalog *c, const struct file_seen *seen);
/* Where it stands and how large it is by now. */
void catalog_renew_file(struct catalog *c, uint32_t number, const struct file_seen *seen);
/* The file of that number, or NULL. */
struct catalog_file *catalog_file(struct catalog *c, uint32_t number);
void catalog_set_fact(struct catalog *c, struct str name, struct str value);
void catalog_saw(struct catalog *c, int64_t ns);

int catalog_save(const struct catalog *c, const struct syms *syms, struct db *db,
		 struct error *err);
int catalog_load(struct catalog *c, struct syms *syms, struct db *db, struct error *err);

#endif
