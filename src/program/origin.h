/* Names where a value comes from: the field, parameter or call that a person would point at. */
#ifndef CULPRIT_PROGRAM_ORIGIN_H
#define CULPRIT_PROGRAM_ORIGIN_H

#include "program/scope.h"
#include "program/text.h"

/* Through casts, boxes, known parameters and getters, to the value that is meant. */
struct where origin_of(struct where w, struct arena *a);
/* "Block.blockId", "DataXceiver.writeBlock#2", "Socket.getPort()"; empty for what is computed. */
struct str origin_name(struct where w, struct arena *a);
/* The way to the value from a parameter of the outermost method known. */
struct path origin_path(struct where w, struct arena *a);
/* The last part of a class name: "DataXceiver", "FSDirectory$Op". */
struct str origin_simple(struct str internal_name);
enum hole_type origin_hole(struct where w);
/* The hole for a field of the object, which no instruction reads. */
struct text origin_field_hole(struct where object, const struct member_ref *field, struct arena *a);

#endif
