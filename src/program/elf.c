/*
 * Sections tell most. Where they were stripped off, what the loader needs is still there: segments,
 * of which those that are neither written nor run hold the read-only data. Every number is checked
 * against the bytes that there are; what points outside is left out.
 */
#include "program/elf.h"

#include <stdlib.h>

enum {
	SECTION_DATA = 1, /* types of sections */
	SECTION_ADDENDS = 4,
	FLAG_WRITE = 1,
	FLAG_ALLOC = 2,
	FLAG_RUN = 4,
	FLAG_STRINGS = 0x20,
	SEGMENT_LOAD = 1,
	SEGMENT_DYNAMIC = 2,
	SEGMENT_RUN = 1,
	SEGMENT_WRITE = 2,
	TAG_ADDENDS = 7,
	TAG_ADDENDS_BYTES = 8,
	TABLE_MAX = 65536, /* sections, segments and entries of a table that are looked at */
	LOOKUP_MAX = 64,   /* regions; linked programs have two or three of strings */
};

bool elf_number(const struct elf *e, struct str from, uint64_t at, unsigned bytes, uint64_t *v)
{
	uint64_t n = 0;

	if (at > from.n || from.n - at < bytes)
		return false;
	for (unsigned i = 0; i < bytes; i++) {
		uint64_t byte = (uint8_t)from.p[at + (e->is_big ? i : bytes - 1 - i)];

		n = n << 8 | byte;
	}
	*v = n;
	return true;
}

/* [at, at + n) of the file, as far as it is there. */
static struct str part(const struct elf *e, uint64_t at, uint64_t n)
{
	return at < e->bytes.n ? str_head(str_skip(e->bytes, at), n) : STR("");
}

/* A number that has one place in files of 32 bits and another in those of 64. */
static uint64_t field(const struct elf *e, struct str from, unsigned at32, unsigned at64)
{
	uint64_t v = 0;

	elf_number(e, from, e->is_64 ? at64 : at32, elf_word(e), &v);
	return v;
}

static uint64_t small(const struct elf *e, struct str from, unsigned at32, unsigned at64,
		      unsigned bytes)
{
	uint64_t v = 0;

	elf_number(e, from, e->is_64 ? at64 : at32, bytes, &v);
	return v;
}

struct section {
	uint64_t type, flags, address, at, size;
	struct str name;
};

static struct section section_of(const struct elf *e, struct str head)
{
	return (struct section){
		.type = small(e, head, 4, 4, 4),
		.flags = field(e, head, 8, 8),
		.address = field(e, head, 12, 16),
		.at = field(e, head, 16, 24),
		.size = field(e, head, 20, 32),
	};
}

static void add_region(struct elf *e, enum region_kind kind, uint64_t address, struct str bytes)
{
	struct region r = { address, bytes, kind };

	if (bytes.n)
		vec_push(&e->regions, r);
}

static void take_section(struct elf *e, const struct section *s)
{
	struct str bytes = part(e, s->at, s->size);

	e->is_go |= str_eq(s->name, STR(".gopclntab")) || str_eq(s->name, STR(".go.buildinfo"));
	if (s->type == SECTION_ADDENDS && s->flags & FLAG_ALLOC)
		vec_push(&e->relocations, bytes);
	if (s->type != SECTION_DATA || !(s->flags & FLAG_ALLOC))
		return;
	if (s->flags & FLAG_RUN)
		add_region(e, REGION_CODE, s->address, bytes);
	else if (s->flags & FLAG_WRITE)
		add_region(e, REGION_DATA, s->address, bytes);
	else if (str_starts(s->name, STR(".rodata")) || s->flags & FLAG_STRINGS)
		add_region(e, REGION_STRINGS, s->address, bytes);
}

static struct str name_at(struct str names, uint64_t at)
{
	struct str s = at < names.n ? str_skip(names, at) : STR("");

	return str_head(s, str_find_char(s, '\0'));
}

/* Whether there are sections that tell where the strings are. */
static bool read_sections(struct elf *e)
{
	uint64_t table = field(e, e->bytes, 32, 40);
	uint64_t each = small(e, e->bytes, 46, 58, 2), nr = small(e, e->bytes, 48, 60, 2);
	uint64_t names_in = small(e, e->bytes, 50, 62, 2);
	struct str names;
	struct section s;

	if (!table || table >= e->bytes.n || each < (e->is_64 ? 64 : 40))
		return false;
	s = section_of(e, part(e, table, each));
	if (!nr) /* too many for the two bytes: the first section says it */
		nr = s.size < TABLE_MAX ? s.size : TABLE_MAX;
	s = section_of(e, part(e, table + names_in * each, each));
	names = part(e, s.at, s.size);
	for (uint64_t i = 0; i < nr; i++) {
		struct str head = part(e, table + i * each, each);

		s = section_of(e, head);
		s.name = name_at(names, small(e, head, 0, 0, 4));
		take_section(e, &s);
	}
	vec_each (&e->regions, r)
		if (r->kind == REGION_STRINGS)
			return true;
	return false;
}

/* The bytes of the file at an address that is loaded. */
static struct str loaded_at(const struct elf *e, uint64_t address, uint64_t n)
{
	vec_each (&e->regions, r)
		if (address >= r->address && address - r->address < r->bytes.n)
			return str_head(str_skip(r->bytes, address - r->address), n);
	return STR("");
}

/* Where the dynamic section says that the relocations with addends are. */
static void read_dynamic(struct elf *e, struct str dynamic)
{
	unsigned word = elf_word(e);
	uint64_t tag, value, address = 0, bytes = 0;

	for (uint64_t i = 0; i < TABLE_MAX && elf_number(e, dynamic, i * 2 * word, word, &tag) &&
			     elf_number(e, dynamic, (i * 2 + 1) * word, word, &value) && tag;
	     i++) {
		if (tag == TAG_ADDENDS)
			address = value;
		else if (tag == TAG_ADDENDS_BYTES)
			bytes = value;
	}
	if (bytes)
		vec_push(&e->relocations, loaded_at(e, address, bytes));
}

static void read_segments(struct elf *e)
{
	uint64_t table = field(e, e->bytes, 28, 32);
	uint64_t each = small(e, e->bytes, 42, 54, 2), nr = small(e, e->bytes, 44, 56, 2);
	struct str dynamic = STR("");

	vec_clear(&e->regions);
	vec_clear(&e->relocations);
	for (uint64_t i = 0; table && i < nr && each; i++) {
		struct str head = part(e, table + i * each, each);
		uint64_t type = small(e, head, 0, 0, 4), flags = small(e, head, 24, 4, 4);
		struct str bytes = part(e, field(e, head, 4, 8), field(e, head, 16, 32));
		enum region_kind kind = flags & SEGMENT_WRITE ? REGION_DATA
					: flags & SEGMENT_RUN ? REGION_MIXED
							      : REGION_STRINGS;

		if (type == SEGMENT_LOAD)
			add_region(e, kind, field(e, head, 8, 16), bytes);
		else if (type == SEGMENT_DYNAMIC)
			dynamic = bytes;
	}
	read_dynamic(e, dynamic);
}

static bool has(struct str s, struct str needle)
{
	return str_find(s, needle) < s.n;
}

/* The compilers leave traces of themselves that stay when all else is stripped. */
static void find_language(struct elf *e)
{
	vec_each (&e->regions, r) {
		if (r->kind == REGION_DATA)
			e->is_go |= has(r->bytes, STR("\xff Go buildinf:"));
		else if (r->kind != REGION_CODE)
			e->is_rust |= has(r->bytes, STR("/rustc/")) ||
				      has(r->bytes, STR("library/core/src/"));
	}
}

bool elf_init(struct elf *e, struct str bytes)
{
	*e = (struct elf){ .bytes = bytes };
	if (bytes.n < 52 || !str_starts(bytes, STR("\177ELF")))
		return false;
	e->is_64 = bytes.p[4] == 2;
	e->is_big = bytes.p[5] == 2;
	if (e->is_64 && bytes.n < 64)
		return false;
	e->machine = (uint16_t)small(e, bytes, 18, 18, 2);
	if (!read_sections(e))
		read_segments(e);
	find_language(e);
	return e->regions.nr > 0;
}

void elf_done(struct elf *e)
{
	vec_done(&e->regions);
	vec_done(&e->relocations);
}

bool elf_strings_at(const struct elf *e, uint64_t address, struct str *s)
{
	for (size_t i = 0; i < e->regions.nr && i < LOOKUP_MAX; i++) {
		const struct region *r = &e->regions.v[i];

		if ((r->kind == REGION_STRINGS || r->kind == REGION_MIXED) &&
		    address >= r->address && address - r->address < r->bytes.n) {
			*s = str_skip(r->bytes, address - r->address);
			return true;
		}
	}
	return false;
}
