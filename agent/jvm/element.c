/*
 * A thread that takes an element out of a queue may be one that does nothing else, and works for
 * whoever put it there; or it may work for a request already, and wait for what others have done
 * for it, or borrow something that others have used before. Which of these it is:
 *
 *   What it carries came with an element before: it is a loop. It carries what came with this one,
 *   and nothing else, also when nothing came. (Unless it is called deeper than where that one was
 *   taken out: then the work for that one is not done yet, and it is as below.)
 *   It works for a request of its own (a task, a message, or a tracepoint began it): what came with
 *   an element of the same request is joined; what is of another one is passed over, and counted.
 *   A task that carries nothing, of no request that anybody knows, is the first turn of a loop.
 *   It was born with what it carries, or nothing ever began here: the same, but for an element of
 *   another request, which makes it a loop. (Where requests begin at all, so does an element of
 *   which nothing is known for a thread in which none did.)
 *
 * Several that were taken out at once are as one if they are of one request. Otherwise nobody knows
 * which one it works for when, and it works for none that is known; that is counted.
 *
 * Requests are the same when this process has numbered them so (carried.h), or when something in
 * both bags was packed under one name. Not when both began here under different numbers: all that a
 * client asks for may have something in common, of a thread that never begins a request.
 */
#include "agent/jvm/element.h"

#include <stdbool.h>
#include <stdint.h>

#include "agent/jvm/birth.h"
#include "agent/jvm/carried.h"
#include "agent/jvm/guest.h"
#include "agent/jvm/hop.h"
#include "agent/jvm/hot.h"
#include "agent/jvm/kept.h"
#include "agent/jvm/machine.h"
#include "agent/jvm/muted.h"
#include "agent/jvm/parcel.h"
#include "agent/jvm/virtual.h"
#include "lib/advice/bag.h"

#define DEPTHS 4
#define ALL_MOST 1024 /* more at once are looked through by nobody */

/* Frames of the thread. To count them takes the machine some microseconds; a loop comes to the same
 * place with its stack as high as before, and had as many then. (How high it is does not tell by
 * itself: frames of compiled methods are smaller.) */
HOT static uint32_t depth_here(const struct site *s)
{
	static __thread struct {
		const struct site *site;
		uintptr_t top;
		uint64_t number; /* virtual threads have their stacks in the same place */
		jint depth;
	} known[DEPTHS];
	static __thread unsigned next;
	uintptr_t top = (uintptr_t)__builtin_frame_address(0);
	uint64_t number = virtual_number();
	jint nr = 0;

	for (unsigned i = 0; i < DEPTHS; i++)
		if (known[i].site == s && known[i].top == top && known[i].number == number)
			return (uint32_t)known[i].depth;
	if ((*machine)->GetFrameCount(machine, NULL, &nr) == JVMTI_ERROR_NONE) {
		known[next].site = s;
		known[next].top = top;
		known[next].number = number;
		known[next].depth = nr;
		next = (next + 1) % DEPTHS;
	}
	return (uint32_t)nr;
}

HOT static const struct bag_entry *entry_at(const struct bag *b, size_t word)
{
	return (const struct bag_entry *)(const void *)&b->entries[word];
}

HOT static bool has_writer(const struct bag *b, uint64_t writer)
{
	for (size_t at = 0; at < b->words; at += entry_at(b, at)->words)
		if (entry_at(b, at)->writer == writer)
			return true;
	return false;
}

/* Something in what the thread carries and in this was packed by the same writer. */
HOT static bool is_kin(const struct parcel *p)
{
	const struct bag *own = p ? guest_see() : NULL, *other = parcel_bag(p);

	for (size_t at = 0; own && at < own->words; at += entry_at(own, at)->words)
		if (has_writer(other, entry_at(own, at)->writer))
			return true;
	return false;
}

HOT static bool is_same(const struct carried *c, const struct kept_bag *b)
{
	return c->request == b->request ||
	       (!(c->request & b->request & CARRIED_APART) && is_kin(b->parcel));
}

HOT static bool is_own(const struct carried *c, bool is_loop)
{
	switch (c->how) {
	case CARRIED_ELEMENT:
		return !is_loop;
	case CARRIED_TASK:
		return c->is_named || guest_holds();
	case CARRIED_BEGUN:
	case CARRIED_MESSAGE:
		return true;
	default:
		return false;
	}
}

HOT static void replace(JNIEnv *env, struct carried *c, const struct kept_bag *b, uint32_t depth)
{
	muted_loop(env);
	birth_carry(b->parcel);
	carried_set(c, CARRIED_ELEMENT, b->request);
	c->depth = depth;
}

/* depth: of an element, where that is known already. */
HOT static bool is_loop(const struct site *s, const struct carried *c, uint32_t *depth)
{
	*depth = c->how == CARRIED_ELEMENT ? depth_here(s) : 0;
	return c->how == CARRIED_ELEMENT && *depth <= c->depth;
}

/* What came with something that was taken out. More calls may lie between the loop and what is
 * taken out by itself. */
HOT static void take_up(JNIEnv *env, struct site *s, struct carried *c, const struct kept_bag *b,
			uint32_t more)
{
	uint32_t depth;
	bool is = is_loop(s, c, &depth);

	if (is) {
		replace(env, c, b, depth + more);
	} else if (b->request && is_same(c, b)) {
		carried_join(b->parcel);
	} else if (b->request && is_own(c, is)) {
		hop_count(s, HOP_PASSED);
	} else if (b->request || (c->how == CARRIED_LIFE && carried_any())) {
		replace(env, c, b, depth_here(s) + more);
	}
}

/* Nothing was there: what it does now is for nobody. */
HOT static void take_nothing(JNIEnv *env, struct site *s, struct carried *c)
{
	static const struct kept_bag none;
	uint32_t ignored;

	if (is_loop(s, c, &ignored))
		replace(env, c, &none, c->depth);
}

HOT void element_next(JNIEnv *env, struct site *s, jobject o)
{
	struct carried *c = carried_here();
	struct kept_bag b = { 0 };

	if (!c) {
		hop_lost(s);
		return;
	}
	if (!o) {
		take_nothing(env, s, c);
		return;
	}
	kept_taken(env, o, &b);
	hop_came(s, b.parcel);
	take_up(env, s, c, &b, 0);
	parcel_leave(b.parcel);
}

/* --- several at once ---------------------------------------------------------------------------
 */

/* Its elements, or NULL: there are none, too many, or it does not tell. */
static jobjectArray elements_of(JNIEnv *env, jobject collection, bool *is_empty)
{
	static _Atomic(jmethodID) size, array;
	jclass c = size && array ? NULL : (*env)->FindClass(env, "java/util/Collection");
	jobjectArray all;
	jint nr;

	if (c) {
		size = (*env)->GetMethodID(env, c, "size", "()I");
		array = (*env)->GetMethodID(env, c, "toArray", "()[Ljava/lang/Object;");
		(*env)->DeleteLocalRef(env, c);
	}
	*is_empty = false;
	if (!jni_is_clean(env) || !size || !array)
		return NULL;
	nr = (*env)->CallIntMethod(env, collection, size);
	if (!jni_is_clean(env) || nr <= 0 || nr > ALL_MOST) {
		*is_empty = nr == 0;
		return NULL;
	}
	all = (*env)->CallObjectMethod(env, collection, array);
	return jni_is_clean(env) ? all : NULL;
}

/* As well. */
static void common_add(struct site *s, struct kept_bag *common, const struct kept_bag *b)
{
	struct parcel *was = common->parcel;

	common->request = b->request;
	if (!b->parcel || was == b->parcel)
		return;
	common->parcel = was ? parcel_joined(was, b->parcel) : parcel_use(b->parcel);
	if (!common->parcel)
		hop_lost(s);
	parcel_leave(was);
}

/* What they have in common, if they are of one request, or nothing; then *nr_mixed is how many were
 * of any. The caller is a user of its parcel. */
static struct kept_bag common_of(JNIEnv *env, struct site *s, jobjectArray all, unsigned *nr_mixed)
{
	jsize nr = (*env)->GetArrayLength(env, all);
	struct kept_bag common = { 0 };
	bool is_one = true;

	*nr_mixed = 0;
	for (jsize i = 0; i < nr; i++) {
		jobject o = (*env)->GetObjectArrayElement(env, all, i);
		struct kept_bag b = { 0 };

		kept_taken(env, jni_is_clean(env) ? o : NULL, &b);
		is_one &= b.request && (!i || b.request == common.request);
		*nr_mixed += b.request != 0;
		if (is_one)
			common_add(s, &common, &b);
		parcel_leave(b.parcel);
		if (o)
			(*env)->DeleteLocalRef(env, o);
	}
	if (is_one) {
		*nr_mixed = 0;
		return common;
	}
	parcel_leave(common.parcel);
	return (struct kept_bag){ 0 };
}

static void all_taken(JNIEnv *env, struct site *s, struct carried *c, jobjectArray all)
{
	unsigned nr_mixed;
	struct kept_bag b = common_of(env, s, all, &nr_mixed);

	if (!nr_mixed)
		hop_came(s, b.parcel);
	for (unsigned i = 0; i < nr_mixed; i++)
		hop_count(s, HOP_SHARED);
	take_up(env, s, c, &b, 1); /* one by itself is taken out by a method within */
	parcel_leave(b.parcel);
}

/* Where it cannot be looked through, it is for nobody that is known. */
void element_all(JNIEnv *env, struct site *s, jobject collection)
{
	static const struct kept_bag none;
	struct carried *c = carried_here();
	bool is_empty = false;
	jobjectArray all = c ? elements_of(env, collection, &is_empty) : NULL;

	if (all) {
		all_taken(env, s, c, all);
		(*env)->DeleteLocalRef(env, all);
	} else if (is_empty) {
		take_nothing(env, s, c);
	} else {
		hop_lost(s);
		if (c)
			take_up(env, s, c, &none, 1);
	}
}
