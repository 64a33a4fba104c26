#include "agent/jvm/cell.h"

#include <stdlib.h>

bool cell_fail(struct evaluation *e, enum path_result why)
{
	if (e->result == PATH_FOUND)
		e->result = why;
	return false;
}

bool cell_threw(struct evaluation *e)
{
	if (!(*e->env)->ExceptionCheck(e->env))
		return false;
	(*e->env)->ExceptionClear(e->env);
	cell_fail(e, PATH_THREW);
	return true;
}

void cell_release(struct evaluation *e, struct cell *c)
{
	if (c->is_own && c->type == 'L' && c->v.l)
		(*e->env)->DeleteLocalRef(e->env, c->v.l);
	c->is_own = false;
}

struct shape *cell_shape(struct evaluation *e, const struct cell *c)
{
	jclass class = (*e->env)->GetObjectClass(e->env, c->v.l);
	struct shape *s = shape_find(e->shapes, e->env, e->jvmti, class);

	(*e->env)->DeleteLocalRef(e->env, class);
	if (!s)
		cell_fail(e, PATH_FAILED);
	return s;
}

void cell_shape_done(struct shape *s)
{
	if (s && !s->entry.is_kept)
		free(s);
}

/* --- elements --------------------------------------------------------------------------------- */

static struct cell object_cell(jobject o, const char *declared)
{
	return (struct cell){ .type = 'L', .is_own = true, .v.l = o, .declared = declared };
}

/* Of a primitive the array says what it is. */
static void read_primitive(JNIEnv *env, jarray a, jint i, struct cell *to)
{
	union {
		jboolean z;
		jbyte b;
		jchar c;
		jshort s;
		jint i;
		jlong j;
	} at = { .j = 0 };

#define READ(kind, Kind, member) \
	(*env)->Get##Kind##ArrayRegion(env, a, i, 1, (kind *)&at); \
	to->v.j = at.member; \
	break
	switch (to->type) {
	case 'Z':
		READ(jboolean, Boolean, z);
	case 'B':
		READ(jbyte, Byte, b);
	case 'C':
		READ(jchar, Char, c);
	case 'S':
		READ(jshort, Short, s);
	case 'I':
		READ(jint, Int, i);
	case 'J':
		READ(jlong, Long, j);
	case 'F':
		READ(jfloat, Float, i);
	case 'D':
		READ(jdouble, Double, j);
	}
#undef READ
}

static const char *declared_of_element(const struct cell *c, const struct shape *s)
{
	if (c->declared && c->declared[0] == '[')
		return c->declared + 1;
	return s->entry.is_kept && s->kind == SHAPE_ARRAY ? s->signature + 1 : NULL;
}

static bool array_element(struct evaluation *e, const struct cell *c, const struct shape *s, jint i,
			  struct cell *to)
{
	char type = s->signature[1];

	if (type == 'L' || type == '[') {
		*to = object_cell((*e->env)->GetObjectArrayElement(e->env, c->v.l, i),
				  declared_of_element(c, s));
	} else {
		*to = (struct cell){ .type = type };
		read_primitive(e->env, c->v.l, i, to);
	}
	return !cell_threw(e);
}

bool cell_element(struct evaluation *e, const struct cell *c, const struct shape *s, uint32_t i,
		  struct cell *to)
{
	const struct shape_methods *m = shape_methods();
	jvalue index = { .i = (jint)i };
	jint nr;

	*to = (struct cell){ .type = 'L' };
	if (s->kind == SHAPE_ARRAY) {
		nr = (*e->env)->GetArrayLength(e->env, c->v.l);
		return index.i >= nr || array_element(e, c, s, index.i, to);
	}
	if (s->kind != SHAPE_LIST)
		return cell_fail(e, PATH_MISSING);
	nr = (*e->env)->CallIntMethodA(e->env, c->v.l, m->list_size, NULL);
	if (cell_threw(e))
		return false;
	if (index.i >= nr)
		return true;
	*to = object_cell((*e->env)->CallObjectMethodA(e->env, c->v.l, m->list_get, &index), NULL);
	return !cell_threw(e);
}

/* Whether one more may be looked at. */
static bool may_visit(struct evaluation *e)
{
	if (e->nr_visits == CELL_VISITS)
		e->out.is_full = e->out.is_cut = true;
	else
		e->nr_visits++;
	return !e->out.is_full;
}

static bool each_of_array(struct evaluation *e, const struct cell *c, const struct shape *s,
			  cell_fn fn, void *arg)
{
	jint nr = (*e->env)->GetArrayLength(e->env, c->v.l);
	struct cell element;

	for (jint i = 0; i < nr && may_visit(e); i++) {
		if (!array_element(e, c, s, i, &element))
			return false;
		if (!fn(e, element, arg))
			break;
	}
	return true;
}

static bool each_of_iterator(struct evaluation *e, jobject it, cell_fn fn, void *arg)
{
	const struct shape_methods *m = shape_methods();

	for (;;) {
		bool has_next = (*e->env)->CallBooleanMethodA(e->env, it, m->has_next, NULL);
		jobject next;

		if (cell_threw(e))
			return false;
		if (!has_next || !may_visit(e))
			return true;
		next = (*e->env)->CallObjectMethodA(e->env, it, m->next, NULL);
		if (cell_threw(e))
			return false;
		if (!fn(e, object_cell(next, NULL), arg))
			return true;
	}
}

static bool each_of_collection(struct evaluation *e, jobject o, cell_fn fn, void *arg)
{
	jobject it = (*e->env)->CallObjectMethodA(e->env, o, shape_methods()->iterator, NULL);
	bool is_whole;

	if (cell_threw(e))
		return false;
	is_whole = it ? each_of_iterator(e, it, fn, arg) : cell_fail(e, PATH_MISSING);
	(*e->env)->DeleteLocalRef(e->env, it);
	return is_whole;
}

static bool each_of_map(struct evaluation *e, jobject map, cell_fn fn, void *arg)
{
	jobject set = (*e->env)->CallObjectMethodA(e->env, map, shape_methods()->entries, NULL);
	bool is_whole;

	if (cell_threw(e))
		return false;
	is_whole = set ? each_of_collection(e, set, fn, arg) : cell_fail(e, PATH_MISSING);
	(*e->env)->DeleteLocalRef(e->env, set);
	return is_whole;
}

bool cell_each(struct evaluation *e, const struct cell *c, const struct shape *s, cell_fn fn,
	       void *arg)
{
	switch (s->kind) {
	case SHAPE_ARRAY:
		return each_of_array(e, c, s, fn, arg);
	case SHAPE_LIST:
	case SHAPE_COLLECTION:
		return each_of_collection(e, c->v.l, fn, arg);
	case SHAPE_MAP:
		return each_of_map(e, c->v.l, fn, arg);
	default:
		return cell_fail(e, PATH_MISSING);
	}
}
