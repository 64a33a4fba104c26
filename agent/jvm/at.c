#include "agent/jvm/at.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/jvm/birth.h"
#include "agent/jvm/carrier.h"
#include "agent/jvm/guest.h"
#include "agent/jvm/helper.h"
#include "agent/jvm/here.h"
#include "agent/jvm/hot.h"
#include "agent/jvm/machine.h"
#include "agent/jvm/muted.h"
#include "agent/jvm/path.h"
#include "agent/jvm/site.h"
#include "agent/jvm/virtual.h"

#define LONG_TICKS 20000 /* some microseconds: no thread waits for less */
#define OBJECT "Ljava/lang/Object;"

static const enum probe_moment moments[] = { [WANTED_ENTRY] = PROBE_AT_ENTRY,
					     [WANTED_EXIT] = PROBE_AT_EXIT,
					     [WANTED_EXCEPTION] = PROBE_AT_UNWOUND,
					     [WANTED_LINE] = PROBE_AT_ENTRY,
					     [WANTED_CALL] = PROBE_AT_ENTRY };

struct evaluated {
	struct probe_met met;
	struct advice_value values[SITE_EXPORTS];
	char texts[SITE_EXPORTS][ADVICE_TEXT];
};

/* The last value that could not be had, for who asks how we are. */
static _Atomic(struct path *) unread;
static _Atomic int unread_why;
static _Atomic uint64_t nr_unread;

static void unread_note(struct path *p, enum path_result why)
{
	atomic_fetch_add_explicit(&nr_unread, 1, memory_order_relaxed);
	atomic_store_explicit(&unread_why, (int)why, memory_order_relaxed);
	atomic_store_explicit(&unread, p, memory_order_relaxed);
}

uint64_t at_unread(char *text, size_t room)
{
	static const char *const whys[] = { [PATH_THREW] = "it threw",
					    [PATH_MISSING] = "there is no such thing",
					    [PATH_FAILED] = "the machine refused" };
	const struct path *p = unread;
	int why = unread_why;

	text[0] = 0;
	if (p && why >= PATH_THREW && why <= PATH_FAILED)
		snprintf(text, room, STR_FMT ": %s", STR_ARG(path_text(p)), whys[why]);
	return nr_unread;
}

HOT static void evaluate(JNIEnv *env, const struct site *s, const jvalue *roots,
			 struct evaluated *e)
{
	static const jvalue none;

	for (size_t i = 0; i < s->nr_values; i++) {
		const struct site_value *v = &s->values[i];
		enum path_result why;

		/* those between are not asked for */
		for (; e->met.nr < v->number; e->met.nr++)
			e->values[e->met.nr].type = ADVICE_NULL;
		why = path_eval(v->path, env, machine, v->root < SITE_ROOTS ? roots[v->root] : none,
				&e->values[v->number], e->texts[v->number]);
		if (why != PATH_FOUND) {
			e->met.nr_unread++;
			unread_note(v->path, why);
		}
		e->met.nr = v->number + 1u;
	}
}

HOT static void advise(JNIEnv *env, struct site *s, const jvalue *roots, uint64_t start)
{
	enum probe_moment moment = moments[s->moment];
	struct evaluated e; /* most of it is not used: it is not to be cleared */

	if (!guest_has_advice(s->function, moment))
		return;
	if (!here_may_run()) {
		/* threads may overwrite each other: it need not be exact */
		atomic_store_explicit(&s->nr_limited,
				      atomic_load_explicit(&s->nr_limited, memory_order_relaxed) +
					      1,
				      memory_order_relaxed);
		return;
	}
	e.met = (struct probe_met){ .start = start, .values = e.values };
	evaluate(env, s, roots, &e);
	guest_advise(s->function, moment, &e.met);
}

/* What is told of a call besides its time. */
struct said {
	uint64_t value;
	bool is;
};

/* An amount, or what names something. */
static struct said value_of(JNIEnv *env, const struct site_value *v, bool is_amount,
			    const jvalue *roots)
{
	struct said said = { 0 };
	enum path_result why;
	int64_t amount = 0;

	if (v->is_named && !is_amount && v->hash < SITE_ROOTS)
		return (struct said){ (uint64_t)roots[v->hash].j, true };
	if (v->root >= SITE_ROOTS || !here_begin())
		return said;
	if (is_amount) {
		why = path_amount(v->path, env, machine, roots[v->root], &amount);
		said.value = (uint64_t)amount;
	} else {
		why = path_id(v->path, env, machine, roots[v->root], &said.value);
	}
	here_end();
	said.is = why == PATH_FOUND;
	if (!said.is)
		unread_note(v->path, why);
	return said;
}

/* The value of this number, where the site has it. */
static struct said site_says(JNIEnv *env, const struct site *s, unsigned number,
			     const jvalue *roots)
{
	bool is_amount = number == SITE_AT_EXIT && s->flags & WANTED_AMOUNT;

	for (size_t i = 0; i < s->nr_values; i++)
		if (s->values[i].number == number)
			return value_of(env, &s->values[i], is_amount, roots);
	return (struct said){ 0 };
}

static void mark_tell(uint32_t function, uint32_t kind, uint64_t tick, struct said said)
{
	guest_tell(said.is ? function | PROBE_VALUED : function, kind, tick, said.value);
}

/* Entered and left whether it is told or not, so that calls of the same method are not mixed up. */
static void time_on(JNIEnv *env, const struct site *s, uint32_t number, const jvalue *roots)
{
	uint64_t tick = guest_tick();
	bool is_told =
		atomic_load_explicit(&s->is_on, memory_order_relaxed) && guest_is_watched(tick);
	struct said kept;

	if (s->flags & WANTED_UNIT)
		guest_count_unit();
	here_enter(number, s->place, is_told ? tick : 0);
	if (!is_told)
		return;
	if (s->flags & WANTED_MARK)
		mark_tell(s->function, PROBE_KIND_ENTRY, tick,
			  site_says(env, s, SITE_AT_ENTRY, roots));
	kept = site_says(env, s, SITE_AT_EXIT, roots);
	if (kept.is)
		here_keep(kept.value);
}

/* number: of its entry. */
static void time_off(JNIEnv *env, const struct site *s, const struct site *entry, uint32_t number,
		     const jvalue *roots)
{
	uint32_t kind = s->action == WANTED_TIME_OFF ? PROBE_KIND_CALL : PROBE_KIND_UNWOUND;
	struct said kept = { 0 };
	uint64_t end = guest_tick();
	uint64_t start = here_leave_with(number, entry->place, &kept.value, &kept.is);

	if (!start || (entry->flags & WANTED_LONG && end - start < LONG_TICKS))
		return;
	guest_tell(entry->function, kind, start == HERE_TOO_DEEP ? 0 : start, end);
	if (s->flags & WANTED_MARK_EXIT)
		mark_tell(entry->function, PROBE_KIND_EXIT, end,
			  kept.is ? kept : site_says(env, s, SITE_AT_EXIT, roots));
}

/* Whether it was a call that is told. What we call ourselves, to know a value, is none of the
 * program. */
static bool time_met(JNIEnv *env, const struct site *s, uint32_t number, const jvalue *roots)
{
	const struct site *entry;

	if (s->action < WANTED_TIME || s->action > WANTED_TIME_THROWN)
		return false;
	if (here_is_ours())
		return true;
	if (s->action == WANTED_TIME) {
		time_on(env, s, number, roots);
		return true;
	}
	entry = site_at(s->function);
	if (entry)
		time_off(env, s, entry, s->function, roots);
	return true;
}

HOT static void met(JNIEnv *env, uint32_t number, const jvalue *roots)
{
	struct site *s = site_at(number);
	uint64_t start = 0;

	if (!s || atomic_load_explicit(&machine_is_over, memory_order_relaxed) ||
	    carrier_passes(env, s, roots) || time_met(env, s, number, roots))
		return;
	if (virtual_is(s)) {
		virtual_act(env, s, roots);
		return;
	}
	/* calls are entered and left, whether anybody asks for them or not */
	if (s->action == WANTED_CLOCK_ON) {
		here_enter(s->function, s->place, guest_tick());
		return;
	}
	if (s->takes_time)
		start = here_leave(number, s->place);
	if (start == HERE_TOO_DEEP)
		start = 0;
	if (s->action == WANTED_CLOCK_OFF)
		here_leave(s->function, s->place);
	else if (atomic_load_explicit(&s->is_on, memory_order_relaxed) && here_begin()) {
		birth_here();
		if (s->action == WANTED_ADVISE)
			advise(env, s, roots, start);
		else if (guest_is_watched(guest_tick()))
			carrier_act(env, s, roots);
		else
			guest_see(); /* which notes that something passed unseen */
		here_end();
	}
}

HOT static jobject JNICALL change(JNIEnv *env, jclass class, jobject o, jint number)
{
	struct site *s = site_at((uint32_t)number);
	jobject with = o;

	(void)class;
	if (s && (o || s->action == WANTED_BEAR) &&
	    atomic_load_explicit(&s->is_on, memory_order_relaxed) &&
	    !atomic_load_explicit(&machine_is_over, memory_order_relaxed) &&
	    guest_is_watched(guest_tick()) && here_begin()) {
		birth_here();
		with = carrier_change(env, s, o);
		here_end();
	}
	return with;
}

/* One for each number of longs and of objects: what there is of both, in front of the site. */
#define LONGS0
#define LONGS1 jlong a0,
#define LONGS2 LONGS1 jlong a1,
#define LONGS3 LONGS2 jlong a2,
#define LONGS4 LONGS3 jlong a3,
#define OBJECTS0
#define OBJECTS1 jobject o0,
#define OBJECTS2 OBJECTS1 jobject o1,
#define OBJECTS3 OBJECTS2 jobject o2,
#define OBJECTS4 OBJECTS3 jobject o3,
#define SET_LONGS0
#define SET_LONGS1 v[0].j = a0;
#define SET_LONGS2 SET_LONGS1 v[1].j = a1;
#define SET_LONGS3 SET_LONGS2 v[2].j = a2;
#define SET_LONGS4 SET_LONGS3 v[3].j = a3;
#define SET_OBJECTS0
#define SET_OBJECTS1 v[4].l = o0;
#define SET_OBJECTS2 SET_OBJECTS1 v[5].l = o1;
#define SET_OBJECTS3 SET_OBJECTS2 v[6].l = o2;
#define SET_OBJECTS4 SET_OBJECTS3 v[7].l = o3;

#define AT(n, m) \
	HOT static void JNICALL at_##n##_##m(JNIEnv *env, jclass class, \
					     LONGS##n OBJECTS##m jint site) \
	{ \
		jvalue v[SITE_ROOTS] = { 0 }; \
\
		(void)class; \
		SET_LONGS##n SET_OBJECTS##m met(env, (uint32_t)site, v); \
	}
#define AT_ROW(n) AT(n, 0) AT(n, 1) AT(n, 2) AT(n, 3) AT(n, 4)

AT_ROW(0)
AT_ROW(1)
AT_ROW(2)
AT_ROW(3)
AT_ROW(4)

#define NAMES_ROW(n) \
	{ (void *)at_##n##_0, (void *)at_##n##_1, (void *)at_##n##_2, (void *)at_##n##_3, \
	  (void *)at_##n##_4 }

bool at_ready(JNIEnv *env)
{
	static void *const codes[HELPER_LONGS + 1][HELPER_OBJECTS + 1] = {
		NAMES_ROW(0), NAMES_ROW(1), NAMES_ROW(2), NAMES_ROW(3), NAMES_ROW(4)
	};
	static char types[HELPER_LONGS + 1][HELPER_OBJECTS + 1]
			 [HELPER_LONGS + HELPER_OBJECTS * sizeof(OBJECT) + 8];
	static _Atomic bool is_ready;
	struct helper_method v[(HELPER_LONGS + 1) * (HELPER_OBJECTS + 1) + 1];
	jclass helper;
	size_t nr = 0;

	if (is_ready)
		return true;

	for (size_t n = 0; n <= HELPER_LONGS; n++)
		for (size_t m = 0; m <= HELPER_OBJECTS; m++) {
			char *t = types[n][m];

			strcpy(t, "(");
			for (size_t i = 0; i < n; i++)
				strcat(t, "J");
			for (size_t i = 0; i < m; i++)
				strcat(t, OBJECT);
			strcat(t, "I)V");
			v[nr++] = (struct helper_method){ "at", t, codes[n][m] };
		}
	v[nr++] = (struct helper_method){ "change", "(" OBJECT "I)" OBJECT, (void *)change };
	helper = helper_define(env, v, nr);
	is_ready = helper && muted_begin(env, helper);
	if (helper)
		(*env)->DeleteLocalRef(env, helper);
	return is_ready;
}
