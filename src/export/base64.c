#include "export/base64.h"

void base64_add(struct buf *out, struct str bytes)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (; bytes.n; bytes = str_skip(bytes, 3)) {
		uint32_t bits = 0;

		for (size_t i = 0; i < 3; i++)
			bits = bits << 8 | (i < bytes.n ? (unsigned char)bytes.p[i] : 0);
		buf_char(out, digits[bits >> 18]);
		buf_char(out, digits[bits >> 12 & 63]);
		buf_char(out, bytes.n > 1 ? digits[bits >> 6 & 63] : '=');
		buf_char(out, bytes.n > 2 ? digits[bits & 63] : '=');
	}
}
