#include "agent/jvm/carrier.h"

#include <stdint.h>

#include "agent/jvm/birth.h"
#include "agent/jvm/carried.h"
#include "agent/jvm/element.h"
#include "agent/jvm/guest.h"
#include "agent/jvm/header.h"
#include "agent/jvm/hop.h"
#include "agent/jvm/hot.h"
#include "agent/jvm/kept.h"
#include "agent/jvm/kept_table.h"
#include "agent/jvm/machine.h"
#include "agent/jvm/message.h"
#include "agent/jvm/muted.h"
#include "agent/jvm/parcel.h"
#include "agent/jvm/path.h"
#include "agent/jvm/site.h"
#include "lib/advice/bag.h"

/* Until operand_done; NULL: there is none. */
HOT static jobject operand(JNIEnv *env, const struct site *s, const jvalue *roots, size_t i)
{
	const struct site_value *v = &s->values[i];
	jobject found = NULL;

	if (i >= s->nr_values || v->root >= SITE_ROOTS)
		return NULL;
	if (v->is_root)
		return roots[v->root].l;
	path_object(v->path, env, machine, roots[v->root], &found);
	return found;
}

HOT static void hash_note(const struct site *s, const jvalue *roots, unsigned i, jobject o)
{
	if (o && i < s->nr_values && s->values[i].hash < SITE_ROOTS)
		kept_hash_note(i, o, (int32_t)roots[s->values[i].hash].j);
}

HOT static void operand_done(JNIEnv *env, const struct site *s, size_t i, jobject o)
{
	if (o && !s->values[i].is_root)
		(*env)->DeleteLocalRef(env, o);
}

/* --- arrays: what is done to one is done to each of its objects (but for one that is put into a
 * queue, which is taken out as it is) ------------------------------------------------------------
 */

typedef void each_fn(JNIEnv *env, struct site *s, jobject o, const void *with);

static bool is_array(JNIEnv *env, jobject o)
{
	static _Atomic(jclass) arrays;
	jclass c = arrays;

	if (!c) {
		c = (*env)->FindClass(env, "[Ljava/lang/Object;");
		if (!jni_is_clean(env) || !c)
			return false;
		arrays = c = (*env)->NewGlobalRef(env, c);
	}
	return c && (*env)->IsInstanceOf(env, o, c);
}

HOT static void each(JNIEnv *env, struct site *s, jobject o, const void *with, each_fn *f)
{
	jsize nr;

	if (!o)
		return;
	if (s->has_no_arrays || !is_array(env, o)) {
		f(env, s, o, with);
		return;
	}
	nr = (*env)->GetArrayLength(env, o);
	for (jsize i = 0; i < nr; i++) {
		jobject one = (*env)->GetObjectArrayElement(env, o, i);

		if (!jni_is_clean(env) || !one)
			continue;
		f(env, s, one, with);
		(*env)->DeleteLocalRef(env, one);
	}
}

/* --- objects -----------------------------------------------------------------------------------
 */

/* What the thread carries, for an object: to be left (parcel.h). */
HOT static void hold(struct site *s, struct kept_bag *b)
{
	bool is_lost;
	const struct carried *c;

	b->parcel = carried_hold(&is_lost);
	c = carried_here();
	b->request = c && !is_lost && (b->parcel || c->is_named) ? c->request : 0;
	if (is_lost || (b->parcel && !c))
		hop_lost(s);
}

HOT static void keep_one(JNIEnv *env, struct site *s, jobject o, const void *bag)
{
	hop_kept(s, kept_set(env, o, bag, s->is_plain));
}

HOT static void more_one(JNIEnv *env, struct site *s, jobject o, const void *bag)
{
	hop_kept(s, kept_more(env, o, bag, s->is_plain));
}

HOT static void keep(JNIEnv *env, struct site *s, jobject o, each_fn *f)
{
	struct kept_bag b;

	hold(s, &b);
	each(env, s, o, &b, f);
	parcel_leave(b.parcel);
}

static void gather_one(JNIEnv *env, struct site *s, jobject from, const void *to)
{
	struct kept_bag b;

	if (kept_result(env, from, &b) && b.parcel)
		hop_kept(s, kept_more(env, (jobject)to, &b, false));
	parcel_leave(b.parcel);
}

/* The first of what was noted that has something. */
static void first(JNIEnv *env, struct site *s, jobject to)
{
	jobject array = carried_noted(0);
	jsize nr = array && is_array(env, array) ? (*env)->GetArrayLength(env, array) : 0;
	struct kept_bag b = { 0 };

	for (jsize i = 0; i < nr && !b.parcel; i++) {
		jobject one = (*env)->GetObjectArrayElement(env, array, i);

		if (!jni_is_clean(env) || !one)
			continue;
		kept_result(env, one, &b);
		(*env)->DeleteLocalRef(env, one);
	}
	if (b.parcel)
		hop_kept(s, kept_more(env, to, &b, false));
	parcel_leave(b.parcel);
}

/* Instead of what it carries. */
HOT static void carry(struct site *s, const struct kept_bag *b, enum carried_how how)
{
	struct carried *c = carried_here();

	hop_came(s, b->parcel);
	birth_carry(b->parcel);
	if (c)
		carried_set(c, how, b->request);
}

/* As well. */
HOT static void join_bag(struct site *s, const struct kept_bag *b)
{
	hop_came(s, b->parcel);
	carried_join(b->parcel);
}

HOT static void join_one(JNIEnv *env, struct site *s, jobject o, const void *unused)
{
	struct kept_bag b;

	(void)unused;
	kept_result(env, o, &b);
	join_bag(s, &b);
	parcel_leave(b.parcel);
}

HOT static void aside(struct site *s)
{
	struct kept_bag b;

	hold(s, &b);
	if (carried_put_aside(s->place, b.parcel) < 0)
		hop_lost(s);
	parcel_leave(b.parcel);
}

HOT static void take(JNIEnv *env, struct site *s, jobject o)
{
	struct kept_bag b;

	kept_get(env, o, &b);
	carry(s, &b, CARRIED_TASK);
	parcel_leave(b.parcel);
}

HOT static void back(struct site *s)
{
	struct carried was, *c;
	struct parcel *p;

	if (!carried_take_up(s->place, &p, &was))
		return;
	birth_carry(p);
	parcel_leave(p);
	c = carried_here();
	if (c) {
		*c = was;
		c->mark = guest_mark();
	}
}

static void either(JNIEnv *env, struct site *s, jobject a, jobject b)
{
	struct kept_bag bag;

	kept_result(env, a, &bag);
	if (!bag.parcel)
		kept_result(env, b, &bag);
	join_bag(s, &bag);
	parcel_leave(bag.parcel);
}

static void leave(void)
{
	struct carried *c = carried_here();

	birth_carry(NULL);
	if (c)
		carried_set(c, CARRIED_TASK, 0);
}

/* --- messages ----------------------------------------------------------------------------------
 */

/* What comes is a request then, not the answer to one. */
static bool works_for_nobody(void)
{
	const struct carried *c = carried_here();

	return c && !c->is_named && !guest_holds();
}

/* Whether there is a header of ours, perhaps an empty one. */
static bool header_came(JNIEnv *env, struct site *s, jobject message, struct parcel **p)
{
	uint8_t bytes[PARCEL_BYTES];
	long nr = header_get(env, message, bytes, sizeof(bytes));

	*p = nr > 0 ? parcel_read(bytes, (size_t)nr) : NULL;
	if (nr > 0 && !*p)
		hop_lost(s);
	return nr >= 0;
}

HOT static struct parcel *message_came(JNIEnv *env, struct site *s, jobject message)
{
	bool is_lost;
	struct parcel *p = message_carried(env, message, &is_lost);

	if (is_lost)
		hop_lost(s);
	return p;
}

/* What it asks with is what is carried for its request, until more is. Nobody else has it yet. */
HOT static void asked_note(const struct kept_bag *b)
{
	if (b->parcel)
		b->parcel->asked = b->request;
}

HOT static void from(JNIEnv *env, struct site *s, jobject message)
{
	bool is_asked = false;
	struct kept_bag b = { .request = carried_new() };

	if (s->action == WANTED_RECEIVE || s->action == WANTED_ACCEPT)
		is_asked = header_came(env, s, message, &b.parcel);
	else
		b.parcel = message_came(env, s, message);
	b.request |= is_asked ? CARRIED_ASKED : 0;
	if (s->action == WANTED_SERVE) {
		b.request |= CARRIED_APART;
		asked_note(&b);
	}
	if (s->action == WANTED_FROM || s->action == WANTED_SERVE || s->action == WANTED_RECEIVE ||
	    (s->action == WANTED_ACCEPT && is_asked && works_for_nobody()))
		carry(s, &b, CARRIED_MESSAGE);
	else
		join_bag(s, &b);
	parcel_leave(b.parcel);
}

static void pass(JNIEnv *env, struct site *s, jobject message, jobject o)
{
	struct kept_bag b = { .request = carried_new() | CARRIED_APART,
			      .parcel = message_came(env, s, message) };

	asked_note(&b);
	hop_kept(s, kept_set(env, o, &b, false));
	parcel_leave(b.parcel);
}

static void send(JNIEnv *env, struct site *s, jobject to)
{
	const struct bag *bag = guest_see();
	const struct carried *c = carried_here();
	enum header_set done;

	/* of a request nothing is told as well: who gets it answers with what it packs */
	if ((!bag && !(c && c->is_named)) || (!to && s->action == WANTED_BESIDE)) {
		hop_count(s, HOP_NOTHING);
		return;
	}
	done = header_set(env, to, bag, bag ? bag_bytes(bag) : 0, s->action == WANTED_BESIDE);
	if (done == HEADER_NOT_SET)
		hop_lost(s);
	else
		hop_count(s, done == HEADER_SET ? HOP_GAVE : HOP_NOTHING);
}

/* Who did not send us anything is not sent anything either. What was asked is not always to be had:
 * then it is the request that the thread works for that tells. */
static void answer(JNIEnv *env, struct site *s, jobject to, jobject asked)
{
	const struct carried *c = carried_here();
	uint8_t bytes[PARCEL_BYTES];
	bool is = s->nr_values > 1 ? header_get(env, asked, bytes, sizeof(bytes)) >= 0
				   : c && c->is_named && c->request & CARRIED_ASKED;

	if (is)
		send(env, s, to);
}

/* --- actions -----------------------------------------------------------------------------------
 */

/* With the operands, or NULL. */
typedef void act_fn(JNIEnv *env, struct site *s, jobject a, jobject b);

HOT static void act_keep(JNIEnv *env, struct site *s, jobject a, jobject b)
{
	(void)b;
	keep(env, s, a, keep_one);
}

HOT static void act_own(JNIEnv *env, struct site *s, jobject a, jobject b)
{
	(void)b;
	keep(env, s, a, keep_one);
	kept_own(env, a);
}

HOT static void act_more(JNIEnv *env, struct site *s, jobject a, jobject b)
{
	(void)b;
	keep(env, s, a, more_one);
}

HOT static void act_queue(JNIEnv *env, struct site *s, jobject a, jobject b)
{
	struct kept_bag bag;

	(void)b;
	hold(s, &bag);
	if (a)
		hop_kept(s, kept_put(env, a, &bag));
	parcel_leave(bag.parcel);
}

HOT static void act_next(JNIEnv *env, struct site *s, jobject a, jobject b)
{
	(void)b;
	element_next(env, s, a);
}

static void act_drain(JNIEnv *env, struct site *s, jobject a, jobject b)
{
	(void)b;
	if (a)
		element_all(env, s, a);
}

/* If there was something, a place within has told. */
HOT static void act_idle(JNIEnv *env, struct site *s, jobject a, jobject b)
{
	(void)b;
	if (!a)
		element_next(env, s, NULL);
}

HOT static void act_take(JNIEnv *env, struct site *s, jobject a, jobject b)
{
	(void)b;
	take(env, s, a);
}

HOT static void act_swap(JNIEnv *env, struct site *s, jobject a, jobject b)
{
	(void)b;
	aside(s);
	take(env, s, a);
}

static void act_with(JNIEnv *env, struct site *s, jobject a, jobject b)
{
	aside(s);
	each(env, s, a, NULL, join_one);
	each(env, s, b, NULL, join_one);
}

static void act_note(JNIEnv *env, struct site *s, jobject a, jobject b)
{
	aside(s);
	if (!carried_note(env, s->place, a, b))
		hop_lost(s);
}

static void act_noted(JNIEnv *env, struct site *s, jobject a, jobject b)
{
	(void)a, (void)b;
	each(env, s, carried_noted(0), NULL, join_one);
	each(env, s, carried_noted(1), NULL, join_one);
}

HOT static void act_back(JNIEnv *env, struct site *s, jobject a, jobject b)
{
	(void)a, (void)b;
	back(s);
	carried_unnote(env, s->place);
}

HOT static void act_leave(JNIEnv *env, struct site *s, jobject a, jobject b)
{
	(void)env, (void)s, (void)a, (void)b;
	leave();
}

HOT static void act_drop(JNIEnv *env, struct site *s, jobject a, jobject b)
{
	(void)env, (void)s, (void)a, (void)b;
	birth_carry(NULL);
}

HOT static void act_join(JNIEnv *env, struct site *s, jobject a, jobject b)
{
	(void)b;
	each(env, s, a, NULL, join_one);
}

static void act_gather(JNIEnv *env, struct site *s, jobject a, jobject b)
{
	each(env, s, b, a, gather_one);
}

static void act_first(JNIEnv *env, struct site *s, jobject a, jobject b)
{
	(void)b;
	first(env, s, a);
}

HOT static void act_from(JNIEnv *env, struct site *s, jobject a, jobject b)
{
	(void)b;
	from(env, s, a);
}

/* b: what must be there, if it is asked for. */
static void act_send(JNIEnv *env, struct site *s, jobject a, jobject b)
{
	if (s->nr_values > 1 && !b)
		hop_count(s, HOP_NOTHING);
	else
		send(env, s, a);
}

/* is_awake: also where nothing is carried, neither by this thread nor by any object, since
 * something may come from outside, or is put aside. */
static const struct {
	act_fn *act;
	bool is_awake;
} actions[] = {
	[WANTED_KEEP] = { act_keep },
	[WANTED_MORE] = { act_more },
	[WANTED_QUEUE] = { act_queue },
	[WANTED_NEXT] = { act_next },
	[WANTED_IDLE] = { act_idle },
	[WANTED_DRAIN] = { act_drain },
	[WANTED_TAKE] = { act_take },
	[WANTED_SWAP] = { act_swap, true },
	[WANTED_WITH] = { act_with, true },
	[WANTED_NOTE] = { act_note, true },
	[WANTED_NOTED] = { act_noted },
	[WANTED_BACK] = { act_back, true },
	[WANTED_LEAVE] = { act_leave },
	[WANTED_DROP] = { act_drop },
	[WANTED_JOIN] = { act_join },
	[WANTED_EITHER] = { either },
	[WANTED_GATHER] = { act_gather },
	[WANTED_FIRST] = { act_first },
	[WANTED_FROM] = { act_from, true },
	[WANTED_SERVE] = { act_from, true },
	[WANTED_ADD] = { act_from, true },
	[WANTED_RECEIVE] = { act_from, true },
	[WANTED_ACCEPT] = { act_from, true },
	[WANTED_PASS] = { pass, true },
	[WANTED_SEND] = { act_send },
	[WANTED_BESIDE] = { act_send },
	[WANTED_ANSWER] = { answer },
	[WANTED_OWN] = { act_own },
};

/* --- sites -------------------------------------------------------------------------------------
 */

/* The thread works for a request that came from outside, perhaps with nothing yet. */
static bool is_asked(void)
{
	const struct carried *c = carried_any() ? carried_here() : NULL;

	return c && c->is_named;
}

static bool is_idle(const struct site *s)
{
	return !actions[s->action].is_awake && !kept_count() && !guest_holds() && !guest_mark() &&
	       !is_asked();
}

/* The last operand of these is what must not be there. */
static bool is_barred(const struct site *s, jobject a, jobject b)
{
	return s->action == WANTED_NOTED
		       ? a != NULL
		       : (s->action == WANTED_KEEP || s->action == WANTED_MORE) && b;
}

/* Nothing was taken out of a queue, or it need not be told that there was: that means something to
 * a loop only. */
HOT static bool is_nothing(const struct site *s, const jvalue *roots)
{
	const struct site_value *v = s->values;

	return (s->action == WANTED_NEXT || s->action == WANTED_IDLE) && v && v->is_root &&
	       ((s->action == WANTED_IDLE && roots[v->root].l) ||
		(!roots[v->root].l && !carried_is_loop()));
}

HOT bool carrier_passes(JNIEnv *env, struct site *s, const jvalue *roots)
{
	const struct site_value *v = s->values;
	enum kept_known known;

	if (is_nothing(s, roots))
		return true;
	if ((s->action != WANTED_QUEUE && s->action != WANTED_NEXT) || !v ||
	    v->hash >= SITE_ROOTS || !roots[v->root].l)
		return false;
	known = kept_known(env, roots[v->root].l, kept_hash_of((int32_t)roots[v->hash].j));
	if (known == KEPT_OWN)
		muted_add(env, roots[v->root].l);
	else if (known == KEPT_MIXED)
		muted_add_meant(env, roots[v->root].l);
	if (known == KEPT_UNKNOWN || (s->action == WANTED_NEXT && !carried_is_settled()))
		return false;
	if (s->action == WANTED_NEXT)
		hop_count(s, known == KEPT_OWN ? HOP_PASSED : HOP_NOTHING);
	else
		hop_count(s, known == KEPT_OWN ? HOP_GAVE : HOP_SHARED);
	return true;
}

HOT void carrier_act(JNIEnv *env, struct site *s, const jvalue *roots)
{
	jobject a, b;

	if (s->action >= sizeof(actions) / sizeof(*actions) || !actions[s->action].act)
		return;
	if (is_idle(s)) {
		hop_count(s, HOP_NOTHING);
		return;
	}
	a = operand(env, s, roots, 0);
	b = operand(env, s, roots, 1);
	hash_note(s, roots, 0, a);
	hash_note(s, roots, 1, b);
	if (!is_barred(s, a, b))
		actions[s->action].act(env, s, a, b);
	kept_hash_forget();
	operand_done(env, s, 0, a);
	operand_done(env, s, 1, b);
}

/* Of a thread that carries nothing nobody is to be told what this process was born with. */
static jobject borne(JNIEnv *env, jobject map, const struct bag *bag)
{
	return bag || birth_is() ? birth_environment(env, map, bag, bag ? bag_bytes(bag) : 0)
				 : NULL;
}

/* The bag is seen until woven code runs again, which methods of a message are not. */
HOT static jobject filled(JNIEnv *env, const struct site *s, jobject message, const struct bag *bag)
{
	return s->action != WANTED_PUT && message_fill(env, message, bag, bag_bytes(bag))
		       ? message
		       : message_with(env, message, bag, bag_bytes(bag));
}

HOT jobject carrier_change(JNIEnv *env, struct site *s, jobject message)
{
	const struct bag *bag = message || s->action == WANTED_BEAR ? guest_see() : NULL;
	bool is_told = bag && s->action == WANTED_REPLY && carried_is_as_asked(bag);
	jobject with = NULL;

	if (s->action == WANTED_BEAR)
		with = borne(env, message, bag);
	else if (bag && !is_told)
		with = filled(env, s, message, bag);

	if (with)
		hop_count(s, HOP_GAVE);
	else if (bag && !is_told)
		hop_lost(s);
	else
		hop_count(s, HOP_NOTHING);
	return with ? with : message;
}

void carrier_thread_began(JNIEnv *env, jthread thread)
{
	struct carried *c;
	struct kept_bag b;

	if (!kept_get(env, thread, &b))
		return;
	birth_told();
	carried_join(b.parcel);
	parcel_leave(b.parcel);
	c = carried_here();
	if (c)
		carried_set(c, CARRIED_BORN, b.request);
}

void carrier_thread_ended(JNIEnv *env, jthread thread)
{
	struct kept_bag b;

	hold(NULL, &b);
	if (b.parcel && kept_more(env, thread, &b, true) != KEPT)
		hop_lost(NULL);
	parcel_leave(b.parcel);
}
