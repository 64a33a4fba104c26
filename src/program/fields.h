/* What a field holds from the beginning: its constant, or what constructors and the class put into
 * it. */
#ifndef CULPRIT_PROGRAM_FIELDS_H
#define CULPRIT_PROGRAM_FIELDS_H

#include "program/scope.h"

struct field {
	uint32_t class; /* that declares it */
	const struct member *member;
};

/* The field that the value reads; false when its class is not given. */
bool field_of(struct where at, struct field *f);
bool field_find(const struct program *p, const struct member_ref *ref, struct field *f);
/* What its class puts into it when it or an object of it begins, at most max; how many. */
uint32_t field_beginnings(struct scopes *all, const struct field *f, struct where *values,
			  uint32_t max, struct arena *a);

#endif
