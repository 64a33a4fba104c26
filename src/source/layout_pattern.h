/* Patterns of log4j and logback, compiled into the fields of a line. */
#ifndef CULPRIT_SOURCE_LAYOUT_PATTERN_H
#define CULPRIT_SOURCE_LAYOUT_PATTERN_H

#include "base/str.h"
#include "source/layout_fields.h"

struct arena;
struct error;

/*
 * Beside the words of log4j and logback these are known: %node, %program (name[pid]: of syslog),
 * %priority (<13>), %ids (app,trace,span), %past (a second time) and %skip. A %d or %past without
 * braces is the format already in f->time or f->past if there is one. Literals are kept in the
 * arena.
 */
int layout_pattern_compile(struct layout_fields *f, struct str pattern, struct arena *arena,
			   struct error *err);

#endif
