/* The file of a program or library: mapped, and what belongs to it elsewhere found. */
#ifndef CULPRIT_PROGRAM_FUNCTIONS_IMAGE_H
#define CULPRIT_PROGRAM_FUNCTIONS_IMAGE_H

#include "base/map.h"
#include "program/elf.h"
#include "program/functions_frame.h"

struct error;

struct function_image {
	struct elf elf;
	void *map; /* what is unmapped at the end; NULL: borrowed */
	size_t bytes;
	struct function_ranges parts; /* of functions, apart from them; by address */
	struct map slots; /* where the dynamic linker writes addresses: what, for callees */
	bool has_slots;
};

/* NULL and a word in *err when it cannot be read or is no program. */
struct function_image *function_image_open(const char *path, struct error *err);
struct function_image *function_image_of(struct str bytes, struct error *err);
void function_image_free(struct function_image *m);

/* The build id, empty for none. */
struct str function_image_build(const struct elf *e);
/* The file with its debug symbols, of the same build, below root or here; NULL for none. path: its
 * own, as the process names it. */
struct function_image *function_image_debug(const struct function_image *m, const char *root,
					    struct str path);
/* The section of the address; NULL for none. */
const struct section *function_image_section(const struct elf *e, uint64_t address);

#endif
