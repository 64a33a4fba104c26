/* Knows again the messages that another capture has delivered already. */
#ifndef CULPRIT_INFER_PATHS_TWICE_H
#define CULPRIT_INFER_PATHS_TWICE_H

#include <stdbool.h>
#include <stdint.h>

struct message;
struct twice;

struct twice *twice_new(void);
void twice_free(struct twice *t);
/* Messages come in the order of time; true when this one came before, from another capture. */
bool twice_is(struct twice *t, uint32_t capture, const struct message *m);

#endif
