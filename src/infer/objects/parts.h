/* Things that several writers have a part of each: a block of which every node keeps a copy. */
#ifndef CULPRIT_INFER_OBJECTS_PARTS_H
#define CULPRIT_INFER_OBJECTS_PARTS_H

struct census;
struct relating;

/* Lines of a writer that name such a thing name the writer's part of it, too; the thing stays. */
void parts_make(struct census *w, const struct relating *r);

#endif
