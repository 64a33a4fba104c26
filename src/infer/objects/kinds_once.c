/* Names that come once each and hang on something that comes again: a session that a client asks
 * for, the transaction of an order. What comes once and hangs on nothing is a flood of tokens. */
#include "infer/objects/census.h"
#include "infer/objects/hosts.h"
#include "infer/objects/kinds.h"
#include "infer/objects/told.h"

#include <stdlib.h>

enum { COMES_AGAIN = 3 /* lines of each */ };

static bool is_address(const struct kind *k)
{
	return k->traits & KIND_ADDRESS && str_starts(k->shown, STR("ip"));
}

static bool may_hang(const struct kind *k)
{
	return k->fate == FATE_ONCE && k->nr_values >= 10 &&
	       (k->traits & KIND_RANDOM || is_address(k) || !(k->traits & ~(unsigned)KIND_FOLDER));
}

static bool comes_again(const struct kind *k)
{
	unsigned never = KIND_THREAD | KIND_PATH | KIND_WORD;

	return kind_is_kept(k) && !(k->traits & never) && k->nr_values >= 2 &&
	       k->lines >= COMES_AGAIN * (uint64_t)k->nr_values;
}

void kinds_keep_hanging(struct census *w)
{
	uint64_t *lines = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*lines)));
	bool has_hosts = hosts_are_known(w);

	vec_each (&w->told->notes, n) {
		bool hangs = false;

		census_look(w, (size_t)(n - w->told->notes.v));
		for (size_t i = 0; i < n->nr && !hangs; i++) {
			const struct kind *k =
				&w->kinds.v[census_kind(w, &w->told->ids.v[n->ids + i])];

			hangs = comes_again(k) || (has_hosts && is_address(k));
		}
		for (size_t i = 0; i < n->nr && hangs; i++)
			lines[census_kind(w, &w->told->ids.v[n->ids + i])] += n->count;
	}
	for (size_t i = 0; i < w->kinds.nr; i++)
		if (may_hang(&w->kinds.v[i]) && 10 * lines[i] >= 9 * w->kinds.v[i].lines)
			w->kinds.v[i].fate = FATE_KEPT;
	free(lines);
}
