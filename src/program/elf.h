/* An ELF file as it lies in memory: which bytes are read-only data, data and code, and where. */
#ifndef CULPRIT_PROGRAM_ELF_H
#define CULPRIT_PROGRAM_ELF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"

enum region_kind {
	REGION_STRINGS, /* read-only data, strings among it */
	REGION_DATA,    /* written, or read-only after it was relocated */
	REGION_CODE,
	REGION_MIXED, /* code and read-only data, where nothing tells them apart */
};

struct region {
	uint64_t address;
	struct str bytes; /* in those of the file */
	enum region_kind kind;
};

enum { ELF_X86_64 = 62, ELF_ARM64 = 183 };

struct elf {
	struct str bytes; /* borrowed */
	bool is_64, is_big;
	uint16_t machine;
	bool is_go, is_rust; /* strings without ends */
	VEC(struct region) regions;
	VEC(struct str) relocations; /* tables of records with addends */
};

/* false when the file is cut or damaged so that nothing can be told; elf_done in any case. */
bool elf_init(struct elf *e, struct str bytes);
void elf_done(struct elf *e);

/* A number of 2, 4 or 8 bytes in the order of the file; false behind the end. */
bool elf_number(const struct elf *e, struct str from, uint64_t at, unsigned bytes, uint64_t *v);
/* What lies at an address in regions of strings, up to the end of the region; false for none. */
bool elf_strings_at(const struct elf *e, uint64_t address, struct str *s);

static inline unsigned elf_word(const struct elf *e)
{
	return e->is_64 ? 8 : 4;
}

#endif
