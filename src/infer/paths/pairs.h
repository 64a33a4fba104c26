/* Ties each return to the call that it answers. */
#ifndef CULPRIT_INFER_PATHS_PAIRS_H
#define CULPRIT_INFER_PATHS_PAIRS_H

#include <stdint.h>

struct losses;
struct message;
struct pairs;
struct window;

struct pairs *pairs_new(struct losses *losses);
void pairs_free(struct pairs *p);
/* A call goes to the end of the window; a return closes the earliest call that it can answer. */
void pairs_take(struct pairs *p, struct window *w, const struct message *m);
/* The calls of the window moved: each goes from its place to to[place], CALL_NONE for gone. */
void pairs_move(struct pairs *p, const uint32_t *to);

#endif
