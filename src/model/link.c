#include "model/link.h"

void link_add(struct buf *packed, const struct link *l)
{
	buf_char(packed, (char)l->kind);
	buf_bytes(packed, l->trace);
	buf_bytes(packed, l->span);
	buf_bytes(packed, l->attrs);
}

bool link_take(struct str *packed, struct link *l)
{
	struct str s = str_skip(*packed, 1);
	struct link got = { 0 };

	if (!packed->n || (unsigned char)packed->p[0] > LINK_OTHER)
		return false;
	got.kind = (enum link_kind)packed->p[0];
	if (!str_take_bytes(&s, &got.trace) || !str_take_bytes(&s, &got.span) ||
	    !str_take_bytes(&s, &got.attrs))
		return false;
	*l = got;
	*packed = s;
	return true;
}
