#include "agent/jvm/roll.h"

#include <stdlib.h>
#include <string.h>

#include "agent/jvm/annotated.h"
#include "agent/jvm/machine.h"
#include "agent/jvm/meant.h"
#include "agent/jvm/order.h"

#define NONE UINT32_MAX

/* --- classes and their names -------------------------------------------------------------------
 */

static bool name_add(struct roll *r, struct str name)
{
	char *more;

	if (r->nr_text + name.n > r->room) {
		r->room = (r->room + name.n) * 2;
		more = realloc(r->text, r->room);
		if (!more)
			return false;
		r->text = more;
	}
	memcpy(r->text + r->nr_text, name.p, name.n);
	r->nr_text += name.n;
	return true;
}

bool roll_take(struct roll *r)
{
	char room[MEANT_NAME_BYTES];
	bool is;

	*r = (struct roll){ .room = (size_t)1 << 18 };
	r->text = malloc(r->room);
	is = r->text && (*machine)->GetLoadedClasses(machine, &r->nr, &r->v) == JVMTI_ERROR_NONE;
	r->names = is ? calloc((size_t)r->nr + 1, sizeof(*r->names)) : NULL;
	is = r->names;
	for (jint i = 0; is && i < r->nr; i++) {
		is = name_add(r, meant_name(r->v[i], room));
		r->names[i + 1] = r->nr_text;
	}
	return is;
}

void roll_done(struct roll *r, JNIEnv *env)
{
	for (jint i = 0; r->v && i < r->nr; i++)
		(*env)->DeleteLocalRef(env, r->v[i]);
	(*machine)->Deallocate(machine, (unsigned char *)r->v);
	free(r->names);
	free(r->text);
}

struct str roll_name(const struct roll *r, jint i)
{
	return (struct str){ r->text + r->names[i], r->names[i + 1] - r->names[i] };
}

/* --- which are meant ---------------------------------------------------------------------------
 */

/* Wishes by the name of their class: those of one name are a chain. Those with stars are one. */
struct index {
	struct order *order;
	uint32_t *heads, *nexts;
	uint32_t mask;
	uint32_t stars;
};

static bool index_make(struct index *x, struct order *o)
{
	uint32_t nr = 16;

	while (nr < o->v.nr * 2)
		nr *= 2;
	*x = (struct index){ .order = o, .mask = nr - 1, .stars = NONE };
	x->heads = malloc(nr * sizeof(*x->heads));
	x->nexts = malloc((o->v.nr + 1) * sizeof(*x->nexts));
	if (!x->heads || !x->nexts)
		return false;
	memset(x->heads, 0xff, nr * sizeof(*x->heads));
	for (uint32_t i = 0; i < o->v.nr; i++) {
		struct str c = o->v.v[i].class;
		bool is_star = str_find_char(c, '*') < c.n;
		uint32_t *head = is_star ? &x->stars : &x->heads[str_hash(c) & x->mask];

		x->nexts[i] = *head;
		*head = i;
	}
	return true;
}

static void index_done(struct index *x)
{
	free(x->heads);
	free(x->nexts);
}

/* Sums, so that it does not matter in which order wishes are found. */
static uint64_t share_of(const struct wanted *w)
{
	return w->is_left ? 0 : (w->hash + 1) * 0x9e3779b97f4a7c15u | 1;
}

struct finding {
	const struct roll *roll;
	JNIEnv *env;
	struct index index;
	uint64_t *wishes;
	bool *has; /* of each class: it is below the type that is looked at, or is it */
};

static void named_add(struct finding *f, jint i, uint32_t first)
{
	struct str name = roll_name(f->roll, i);
	jboolean is = JNI_FALSE;

	for (uint32_t n = first; n != NONE; n = f->index.nexts[n]) {
		struct wanted *w = &f->index.order->v.v[n];

		if (!wanted_is_named(w, name))
			continue;
		if (annotated_may_be(w, f->roll->v[i], name))
			f->wishes[i] += share_of(w);
		if (!w->is_interface) {
			(*machine)->IsInterface(machine, f->roll->v[i], &is);
			w->is_interface = is;
		}
	}
}

/* Classes below a type that is wanted by these wishes, which have one name. */
static void below_add(struct finding *f, const struct wanted *w)
{
	const struct roll *r = f->roll;

	memset(f->has, 0, (size_t)r->nr * sizeof(*f->has));
	for (jint top = 0; top < r->nr; top++) {
		if (!roll_name(r, top).n || !wanted_is_named(w, roll_name(r, top)))
			continue;
		for (jint i = 0; i < r->nr; i++)
			if (!f->has[i] && i != top && roll_name(r, i).n)
				f->has[i] = (*f->env)->IsAssignableFrom(f->env, r->v[i], r->v[top]);
	}
	for (jint i = 0; i < r->nr; i++)
		f->has[i] = f->has[i] && !wanted_is_named(w, roll_name(r, i));
}

static void shares_add(struct finding *f, const struct wanted *w)
{
	for (jint i = 0; i < f->roll->nr; i++)
		if (f->has[i] && annotated_may_be(w, f->roll->v[i], roll_name(f->roll, i)))
			f->wishes[i] += share_of(w);
}

static bool has_below(const struct wanted *w)
{
	return w->has_subtypes || w->is_interface;
}

/* Once for each name: those that come later with the same one are served as well. */
static void all_below_add(struct finding *f)
{
	struct order *o = f->index.order;

	for (size_t n = 0; n < o->v.nr; n++) {
		const struct wanted *w = &o->v.v[n];
		bool is_first = has_below(w);

		for (size_t k = 0; k < n && is_first; k++)
			is_first = !(has_below(&o->v.v[k]) && str_eq(o->v.v[k].class, w->class));
		if (!is_first)
			continue;
		below_add(f, w);
		for (size_t k = n; k < o->v.nr; k++)
			if (has_below(&o->v.v[k]) && str_eq(o->v.v[k].class, w->class))
				shares_add(f, &o->v.v[k]);
	}
}

uint64_t *roll_wishes(const struct roll *r, JNIEnv *env, struct order *o)
{
	struct finding f = { .roll = r,
			     .env = env,
			     .wishes = calloc((size_t)r->nr + 1, sizeof(*f.wishes)),
			     .has = malloc((size_t)r->nr + 1) };
	bool is = f.wishes && f.has && index_make(&f.index, o);

	for (jint i = 0; is && i < r->nr; i++) {
		struct str name = roll_name(r, i);

		if (!name.n)
			continue;
		named_add(&f, i, f.index.heads[str_hash(name) & f.index.mask]);
		named_add(&f, i, f.index.stars);
	}
	if (is)
		all_below_add(&f);
	index_done(&f.index);
	free(f.has);
	if (!is) {
		free(f.wishes);
		f.wishes = NULL;
	}
	return f.wishes;
}
