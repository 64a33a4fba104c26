/*
 * C and C++ end a string with a zero byte. In front of one there may be anything: what is printable
 * up to the zero is taken, when it is long enough not to be chance. Linkers keep one string in the
 * end of another, which only a reference into it tells. Go and Rust write strings without any end,
 * one behind the other, and keep the length where the string is used (strings_ends.h).
 */
#include "program/strings_elf.h"

#include "model/loss.h"
#include "program/elf.h"
#include "program/strings.h"
#include "program/strings_ends.h"
#include "program/strings_text.h"

enum { TAIL_MIN = 6 }; /* printable bytes behind others that are not */

static bool is_plain(char c)
{
	return ((unsigned char)c >= ' ' && c != 0x7f) || (c >= '\t' && c <= '\r');
}

/* What stands in front of a zero byte. */
static void give_ended(const struct strings_sink *to, struct str s, struct losses *losses)
{
	size_t n = s.n;

	if (s.n < STRING_MIN)
		return;
	if (strings_is_text(s)) {
		strings_give(to, s, losses);
		return;
	}
	while (n && is_plain(s.p[n - 1]) && (unsigned char)s.p[n - 1] < 0x80)
		n--;
	if (s.n - n >= TAIL_MIN)
		strings_give(to, str_skip(s, n), losses);
}

static void give_region(const struct strings_sink *to, struct str s, struct losses *losses)
{
	while (s.n) {
		size_t n = str_find_char(s, '\0');

		if (n < s.n)
			give_ended(to, str_head(s, n), losses);
		s = str_skip(s, n + 1);
	}
}

void strings_of_elf(struct str bytes, const struct strings_sink *to, struct losses *losses)
{
	struct elf e;

	if (!elf_init(&e, bytes)) {
		losses->count[LOSS_PROGRAMS_BROKEN]++;
	} else {
		vec_each (&e.regions, r)
			if (!e.is_go && (r->kind == REGION_STRINGS || r->kind == REGION_MIXED))
				give_region(to, r->bytes, losses);
		strings_without_ends(&e, to, losses);
	}
	elf_done(&e);
}
