/* What the user says of types (--types FILE): names for them, what is none, what is the same. */
#ifndef CULPRIT_IDENT_OVERRIDES_H
#define CULPRIT_IDENT_OVERRIDES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct error;
struct overrides;

/*
 * A line each:
 *
 *	app = application_#_#       what is shown as application_#_# is an app
 *	host = /node-[0-9]+/        so is every word of which all matches this expression
 *	ignore attempt              what is shown as attempt names nothing
 *	same region encoded row     all of these are regions
 *
 * Blank lines and lines that begin with # are passed over. -EINVAL and a sentence with the line
 * when it makes no sense.
 */
int overrides_read(struct overrides **o, const char *path, struct error *err);
int overrides_parse(struct overrides **o, struct str text, struct error *err);
void overrides_free(struct overrides *o);

/* The type in place of the one that is shown; empty when it names nothing. */
struct str overrides_type(const struct overrides *o, struct str shown);
/* Whether an expression matches all of the word, and the type that it gives. */
bool overrides_match(const struct overrides *o, struct str word, struct str *type);
/* Types and expressions that nothing was shown as so far: how many, and up to room of them. */
size_t overrides_idle(const struct overrides *o, struct str *v, size_t room);
/* Digits may then decide, so that nothing is remembered of lines. */
bool overrides_has_expressions(const struct overrides *o);

#endif
