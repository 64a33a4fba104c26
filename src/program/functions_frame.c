/*
 * .eh_frame, as the Linux Standard Base describes it: entries that say what several functions have
 * in common (CIE), and one for each stretch of code (FDE). Of the latter only the extent is wanted,
 * and what holds at its very begin.
 */
#include "program/functions_frame.h"

enum {
	FORM_MASK = 0x0f, /* of an encoding: how the number is written, … */
	FORM_LEB = 0x01,
	FORM_2 = 0x02,
	FORM_4 = 0x03,
	FORM_8 = 0x04,
	FORM_SIGNED = 0x08,
	BASE_MASK = 0x70, /* … and what is added */
	BASE_HERE = 0x10,
	BASE_DATA = 0x30,
	OMITTED = 0xff,
	AUGMENTATION_MAX = 16,
	OP_DEFINE_CFA = 0x0c,
	OP_DEFINE_CFA_EXPRESSION = 0x0f,
	OP_UNDEFINED = 0x07,
	OP_REMEMBER = 0x0a,
	OP_ARGUMENTS = 0x2e,
};

struct frames {
	const struct elf *e;
	struct str all;
	uint64_t address; /* of all */
	/* the CIE at hand */
	uint64_t cie;
	uint8_t encoding;
	bool is_known, has_augmentation;
	bool has_end; /* whether the end of all is known, or only that of what is behind it */
};

/* A number from the front of *s, whose bytes are part of f->all. */
static bool take_number(const struct frames *f, struct str *s, unsigned bytes, uint64_t *v)
{
	if (!elf_number(f->e, *s, 0, bytes, v))
		return false;
	*s = str_skip(*s, bytes);
	return true;
}

static bool take_leb(struct str *s, uint64_t *v)
{
	uint64_t n = 0;

	for (unsigned shift = 0; s->n; shift += 7) {
		uint8_t byte = (uint8_t)s->p[0];

		*s = str_skip(*s, 1);
		if (shift < 64)
			n |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*v = n;
			return true;
		}
	}
	return false;
}

static bool take_encoded(const struct frames *f, struct str *s, uint8_t encoding, uint64_t *v)
{
	static const uint8_t widths[] = { 0, 0, 2, 4, 8, 0, 0, 0 };
	uint64_t here = f->address + (uint64_t)(s->p - f->all.p);
	unsigned form = encoding & 0x07, bytes = widths[form];

	if (form == FORM_LEB) {
		if (!take_leb(s, v))
			return false;
	} else {
		if (!form)
			bytes = elf_word(f->e);
		if (!bytes || !take_number(f, s, bytes, v))
			return false;
		if (encoding & FORM_SIGNED && bytes < 8 && *v >> (bytes * 8 - 1))
			*v |= ~(uint64_t)0 << bytes * 8;
	}
	if ((encoding & BASE_MASK) == BASE_HERE)
		*v += here;
	if (!f->e->is_64)
		*v &= UINT32_MAX;
	return true;
}

/* What the letters of the augmentation say of the FDEs. */
static bool take_augmentation(struct frames *f, struct str letters, struct str s)
{
	uint64_t skipped;

	for (size_t i = 0; i < letters.n; i++) {
		uint8_t byte = s.n ? (uint8_t)s.p[0] : OMITTED;

		switch (letters.p[i]) {
		case 'z':
			if (!take_leb(&s, &skipped))
				return false;
			break;
		case 'R':
			f->encoding = byte;
			return true;
		case 'P':
			s = str_skip(s, 1);
			if (byte != OMITTED && !take_encoded(f, &s, byte, &skipped))
				return false;
			break;
		case 'L':
			s = str_skip(s, 1);
			break;
		case 'S':
		case 'B':
			break;
		default:
			return false;
		}
	}
	return true;
}

/* The bytes of the entry at a place, behind its length; false at the end. */
static bool entry_at(const struct frames *f, uint64_t at, struct str *entry)
{
	struct str s = at < f->all.n ? str_skip(f->all, at) : STR("");
	uint64_t n;

	if (!take_number(f, &s, 4, &n))
		return false;
	if (n == UINT32_MAX && !take_number(f, &s, 8, &n))
		return false;
	if (n > s.n)
		return false;
	*entry = str_head(s, n);
	return true;
}

static bool read_cie(struct frames *f, uint64_t at)
{
	struct str s, letters;
	uint64_t id, skipped;
	uint8_t version;

	if (f->is_known && f->cie == at)
		return true;
	f->is_known = false;
	if (!entry_at(f, at, &s) || !take_number(f, &s, 4, &id) || id || !s.n)
		return false;
	version = (uint8_t)s.p[0];
	s = str_skip(s, 1);
	if (!str_take_until(&s, '\0', &letters) || letters.n > AUGMENTATION_MAX)
		return false;
	if (!take_leb(&s, &skipped)) /* alignment of code, … */
		return false;
	if (!take_leb(&s, &skipped)) /* … and of data */
		return false;
	if (version == 1)
		s = str_skip(s, 1);
	else if (!take_leb(&s, &skipped)) /* the register of the return address */
		return false;
	f->encoding = 0;
	f->has_augmentation = str_starts(letters, STR("z"));
	f->is_known = take_augmentation(f, letters, s);
	f->cie = at;
	return f->is_known;
}

/* Whether the frame is something else than that of a function just called, before any instruction
 * was run. */
static bool is_set_up(struct str s)
{
	while (s.n) {
		uint8_t op = (uint8_t)s.p[0];
		uint64_t skipped;

		s = str_skip(s, 1);
		if (op >= OP_DEFINE_CFA && op <= OP_DEFINE_CFA_EXPRESSION)
			return true;
		if (op >> 6 == 2) /* a register was saved */
			return true;
		if (op == OP_UNDEFINED || op == OP_ARGUMENTS) {
			if (!take_leb(&s, &skipped))
				return false;
		} else if (op && op != OP_REMEMBER) {
			return false; /* the place moves on, or something rare */
		}
	}
	return false;
}

static void take_fde(struct frames *f, struct str s, struct function_ranges *to)
{
	struct function_range r;
	uint64_t skipped;

	if (!take_encoded(f, &s, f->encoding, &r.address) ||
	    !take_encoded(f, &s, f->encoding & FORM_MASK, &r.size) || !r.address || !r.size)
		return;
	if (f->has_augmentation) {
		if (!take_leb(&s, &skipped))
			return;
		s = str_skip(s, skipped);
	}
	r.is_part = is_set_up(s);
	vec_push(&to->v, r);
}

/* Where .eh_frame is, by its section or by the table that is searched at run time. */
static bool find_frames(struct frames *f)
{
	const struct section *s = elf_section_named(f->e, STR(".eh_frame"));
	struct str head;

	if (s && s->bytes.n) {
		f->all = s->bytes;
		f->address = s->address;
		f->has_end = true;
		return true;
	}
	vec_each (&f->e->segments, g) {
		if (g->type != SEGMENT_FRAMES || g->bytes.n < 8 || g->bytes.p[0] != 1)
			continue;
		f->all = g->bytes;
		f->address = g->address;
		head = str_skip(g->bytes, 4);
		if (!take_encoded(f, &head, (uint8_t)g->bytes.p[1], &f->address))
			continue;
		f->all = elf_at(f->e, f->address, UINT64_MAX);
		return f->all.n > 0;
	}
	return false;
}

void function_frames(const struct elf *e, struct function_ranges *to)
{
	struct frames f = { .e = e };
	struct str entry;

	if (!find_frames(&f))
		return;
	for (uint64_t at = 0; entry_at(&f, at, &entry);) {
		uint64_t id_at = (uint64_t)(entry.p - f.all.p), id;

		at = id_at + entry.n;
		if (!entry.n && !f.has_end)
			return;
		if (!take_number(&f, &entry, 4, &id) || !id || id > id_at)
			continue;
		if (read_cie(&f, id_at - id))
			take_fde(&f, entry, to);
	}
}
