#include "source/trace_id.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int base64_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+' || c == '-')
		return 62;
	return c == '/' || c == '_' ? 63 : -1;
}

bool trace_id_take_base64(struct buf *out, struct str text)
{
	size_t before = out->n;
	uint32_t bits = 0;
	unsigned nr = 0;

	for (unsigned pad = 0; pad < 2 && text.n && text.p[text.n - 1] == '='; pad++)
		text.n--;
	for (size_t i = 0; i < text.n; i++) {
		int digit = base64_digit(text.p[i]);

		if (digit < 0 || text.n % 4 == 1) {
			out->n = before;
			return false;
		}
		bits = bits << 6 | (uint32_t)digit;
		nr += 6;
		if (nr >= 8) {
			nr -= 8;
			buf_char(out, (char)(bits >> nr));
		}
	}
	return true;
}

bool trace_id_take_hex(struct buf *out, struct str text)
{
	size_t before = out->n;

	for (size_t i = 0; i + 1 < text.n; i += 2) {
		int high = hex_digit(text.p[i]), low = hex_digit(text.p[i + 1]);

		if (high < 0 || low < 0) {
			out->n = before;
			return false;
		}
		buf_char(out, (char)(high << 4 | low));
	}
	return !(text.n & 1);
}

struct str trace_id_of_bytes(struct arena *a, struct str bytes)
{
	static const char digits[] = "0123456789abcdef";
	char *p = arena_alloc(a, 2 * bytes.n);

	for (size_t i = 0; i < bytes.n; i++) {
		p[2 * i] = digits[(unsigned char)bytes.p[i] >> 4];
		p[2 * i + 1] = digits[(unsigned char)bytes.p[i] & 15];
	}
	return (struct str){ p, 2 * bytes.n };
}

/*
 * Lower case into p; false when a byte is no digit. Without branches, so that the compiler can take
 * many bytes at once: every span has two or three ids.
 */
static bool lower_hex(char *p, struct str s)
{
	unsigned bad = 0;

	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)(s.p[i] | 0x20); /* digits have this bit set */
		unsigned char digit = (unsigned char)(c - '0'), letter = (unsigned char)(c - 'a');

		bad |= (unsigned)(digit > 9) & (unsigned)(letter > 5);
		bad |= (unsigned)(s.p[i] < '0');
		p[i] = (char)c;
	}
	return !bad;
}

static bool is_base64_id(struct str s)
{
	return (s.n == 24 && str_ends(s, STR("=="))) ||
	       (s.n == 12 && s.p[11] == '=' && s.p[10] != '=');
}

struct str trace_id_of_text(struct arena *a, struct str text)
{
	struct str id = text;
	struct buf bytes = { 0 };
	char *p;

	/* Only lengths that tracers use: a short name such as "A" may differ from "a". */
	if (text.n == 16 || text.n == 32) {
		p = arena_alloc(a, text.n);
		if (lower_hex(p, text))
			return (struct str){ p, text.n };
	}
	if (is_base64_id(text) && trace_id_take_base64(&bytes, text))
		id = trace_id_of_bytes(a, buf_str(&bytes));
	else
		id = arena_str(a, text);
	buf_done(&bytes);
	return id;
}

bool trace_id_is_none(struct str id)
{
	for (size_t i = 0; i < id.n; i++)
		if (id.p[i] != '0')
			return false;
	return true;
}
