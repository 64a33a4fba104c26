/*
 * What a bag had no room for, on its way to who watches: tuples under an id that the bag carries in
 * their place, and runs of advice that need such tuples and are finished where they are.
 */
#ifndef CULPRIT_WIRE_SPILL_H
#define CULPRIT_WIRE_SPILL_H

#include <stdint.h>

#define SPILL_WORDS 1280u /* of a record, at most */

enum spill_kind {
	SPILL_TUPLES, /* entries of a bag */
	SPILL_RUN,    /* a run: the cells of its inputs, then entries of the slots that it reads */
	SPILL_KINDS,
};

#define SPILL_INCOMPLETE 1u /* of a run: a slot that it reads has lost tuples before */

/* In words of 8 bytes; what the kind says follows. */
struct spill_record {
	uint64_t id;         /* what bags and other records know it by; 0: a run that emits */
	uint16_t words;      /* with this head */
	uint16_t cell_words; /* of a run */
	uint8_t kind, flags;
	uint16_t piece; /* of a run: which program of its query */
	uint32_t query;
	uint32_t reserved;
	uint64_t time;
	uint64_t order; /* of a run that packs: of what it packs */
};
#define SPILL_HEAD_WORDS (sizeof(struct spill_record) / 8)

#endif
