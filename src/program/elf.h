/* An ELF file as it lies in memory: its sections and segments, and which bytes are read-only data,
 * data and code, and where. */
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

enum { ELF_X86 = 3, ELF_X86_64 = 62, ELF_ARM64 = 183 };
enum { ELF_PROGRAM = 2, ELF_SHARED = 3 }; /* types of files that can be run */

enum {
	SECTION_DATA = 1,
	SECTION_SYMBOLS = 2,
	SECTION_ADDENDS = 4,
	SECTION_NOTE = 7,
	SECTION_NO_BYTES = 8,
	SECTION_DYNAMIC_SYMBOLS = 11,
	SECTION_WRITE = 1, /* flags */
	SECTION_ALLOC = 2,
	SECTION_RUN = 4,
	SECTION_STRINGS = 0x20,
	SEGMENT_LOAD = 1,
	SEGMENT_DYNAMIC = 2,
	SEGMENT_NOTE = 4,
	SEGMENT_FRAMES = 0x6474e550, /* .eh_frame_hdr */
	SEGMENT_RUN = 1,             /* flags */
	SEGMENT_WRITE = 2,
};

struct section {
	struct str name;
	uint64_t type, flags, address, size;
	uint64_t link, entry; /* another section; bytes of an entry */
	struct str bytes;     /* as far as the file has them */
};

struct segment {
	uint64_t type, flags, address;
	struct str bytes; /* as far as the file has them */
};

struct elf {
	struct str bytes; /* borrowed */
	bool is_64, is_big;
	uint16_t type, machine;
	bool is_go, is_rust; /* strings without ends */
	VEC(struct section) sections;
	VEC(struct segment) segments;
	VEC(struct region) regions;
	VEC(struct str) relocations; /* tables of records with addends */
};

/* Sections and segments only; false when the bytes are no ELF file. elf_done in any case. */
bool elf_read(struct elf *e, struct str bytes);
/* Regions as well; false when the file is cut or damaged so that nothing can be told; elf_done in
 * any case. */
bool elf_init(struct elf *e, struct str bytes);
void elf_done(struct elf *e);

/* A number of 2, 4 or 8 bytes in the order of the file; false behind the end. */
bool elf_number(const struct elf *e, struct str from, uint64_t at, unsigned bytes, uint64_t *v);
/* What lies at an address in regions of strings, up to the end of the region; false for none. */
bool elf_strings_at(const struct elf *e, uint64_t address, struct str *s);

/* What is loaded at an address, at most n bytes, up to the end of its segment. */
struct str elf_at(const struct elf *e, uint64_t address, uint64_t n);
/* NULL for none. */
const struct section *elf_section_named(const struct elf *e, struct str name);
/* The value of that tag in the dynamic section; 0 for none. */
uint64_t elf_dynamic(const struct elf *e, uint64_t tag);
/* Bytes up to the zero. */
struct str elf_text(struct str table, uint64_t at);

static inline unsigned elf_word(const struct elf *e)
{
	return e->is_64 ? 8 : 4;
}

#endif
