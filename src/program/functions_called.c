/*
 * Every byte that may begin a call or the computation of an address is taken for one, regardless of
 * where instructions begin: a number that leads to the begin of a stretch of code by chance is
 * rare, and looking so is a hundred times faster than to know what is an instruction.
 */
#include "program/functions_called.h"

enum { KIND_RELATIVE = 8 };

static void mark(const struct elf *e, struct map *addresses, uint64_t address)
{
	uint64_t *v = map_find(addresses, e->is_64 ? address : address & UINT32_MAX);

	if (v)
		*v = 1;
}

static uint64_t number_at(const uint8_t *p)
{
	uint32_t v =
		(uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;

	return (uint64_t)(int64_t)(int32_t)v;
}

static void read_code(const struct elf *e, struct str code, uint64_t address, struct map *addresses)
{
	const uint8_t *p = (const uint8_t *)code.p;
	bool is_fixed = e->type == ELF_PROGRAM;

	for (size_t i = 0; i + 6 <= code.n; i++) {
		if (p[i] == 0xe8) /* call */
			mark(e, addresses, address + i + 5 + number_at(p + i + 1));
		else if (p[i] == 0x8d && (p[i + 1] & 0xc7) == 5) /* lea from here */
			mark(e, addresses, address + i + 6 + number_at(p + i + 2));
		else if (is_fixed && (p[i] >> 3 == 0xb8 >> 3 || p[i] == 0x68)) /* mov, push */
			mark(e, addresses, number_at(p + i + 1));
		else if (is_fixed && p[i] == 0xc7 && p[i + 1] >> 3 == 0xc0 >> 3)
			mark(e, addresses, number_at(p + i + 2));
	}
}

/* Pointers in data that are adjusted when the program is loaded. */
static void read_pointers(const struct elf *e, struct str table, struct map *addresses)
{
	unsigned word = elf_word(e);
	uint64_t info, addend;

	for (; table.n >= 3 * word; table = str_skip(table, 3 * word))
		if (elf_number(e, table, word, word, &info) && info == KIND_RELATIVE &&
		    elf_number(e, table, 2 * word, word, &addend))
			mark(e, addresses, addend);
}

/* Pointers in data: of a program that is loaded where it was linked to, or with relocations that
 * are packed (RELR). */
static void read_data(const struct elf *e, const struct section *s, struct map *addresses)
{
	unsigned word = elf_word(e);
	uint64_t v;

	for (uint64_t at = -s->address % word; elf_number(e, s->bytes, at, word, &v); at += word)
		mark(e, addresses, v);
}

bool functions_called(const struct elf *e, struct map *addresses)
{
	uint64_t entry;

	if (e->machine != ELF_X86_64 && e->machine != ELF_X86)
		return false;
	if (!addresses->nr)
		return true;
	if (elf_number(e, e->bytes, 24, elf_word(e), &entry))
		mark(e, addresses, entry);
	vec_each (&e->segments, s)
		if (s->type == SEGMENT_LOAD && s->flags & SEGMENT_RUN)
			read_code(e, s->bytes, s->address, addresses);
	vec_each (&e->sections, s) {
		if (s->type == SECTION_ADDENDS && s->flags & SECTION_ALLOC)
			read_pointers(e, s->bytes, addresses);
		else if (s->type != SECTION_NO_BYTES && s->flags & SECTION_ALLOC &&
			 (s->flags & SECTION_WRITE || e->type == ELF_PROGRAM) &&
			 !(s->flags & SECTION_RUN))
			read_data(e, s, addresses);
	}
	return true;
}
