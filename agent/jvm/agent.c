/*
 * The agent of a Java machine: comes in by -agentpath or is attached, takes orders, and takes all
 * of it back when nobody watches any more. Whatever fails, the machine runs on: nothing is printed,
 * nothing is ended.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/jvm/answer.h"
#include "agent/jvm/at.h"
#include "agent/jvm/carrier.h"
#include "agent/jvm/guest.h"
#include "agent/jvm/here.h"
#include "agent/jvm/hop.h"
#include "agent/jvm/kept.h"
#include "agent/jvm/machine.h"
#include "agent/jvm/mem.h"
#include "agent/jvm/order.h"
#include "agent/jvm/site.h"
#include "agent/jvm/stops.h"
#include "agent/jvm/virtual.h"
#include "agent/jvm/weaver.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"

#define OPEN __attribute__((visibility("default")))
#define ORDER_MAX ((size_t)16 << 20)
#define LOOK_NS 500000000
#define STATUS "status "
#define HOT 4      /* times as often as advice may run */
#define PATIENCE 6 /* looks without anybody who watches, until all is taken back */

jvmtiEnv *machine;
_Atomic bool machine_is_over;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool has_keeper; /* a thread of ours that looks whether anybody watches */

/* --- the machine's events ----------------------------------------------------------------------
 */

static void JNICALL on_class(jvmtiEnv *jvmti, JNIEnv *env, jclass class, jobject loader,
			     const char *name, jobject domain, jint nr, const unsigned char *bytes,
			     jint *new_nr, unsigned char **new_bytes)
{
	(void)jvmti, (void)domain;
	if (machine_is_over)
		return;
	/* what is loaded for the first time comes again when it is prepared, which is too late on
	 * some machines (weaver.c); those of the machine itself (loader: NULL) are there before */
	if (class)
		weaver_class(env, class, bytes, nr, new_nr, new_bytes);
	else if (loader && name)
		weaver_loaded(env, name, bytes, nr, new_nr, new_bytes);
}

static void JNICALL on_prepared(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass class)
{
	(void)jvmti, (void)thread;
	if (!machine_is_over)
		weaver_prepared(env, class);
}

static void JNICALL on_thread(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	(void)jvmti;
	if (guest_is_watched(guest_tick()) && here_begin()) {
		carrier_thread_began(env, thread);
		here_end();
	}
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	(void)jvmti;
	if (guest_is_watched(guest_tick()) && here_begin()) {
		carrier_thread_ended(env, thread);
		here_end();
	}
}

static void JNICALL on_over(jvmtiEnv *jvmti, JNIEnv *env)
{
	(void)jvmti, (void)env;
	machine_is_over = true;
}

/* --- the beginning -----------------------------------------------------------------------------
 */

static bool capabilities_add(jvmtiEnv *e)
{
	jvmtiCapabilities c = { .can_retransform_classes = 1, .can_retransform_any_class = 1 };
	jvmtiCapabilities collections = { .can_generate_garbage_collection_events = 1 };
	jvmtiCapabilities monitors = { .can_generate_monitor_events = 1 };
	jvmtiCapabilities constants = { .can_get_constant_pool = 1 };

	/* without these, stops are not told */
	(*e)->AddCapabilities(e, &collections);
	(*e)->AddCapabilities(e, &monitors);
	(*e)->AddCapabilities(e, &constants);
	return (*e)->AddCapabilities(e, &c) == JVMTI_ERROR_NONE;
}

/* Once; the machine is ours to ask afterwards. */
static bool machine_get(JavaVM *vm)
{
	static const jvmtiEventCallbacks calls = { .ClassFileLoadHook = on_class,
						   .ClassPrepare = on_prepared,
						   .ThreadStart = on_thread,
						   .ThreadEnd = on_thread_end,
						   .VMDeath = on_over,
						   .GarbageCollectionStart = stops_collection_began,
						   .GarbageCollectionFinish =
							   stops_collection_ended,
						   .MonitorContendedEnter = stops_lock_waits,
						   .MonitorContendedEntered = stops_lock_has };
	jvmtiEnv *e = NULL;

	if (machine)
		return true;
	if ((*vm)->GetEnv(vm, (void **)&e, JVMTI_VERSION_1_2) != JNI_OK)
		return false;
	if (!capabilities_add(e) ||
	    (*e)->SetEventCallbacks(e, &calls, sizeof(calls)) != JVMTI_ERROR_NONE ||
	    (*e)->SetEventNotificationMode(e, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL) !=
		    JVMTI_ERROR_NONE) {
		(*e)->DisposeEnvironment(e);
		return false;
	}
	machine = e;
	return true;
}

/* --- orders ------------------------------------------------------------------------------------
 */

static bool file_read(const char *path, struct buf *out)
{
	char bytes[16384];
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n = -1;

	while (fd >= 0 && out->n < ORDER_MAX && (n = read(fd, bytes, sizeof(bytes))) > 0)
		buf_add(out, (struct str){ bytes, (size_t)n });
	if (fd >= 0)
		close(fd);
	return n == 0;
}

struct taking {
	JNIEnv *env;
	const char *path;
	bool is_taken;
};

static void order_apply(struct taking *t, struct order *o)
{
	struct error err = { 0 };
	struct buf text = { 0 };

	bool is_read = file_read(t->path, &text);

	/* who wrote it may be killed before it is removed */
	answer_remove(t->path);
	if (!is_read || order_read(o, buf_str(&text), &err) < 0) {
		answer_to(o->answer);
		answer_say("error\t%s", err.msg[0] ? err.msg : "the order cannot be read");
		order_done(o);
		free(o);
		return;
	}
	buf_done(&text);
	answer_to(o->answer);
	if ((o->v.nr || o->looks.nr) && !guest_use(o->region, &o->is_another)) {
		answer_say("error\tour code is not in this process, or is of another version");
		order_done(o);
		free(o);
		return;
	}
	t->is_taken = true;
	weaver_apply(t->env, o);
	here_tell();
	hops_tell_shared();
	answer_say("done");
}

static void order_take(void *data)
{
	order_apply(data, mem_zalloc(sizeof(struct order)));
}

/* --- when nobody watches any more --------------------------------------------------------------
 */

static bool is_alone(void)
{
	return !guest_is_watched(guest_tick()) && !machine_is_over;
}

static void take_back(void *env)
{
	char path[ANSWER_PATH];

	answer_path(path);
	if (weaver_clear(env, is_alone))
		answer_remove(path);
}

/* Even to pass a place by costs something: one that is passed all the time is left alone. */
static void hot_leave(void *env)
{
	uint64_t limit = guest_run_limit() * HOT;

	for (int i = -1; limit && (i = site_hot((uint32_t)(i + 1), limit)) >= 0;)
		weaver_leave(env, site_at((uint32_t)i)->wish);
}

/* Whether nothing is left to be looked after. Whoever orders something from then on has another
 * thread begun. */
static bool keeper_may_go(void)
{
	bool may;

	pthread_mutex_lock(&lock);
	may = !weaver_is_at_work();
	if (may)
		has_keeper = false;
	pthread_mutex_unlock(&lock);
	return may;
}

/* Whether garbage was collected since this was last asked: an object that nobody has is gone
 * then. */
static bool was_collected(JNIEnv *env, jweak *canary)
{
	jclass class = (*env)->FindClass(env, "java/lang/Object");
	bool was = !*canary || (*env)->IsSameObject(env, *canary, NULL);
	jobject o = was && class ? (*env)->AllocObject(env, class) : NULL;

	if (was && *canary)
		(*env)->DeleteWeakGlobalRef(env, *canary);
	if (was)
		*canary = o ? (*env)->NewWeakGlobalRef(env, o) : NULL;
	if (!jni_is_clean(env))
		*canary = NULL;
	if (o)
		(*env)->DeleteLocalRef(env, o);
	if (class)
		(*env)->DeleteLocalRef(env, class);
	return was;
}

static void JNICALL keep(jvmtiEnv *jvmti, JNIEnv *env, void *arg)
{
	unsigned nr_alone = 0;
	jweak canary = NULL;

	(void)jvmti, (void)arg;
	while (!keeper_may_go()) {
		nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
		if (machine_is_over)
			return;
		here_turn();
		here_tell();
		hops_tell_shared();
		mem_guarded(hot_leave, env);
		if (was_collected(env, &canary)) {
			kept_sweep(env, is_alone());
			virtual_sweep(env, false);
		}
		nr_alone = guest_is_attended(guest_tick()) ? 0 : nr_alone + 1;
		if (nr_alone >= PATIENCE)
			mem_guarded(take_back, env);
	}
	/* what is left is nobody's, unless somebody has come */
	kept_sweep(env, is_alone());
	virtual_sweep(env, is_alone());
	if (canary)
		(*env)->DeleteWeakGlobalRef(env, canary);
}

/* A thread object of the machine's for ours; NULL where it has none. */
static jthread thread_new(JNIEnv *env)
{
	jclass class = (*env)->FindClass(env, "java/lang/Thread");
	jmethodID init =
		class ? (*env)->GetMethodID(env, class, "<init>", "(Ljava/lang/String;)V") : NULL;
	jstring name = init ? (*env)->NewStringUTF(env, "culprit") : NULL;
	jthread t = name ? (*env)->NewObject(env, class, init, name) : NULL;

	return jni_is_clean(env) ? t : NULL;
}

static void keeper_start(JNIEnv *env)
{
	jthread t;
	bool is_new;

	pthread_mutex_lock(&lock);
	is_new = !has_keeper;
	has_keeper = true;
	pthread_mutex_unlock(&lock);
	t = is_new ? thread_new(env) : NULL;
	if (is_new &&
	    (!t || (*machine)->RunAgentThread(machine, t, keep, NULL, JVMTI_THREAD_MIN_PRIORITY) !=
			   JVMTI_ERROR_NONE)) {
		pthread_mutex_lock(&lock);
		has_keeper = false;
		pthread_mutex_unlock(&lock);
	}
}

/* --- how we are --------------------------------------------------------------------------------
 */

/* "status PATH": changes nothing. */
static void status_say(const char *path)
{
	FILE *f = fopen(path, "ae");
	char last[512];
	uint64_t nr_unread = at_unread(last, sizeof(last));

	if (!f)
		return;
	fprintf(f, "places\t%u\n", sites_count());
	fprintf(f, "places woven\t%u\n", sites_on());
	fprintf(f, "watched\t%s\n", guest_is_watched(guest_tick()) ? "yes" : "no");
	fprintf(f, "objects that carry\t%llu\n", (unsigned long long)kept_count());
	fprintf(f, "virtual threads that wait\t%llu\n", (unsigned long long)virtual_count());
	fprintf(f, "values not read\t%llu%s%s\n", (unsigned long long)nr_unread,
		last[0] ? ", the last: " : "", last);
	hops_tell(f);
	fprintf(f, "weavings that memory ended\t%llu\n", (unsigned long long)mem_nr_ended());
	fclose(f);
}

/* --- what the machine calls --------------------------------------------------------------------
 */

OPEN JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	(void)options, (void)reserved;
	/* a machine that cannot have us starts all the same; who attaches is told */
	machine_get(vm);
	return JNI_OK;
}

OPEN JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	struct taking t = { .path = options };

	(void)reserved;
	if ((*vm)->GetEnv(vm, (void **)&t.env, JNI_VERSION_1_6) != JNI_OK || !machine_get(vm))
		return JNI_ERR;
	if (!options || !options[0])
		return JNI_OK;
	if (strncmp(options, STATUS, strlen(STATUS)) == 0) {
		status_say(options + strlen(STATUS));
		return JNI_OK;
	}
	if (!at_ready(t.env))
		return JNI_ERR;
	if (!mem_guarded(order_take, &t))
		return JNI_ENOMEM;
	if (t.is_taken && weaver_is_at_work())
		keeper_start(t.env);
	return t.is_taken ? JNI_OK : JNI_ERR;
}

OPEN JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
	(void)vm;
}
