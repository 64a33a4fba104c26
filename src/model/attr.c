#include "model/attr.h"

#include <stdio.h>
#include <string.h>

/* One attribute is a head byte (type, scope), the key, then the value in the form of its type. */

void attr_add(struct buf *packed, const struct attr *a)
{
	buf_char(packed, (char)(a->type | a->scope << 4));
	buf_bytes(packed, a->key);
	switch (a->type) {
	case ATTR_INT:
	case ATTR_BOOL:
		buf_svarint(packed, a->i);
		break;
	case ATTR_DOUBLE:
		buf_add(packed, (struct str){ (const char *)&a->d, sizeof(a->d) });
		break;
	default:
		buf_bytes(packed, a->text);
	}
}

void attr_add_str(struct buf *packed, struct str key, struct str value)
{
	attr_add(packed, &(struct attr){ .type = ATTR_STRING, .key = key, .text = value });
}

void attr_add_int(struct buf *packed, struct str key, int64_t value)
{
	attr_add(packed, &(struct attr){ .type = ATTR_INT, .key = key, .i = value });
}

static bool take_value(struct str *s, struct attr *a)
{
	switch (a->type) {
	case ATTR_INT:
	case ATTR_BOOL:
		return str_take_svarint(s, &a->i);
	case ATTR_DOUBLE:
		if (s->n < sizeof(a->d))
			return false;
		memcpy(&a->d, s->p, sizeof(a->d));
		*s = str_skip(*s, sizeof(a->d));
		return true;
	default:
		return str_take_bytes(s, &a->text);
	}
}

bool attr_take(struct str *packed, struct attr *a)
{
	struct str s = str_skip(*packed, 1);
	struct attr got = { 0 };
	unsigned char head;

	if (!packed->n)
		return false;
	head = (unsigned char)packed->p[0];
	got.type = head & 0xf;
	got.scope = head >> 4;
	if (got.type > ATTR_JSON || got.scope > ATTR_LIBRARY || !str_take_bytes(&s, &got.key) ||
	    !take_value(&s, &got))
		return false;
	*a = got;
	*packed = s;
	return true;
}

bool attr_find(struct str packed, struct str key, struct attr *a)
{
	struct attr got;

	while (attr_take(&packed, &got)) {
		if (!str_eq(got.key, key))
			continue;
		*a = got;
		return true;
	}
	return false;
}

void attr_text(struct buf *b, const struct attr *a)
{
	switch (a->type) {
	case ATTR_INT:
		buf_fmt(b, "%lld", (long long)a->i);
		break;
	case ATTR_BOOL:
		buf_add(b, a->i ? STR("true") : STR("false"));
		break;
	case ATTR_DOUBLE:
		buf_fmt(b, "%g", a->d);
		break;
	case ATTR_BYTES:
		for (size_t i = 0; i < a->text.n; i++)
			buf_fmt(b, "%02x", (unsigned char)a->text.p[i]);
		break;
	default:
		buf_add(b, a->text);
	}
}
