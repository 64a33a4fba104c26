/* The word that says what a value is: the nearest noun in front of it. */
#ifndef CULPRIT_IDENT_KEY_H
#define CULPRIT_IDENT_KEY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "ident/wording.h"

struct tokens;

struct key {
	char v[WORDING_KEY]; /* in small letters */
	size_t n;
	bool is_strong; /* a sign ties it to the value: key=5, key: 5, key #5, key[5] */
	bool is_id;     /* it says so itself: containerId, pid */
};

static inline struct str key_str(const struct key *k)
{
	return (struct str){ k->v, k->n };
}

/* Of the token at this place; false when there is none. */
bool key_of(const struct tokens *t, struct str text, size_t at, struct key *key);

#endif
