#include "export/proto.h"

#include "base/utf8.h"

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2 };

static void tag(struct buf *b, unsigned field, enum wire wire)
{
	buf_varint(b, (uint64_t)field << 3 | wire);
}

void proto_uint(struct buf *b, unsigned field, uint64_t v)
{
	tag(b, field, WIRE_VARINT);
	buf_varint(b, v);
}

void proto_fixed64(struct buf *b, unsigned field, uint64_t v)
{
	tag(b, field, WIRE_64);
	for (int i = 0; i < 8; i++)
		buf_char(b, (char)(v >> 8 * i));
}

void proto_double(struct buf *b, unsigned field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	proto_fixed64(b, field, bits);
}

void proto_bytes(struct buf *b, unsigned field, struct str v)
{
	tag(b, field, WIRE_BYTES);
	buf_bytes(b, v);
}

void proto_text(struct buf *b, unsigned field, struct str v)
{
	struct buf clean = { 0 };
	struct str rest = v;
	bool valid = true;

	while (rest.n && valid) {
		size_t n = utf8_length(rest);

		valid = n > 0;
		rest = str_skip(rest, n);
	}
	if (valid) {
		proto_bytes(b, field, v);
		return;
	}
	for (rest = v; rest.n;) {
		size_t n = utf8_length(rest);

		buf_add(&clean, n ? str_head(rest, n) : STR("\xef\xbf\xbd"));
		rest = str_skip(rest, n ? n : 1);
	}
	proto_bytes(b, field, buf_str(&clean));
	buf_done(&clean);
}
