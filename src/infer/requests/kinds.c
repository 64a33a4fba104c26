#include "infer/requests/kinds.h"

#include "base/buf.h"
#include "base/mem.h"
#include "infer/requests/tokens.h"

/* Several numbers, addresses or paths in one unit make no list. */
static bool is_listed(const struct kind_look *k, struct str name)
{
	return !k->is_numbers && !k->is_agreed && !k->is_number && !k->is_address && !k->is_mixed &&
	       !str_starts(name, STR("path"));
}

/* The kind of what is called by one number less. */
static uint32_t find_above(const struct names *kinds, struct str name, struct buf *b)
{
	char level = name.n ? name.p[name.n - 1] : 0;

	if (level < '2' || level > '9')
		return 0;
	buf_clear(b);
	buf_add(b, str_head(name, name.n - 1));
	buf_char(b, (char)(level - 1));
	return names_find(kinds, buf_str(b));
}

struct kind_look *kinds_look(const struct names *kinds)
{
	struct kind_look *v = mem_zalloc(mem_bytes((size_t)kinds->nr + 1, sizeof(*v)));
	struct names stems = { 0 };
	struct buf b = { 0 };

	for (sym_t i = 0; i < kinds->nr; i++) {
		struct str name = names_str(kinds, i);
		size_t at = str_find_char(name, '#');
		struct kind_look *k = &v[i];

		/* no stem is the number of the empty one */
		if (at < name.n)
			k->stem = 1 + names_add(&stems, str_head(name, at));
		if (at + 2 == name.n)
			k->above = find_above(kinds, name, &b);
		k->is_path = str_starts(name, STR("path/"));
		k->is_numbers = str_starts(name, STR("#"));
		k->is_agreed = str_starts(name, STR("@"));
		k->is_sender = str_eq(name, STR("@>"));
		k->is_address = str_eq(name, STR("address"));
		k->is_number = str_ends(name, STR("="));
		k->is_word = str_eq(name, STR(TOKENS_WORD));
		k->is_mixed = k->is_word || str_starts(name, STR("mix:"));
		k->is_listed = is_listed(k, name);
	}
	names_done(&stems);
	buf_done(&b);
	return v;
}
