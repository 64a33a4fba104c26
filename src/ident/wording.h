/* What words say of the value behind them: units, words that are no nouns, names of amounts. */
#ifndef CULPRIT_IDENT_WORDING_H
#define CULPRIT_IDENT_WORDING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum { WORDING_KEY = 40 }; /* bytes of a key; longer words are none */

bool wording_is_unit(struct str word);     /* ms, KiB, bytes */
bool wording_is_function(struct str word); /* with, the, of */
bool wording_is_plural(struct str word);
/* What follows it is what something is done to or with: of, for, in. */
bool wording_is_preposition(struct str word);
bool wording_is_verb(struct str word);          /* by its end: started, waiting */
bool wording_is_source_suffix(struct str word); /* java, py, go */
bool wording_is_noun_of_names(struct str word); /* user, host: what follows is a name */
bool wording_is_calendar(struct str word);      /* days and months */
bool wording_is_description(struct str word);   /* type, reason: what follows is no name */
/* Values that say yes, no or nothing. */
bool wording_is_void(struct str word);

/* The last part of a compound word, in small letters: ResultStage is a stage. What is called "id"
 * or "number" of something is that thing; 0 when the word says no more than that. */
size_t wording_key(struct str word, char to[WORDING_KEY]);
/* Whether numbers behind this key (in small letters) are amounts, states or places and no names. */
bool wording_is_amount(struct str key);

#endif
