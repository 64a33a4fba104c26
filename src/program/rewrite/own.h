/* What the parts of the rewriter know of each other: where each instruction of a method goes. */
#ifndef CULPRIT_PROGRAM_REWRITE_OWN_H
#define CULPRIT_PROGRAM_REWRITE_OWN_H

#include <stdbool.h>

#include "program/class.h"
#include "program/rewrite/rewrite.h"

#define NOWHERE UINT32_MAX
#define CODE_MAX 65535

/* By the place of an instruction in the old code, and one more for its end. */
struct moved {
	uint32_t size;  /* of the old code */
	uint32_t *at;   /* where the instruction is; NOWHERE: none begins there */
	uint32_t *to;   /* where jumps to it go: in front of what is put before it */
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
const char *rewrite_move(const struct member *method, const struct rewrite_put *puts, size_t nr,
			 struct moved *m, struct buf *out);
void moved_done(struct moved *m);

/* frames.c: the StackMapTable without its name and length; handler: a frame more there that has
 * but what was thrown on the stack, NOWHERE for none. False when it is damaged. */
bool rewrite_frames(struct str old, const struct moved *m, uint32_t handler, uint16_t throwable,
		    struct buf *out);

/* attribute.c: the Code attribute of a method, whole; the reason why not, or NULL. */
const char *rewrite_code(struct rewrite *r, const struct member *method, struct str old,
			 const struct rewrite_put *puts, size_t nr, struct buf *out);

#endif
