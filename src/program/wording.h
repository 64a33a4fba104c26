/* Finds out which text a value is when it is printed: constants, and holes for what varies. */
#ifndef CULPRIT_PROGRAM_WORDING_H
#define CULPRIT_PROGRAM_WORDING_H

#include "program/scope.h"
#include "program/text.h"

struct wording {
	struct arena *arena; /* for the text and all on the way to it */
	unsigned steps;      /* left; what is not reached in time is a hole */
	unsigned nr_callers; /* asked within each other just now */
	unsigned nr_around;  /* texts of which this one is a part */
};

#define WORDING_STEPS 4000

/* The text of a value; depth is how far toString() and helpers are followed, from 0. */
struct text wording_of(struct wording *w, struct where at, unsigned depth);
/* The same for a value of a known primitive type: a constant 65 is "A" as a char. */
struct text wording_as(struct wording *w, struct where at, struct str type, unsigned depth);
/* As a part of a longer text: nobody is asked who handed it over. */
struct text wording_part(struct wording *w, struct where at, struct str type, unsigned depth);
/* The hole that is left when nothing is known. */
struct text wording_hole(struct wording *w, struct where at);

/* What a StringBuilder holds when the value use is reached. */
struct text wording_builder(struct wording *w, struct where builder, uint32_t use, unsigned depth);
bool wording_is_builder(struct str class);

enum format_style {
	FORMAT_BRACES,  /* {} of slf4j and log4j */
	FORMAT_NUMBERS, /* {0} of MessageFormat */
	FORMAT_PERCENT, /* %s of printf */
};
/* A format and its arguments; array: all arguments are elements of the last one. */
struct text wording_format(struct wording *w, enum format_style style, struct where format,
			   const struct where *args, uint32_t nr, unsigned depth);
/* What Scala makes of a text; false when the call is nothing of the kind. */
bool wording_scala(struct wording *w, struct where at, const struct member_ref *m, struct text *t,
		   unsigned depth);
/* Without the wrappers that Scala puts around strings and arrays. */
struct where wording_unwrapped(struct where at);
/* The elements put into a new array, by position; how many, at most max. */
uint32_t wording_elements(struct where array, struct where *elements, uint32_t max);

#endif
