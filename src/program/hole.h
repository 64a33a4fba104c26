/* What a text that varies is made of, by kind and type; alone, for those who only read models. */
#ifndef CULPRIT_PROGRAM_HOLE_H
#define CULPRIT_PROGRAM_HOLE_H

enum part_kind {
	PART_TEXT,
	PART_HOLE, /* one value */
	PART_ANY,  /* whatever a loop, a branch or unknown code may add; perhaps nothing */
};

enum hole_type {
	HOLE_TEXT,
	HOLE_INTEGER,
	HOLE_DECIMAL,
	HOLE_BOOLEAN,
	HOLE_CHAR,
	HOLE_OBJECT, /* what toString() of something unknown gives */
	HOLE_ERROR,  /* an exception */
};

enum { VERSIONS_MAX = 8, PARTS_MAX = 256 };

#endif
