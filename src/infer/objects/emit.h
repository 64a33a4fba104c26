/* The result: kinds as types, things as objects with their parents, events and links. It is found
 * as numbers first; objects are made a few thousand at a time, when they are handed out. */
#ifndef CULPRIT_INFER_OBJECTS_EMIT_H
#define CULPRIT_INFER_OBJECTS_EMIT_H

struct census;
struct emitting;
struct error;
struct object_sink;
struct relating;
struct stack;

/* All is borrowed until emit_free. before: relations from before identifiers were combined. */
struct emitting *emit_new(const struct census *w, const struct relating *before,
			  const struct relating *r, const struct stack *s);
/* Hands it out, of bounded memory. 0, or negative with *err. */
int emit_tell(const struct emitting *e, const struct object_sink *sink, struct error *err);
void emit_free(struct emitting *e);

#endif
