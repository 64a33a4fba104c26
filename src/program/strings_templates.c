/*
 * The format of core::fmt since Rust 1.93: a byte below 128 is the length of the text behind it,
 * 128 says that the length has two bytes, 192 and more mark a value, with two or four bytes for
 * each of the lowest four bits, zero is the end. Hardly anything else reads like that up to its
 * end, so each place that somebody refers to is tried.
 */
#include "program/strings_ends.h"

#include "base/buf.h"
#include "program/elf.h"
#include "program/strings.h"
#include "program/strings_text.h"

enum {
	LONG_TEXT = 0x80,
	VALUE = 0xc0,
	HAS_FLAGS = 1,
	HAS_WIDTH = 2,
	HAS_PRECISION = 4,
	HAS_INDEX = 8,
};

static size_t options(uint8_t mark)
{
	return (mark & HAS_FLAGS ? 4U : 0) + (mark & HAS_WIDTH ? 2U : 0) +
	       (mark & HAS_PRECISION ? 2U : 0) + (mark & HAS_INDEX ? 2U : 0);
}

/* The bytes of a template at the front of s, 0 for none; its text with holes goes to *out. */
static size_t read_template(struct str s, struct buf *out)
{
	size_t at = 0, texts = 0, values = 0;

	buf_clear(out);
	while (at < s.n && s.p[at] && out->n < STRING_MAX) {
		uint8_t mark = (uint8_t)s.p[at++];
		size_t n = mark;

		if (mark >= VALUE) {
			if (mark > (VALUE | 15))
				return 0;
			at += options(mark);
			buf_char(out, STRING_ANY);
			values++;
			continue;
		}
		if (mark == LONG_TEXT && at + 2 <= s.n) {
			n = (size_t)(uint8_t)s.p[at] | (size_t)(uint8_t)s.p[at + 1] << 8;
			at += 2;
		}
		if (mark > LONG_TEXT || !n || at > s.n || s.n - at < n ||
		    !strings_is_text((struct str){ s.p + at, n }))
			return 0;
		buf_add(out, (struct str){ s.p + at, n });
		at += n;
		texts++;
	}
	return at < s.n && !s.p[at] && texts && values ? at + 1 : 0;
}

/* Everywhere in the regions of strings. */
static void try_everywhere(const struct elf *e, struct buf *b, const struct strings_sink *to,
			   struct losses *losses)
{
	vec_each (&e->regions, r) {
		struct str s = r->bytes;

		if (r->kind != REGION_STRINGS && r->kind != REGION_MIXED)
			continue;
		while (s.n) {
			size_t n = read_template(s, b);

			if (n)
				strings_give_marked(to, buf_str(b), losses);
			s = str_skip(s, n ? n : 1);
		}
	}
}

void strings_of_templates(const struct elf *e, const uint64_t *starts, size_t nr,
			  const struct strings_sink *to, struct losses *losses)
{
	struct buf b = { 0 };
	struct str s;

	for (size_t i = 0; i < nr; i++)
		if (elf_strings_at(e, starts[i], &s) && read_template(s, &b))
			strings_give_marked(to, buf_str(&b), losses);
	if (!nr)
		try_everywhere(e, &b, to, losses);
	buf_done(&b);
}
