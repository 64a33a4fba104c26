#include "model/why.h"

#include "model/attr.h"

enum { THING_BYTES = 120 }; /* longer names are cut: a run stays small */

void why_add(struct buf *attrs, const struct why *why)
{
	struct buf packed = { 0 };
	struct attr a = { .type = ATTR_BYTES, .key = STR(WHY_KEY) };

	buf_varint(&packed, why->how);
	buf_varint(&packed, why->after);
	buf_varint(&packed, why->percent);
	buf_add(&packed, str_head(why->thing, THING_BYTES));
	a.text = buf_str(&packed);
	attr_add(attrs, &a);
	buf_done(&packed);
}

bool why_find(struct str attrs, struct why *why)
{
	struct attr a;

	while (attr_take(&attrs, &a)) {
		uint64_t how, after, percent;

		if (a.type != ATTR_BYTES || !str_eq(a.key, STR(WHY_KEY)))
			continue;
		if (!str_take_varint(&a.text, &how) || how >= WHY_HOW_NR ||
		    !str_take_varint(&a.text, &after) || after > UINT32_MAX ||
		    !str_take_varint(&a.text, &percent) || percent > 100)
			return false;
		*why = (struct why){ (enum why_how)how, (uint32_t)after, (unsigned)percent,
				     a.text };
		return true;
	}
	return false;
}

const char *why_how_name(enum why_how how)
{
	static const char *const names[] = {
		[WHY_FIRST] = "first",   [WHY_FOLLOWS] = "follows", [WHY_AGREED] = "agreed",
		[WHY_AGAIN] = "again",   [WHY_FAMILY] = "family",   [WHY_LOOP] = "loop",
		[WHY_HANDED] = "handed",
	};

	return how < WHY_HOW_NR ? names[how] : "unknown";
}
