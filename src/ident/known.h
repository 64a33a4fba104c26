/* Remembers how lines were read: those with the same gist name the same things at the same places.
 */
#ifndef CULPRIT_IDENT_KNOWN_H
#define CULPRIT_IDENT_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "ident/gist.h"
#include "model/mention.h"

struct known;
struct line;

/* One identifier of such lines. */
struct known_name {
	struct str type, prefix;
	struct gist_place from, to;
	uint32_t place;
	uint8_t how; /* SPELT_… of line.h */
};

struct known_line {
	uint64_t hash, template;
	struct str gist, title;
	size_t nr;
	bool is_repeated; /* as in line.h: which are of a list depends on their values */
	const struct known_name *v;
};

struct known *known_new(void);
void known_free(struct known *k);
/* NULL when it is to be read: *is_new says that keeping it is not worth it yet. What is returned is
 * valid until the next known_tidy. */
const struct known_line *known_find(struct known *k, const struct gist *g, bool *is_new);
/* NULL when its names do not depend on the gist alone. */
const struct known_line *known_keep(struct known *k, const struct gist *g, const struct line *l);
/* Forgets everything when it has become too much. */
void known_tidy(struct known *k);

#endif
