/* A model file in the making: its sections as they grow, and what of the program is in them. */
#ifndef CULPRIT_PROGRAM_MODEL_MAKING_H
#define CULPRIT_PROGRAM_MODEL_MAKING_H

#include "base/names.h"
#include "base/vec.h"
#include "program/learn.h"
#include "program/model_file.h"
#include "program/model_format.h"

/* Runs of words in a section, each different one once. */
struct lists {
	VEC(struct disk_range) made;
	uint32_t *slots, nr_slots; /* 1 + position in made */
};

struct making {
	const struct learned *learned;
	struct arena scratch;
	struct names strings;
	VEC(uint32_t) sections[SECTION_NR];
	struct lists lists[SECTION_NR];
	uint32_t *methods; /* by method of the program: 1 + its record */
	uint32_t *tops;    /* likewise: 1 + its top */
	uint8_t *flags;    /* by point: enum disk_point_flag */
	uint64_t counts[COUNT_NR];
};

/* The number of records so far, and so the number of the next. */
uint32_t making_nr(const struct making *m, enum model_section section);
/* Adds a record made of words; gives its number. */
uint32_t making_add(struct making *m, enum model_section section, const void *record);
/* Records that need not be new: where equal ones stand already, these are meant. */
struct disk_range making_list(struct making *m, enum model_section section, const uint32_t *v,
			      uint32_t nr_words);
uint32_t making_string(struct making *m, struct str s);
/* a.b.C of a/b/C. */
uint32_t making_class(struct making *m, struct str internal_name);
uint32_t making_method(struct making *m, uint32_t method);
/* "#1/ExtendedBlock.block/Block.blockId"; its last step. */
uint32_t making_path(struct making *m, const struct path *p);
uint32_t making_path_end(struct making *m, const struct path *p);
/* Records of the versions of a text. */
struct disk_range making_text(struct making *m, const struct text *t, uint32_t point,
			      uint32_t method);
/* A point that logs by default, and not because of an exception. */
bool making_is_usual(const struct making *m, uint32_t point);

/* Sections, in the order in which they need each other. */
void making_points(struct making *m);
void making_tops(struct making *m);
void making_pairs(struct making *m);
void making_index(struct making *m);
void making_counts(struct making *m);

#endif
