/* What the parts of the rewriter know of each other: where each instruction of a method goes. */
#ifndef CULPRIT_PROGRAM_REWRITE_OWN_H
#define CULPRIT_PROGRAM_REWRITE_OWN_H

#include <stdbool.h>

#include "program/class.h"
#include "program/rewrite/rewrite.h"

#define NOWHERE UINT32_MAX
#define CODE_MAX 65535

/* What frames say of a value (JVMS 4.7.4). */
enum frame_value {
	VALUE_TOP = 0,
	VALUE_INTEGER = 1,
	VALUE_FLOAT = 2,
	VALUE_DOUBLE = 3,
	VALUE_LONG = 4,
	VALUE_NULL = 5,
	VALUE_THIS = 6, /* not made yet */
	VALUE_OBJECT = 7,
	VALUE_NOT_MADE = 8,
};

/* Which frames there are. */
enum {
	FRAME_ONE = 64,       /* and below 128: one value on the stack */
	FRAME_ONE_FAR = 247,  /* likewise, the difference apart */
	FRAME_CHOP = 248,     /* to 250 */
	FRAME_SAME_FAR = 251, /* and below 64 */
	FRAME_APPEND = 252,   /* to 254 */
	FRAME_FULL = 255,
};

/* By the place of an instruction in the old code, and one more for its end. */
struct moved {
	uint32_t size;  /* of the old code */
	uint32_t *at;   /* where the instruction is; NOWHERE: none begins there */
	uint32_t *to;   /* where jumps to it go: in front of what is put before it */
	bool *is_far;   /* a goto or jsr that is made one of the long kind */
	uint32_t until; /* where the last one ends */
};

static inline void put_u1(struct buf *b, uint8_t v)
{
	buf_char(b, (char)v);
}

static inline void put_u2(struct buf *b, uint32_t v)
{
	put_u1(b, (uint8_t)(v >> 8));
	put_u1(b, (uint8_t)v);
}

static inline void put_u4(struct buf *b, uint32_t v)
{
	put_u2(b, v >> 16);
	put_u2(b, v);
}

/* Where an old place is now, NOWHERE for one that is none. */
static inline uint32_t moved_to(const struct moved *m, uint32_t pc)
{
	return pc <= m->size ? m->to[pc] : NOWHERE;
}

/* code.c: the instructions; the reason why not, or NULL. */
const char *rewrite_move(const struct class *class, const struct member *method,
			 const struct rewrite_put *puts, size_t nr, struct moved *m,
			 struct buf *out);
void moved_done(struct moved *m);

/* A frame where what is thrown arrives: parameters that are seen, and on the stack what it is. */
struct landing {
	uint32_t at;        /* NOWHERE: there is none */
	uint16_t throwable; /* constant: its class */
	struct buf locals;  /* as frames have them */
	uint16_t nr_locals;
};

/* frames.c: the StackMapTable without its name and length. False when it is damaged. */
bool rewrite_frames(struct str old, const struct moved *m, const struct landing *l,
		    struct buf *out);

/* landing.c: fills the locals; false when there is no room for constants. */
bool landing_locals(struct landing *l, struct rewrite *r, const struct member *method);

/* attribute.c: the Code attribute of a method, whole; the reason why not, or NULL. */
const char *rewrite_code(struct rewrite *r, const struct member *method, struct str old,
			 const struct rewrite_put *puts, size_t nr, struct buf *out);

#endif
