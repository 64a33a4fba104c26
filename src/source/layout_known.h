/* Remembers what messages say of their request: those that differ in their digits only say it at
 * the same place. */
#ifndef CULPRIT_SOURCE_LAYOUT_KNOWN_H
#define CULPRIT_SOURCE_LAYOUT_KNOWN_H

#include <stdbool.h>

#include "base/skeleton.h"

struct arena;
struct event;
struct layout_known;

struct layout_known *layout_known_new(void);
void layout_known_free(struct layout_known *known);

enum layout_known_is {
	KNOWN_NOT,   /* for the first time, or not to be known */
	KNOWN_AGAIN, /* it would be worth to keep */
	KNOWN_SET,   /* key and title of *ev are set */
};
/* Sets *k; the strings of *ev borrow from the message and the arena. */
enum layout_known_is layout_known_find(struct layout_known *known, struct skeleton *k,
				       struct str message, struct event *ev, struct arena *arena);
/* The key stands in the message. Where digits decide, it is kept that each is to be looked at. */
void layout_known_keep(struct layout_known *known, const struct skeleton *k, struct str message,
		       const struct event *ev, bool by_digits);

#endif
