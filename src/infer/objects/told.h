/* All that mentions told, each kind of line with the same identifiers kept once: memory goes by
 * what is distinct, not by lines. */
#ifndef CULPRIT_INFER_OBJECTS_TOLD_H
#define CULPRIT_INFER_OBJECTS_TOLD_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/names.h"
#include "base/vec.h"
#include "infer/objects/turns.h"
#include "model/level.h"

struct mention;
struct shelf;

struct told_id {
	sym_t shown, value;
	uint16_t place;
	uint16_t life; /* of several of that name in the log, as far as the log tells */
};

/* Lines of one file and template with the same identifiers. */
struct note {
	int64_t first_ns, last_ns;
	uint64_t count;
	sym_t node, file, thread; /* the thread of the first line */
	uint32_t template;
	uint32_t ids; /* from here in told.ids */
	uint16_t nr;
	uint8_t level;
};

struct told_template {
	uint64_t hash;
	sym_t title;
	enum relation_deed deed;
	uint32_t last; /* 1 + the latest note of it */
};

/* A note that was settled, and has more lines since. */
struct told_again {
	uint32_t note;
	uint64_t count; /* of lines that were settled */
};

/* Zero is empty, with all of it in memory. */
struct told {
	struct shelf *shelf;               /* where all that grows with the lines lies */
	struct names shown, values, texts; /* texts: nodes, files, threads, titles */
	VEC(struct told_id) ids;
	VEC(struct note) notes; /* in the order in which they came */
	VEC(struct told_template) templates;
	struct map template_at;           /* number + 1, by hash */
	struct map note_at, notes_before; /* the same: of late ones, and of those before */
	size_t max_index;                 /* notes by which equal ones are found; 0: all */
	struct turns turns;
	size_t nr_settled; /* notes of which it is kept what was widened since; 0: of none */
	VEC(struct told_again) again;
	struct map again_at;      /* by 1 + note */
	bool was_undated;         /* one of them had no time then, and has one now */
	size_t text_bytes;        /* of strings kept */
	uint64_t nr_left;         /* identifiers left out, of lines that name too many */
	sym_t node, file, thread; /* of the latest mention */
};

void told_init(struct told *t, struct shelf *shelf, size_t max_index);
void told_done(struct told *t);
void told_add(struct told *t, const struct mention *m);
/* From now on it is kept which of the notes so far have more lines. */
void told_settled(struct told *t);
/* Memory in use, near enough. */
size_t told_bytes(const struct told *t);
/* Forgets the half whose last line is oldest. The number of lines forgotten. */
uint64_t told_forget(struct told *t);

#endif
