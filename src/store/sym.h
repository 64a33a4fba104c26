/* Names that repeat (nodes, threads, points …) as small numbers, in a table of bounded size: what
 * does not fit stands where it is used. */
#ifndef CULPRIT_STORE_SYM_H
#define CULPRIT_STORE_SYM_H

#include <stdbool.h>

#include "base/names.h"

enum sym_field {
	SYM_NODE,
	SYM_THREAD,
	SYM_POINT,
	SYM_TITLE,
	SYM_PEER,
	SYM_NAME,
	SYM_HOST,
	SYM_TYPE,
	SYM_METHOD,
	SYM_FIELDS
};

#define SYM_INLINE UINT32_MAX /* the name is not in the table */
#define SYM_CACHE 1024

/* Zero is a valid, empty table. */
struct syms {
	struct names names;
	size_t bytes;
	uint32_t made[SYM_FIELDS]; /* so that one field of unique names leaves room for the rest */
	sym_t cache[SYM_FIELDS][SYM_CACHE];
};

void syms_done(struct syms *t);
/* The number of s, or SYM_INLINE. */
sym_t sym_of(struct syms *t, enum sym_field field, struct str s);

/* The names of one event, each looked up once however often it is written. */
struct event;
struct event_syms {
	sym_t v[SYM_PEER + 1];
};
void syms_of_event(struct syms *t, const struct event *ev, struct event_syms *syms);

/* The coded form: at most SYM_ROOM + s.n bytes at p; returns where they end. */
#define SYM_ROOM 20
char *sym_put(struct syms *t, enum sym_field field, struct str s, char *p);
/* The same where its number is known. */
char *sym_put_known(sym_t sym, struct str s, char *p);
bool sym_take(const struct syms *t, struct str *from, struct str *s);

#endif
