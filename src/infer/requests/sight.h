/* What the rebuilding of requests wants to know of a line, packed into its event while lines are
 * parsed side by side. */
#ifndef CULPRIT_INFER_REQUESTS_SIGHT_H
#define CULPRIT_INFER_REQUESTS_SIGHT_H

#include <stdbool.h>

#include "base/str.h"
#include "infer/requests/tokens.h"

struct arena;
struct buf;
struct event;
struct matcher;

enum { SIGHT_WORDS = 8 }; /* without digits, of one line; further ones name nothing */
/* There were more names, or words that may be names, than are kept. */
enum { SIGHT_CUT = 1, SIGHT_LACKS_WORDS = 2 };

/* For struct statements of source/source.h; ctx is a struct matcher, or NULL when no program is
 * known. Sets statement and values. */
void sight_event(const void *ctx, struct event *ev, struct str message, struct arena *arena);

/* What one thread remembers from line to line: the names of threads come again and again. */
void *sight_remember(void);
void sight_forget(void *memory);
void sight_event_again(const void *ctx, void *memory, struct event *ev, struct str message,
		       struct arena *arena);

/* A walk over what was packed: the shape of the text, then its names, then those of the thread. */
struct sight {
	struct str shape;
	uint64_t nr_own, nr_thread;
	struct str rest;
	uint64_t hash;  /* str_hash of the name read last */
	unsigned flags; /* SIGHT_CUT, SIGHT_LACKS_WORDS */
};
bool sight_open(struct sight *s, struct str values);
/* A name: its kind, a unit separator, its value. */
bool sight_next(struct sight *s, struct str *name);

/* Packs one, behind what is there. */
void sight_put(struct buf *b, struct str name);

#define SIGHT_SEPARATOR TOKENS_SEPARATOR

#endif
