/*
 * The StackMapTable (JVMS 4.7.4): what is in locals and on the stack wherever jumps lead. Frames
 * follow their places, by differences; what they say stays, but for values that are not made yet,
 * which are known by the place of their "new".
 */
#include "program/bytes.h"
#include "program/rewrite/own.h"

struct frames {
	const struct moved *m;
	struct str s;
	int64_t old, new; /* of the frame before; -1: none */
	struct buf *out;
};

static bool copy_value(struct frames *f)
{
	uint8_t kind;
	uint16_t more;

	if (!bytes_take_u1(&f->s, &kind) || kind > VALUE_NOT_MADE)
		return false;
	put_u1(f->out, kind);
	if (kind < VALUE_OBJECT)
		return true;
	if (!bytes_take_u2(&f->s, &more))
		return false;
	if (kind == VALUE_NOT_MADE) {
		uint32_t at = more < f->m->size ? f->m->at[more] : NOWHERE;

		if (at == NOWHERE)
			return false;
		more = (uint16_t)at;
	}
	put_u2(f->out, more);
	return true;
}

static bool copy_values(struct frames *f, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (!copy_value(f))
			return false;
	return true;
}

static bool copy_counted(struct frames *f)
{
	uint16_t nr;

	if (!bytes_take_u2(&f->s, &nr))
		return false;
	put_u2(f->out, nr);
	return copy_values(f, nr);
}

/* The difference is at least one less than the distance, but for the first. */
static uint32_t difference(struct frames *f, uint32_t to)
{
	uint32_t by = (uint32_t)((int64_t)to - f->new - 1);

	f->new = to;
	return by;
}

static bool copy_frame(struct frames *f)
{
	uint16_t by;
	uint8_t kind;
	uint32_t to;

	if (!bytes_take_u1(&f->s, &kind))
		return false;
	if (kind < FRAME_ONE)
		by = kind;
	else if (kind < 2 * FRAME_ONE)
		by = (uint16_t)(kind - FRAME_ONE);
	else if (kind < FRAME_ONE_FAR || !bytes_take_u2(&f->s, &by))
		return false;
	f->old += 1 + (int64_t)by;
	to = moved_to(f->m, (uint32_t)f->old);
	if (to == NOWHERE || f->old >= f->m->size || (int64_t)to <= f->new)
		return false;
	/* the far forms can say any difference */
	if (kind < FRAME_ONE)
		kind = FRAME_SAME_FAR;
	else if (kind < 2 * FRAME_ONE)
		kind = FRAME_ONE_FAR;
	put_u1(f->out, kind);
	put_u2(f->out, difference(f, to));
	if (kind == FRAME_ONE_FAR)
		return copy_value(f);
	if (kind == FRAME_FULL)
		return copy_counted(f) && copy_counted(f);
	return kind < FRAME_APPEND || copy_values(f, kind - FRAME_SAME_FAR);
}

static void add_landing(struct frames *f, const struct landing *l)
{
	put_u1(f->out, FRAME_FULL);
	put_u2(f->out, difference(f, l->at));
	put_u2(f->out, l->nr_locals);
	buf_add(f->out, buf_str(&l->locals));
	put_u2(f->out, 1);
	put_u1(f->out, VALUE_OBJECT);
	put_u2(f->out, l->throwable);
}

bool rewrite_frames(struct str old, const struct moved *m, const struct landing *l, struct buf *out)
{
	struct frames f = { .m = m, .s = old, .old = -1, .new = -1, .out = out };
	uint16_t nr = 0;

	if (old.n && !bytes_take_u2(&f.s, &nr))
		return false;
	put_u2(out, nr + (l->at != NOWHERE));
	for (uint32_t i = 0; i < nr; i++)
		if (!copy_frame(&f))
			return false;
	if (l->at != NOWHERE)
		add_landing(&f, l);
	return true;
}
