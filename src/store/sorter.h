/* Sorts rows by start, end and key, also when they are more than memory should hold. */
#ifndef CULPRIT_STORE_SORTER_H
#define CULPRIT_STORE_SORTER_H

#include <stdint.h>

#include "base/str.h"

struct error;
struct place;
struct sorter;

struct sorter *sorter_new(const struct place *place);
void sorter_free(struct sorter *o);
/* Rows are copied; equal ones keep their order. */
int sorter_add(struct sorter *o, int64_t start, int64_t end, struct str key, struct str row,
	       struct error *err);
/* Once, after the last row. */
int sorter_each(struct sorter *o, int (*each)(void *ctx, struct str row, struct error *err),
		void *ctx, struct error *err);

#endif
