/* A run at the level of its objects: each one that lives for a while is a request of its type. */
#ifndef CULPRIT_ASK_OBJECT_LEVEL_H
#define CULPRIT_ASK_OBJECT_LEVEL_H

#include <stdbool.h>

#include "base/str.h"

struct error;
struct store;

/* Of questions that know no operations. */
#define OBJECT_LEVEL_OPTION { "level", "LEVEL", "request (default) or object (what logs name)" }

/* Refuses what is neither. */
int object_level_check(const char *level, struct error *err);
/* Whether the text of --level asks for objects; NULL does not. */
bool object_level_is(const char *level);
/* What a command must say to ask at that level again: NULL where nothing. */
const char *object_level_more(const char *level);
/* A finished run in a temporary file, made of the objects of another, which it does not need
 * afterwards: what is below an object are its spans, its lines its events. Every question about
 * requests can be put to it. */
int object_level_run(struct store *run, struct store **made, struct error *err);

/* The object that a span of such a run is, by the attributes of the span; empty in others. */
struct str object_level_name(struct str attrs);

#endif
