/*
 * An order is taken whole: which loaded classes it means is found out, and those of which something
 * else is wanted than before are handed to the machine to be transformed anew, which asks us for
 * their bytes (weaver_class). Orders are shared by threads that transform at the same time, and go
 * when nobody looks at them any more.
 *
 * A class that comes later is transformed anew when it is prepared, where the machine can tell what
 * is above it, and refuses what it cannot verify without harm. Other threads wait meanwhile, until
 * the class is initialized. But some machines (early ones of JDK 21; JDK-8333542) let them use it
 * already. There, what its own bytes tell is woven when it is loaded (weaver_loaded): what is
 * wanted by its name, or by that of a type right above it.
 */
#include "agent/jvm/weaver.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/jvm/answer.h"
#include "agent/jvm/invokes.h"
#include "agent/jvm/look.h"
#include "agent/jvm/machine.h"
#include "agent/jvm/meant.h"
#include "agent/jvm/mem.h"
#include "agent/jvm/muted.h"
#include "agent/jvm/order.h"
#include "agent/jvm/puts.h"
#include "agent/jvm/roll.h"
#include "agent/jvm/site.h"
#include "agent/jvm/stops.h"
#include "base/error.h"
#include "base/mem.h"

/* For each call the machine stops, and looks through all of its classes and compiled code: with
 * 7,000 classes that takes it 25 ms, for one that is changed as for many. */
#define BATCH 1024
#define LOADS 1024

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, applying = PTHREAD_MUTEX_INITIALIZER;
static struct order *current;
/* The thread has handed classes to the machine. Some are linked only now, and the machine says that
 * they are prepared; it has them transformed all the same. Were they transformed in between, JDK 25
 * would take the result for what they were loaded with, and they would be woven twice. */
static __thread bool is_transforming;

static struct order *order_use(void)
{
	struct order *o;

	pthread_mutex_lock(&lock);
	o = current;
	if (o)
		o->nr_users++;
	pthread_mutex_unlock(&lock);
	return o;
}

static void order_leave(struct order *o)
{
	bool is_last;

	if (!o)
		return;
	pthread_mutex_lock(&lock);
	is_last = --o->nr_users == 0;
	pthread_mutex_unlock(&lock);
	if (is_last) {
		order_done(o);
		free(o);
	}
}

bool weaver_is_at_work(void)
{
	struct order *o = order_use();
	bool is = o && o->v.nr;

	order_leave(o);
	return is;
}

/* --- one class ---------------------------------------------------------------------------------
 */

static bool is_meant(JNIEnv *env, const struct order *o, jclass class, struct str name)
{
	vec_each (&o->v, w)
		if (meant_is(env, w, class, name))
			return true;
	return false;
}

struct weaving {
	JNIEnv *env;
	jclass class; /* NULL: it is being loaded, and will be told of when it is prepared */
	struct order *order;
	struct str bytes, name;
	struct buf out;
	struct arena arena;
	bool is_changed;
};

/* The thread weaves a class that is being loaded; another one that is needed for it is not. */
static __thread bool is_quiet;

static bool is_machines(struct str name)
{
	return str_starts(name, STR("java.")) || str_starts(name, STR("sun.")) ||
	       str_starts(name, STR("jdk."));
}

/* Of a name with slashes; empty: it is too long. */
static struct str dotted(struct str internal, char room[MEANT_NAME_BYTES])
{
	struct str name = { room, internal.n < MEANT_NAME_BYTES ? internal.n : 0 };

	for (size_t i = 0; i < name.n; i++)
		room[i] = (char)(internal.p[i] == '/' ? '.' : internal.p[i]);
	return name;
}

static void tell_refused(const struct wanted *w, const struct class *c, const struct member *m,
			 const char *why)
{
	if (is_quiet)
		return;
	answer_say("refused\t%u\t" STR_FMT "." STR_FMT STR_FMT "\t%s", w->function,
		   STR_ARG(c->name), STR_ARG(m->name), STR_ARG(m->type), why);
}

static void tell_put(const struct class *c, const struct rewrite_put *put, const struct put_of *of)
{
	const struct member *m = &c->methods[put->method];
	struct site *s = site_at(of->site);

	if (put->refused) {
		tell_refused(of->wanted, c, m, put->refused);
		return;
	}
	atomic_store_explicit(&s->is_on, true, memory_order_release);
	if (is_quiet)
		return;
	if (s->action == WANTED_TIME)
		invokes_tell(of->wanted->function, c, m);
	if (s->action == WANTED_ADVISE || s->action == WANTED_TIME)
		answer_say("woven\t%u\t" STR_FMT "." STR_FMT STR_FMT, of->wanted->function,
			   STR_ARG(c->name), STR_ARG(m->name), STR_ARG(m->type));
}

static bool is_above(const struct wanted *w, struct str internal)
{
	char room[MEANT_NAME_BYTES];
	struct str name = dotted(internal, room);

	return name.n && wanted_is_named(w, name);
}

/* By what a class says of itself. Annotations are looked for when it is there. */
static bool is_meant_loading(const struct wanted *w, const struct class *c, struct str name)
{
	if (w->is_left || w->class_annotation.n || w->method_annotation.n)
		return false;
	if (wanted_is_named(w, name) || (w->has_subtypes && is_above(w, c->super)))
		return true;
	for (uint16_t i = 0; (w->has_subtypes || w->is_interface) && i < c->nr_interfaces; i++)
		if (is_above(w, c->interfaces[i]))
			return true;
	return false;
}

static bool is_meant_now(const struct weaving *v, const struct wanted *w, const struct class *c)
{
	return v->class ? meant_is(v->env, w, v->class, v->name) : is_meant_loading(w, c, v->name);
}

static void tell_failed(struct str name, const char *why)
{
	if (!is_quiet)
		answer_say("error\t" STR_FMT ": %s", STR_ARG(name), why);
}

/* In guarded memory: what fails leaves the class as it is. */
static void weave(void *data)
{
	struct weaving *v = data;
	struct error err = { 0 };
	struct class c;
	struct puts puts;

	if (class_read(&c, v->bytes, &v->arena, &err) < 0) {
		tell_failed(v->name, err.msg);
		return;
	}
	puts_init(&puts, &c, &v->arena, v->env);
	puts.refused = tell_refused;
	for (unsigned rank = 0; rank < WANTED_RANKS; rank++)
		vec_each (&v->order->v, w)
			if (wanted_rank(w) == rank && is_meant_now(v, w, &c))
				puts_add(&puts, w);
	if (puts.v.nr && rewrite_write(&puts.rewrite, puts.v.v, puts.v.nr, &v->out, &err) < 0) {
		tell_failed(v->name, err.msg);
	} else if (puts.v.nr) {
		v->is_changed = true;
		for (size_t i = 0; i < puts.v.nr; i++)
			tell_put(&c, &puts.v.v[i], &puts.of.v[i]);
	}
	puts_done(&puts);
}

/* v: with an order. */
static void exchange(struct weaving *v, jint *new_nr, unsigned char **new_bytes)
{
	if (v->order->v.nr && v->name.n && !mem_guarded(weave, v)) {
		tell_failed(v->name, "there is no memory");
		v->is_changed = false;
	}
	if (v->is_changed &&
	    (*machine)->Allocate(machine, (jlong)v->out.n, new_bytes) == JVMTI_ERROR_NONE) {
		memcpy(*new_bytes, v->out.p, v->out.n);
		*new_nr = (jint)v->out.n;
	}
	buf_done(&v->out);
	arena_done(&v->arena);
}

void weaver_class(JNIEnv *env, jclass class, const unsigned char *bytes, jint nr, jint *new_nr,
		  unsigned char **new_bytes)
{
	char room[MEANT_NAME_BYTES];
	struct weaving v = { .env = env,
			     .class = class,
			     .order = order_use(),
			     .bytes = { (const char *)bytes, (size_t)nr },
			     .name = meant_name(class, room) };

	if (v.order)
		exchange(&v, new_nr, new_bytes);
	order_leave(v.order);
}

/* "21.0.4+7-LTS": of 21, those before 21.0.8; of 20, 22 and 23, all. */
static bool is_early(const char *version)
{
	unsigned major = 0, minor = 0, update = 0;

	return sscanf(version, "%u.%u.%u", &major, &minor, &update) >= 1 && major >= 20 &&
	       major <= 23 && !(major == 21 && update >= 8);
}

static pthread_once_t is_asked = PTHREAD_ONCE_INIT;
static bool is_hasty; /* threads may use a class that is being prepared */

static void ask(void)
{
	char *version = NULL;

	if ((*machine)->GetSystemProperty(machine, "java.vm.version", &version) ==
		    JVMTI_ERROR_NONE &&
	    version)
		is_hasty = is_early(version);
	(*machine)->Deallocate(machine, (unsigned char *)version);
}

void weaver_loaded(JNIEnv *env, const char *name, const unsigned char *bytes, jint nr, jint *new_nr,
		   unsigned char **new_bytes)
{
	char room[MEANT_NAME_BYTES];
	struct weaving v = { .env = env,
			     .bytes = { (const char *)bytes, (size_t)nr },
			     .name = dotted(str_of(name), room) };

	pthread_once(&is_asked, ask);
	if (is_hasty && !is_quiet && !is_transforming)
		v.order = order_use();
	if (v.order && !is_machines(v.name) && !meant_is_anonymous(v.name)) {
		is_quiet = true;
		exchange(&v, new_nr, new_bytes);
		is_quiet = false;
	}
	order_leave(v.order);
}

/* --- all classes -------------------------------------------------------------------------------
 */

static const char *error_name(jvmtiError e, char **name)
{
	*name = NULL;
	(*machine)->GetErrorName(machine, e, name);
	return *name ? *name : "an error without a name";
}

static jvmtiError retransform(const jclass *classes, jint nr)
{
	jvmtiError e;

	is_transforming = true;
	e = (*machine)->RetransformClasses(machine, nr, classes);
	is_transforming = false;
	return e;
}

/* The one that the machine does not take stays as it is. */
static void transform_each(const jclass *classes, jint nr)
{
	for (jint i = 0; i < nr; i++) {
		jvmtiError e = retransform(&classes[i], 1);
		char room[MEANT_NAME_BYTES], *name;

		if (e == JVMTI_ERROR_NONE)
			continue;
		answer_say("error\tthe machine refuses to have " STR_FMT " changed: %s",
			   STR_ARG(meant_name(classes[i], room)), error_name(e, &name));
		(*machine)->Deallocate(machine, (unsigned char *)name);
	}
}

static void transform(const jclass *classes, jint nr)
{
	for (jint at = 0; at < nr; at += BATCH) {
		jint some = nr - at < BATCH ? nr - at : BATCH;

		if (retransform(classes + at, some) != JVMTI_ERROR_NONE)
			transform_each(classes + at, some);
	}
}

static bool is_modifiable(jclass class, struct str name)
{
	jboolean is = JNI_FALSE;

	if (!meant_is_anonymous(name))
		(*machine)->IsModifiableClass(machine, class, &is);
	if (!is)
		answer_say("error\t" STR_FMT " cannot be changed, says the machine", STR_ARG(name));
	return is;
}

/* Of which something else is wanted than before. Where there is no memory, none. */
static jint changed(JNIEnv *env, const struct roll *r, struct order *was, struct order *is,
		    jclass *due)
{
	uint64_t *then = was ? roll_wishes(r, env, was) : NULL;
	uint64_t *now = roll_wishes(r, env, is);
	jint nr = 0;

	if (!now || (was && !then))
		answer_say("error\tthere is no memory");
	else
		for (jint i = 0; i < r->nr; i++)
			if ((then ? then[i] : 0) != now[i] &&
			    is_modifiable(r->v[i], roll_name(r, i)))
				due[nr++] = r->v[i];
	vec_each (&is->v, w)
		w->is_noted = true;
	free(then);
	free(now);
	return nr;
}

/* Also what is asked of them. */
static void classes_apply(JNIEnv *env, struct order *was, struct order *o)
{
	struct roll r;
	jclass *due = NULL;
	bool is = roll_take(&r);

	if (is)
		due = malloc(((size_t)r.nr + 1) * sizeof(*due));
	if (!due)
		answer_say("error\tthere is no memory");
	else
		transform(due, changed(env, &r, was, o, due));
	if (is)
		look_tell(env, o, r.v, r.nr);
	free(due);
	roll_done(&r, env);
}

static void order_exchange(struct order *o)
{
	pthread_mutex_lock(&lock);
	o->nr_users = 2; /* it is current, and used by who has called us */
	current = o;
	pthread_mutex_unlock(&lock);
}

static void events(bool are_on)
{
	static const jvmtiEvent v[] = { JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_CLASS_PREPARE,
					JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END };

	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++)
		(*machine)->SetEventNotificationMode(machine, are_on ? JVMTI_ENABLE : JVMTI_DISABLE,
						     v[i], NULL);
}

static bool is_wanted(const void *ctx, uint64_t wish)
{
	const struct order *o = ctx;

	vec_each (&o->v, w)
		if (w->hash == wish && !w->is_left)
			return true;
	return false;
}

/* Under the lock of who applies. Those that were asked for once are there for good, or never. */
static bool is_tried(struct str name)
{
	static uint64_t tried[LOADS];
	uint64_t hash = str_hash(name) | 1;
	size_t at = hash / 2 % LOADS;

	for (size_t i = 0; i < LOADS && tried[at]; i++, at = (at + 1) % LOADS)
		if (tried[at] == hash)
			return true;
	if (!tried[at])
		tried[at] = hash;
	return false;
}

/* A class that is loaded while others use it may be used before it is woven. Of the machine's own
 * we can have it loaded before; it is not initialized by that. */
static void load(JNIEnv *env, struct str name)
{
	char room[MEANT_NAME_BYTES];
	jclass class, c;
	jmethodID find;
	jstring text;

	if (!is_machines(name) || name.n >= sizeof(room) || is_tried(name))
		return;
	class = (*env)->FindClass(env, "java/lang/Class");
	if (!jni_is_clean(env) || !class)
		return;
	memcpy(room, name.p, name.n);
	room[name.n] = 0;
	find = (*env)->GetStaticMethodID(
		env, class, "forName",
		"(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;");
	text = jni_is_clean(env) && find ? (*env)->NewStringUTF(env, room) : NULL;
	c = text ? (*env)->CallStaticObjectMethod(env, class, find, text, JNI_FALSE, NULL) : NULL;
	if (jni_is_clean(env) && c)
		(*env)->DeleteLocalRef(env, c);
	if (text)
		(*env)->DeleteLocalRef(env, text);
	(*env)->DeleteLocalRef(env, class);
}

static void loads(JNIEnv *env, const struct order *o)
{
	vec_each (&o->v, w)
		if (w->action != WANTED_ADVISE && str_find_char(w->class, '*') == w->class.n)
			load(env, w->class);
	vec_each (&o->loads, name)
		load(env, *name);
}

/* Under the lock of who applies. */
static void apply(JNIEnv *env, struct order *o)
{
	struct order *was;

	loads(env, o);
	was = order_use();
	/* otherwise they run until those are there that come in their stead */
	if (o->is_another)
		sites_keep(is_wanted, o);
	order_exchange(o);
	events(true);
	muted_want(env, o->mutes.v, o->mutes.nr);
	stops_watch(o->v.nr ? o->pauses : ORDER_NONE, o->v.nr ? o->locks : ORDER_NONE);
	classes_apply(env, was, o);
	sites_keep(is_wanted, o);
	if (!o->v.nr)
		events(false);
	/* as who used it, and as what was current */
	order_leave(was);
	order_leave(was);
	order_leave(o);
}

void weaver_apply(JNIEnv *env, struct order *o)
{
	pthread_mutex_lock(&applying);
	apply(env, o);
	pthread_mutex_unlock(&applying);
}

bool weaver_clear(JNIEnv *env, bool (*may)(void))
{
	struct order *none = calloc(1, sizeof(*none));
	bool is;

	pthread_mutex_lock(&applying);
	/* somebody may have come while we waited for them */
	is = none && may();
	if (is)
		apply(env, none);
	else
		free(none);
	pthread_mutex_unlock(&applying);
	return is;
}

static struct wanted *wanted_of(struct order *o, uint64_t wish)
{
	if (o)
		vec_each (&o->v, w)
			if (w->hash == wish && !w->is_left)
				return w;
	return NULL;
}

void weaver_leave(JNIEnv *env, uint64_t wish)
{
	struct order *o;
	struct wanted *w;
	jclass *v = NULL;
	char room[MEANT_NAME_BYTES];
	jint nr = 0, found = 0;

	pthread_mutex_lock(&applying);
	o = order_use();
	w = wanted_of(o, wish);
	if (w && (*machine)->GetLoadedClasses(machine, &nr, &v) == JVMTI_ERROR_NONE) {
		for (jint i = 0; i < nr; i++) {
			jclass c = v[i];

			if (!meant_is(env, w, c, meant_name(c, room)))
				continue;
			v[i] = v[found];
			v[found++] = c;
		}
		w->is_left = true;
		sites_keep(is_wanted, o);
		transform(v, found);
		for (jint i = 0; i < nr; i++)
			(*env)->DeleteLocalRef(env, v[i]);
		(*machine)->Deallocate(machine, (unsigned char *)v);
		answer_say("left\t%u\t" STR_FMT "." STR_FMT, w->function, STR_ARG(w->class),
			   STR_ARG(w->method));
	}
	order_leave(o);
	pthread_mutex_unlock(&applying);
}

void weaver_prepared(JNIEnv *env, jclass class)
{
	struct order *o = is_transforming ? NULL : order_use();
	char room[MEANT_NAME_BYTES];
	struct str name = meant_name(class, room);

	if (o && name.n) {
		meant_note(o, class, name);
		if (is_meant(env, o, class, name) && is_modifiable(class, name))
			transform(&class, 1);
	}
	order_leave(o);
}
