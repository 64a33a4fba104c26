/*
 * Producers put, consumers take away: reading alone does not hand over work, or every map of a
 * service would tie all of its methods together. So a channel is a field that holds a collection
 * into which one method puts and from which another removes something to work on.
 */
#include "program/shared.h"

#include "program/descriptor.h"
#include "program/fields.h"
#include "program/origin.h"

enum { STEPS_MAX = 3 }; /* queues within maps within … */

static bool is_one_of(struct str s, const struct str *all, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (str_eq(s, all[i]))
			return true;
	return false;
}

static enum shared verb_of(struct str name)
{
	static const struct str puts[] = { STR("add"),         STR("put"),        STR("offer"),
					   STR("addLast"),     STR("addFirst"),   STR("push"),
					   STR("offerLast"),   STR("offerFirst"), STR("enqueue"),
					   STR("putLast"),     STR("putFirst"),   STR("addAll"),
					   STR("putIfAbsent"), STR("transfer") };
	static const struct str takes[] = {
		STR("take"),           STR("poll"),         STR("remove"),     STR("pollFirst"),
		STR("pollLast"),       STR("removeFirst"),  STR("removeLast"), STR("drainTo"),
		STR("takeFirst"),      STR("takeLast"),     STR("pop"),        STR("dequeue"),
		STR("pollFirstEntry"), STR("pollLastEntry")
	};

	if (is_one_of(name, puts, sizeof(puts) / sizeof(*puts)))
		return SHARED_PUTS;
	return is_one_of(name, takes, sizeof(takes) / sizeof(*takes)) ? SHARED_TAKES : SHARED_NOT;
}

/* Something that holds others; sets of numbers, caches and the like are not told apart. */
static bool is_collection(const struct program *p, struct str class)
{
	static const struct str names[] = { STR("Queue"),     STR("Deque"), STR("List"),
					    STR("Map"),       STR("Set"),   STR("Stack"),
					    STR("Collection") };
	uint32_t number;

	if (str_starts(class, STR("java/util/")))
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			if (str_ends(class, names[i]))
				return true;
	number = program_class(p, class);
	return number != NO_CLASS &&
	       (program_is_a(p, number, STR("java/util/Queue")) ||
		program_is_a(p, number, STR("java/util/concurrent/BlockingQueue")) ||
		program_is_a(p, number, STR("java/util/AbstractQueue")));
}

bool shared_is_queue(struct str class)
{
	return str_find(class, STR("Queue")) < class.n || str_find(class, STR("Deque")) < class.n;
}

bool shared_may(const struct program *p, const struct member_ref *m)
{
	return verb_of(m->name) != SHARED_NOT && is_collection(p, m->owner);
}

/* The field behind the value: itself, or what a collection in it was asked for. */
static bool field_behind(struct where w, struct arena *a, struct str *name)
{
	const struct program *p = w.scope->all->program;

	for (unsigned i = 0; i < STEPS_MAX; i++) {
		const struct value *v;
		struct member_ref m;
		struct field f;

		w = origin_of(w, a);
		v = where_value(w);
		if (v->kind == VALUE_FIELD || v->kind == VALUE_STATIC) {
			struct str owner;

			if (!field_of(w, &f))
				return false;
			owner = origin_simple(p->classes.v[f.class].c.name);
			*name = arena_fmt(a, STR_FMT "." STR_FMT, STR_ARG(owner),
					  STR_ARG(f.member->name));
			return true;
		}
		if (v->kind != VALUE_CALL || !v->nr || !where_member(w, &m) ||
		    !is_collection(p, m.owner))
			return false;
		w = where_arg(w, 0);
	}
	return false;
}

/* What is taken out must be used as something that work may be done on, not as a buffer of a pool.
 */
static bool is_work(struct where taken)
{
	static const struct str pooled[] = { STR("java/nio/"), STR("java/lang/ref/"),
					     STR("java/util/zip/"),
					     STR("java/util/concurrent/locks/"), STR("[") };
	const struct values *v = taken.scope->v;

	for (uint32_t i = taken.value + 1; i < v->nr; i++) {
		struct str class;

		if (v->v[i].kind != VALUE_CAST || v->args[v->v[i].first] != taken.value)
			continue;
		class = class_named(v->class, v->v[i].constant);
		for (size_t k = 0; k < sizeof(pooled) / sizeof(*pooled); k++)
			if (str_starts(class, pooled[k]))
				return false;
		return true;
	}
	return false;
}

enum shared shared_of(struct where call, struct arena *a, struct str *what)
{
	struct member_ref m;
	enum shared s;

	if (!where_member(call, &m) || !where_value(call)->nr ||
	    !shared_may(call.scope->all->program, &m) || !field_behind(where_arg(call, 0), a, what))
		return SHARED_NOT;
	s = verb_of(m.name);
	if (s == SHARED_TAKES && !str_eq(m.name, STR("drainTo")) && !is_work(call))
		return SHARED_NOT;
	return s;
}
