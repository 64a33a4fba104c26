/* Which of the types that lines show are kinds of identifiers, judged by how their values behave
 * over the run, and which of them are one. */
#ifndef CULPRIT_INFER_OBJECTS_KINDS_H
#define CULPRIT_INFER_OBJECTS_KINDS_H

struct census;

/* Makes w->kinds and what each shown type is (w->kind_of). */
void kinds_make(struct census *w);

/* Step by step, for kinds_make: types that are one by their values (kinds_unite.c). */
void kinds_unite(struct census *w);

#endif
