/* What an object names, or amounts to, as a number of 64 bits. */
#include <string.h>

#include "agent/jvm/cell.h"
#include "base/str.h"

#define UNITS 256       /* of a text, at once */
#define UNITS_MOST 4096 /* what is behind these tells no texts apart but by their length */
#define FNV_FIRST 0xcbf29ce484222325u
#define FNV_PRIME 0x100000001b3u
#define MOST 9.2e18 /* that a number of 64 bits can say */

static bool text_id(struct evaluation *e, jstring s, uint64_t *id)
{
	jsize nr = (*e->env)->GetStringLength(e->env, s);
	jsize most = nr < UNITS_MOST ? nr : UNITS_MOST;
	uint64_t h = (FNV_FIRST ^ (uint64_t)nr) * FNV_PRIME;
	uint16_t units[UNITS];

	for (jsize at = 0; at < most; at += UNITS) {
		jsize n = most - at < UNITS ? most - at : UNITS;

		(*e->env)->GetStringRegion(e->env, s, at, n, units);
		if (cell_threw(e))
			return false;
		for (jsize i = 0; i < n; i++)
			h = (h ^ units[i]) * FNV_PRIME;
	}
	*id = h ^ h >> 32;
	return true;
}

static bool identity(struct evaluation *e, jobject o, uint64_t *id)
{
	jint hash = 0;

	if ((*e->jvmti)->GetObjectHashCode(e->jvmti, o, &hash) != JVMTI_ERROR_NONE)
		return cell_fail(e, PATH_FAILED);
	*id = (uint64_t)(int64_t)hash;
	return true;
}

/* One whose number may change is who it is. */
static bool is_fixed(const struct shape *s)
{
	return !str_starts(str_of(s->signature), STR("Ljava/util/concurrent/atomic/"));
}

static bool object_id(struct evaluation *e, const struct cell *c, const struct shape *s,
		      uint64_t *id)
{
	struct cell inside;

	switch (s->kind) {
	case SHAPE_TEXT:
		return text_id(e, c->v.l, id);
	case SHAPE_WHOLE:
	case SHAPE_REAL:
	case SHAPE_BOOL:
	case SHAPE_CHAR:
		if (!is_fixed(s))
			break;
		if (!cell_unboxed(e, c, s, &inside))
			return false;
		*id = (uint64_t)inside.v.j;
		return true;
	default:
		break;
	}
	return identity(e, c->v.l, id);
}

bool cell_id(struct evaluation *e, const struct cell *c, uint64_t *id)
{
	struct shape *s;
	bool is;

	*id = (uint64_t)c->v.j;
	if (c->type != 'L')
		return true;
	*id = 0;
	if (!c->v.l)
		return true;
	s = cell_shape(e, c);
	is = s && object_id(e, c, s, id);
	cell_shape_done(s);
	return is;
}

/* --- amounts ---------------------------------------------------------------------------------- */

static bool whole_part(struct evaluation *e, double d, int64_t *amount)
{
	if (!(d > -MOST && d < MOST))
		return cell_fail(e, PATH_MISSING);
	*amount = (int64_t)d;
	return true;
}

static bool number_amount(struct evaluation *e, const struct cell *c, int64_t *amount)
{
	uint32_t bits = (uint32_t)c->v.j;
	double d;
	float f;

	if (c->type == 'F') {
		memcpy(&f, &bits, sizeof(f));
		return whole_part(e, f, amount);
	}
	if (c->type == 'D') {
		memcpy(&d, &c->v.j, sizeof(d));
		return whole_part(e, d, amount);
	}
	*amount = c->v.j;
	return true;
}

bool cell_amount(struct evaluation *e, const struct cell *c, int64_t *amount)
{
	struct cell inside = { .type = 'J' };
	struct shape *s;
	bool is;

	if (c->type != 'L')
		return number_amount(e, c, amount);
	*amount = 0;
	if (!c->v.l)
		return cell_fail(e, PATH_MISSING);
	s = cell_shape(e, c);
	if (!s)
		return false;
	is = s->kind == SHAPE_WHOLE || s->kind == SHAPE_REAL ? cell_unboxed(e, c, s, &inside)
							     : cell_fail(e, PATH_MISSING);
	cell_shape_done(s);
	return is && number_amount(e, &inside, amount);
}
