/* Which of the types that lines show are kinds of identifiers, judged by how their values behave
 * over the run, and which of them are one. */
#ifndef CULPRIT_INFER_OBJECTS_KINDS_H
#define CULPRIT_INFER_OBJECTS_KINDS_H

#include <stdint.h>

#include "base/str.h"

struct census;

/* Makes w->kinds and what each shown type is (w->kind_of). */
void kinds_make(struct census *w);

/* Step by step, for kinds_make: types that are one by their values (kinds_unite.c). */
void kinds_unite(struct census *w);
/* Types that differ in a name that stands in front (kinds_family.c). */
void kinds_families(struct census *w);
/* What a schema looks like behind the letters in front: of "orders-#", "-#". Empty when there are
 * no such letters, or nothing varies. */
struct str kinds_tail(struct str shown);
/* Two kinds are one from now on: the one that stands for both. */
uint32_t kinds_join(struct census *w, uint32_t a, uint32_t b);
/* The kind that stands for this one. */
uint32_t kinds_root(const struct census *w, uint32_t kind);

/* Keeps kinds whose names come once each beside something that comes again. */
void kinds_keep_hanging(struct census *w);

#endif
