#include "agent/jvm/path.h"

#include <stdlib.h>
#include <string.h>

#include "agent/jvm/cell.h"
#include "lib/advice/java_path.h"

struct path {
	struct java_path read;
	char *descriptor; /* behind the text */
	struct class_cache members[JAVA_PATH_STEPS];
	struct class_cache shapes;
	char text[];
};

/* --- making one ------------------------------------------------------------------------------- */

static const char *unfit(const struct java_path *p, const char *descriptor)
{
	if (p->root >= JAVA_DURATION)
		return NULL;
	if (!descriptor || !descriptor[0])
		return "there is no such value here";
	if (descriptor[0] == 'V')
		return "the method returns nothing";
	if (p->nr_steps && descriptor[0] != 'L' && descriptor[0] != '[')
		return "a number has neither fields nor elements";
	return NULL;
}

struct path *path_new(struct str text, const char *descriptor, const char **why)
{
	size_t nr_descriptor = descriptor ? strlen(descriptor) + 1 : 1;
	struct path *p = calloc(1, sizeof(*p) + text.n + nr_descriptor);
	struct java_mistake mistake;

	if (!p) {
		*why = "no memory";
		return NULL;
	}
	memcpy(p->text, text.p, text.n);
	p->descriptor = p->text + text.n;
	if (descriptor)
		memcpy(p->descriptor, descriptor, nr_descriptor);
	*why = NULL;
	if (java_path_parse((struct str){ p->text, text.n }, &p->read, &mistake) < 0)
		*why = mistake.what;
	else
		*why = unfit(&p->read, p->descriptor);
	if (!*why)
		return p;
	free(p);
	return NULL;
}

void path_free(struct path *p, JNIEnv *env)
{
	if (!p)
		return;
	for (size_t i = 0; i < JAVA_PATH_STEPS; i++)
		class_cache_done(&p->members[i], env);
	class_cache_done(&p->shapes, env);
	free(p);
}

struct str path_text(const struct path *p)
{
	return (struct str){ p->text, (size_t)(p->descriptor - p->text) };
}

const struct java_path *path_read(const struct path *p)
{
	return &p->read;
}

/* --- one step --------------------------------------------------------------------------------- */

/* What concerns elements; the shape says of what. */
static bool step_by_shape(struct evaluation *e, const struct cell *c, const struct java_step *s,
			  struct cell *to)
{
	struct shape *shape = cell_shape(e, c);
	bool is_there = shape;

	if (!shape)
		return false;
	if (s->kind == JAVA_INDEX)
		is_there = cell_element(e, c, shape, s->index, to);
	else
		*to = (struct cell){ .type = 'I',
				     .v.j = (*e->env)->GetArrayLength(e->env, c->v.l) };
	cell_shape_done(shape);
	return is_there;
}

static bool is_array(struct evaluation *e, const struct cell *c)
{
	struct shape *shape = cell_shape(e, c);
	bool is_it = shape && shape->kind == SHAPE_ARRAY;

	cell_shape_done(shape);
	return is_it;
}

static bool step(struct evaluation *e, const struct cell *c, unsigned i, struct cell *to)
{
	const struct java_step *s = &e->path->read.steps[i];

	if (c->type != 'L')
		return cell_fail(e, PATH_MISSING);
	if (s->kind == JAVA_INDEX || (s->kind == JAVA_LENGTH && is_array(e, c)))
		return step_by_shape(e, c, s, to);
	return cell_member(e, c, s, &e->path->members[i], to);
}

/* --- all of them ------------------------------------------------------------------------------ */

struct joining {
	unsigned next; /* the step behind [] */
	unsigned nr;
};

static bool walk(struct evaluation *e, struct cell c, unsigned i, struct joining *j,
		 struct advice_value *to);

static bool join_one(struct evaluation *e, struct cell element, void *arg)
{
	struct joining *j = arg;
	struct advice_value v;

	walk(e, element, j->next, j, &v);
	return !e->out.is_full;
}

/* Elements of elements come in one row. */
static bool walk_each(struct evaluation *e, const struct cell *c, unsigned next, struct joining *j,
		      struct advice_value *to)
{
	struct joining own = { .next = next, .nr = j ? j->nr : 0 };
	struct shape *shape = cell_shape(e, c);
	bool is_there = shape && shape->kind != SHAPE_MAP && cell_each(e, c, shape, join_one, &own);

	if (shape && shape->kind == SHAPE_MAP)
		cell_fail(e, PATH_MISSING);
	cell_shape_done(shape);
	if (j)
		j->nr = own.nr;
	*to = (struct advice_value){ .type = is_there ? ADVICE_TEXTUAL : ADVICE_NULL };
	return is_there;
}

static bool class_value(struct evaluation *e, const struct cell *c, struct advice_value *to)
{
	struct shape *shape = cell_shape(e, c);

	if (!shape)
		return false;
	cell_add_class(e, shape->signature);
	cell_shape_done(shape);
	*to = (struct advice_value){ .type = ADVICE_TEXTUAL };
	return true;
}

/* A value at its end, which in a row of them is text. */
static bool leaf(struct evaluation *e, const struct cell *c, bool is_class, struct joining *j,
		 struct advice_value *to)
{
	bool is_there;

	*to = (struct advice_value){ .type = ADVICE_NULL };
	if (j && j->nr++)
		bounded_add(&e->out, STR(","));
	if (!is_class)
		is_there = cell_value(e, c, to);
	else if (c->type != 'L')
		is_there = cell_fail(e, PATH_MISSING);
	else
		is_there = !c->v.l || class_value(e, c, to);
	if (j)
		cell_add_value(e, to);
	return is_there;
}

/* Takes over c. */
static bool walk(struct evaluation *e, struct cell c, unsigned i, struct joining *j,
		 struct advice_value *to)
{
	const struct java_path *p = &e->path->read;
	static const struct cell nothing = { .type = 'L' };
	bool is_there;

	for (; i < p->nr_steps && p->steps[i].kind != JAVA_EACH && p->steps[i].kind != JAVA_CLASS;
	     i++) {
		struct cell next = nothing;

		if (cell_is_null(&c))
			break;
		if (!step(e, &c, i, &next))
			next = nothing;
		cell_release(e, &c);
		c = next;
	}
	if (i < p->nr_steps && p->steps[i].kind == JAVA_EACH && !cell_is_null(&c)) {
		*to = (struct advice_value){ .type = ADVICE_NULL };
		is_there =
			c.type == 'L' ? walk_each(e, &c, i + 1, j, to) : cell_fail(e, PATH_MISSING);
	} else {
		is_there = leaf(e, &c, i < p->nr_steps && !cell_is_null(&c), j, to);
	}
	cell_release(e, &c);
	return is_there;
}

static void constant(struct evaluation *e, const struct java_path *p, struct advice_value *to)
{
	*to = (struct advice_value){ .type = ADVICE_INT, .i = p->number };
	if (p->root == JAVA_BOOL) {
		to->type = ADVICE_BOOL;
	} else if (p->root == JAVA_REAL) {
		to->type = ADVICE_REAL;
		memcpy(&to->real, &p->real, sizeof(to->real));
	} else if (p->root == JAVA_TEXT) {
		to->type = ADVICE_TEXTUAL;
		bounded_add(&e->out, p->text);
	}
}

enum path_result path_eval(struct path *p, JNIEnv *env, jvmtiEnv *jvmti, jvalue root,
			   struct advice_value *to, char text[ADVICE_TEXT])
{
	struct evaluation e = { .env = env, .jvmti = jvmti, .path = p, .shapes = &p->shapes };
	char type = p->read.root == JAVA_DURATION ? 'J' : p->descriptor[0];
	struct cell c = { .type = type == '[' ? 'L' : type, .v = root, .declared = p->descriptor };

	e.out.p = text;
	if (p->read.root > JAVA_DURATION)
		constant(&e, &p->read, to);
	else
		walk(&e, c, 0, NULL, to);
	if (to->type == ADVICE_TEXTUAL) {
		to->text = text;
		to->length = e.out.n;
		to->flags = e.out.is_cut ? ADVICE_CUT : 0;
	}
	return e.result;
}

/* --- a value, as it is ------------------------------------------------------------------------ */

/* Where the path ends. */
static struct cell walk_to_end(struct evaluation *e, jvalue root)
{
	const struct path *p = e->path;
	char type = p->descriptor[0];
	struct cell c = { .type = type == '[' ? 'L' : type, .v = root, .declared = p->descriptor };

	for (unsigned i = 0; i < p->read.nr_steps && !cell_is_null(&c); i++) {
		struct cell next = { .type = 'L' };

		if (p->read.steps[i].kind == JAVA_EACH || p->read.steps[i].kind == JAVA_CLASS)
			cell_fail(e, PATH_MISSING);
		else if (!step(e, &c, i, &next))
			next = (struct cell){ .type = 'L' };
		cell_release(e, &c);
		c = next;
	}
	return c;
}

enum path_result path_object(struct path *p, JNIEnv *env, jvmtiEnv *jvmti, jvalue root, jobject *to)
{
	struct evaluation e = { .env = env, .jvmti = jvmti, .path = p, .shapes = &p->shapes };
	struct cell c;

	*to = NULL;
	if (p->read.root >= JAVA_DURATION || (p->descriptor[0] != 'L' && p->descriptor[0] != '['))
		return PATH_MISSING;
	c = walk_to_end(&e, root);
	if (c.type == 'L' && c.v.l)
		*to = (*env)->NewLocalRef(env, c.v.l);
	else if (c.type != 'L')
		cell_fail(&e, PATH_MISSING);
	cell_release(&e, &c);
	return e.result;
}

enum path_result path_id(struct path *p, JNIEnv *env, jvmtiEnv *jvmti, jvalue root, uint64_t *id)
{
	struct evaluation e = { .env = env, .jvmti = jvmti, .path = p, .shapes = &p->shapes };
	struct cell c;

	*id = 0;
	if (p->read.root >= JAVA_DURATION)
		return PATH_MISSING;
	c = walk_to_end(&e, root);
	if (e.result == PATH_FOUND)
		cell_id(&e, &c, id);
	cell_release(&e, &c);
	return e.result;
}

enum path_result path_amount(struct path *p, JNIEnv *env, jvmtiEnv *jvmti, jvalue root,
			     int64_t *amount)
{
	struct evaluation e = { .env = env, .jvmti = jvmti, .path = p, .shapes = &p->shapes };
	struct cell c;

	*amount = 0;
	if (p->read.root >= JAVA_DURATION)
		return PATH_MISSING;
	c = walk_to_end(&e, root);
	if (e.result == PATH_FOUND)
		cell_amount(&e, &c, amount);
	cell_release(&e, &c);
	return e.result;
}
