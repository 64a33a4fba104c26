#include "model/operations.h"

#include "model/attr.h"

void operations_add(struct buf *attrs, const uint32_t *numbers, size_t nr)
{
	struct buf packed = { 0 };
	struct attr a = { .type = ATTR_BYTES, .key = STR(OPERATIONS_KEY) };

	for (size_t i = 0; i < nr; i++)
		buf_varint(&packed, numbers[i]);
	a.text = buf_str(&packed);
	attr_add(attrs, &a);
	buf_done(&packed);
}

bool operations_find(struct str attrs, struct str *packed)
{
	struct attr a;

	while (attr_take(&attrs, &a))
		if (a.type == ATTR_BYTES && str_eq(a.key, STR(OPERATIONS_KEY))) {
			*packed = a.text;
			return true;
		}
	return false;
}

bool operations_next(struct str *packed, uint32_t *number)
{
	uint64_t v;

	if (!str_take_varint(packed, &v))
		return false;
	*number = (uint32_t)v;
	return true;
}
