#include "model/why.h"

#include "base/names.h"
#include "model/attr.h"

enum { THING_BYTES = 120 }; /* longer names are cut: a run stays small */

/* Few things tie a whole request together, so each is said once and numbered; 0 is none. */
void why_add(struct buf *attrs, const struct why *v, size_t nr)
{
	struct names things = { 0 };
	struct buf numbers = { 0 }, packed = { 0 };
	struct attr a = { .type = ATTR_BYTES, .key = STR(WHY_KEY) };

	for (size_t i = 0; i < nr; i++) {
		struct str thing = str_head(v[i].thing, THING_BYTES);
		uint64_t number = thing.n ? names_add(&things, thing) : 0;

		buf_varint(&numbers, (uint64_t)v[i].how + WHY_HOW_NR * number);
	}
	buf_varint(&packed, things.nr ? things.nr - 1 : 0);
	for (sym_t i = 1; i < things.nr; i++)
		buf_bytes(&packed, names_str(&things, i));
	buf_add(&packed, buf_str(&numbers));
	a.text = buf_str(&packed);
	attr_add(attrs, &a);
	buf_done(&packed);
	buf_done(&numbers);
	names_done(&things);
}

bool why_find(struct str attrs, struct whys *w)
{
	struct attr a;

	while (attr_take(&attrs, &a)) {
		struct str thing;

		if (a.type != ATTR_BYTES || !str_eq(a.key, STR(WHY_KEY)))
			continue;
		*w = (struct whys){ .rest = a.text };
		if (!str_take_varint(&w->rest, &w->nr_things))
			return false;
		w->things = w->rest;
		for (uint64_t i = 0; i < w->nr_things; i++)
			if (!str_take_bytes(&w->rest, &thing))
				return false;
		return true;
	}
	return false;
}

bool why_next(struct whys *w, struct why *why)
{
	struct str things = w->things, thing = { 0 };
	uint64_t v;

	if (!str_take_varint(&w->rest, &v) || v / WHY_HOW_NR > w->nr_things)
		return false;
	for (uint64_t i = 0; i < v / WHY_HOW_NR; i++)
		str_take_bytes(&things, &thing);
	*why = (struct why){ (enum why_how)(v % WHY_HOW_NR), thing };
	return true;
}

const char *why_how_name(enum why_how how)
{
	static const char *const names[] = {
		[WHY_FIRST] = "first",   [WHY_FOLLOWS] = "follows", [WHY_AGREED] = "agreed",
		[WHY_AGAIN] = "again",   [WHY_FAMILY] = "family",   [WHY_LOOP] = "loop",
		[WHY_HANDED] = "handed", [WHY_WITHIN] = "within",   [WHY_TURN] = "turn",
	};

	return how < WHY_HOW_NR ? names[how] : "unknown";
}
