/* Things that belong to another of their own kind: a process to its parent, both with a pid. */
#ifndef CULPRIT_INFER_OBJECTS_ELDERS_H
#define CULPRIT_INFER_OBJECTS_ELDERS_H

#include <stdbool.h>
#include <stdint.h>

struct census;
struct note;
struct told_id;

/* Kinds whose key says that they are the parent of another ("ppid" and "pid") are one. */
void elders_unite(struct census *w);
/* Whether the identifier merely tells whose child the line is about. */
bool elders_is(const struct census *w, const struct note *n, const struct told_id *id);

struct elders {
	uint32_t
		*parent; /* by thing, without circles, UINT32_MAX for none; NULL: no kind has any */
	uint64_t *lines, *against; /* by kind: that tell it, and of them, another than the first */
};

void elders_find(struct elders *e, const struct census *w);
void elders_done(struct elders *e, const struct census *w);

#endif
