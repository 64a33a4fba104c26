/* The things behind identifiers: versions are the thing, addresses of clients are connections, and
 * the path of a log names things, too. */
#ifndef CULPRIT_INFER_OBJECTS_THINGS_H
#define CULPRIT_INFER_OBJECTS_THINGS_H

struct census;

/* Makes w->things and which line names which (w->named, w->named_at), without scopes. */
void things_make(struct census *w);
/* What the paths of logs name (w->path, w->path_at). */
void things_of_paths(struct census *w);

#endif
