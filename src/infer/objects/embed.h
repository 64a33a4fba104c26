/* Names that contain the numbers of another name belong to it: container_17_3_1 to
 * application_17_3. */
#ifndef CULPRIT_INFER_OBJECTS_EMBED_H
#define CULPRIT_INFER_OBJECTS_EMBED_H

struct relating;
struct census;

void embed_make(struct relating *r, const struct census *w);

#endif
