/* Knows the calls that turn an object into bytes, and those that make it of bytes again. */
#ifndef CULPRIT_PROGRAM_SERIAL_H
#define CULPRIT_PROGRAM_SERIAL_H

#include "program/scope.h"

enum serial {
	SERIAL_NOT,
	SERIAL_WRITES,
	SERIAL_READS,
};

/* What a call of this method does; *what is the class of which the bytes are, or the pair of
 * methods. */
enum serial serial_of(const struct program *p, const struct member_ref *m, struct arena *a,
		      struct str *what);
/* writeObject(x) and (X) readObject(): the class is that of the value. */
enum serial serial_of_object(struct where call, struct str *what);
/* Whether the method itself writes or reads what it is a part of. */
bool serial_is_part(const struct member *m);

#endif
