/*
 * Carries through foreign formats what they have no place for, in attributes of our own: exporters
 * add them where something would be lost, and readers take them off again.
 */
#ifndef CULPRIT_MODEL_CARRIED_H
#define CULPRIT_MODEL_CARRIED_H

#include "base/arena.h"

struct event;
struct span;

#define CARRIED_PREFIX "culprit."
#define CARRIED_TRACE "culprit.trace_id"   /* string: the id before it was made to fit */
#define CARRIED_SPAN "culprit.span_id"     /* string */
#define CARRIED_PARENT "culprit.parent_id" /* string; empty: it is a root */
#define CARRIED_START "culprit.start_ns"   /* int: where the format has microseconds only */
#define CARRIED_END "culprit.end_ns"       /* int */
#define CARRIED_NS "culprit.ns"            /* int: time of an event */
#define CARRIED_LEVEL "culprit.level"      /* string: of an event, as are the next three */
#define CARRIED_POINT "culprit.point"      /* string */
#define CARRIED_NODE "culprit.node"        /* string: where it is not that of its span */
#define CARRIED_THREAD "culprit.thread"    /* string: likewise */
#define CARRIED_KIND "culprit.kind"        /* "wait" */
#define CARRIED_FOLLOWS "culprit.follows"  /* bool: whether its parent does not wait for it */
#define CARRIED_LINKS "culprit.links"      /* bytes: model/link.h */
#define CARRIED_JSON "culprit.json"        /* string: name of a string that is a list or a map */
#define CARRIED_LIBRARY "culprit.library"  /* string: name of an attribute of ATTR_LIBRARY */

/* Puts back what was carried and takes these attributes off. New strings live in the arena. */
void carried_restore_span(struct span *s, struct arena *a);
void carried_restore_event(struct event *ev, struct arena *a);

#endif
