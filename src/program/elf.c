/*
 * Sections tell most. Where they were stripped off, what the loader needs is still there: segments,
 * of which those that are neither written nor run hold the read-only data. Every number is checked
 * against the bytes that there are; what points outside is left out.
 */
#include "program/elf.h"

#include <stdlib.h>

enum {
	TAG_ADDENDS = 7,
	TAG_ADDENDS_BYTES = 8,
	TABLE_MAX = 65536,   /* sections, segments and entries of a table that are looked at */
	SEGMENTS_MAX = 1024, /* linked programs have a dozen */
	LOOKUP_MAX = 64,     /* regions; linked programs have two or three of strings */
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

struct str elf_text(struct str table, uint64_t at)
{
	struct str s = at < table.n ? str_skip(table, at) : STR("");

	return str_head(s, str_find_char(s, '\0'));
}

static struct section section_of(const struct elf *e, struct str head)
{
	struct section s = {
		.type = small(e, head, 4, 4, 4),
		.flags = field(e, head, 8, 8),
		.address = field(e, head, 12, 16),
		.size = field(e, head, 20, 32),
		.link = small(e, head, 24, 40, 4),
		.entry = field(e, head, 36, 56),
	};

	if (s.type != SECTION_NO_BYTES)
		s.bytes = part(e, field(e, head, 16, 24), s.size);
	return s;
}

static void read_section_table(struct elf *e)
{
	uint64_t table = field(e, e->bytes, 32, 40);
	uint64_t each = small(e, e->bytes, 46, 58, 2), nr = small(e, e->bytes, 48, 60, 2);
	uint64_t names_in = small(e, e->bytes, 50, 62, 2);
	struct section s;
	struct str names;

	if (!table || table >= e->bytes.n || each < (e->is_64 ? 64 : 40))
		return;
	s = section_of(e, part(e, table, each));
	if (!nr) /* too many for the two bytes: the first section says it */
		nr = s.size < TABLE_MAX ? s.size : TABLE_MAX;
	names = section_of(e, part(e, table + names_in * each, each)).bytes;
	for (uint64_t i = 0; i < nr; i++) {
		struct str head = part(e, table + i * each, each);

		s = section_of(e, head);
		s.name = elf_text(names, small(e, head, 0, 0, 4));
		vec_push(&e->sections, s);
	}
}

static void read_segment_table(struct elf *e)
{
	uint64_t table = field(e, e->bytes, 28, 32);
	uint64_t each = small(e, e->bytes, 42, 54, 2), nr = small(e, e->bytes, 44, 56, 2);

	for (uint64_t i = 0; table && i < nr && i < SEGMENTS_MAX && each; i++) {
		struct str head = part(e, table + i * each, each);
		struct segment s = {
			.type = small(e, head, 0, 0, 4),
			.flags = small(e, head, 24, 4, 4),
			.address = field(e, head, 8, 16),
			.bytes = part(e, field(e, head, 4, 8), field(e, head, 16, 32)),
		};

		vec_push(&e->segments, s);
	}
}

static void add_region(struct elf *e, enum region_kind kind, uint64_t address, struct str bytes)
{
	struct region r = { address, bytes, kind };

	if (bytes.n)
		vec_push(&e->regions, r);
}

static void take_section(struct elf *e, const struct section *s)
{
	e->is_go |= str_eq(s->name, STR(".gopclntab")) || str_eq(s->name, STR(".go.buildinfo"));
	if (s->type == SECTION_ADDENDS && s->flags & SECTION_ALLOC)
		vec_push(&e->relocations, s->bytes);
	if (s->type != SECTION_DATA || !(s->flags & SECTION_ALLOC))
		return;
	if (s->flags & SECTION_RUN)
		add_region(e, REGION_CODE, s->address, s->bytes);
	else if (s->flags & SECTION_WRITE)
		add_region(e, REGION_DATA, s->address, s->bytes);
	else if (str_starts(s->name, STR(".rodata")) || s->flags & SECTION_STRINGS)
		add_region(e, REGION_STRINGS, s->address, s->bytes);
}

/* Whether there are sections that tell where the strings are. */
static bool take_sections(struct elf *e)
{
	vec_each (&e->sections, s)
		take_section(e, s);
	vec_each (&e->regions, r)
		if (r->kind == REGION_STRINGS)
			return true;
	return false;
}

struct str elf_at(const struct elf *e, uint64_t address, uint64_t n)
{
	vec_each (&e->segments, s)
		if (s->type == SEGMENT_LOAD && address >= s->address &&
		    address - s->address < s->bytes.n)
			return str_head(str_skip(s->bytes, address - s->address), n);
	return STR("");
}

const struct section *elf_section_named(const struct elf *e, struct str name)
{
	vec_each (&e->sections, s)
		if (str_eq(s->name, name))
			return s;
	return NULL;
}

uint64_t elf_dynamic(const struct elf *e, uint64_t wanted)
{
	unsigned word = elf_word(e);
	uint64_t tag, value;

	vec_each (&e->segments, s)
		for (uint64_t i = 0;
		     s->type == SEGMENT_DYNAMIC && i < TABLE_MAX &&
		     elf_number(e, s->bytes, i * 2 * word, word, &tag) &&
		     elf_number(e, s->bytes, (i * 2 + 1) * word, word, &value) && tag;
		     i++)
			if (tag == wanted)
				return value;
	return 0;
}

static void take_segments(struct elf *e)
{
	uint64_t bytes = elf_dynamic(e, TAG_ADDENDS_BYTES);

	vec_clear(&e->regions);
	vec_clear(&e->relocations);
	vec_each (&e->segments, s) {
		enum region_kind kind = s->flags & SEGMENT_WRITE ? REGION_DATA
					: s->flags & SEGMENT_RUN ? REGION_MIXED
								 : REGION_STRINGS;

		if (s->type == SEGMENT_LOAD)
			add_region(e, kind, s->address, s->bytes);
	}
	if (bytes)
		vec_push(&e->relocations, elf_at(e, elf_dynamic(e, TAG_ADDENDS), bytes));
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

bool elf_read(struct elf *e, struct str bytes)
{
	*e = (struct elf){ .bytes = bytes };
	if (bytes.n < 52 || !str_starts(bytes, STR("\177ELF")))
		return false;
	e->is_64 = bytes.p[4] == 2;
	e->is_big = bytes.p[5] == 2;
	if (e->is_64 && bytes.n < 64)
		return false;
	e->type = (uint16_t)small(e, bytes, 16, 16, 2);
	e->machine = (uint16_t)small(e, bytes, 18, 18, 2);
	read_section_table(e);
	read_segment_table(e);
	return true;
}

bool elf_init(struct elf *e, struct str bytes)
{
	if (!elf_read(e, bytes))
		return false;
	if (!take_sections(e))
		take_segments(e);
	find_language(e);
	return e->regions.nr > 0;
}

void elf_done(struct elf *e)
{
	vec_done(&e->sections);
	vec_done(&e->segments);
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
