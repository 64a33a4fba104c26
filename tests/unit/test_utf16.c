#include "unit.h"

#include "base/buf.h"
#include "base/utf16.h"

/* Decodes it in pieces of so many bytes, into room for so many. */
static void check(struct utf16 u, struct str text, size_t piece, size_t room, const char *expected)
{
	struct buf out = { 0 };
	char to[16];

	while (text.n) {
		struct str from = str_head(text, piece);
		size_t given = from.n, n;

		while ((n = utf16_decode(&u, &from, to, room)))
			buf_add(&out, (struct str){ to, n });
		assert_int_equal(from.n, 0);
		text = str_skip(text, given);
	}
	assert_str_equal(buf_str(&out), expected);
	assert_true(utf16_is_whole(&u));
	buf_done(&out);
}

static void characters_of_every_length_arrive_whole(void **state)
{
	/* "aé€😀\n" */
	struct str little = STR("a\0\xe9\0\xac\x20\x3d\xd8\x00\xde\n\0");
	struct str big = STR("\0a\0\xe9\x20\xac\xd8\x3d\xde\x00\0\n");

	for (size_t piece = 1; piece <= 12; piece++)
		for (size_t room = 1; room <= 16; room++) {
			check((struct utf16){ 0 }, little, piece, room,
			      "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n");
			check((struct utf16){ .big_endian = true }, big, piece, room,
			      "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n");
		}
}

static void half_pairs_are_replaced(void **state)
{
	check((struct utf16){ 0 },
	      STR("\x3d\xd8"
		  "a\0"
		  "\x00\xde"
		  "b\0"),
	      3, 2,
	      "\xef\xbf\xbd"
	      "a\xef\xbf\xbd"
	      "b");
}

static void an_end_in_the_middle_is_noticed(void **state)
{
	struct str odd = STR("a\0b"), high = STR("\x3d\xd8");
	struct utf16 u = { 0 }, v = { 0 };
	char to[8];

	utf16_decode(&u, &odd, to, sizeof(to));
	assert_false(utf16_is_whole(&u));
	utf16_decode(&v, &high, to, sizeof(to));
	assert_false(utf16_is_whole(&v));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters_of_every_length_arrive_whole),
		cmocka_unit_test(half_pairs_are_replaced),
		cmocka_unit_test(an_end_in_the_middle_is_noticed),
	};

	return RUN(tests);
}
