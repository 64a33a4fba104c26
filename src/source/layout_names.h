/* Remembers what names mean: a log says the same few in every line. */
#ifndef CULPRIT_SOURCE_LAYOUT_NAMES_H
#define CULPRIT_SOURCE_LAYOUT_NAMES_H

#include <stdint.h>

#include "base/str.h"
#include "source/layout_said.h"

#define LAYOUT_NAMES 256
#define LAYOUT_NAME_BYTES 45

/* Zero is empty. A name has one place only, where the last one that belongs there stays. */
struct layout_names {
	struct {
		uint8_t n, means, rank;
		char name[LAYOUT_NAME_BYTES];
	} known[LAYOUT_NAMES];
};

/* As layout_meaning_of. */
enum layout_meaning layout_names_find(struct layout_names *names, struct str name, uint8_t *rank);

#endif
