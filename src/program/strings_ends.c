/*
 * Three kinds of evidence, surest first.
 *
 * 1. Headers: a pointer into read-only data followed by a length, in data or in read-only data
 *    itself. Programs that are moved when they are loaded have the pointer in a relocation.
 * 2. Code: an instruction that takes an address in read-only data (lea on x86-64, adrp and add on
 *    64-bit ARM), and a small number loaded a few instructions before or behind it. A length that
 *    reaches into the next string that somebody refers to is none. Rust's formatter doubles a
 *    length and adds one. Where no number fits, a string ends where the next one begins.
 * 3. Templates: since version 1.93 Rust keeps a format as lengths, texts and marks for values.
 *
 * Code is not disassembled: each place that looks like such an instruction is taken for one, and
 * must lead to text. Time is that of one pass over the code, and sorting what was found.
 */
#include "program/strings_ends.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/vec.h"
#include "program/elf.h"
#include "program/strings.h"
#include "program/strings_text.h"

enum {
	CODE_BEFORE = 24, /* bytes of code in which the length of a string is looked for */
	CODE_BEHIND = 48,
	LENGTHS_MAX = 8,
	OBJECT_FILE = 1, /* type of file: not linked, so its addresses mean nothing yet */
};

/* Code that takes the address of what may be a string. */
struct ref {
	uint64_t address;
	uint32_t nr;
	uint16_t lengths[LENGTHS_MAX]; /* the nearest first */
};

struct ends {
	const struct elf *elf;
	const struct strings_sink *to;
	struct losses *losses;
	VEC(struct ref) refs;
	VEC(uint64_t) starts; /* of all strings that somebody refers to */
};

/* The string of a header, if it is one. */
static void take_header(struct ends *s, uint64_t address, uint64_t length)
{
	struct str text;

	if (!length || length > STRING_MAX || !elf_strings_at(s->elf, address, &text) ||
	    text.n < length)
		return;
	text.n = length;
	if (!strings_is_text(text))
		return;
	vec_push(&s->starts, address);
	strings_give(s->to, text, s->losses);
}

static void scan_headers(struct ends *s, const struct region *r)
{
	unsigned word = elf_word(s->elf);
	uint64_t address, length, at = (0 - r->address) & (word - 1);

	for (; elf_number(s->elf, r->bytes, at, word, &address); at += word)
		if (address && elf_number(s->elf, r->bytes, at + word, word, &length))
			take_header(s, address, length);
}

/* The number at an address in any region that is loaded. */
static bool number_at(const struct elf *e, uint64_t address, uint64_t *v)
{
	for (size_t i = 0; i < e->regions.nr && i < 64; i++) {
		const struct region *r = &e->regions.v[i];

		if (address >= r->address && address - r->address < r->bytes.n)
			return elf_number(e, r->bytes, address - r->address, elf_word(e), v);
	}
	return false;
}

/* Records of place, kind and addend: a pointer that the loader puts at the place. */
static void scan_relocations(struct ends *s, struct str table)
{
	unsigned word = elf_word(s->elf);
	uint64_t place, addend, length;

	for (uint64_t at = 0; elf_number(s->elf, table, at + 2 * word, word, &addend);
	     at += 3 * word)
		if (elf_number(s->elf, table, at, word, &place) &&
		    number_at(s->elf, place + word, &length))
			take_header(s, addend, length);
}

static void note_length(struct ref *r, uint64_t length)
{
	if (length && length <= 2 * STRING_MAX && r->nr < LENGTHS_MAX)
		r->lengths[r->nr++] = (uint16_t)length;
}

static uint32_t little(const char *p)
{
	const uint8_t *b = (const uint8_t *)p;

	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* mov $n, %reg; movq $n, %reg or memory: what says where it goes comes before the number. */
static bool x86_number(struct str code, size_t at, uint32_t *n)
{
	const uint8_t *p = (const uint8_t *)code.p + at;
	size_t rest = code.n - at, skip = 3;

	if (rest >= 5 && p[0] >= 0xb8 && p[0] <= 0xbf) {
		*n = little(code.p + at + 1);
		return true;
	}
	if (rest < 3 || (p[0] & 0xfe) != 0x48 || p[1] != 0xc7 || p[2] & 0x38)
		return false;
	skip += p[2] < 0xc0 && (p[2] & 7) == 4 ? 1 : 0; /* the address is of two registers */
	skip += p[2] >> 6 == 1 ? 1 : p[2] >> 6 == 2 ? 4 : 0;
	if (rest < skip + 4)
		return false;
	*n = little(code.p + at + skip);
	return true;
}

/* lea disp(%rip), %reg */
static void scan_x86(struct ends *s, const struct region *r)
{
	struct str code = r->bytes, text;
	uint32_t n;

	for (size_t at = 1; at + 6 <= code.n; at++) {
		struct ref ref = { 0 };

		at += str_find_char(str_skip(code, at), '\x8d');
		if (at + 6 > code.n)
			break;
		if (((uint8_t)code.p[at - 1] & 0xfb) != 0x48 || (code.p[at + 1] & 0xc7) != 5)
			continue;
		ref.address = r->address + at + 6 + (uint64_t)(int32_t)little(code.p + at + 2);
		if (!elf_strings_at(s->elf, ref.address, &text))
			continue;
		for (size_t i = at + 6; i < code.n && i < at + CODE_BEHIND; i++)
			if (x86_number(code, i, &n))
				note_length(&ref, n);
		for (size_t i = at; i > 0 && i + CODE_BEFORE > at; i--)
			if (x86_number(code, i - 1, &n))
				note_length(&ref, n);
		vec_push(&s->refs, ref);
	}
}

/* movz $n, reg */
static bool arm_number(uint32_t insn, uint32_t *n)
{
	if ((insn & 0x7fe00000) != 0x52800000)
		return false;
	*n = insn >> 5 & 0xffff;
	return true;
}

/* The address that adrp and the add behind it make, if these are the two. */
static bool arm_address(uint32_t adrp, uint32_t add, uint64_t pc, uint64_t *address)
{
	uint64_t page = (uint64_t)(adrp >> 3 & 0x1ffffc) | (adrp >> 29 & 3);

	if ((adrp & 0x9f000000) != 0x90000000 || (add & 0xffc00000) != 0x91000000 ||
	    (adrp & 31) != (add >> 5 & 31))
		return false;
	page = (page ^ 0x100000) - 0x100000; /* its sign */
	*address = (pc & ~(uint64_t)4095) + (page << 12) + (add >> 10 & 0xfff);
	return true;
}

static void scan_arm(struct ends *s, const struct region *r)
{
	struct str code = r->bytes, text;
	uint32_t n;

	for (size_t at = 0; at + 8 <= code.n; at += 4) {
		struct ref ref = { 0 };

		if (!arm_address(little(code.p + at), little(code.p + at + 4), r->address + at,
				 &ref.address) ||
		    !elf_strings_at(s->elf, ref.address, &text))
			continue;
		for (size_t i = at + 8; i + 4 <= code.n && i < at + CODE_BEHIND; i += 4)
			if (arm_number(little(code.p + i), &n))
				note_length(&ref, n);
		for (size_t i = at; i >= 4 && i + CODE_BEFORE > at; i -= 4)
			if (arm_number(little(code.p + i - 4), &n))
				note_length(&ref, n);
		vec_push(&s->refs, ref);
	}
}

static int by_number(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return a < b ? -1 : a > b;
}

static void sort_starts(struct ends *s)
{
	size_t nr = 0;

	vec_each (&s->refs, r)
		vec_push(&s->starts, r->address);
	if (s->starts.nr)
		qsort(s->starts.v, s->starts.nr, sizeof(*s->starts.v), by_number);
	for (size_t i = 0; i < s->starts.nr; i++)
		if (!i || s->starts.v[i] != s->starts.v[nr - 1])
			s->starts.v[nr++] = s->starts.v[i];
	s->starts.nr = nr;
}

/* How many bytes there are to the next string that somebody refers to. */
static size_t room_of(const struct ends *s, uint64_t address, struct str text)
{
	size_t from = 0, to = s->starts.nr;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (s->starts.v[middle] <= address)
			from = middle + 1;
		else
			to = middle;
	}
	if (from < s->starts.nr && s->starts.v[from] - address < text.n)
		return s->starts.v[from] - address;
	return text.n;
}

static bool fits(struct str text, size_t length, size_t room)
{
	return length && length <= room && length <= STRING_MAX &&
	       strings_is_text(str_head(text, length));
}

/* The length among those nearby that reaches just to the next string, or the nearest that fits. */
static size_t length_of(const struct ends *s, const struct ref *r, struct str text)
{
	size_t room = room_of(s, r->address, text), found = 0;

	for (uint32_t i = 0; i < r->nr; i++) {
		size_t length = r->lengths[i];

		if (length == room && fits(text, room, room))
			return room;
		if (s->elf->is_rust && length % 2 && length / 2 == room && fits(text, room, room))
			return room;
		if (!found && fits(text, length, room))
			found = length;
	}
	return !found && fits(text, room, room) ? room : found;
}

/* A reference into a string that ends with a zero byte. */
static void give_rest(struct ends *s, const struct ref *r, struct str text)
{
	struct str before;

	if (!elf_strings_at(s->elf, r->address - 1, &before) || !before.p[0])
		return;
	text = str_head(text, STRING_MAX);
	text.n = str_find_char(text, '\0');
	if (strings_is_text(text))
		strings_give(s->to, text, s->losses);
}

static void give_refs(struct ends *s)
{
	vec_each (&s->refs, r) {
		struct str text;

		if (!elf_strings_at(s->elf, r->address, &text))
			continue;
		if (s->elf->is_go || s->elf->is_rust)
			strings_give(s->to, str_head(text, length_of(s, r, text)), s->losses);
		if (!s->elf->is_go)
			give_rest(s, r, text);
	}
}

void strings_without_ends(const struct elf *e, const struct strings_sink *to, struct losses *losses)
{
	struct ends s = { .elf = e, .to = to, .losses = losses };
	uint64_t type = 0;

	if (elf_number(e, e->bytes, 16, 2, &type) && type == OBJECT_FILE)
		return;
	vec_each (&e->regions, r) {
		if ((e->is_go || e->is_rust) && r->kind != REGION_CODE)
			scan_headers(&s, r);
		if (r->kind != REGION_CODE && r->kind != REGION_MIXED)
			continue;
		if (e->machine == ELF_X86_64)
			scan_x86(&s, r);
		else if (e->machine == ELF_ARM64)
			scan_arm(&s, r);
	}
	if (e->is_go || e->is_rust)
		vec_each (&e->relocations, table)
			scan_relocations(&s, *table);
	sort_starts(&s);
	give_refs(&s);
	if (e->is_rust)
		strings_of_templates(e, s.starts.v, s.starts.nr, to, losses);
	vec_done(&s.refs);
	vec_done(&s.starts);
}
