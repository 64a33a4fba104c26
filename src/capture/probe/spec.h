/*
 * What an interval is, as a user says it: functions or static probes that begin, end and carry it,
 * and what names it there.
 *
 *	process_order                                        each call
 *	order_begin(id=arg0) .. order_end(id=arg0)           from one to the other, by a value
 *	usdt:postgresql:transaction__start .. usdt:postgresql:transaction__commit
 *	libshop!dequeue(id=*(*(ret+8)+4):4)                  of one module; 4 bytes that are pointed
 *to
 *	Shop.order(id=arg0.number)                           a method of a Java class
 *
 * What a name is of is known only where the program is: a value may be one of functions and one of
 * methods.
 */
#ifndef CULPRIT_CAPTURE_PROBE_SPEC_H
#define CULPRIT_CAPTURE_PROBE_SPEC_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "capture/probe/probe.h"

struct error;

enum spec_role {
	SPEC_WHOLE, /* each call is an interval */
	SPEC_BEGIN,
	SPEC_END,
	SPEC_CARRY,
	SPEC_PUT,
	SPEC_TAKE,
	SPEC_WORK, /* the value is an amount of work */
};

/* Which option it was given with. */
enum spec_option { SPEC_OF_INTERVAL, SPEC_OF_CARRY, SPEC_OF_PUT, SPEC_OF_TAKE, SPEC_OF_WORK };

struct interval_spec {
	enum spec_role role;
	struct str name;     /* of the function, as functions_find() takes it, or of the probe */
	struct str provider; /* of a static probe; empty: any */
	bool is_usdt;
	bool is_optional; /* of a preset: goes without saying when the program does not have it */
	struct probe_take take; /* of a function; TAKE_NOTHING: the thread names the interval */
	struct str path;        /* the value of a Java method, as lib/advice/java_path.h has it, but
				   for `ret`; or empty */
	struct str text;        /* all that was given, … */
	size_t at;              /* … and where in it the name stands */
};

/* Zero is empty. */
struct interval_specs {
	struct arena arena;
	VEC(struct interval_spec) v;
};

/* Whether it names what happens by a value, of a function or of a method. */
bool spec_has_value(const struct interval_spec *s);
/* The first of several that commas part, which leaves the list: commas in brackets are part of a
 * name, as in "map<int, long>::find". */
struct str specs_next(struct str *list);
/* One or, with "..", two more. On failure *err shows the place, and nothing was added. */
int specs_add(struct interval_specs *s, enum spec_option option, struct str text,
	      struct error *err);
void specs_done(struct interval_specs *s);
/* Puts the text with a mark below the name behind what *err says of it: "…\n  f(id=arg0)\n  ^". */
int spec_show(const struct interval_spec *s, struct error *err);

#endif
