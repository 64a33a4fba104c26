/*
 * A Java machine that was started to be watched. The launcher has no class and no machine where
 * programs wait before their first instruction; so it is let go, and waited for: until the machine
 * can be entered, and until the classes are loaded that tell the interval.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/time.h"
#include "capture/jvm/arguments.h"
#include "capture/jvm/attach.h"
#include "capture/jvm/target.h"
#include "capture/probe/kin.h"
#include "capture/probe/spawn.h"
#include "cli/say.h"
#include "cli/stopping.h"
#include "cli/variance_session.h"

#define WAIT_NS (60 * NS_S) /* for the machine, and for each class */
#define MADE_LOOK_NS (5 * NS_MS)
#define LOOK_FIRST_NS (20 * NS_MS) /* the machine stops for each look at its classes */
#define LOOK_MOST_NS (500 * NS_MS)
#define SAY_NS (2 * NS_S)
#define TRIES 5 /* to enter one that is about to be made */

/* Not one that says its version, nor javac. */
static bool runs_classes(int pid)
{
	static const char *const others[] = { "-version", "--version", "-fullversion" };
	char link[32], exe[PATH_MAX];
	struct jvm_arguments a = { 0 };
	struct str rest;
	ssize_t n;
	bool runs;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	n = readlink(link, exe, sizeof(exe));
	if (n <= 0 || !str_ends((struct str){ exe, (size_t)n }, STR("/bin/java")))
		return false;
	jvm_arguments_read(&a, pid);
	runs = a.kind != JVM_MAIN_NONE;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		runs &= !jvm_arguments_find(&a, str_of(others[i]), &rest);
	jvm_arguments_done(&a);
	return runs;
}

bool java_will_be(const struct session *s, int pid, struct str name)
{
	return s->options->command && java_is_name(name) && !jvm_is(pid) && jvm_is_launcher(pid) &&
	       runs_classes(pid);
}

static bool is_over(const struct session *s)
{
	return !kin_started(s->pid);
}

static int64_t patience(const struct session *s)
{
	int64_t ns = s->options->for_ns;

	return ns && ns < WAIT_NS ? ns : WAIT_NS;
}

static void rest(int64_t ns)
{
	const struct timespec t = { .tv_nsec = ns };

	nanosleep(&t, NULL);
}

static bool is_made(int pid)
{
	return jvm_is(pid) && jvm_may_be_made(pid);
}

static int ended(struct error *err)
{
	return error_set(err, ESRCH, "the program ended before it could be watched");
}

int java_entered(const struct session *s, int got, struct error *err)
{
	return got < 0 && s->java.is_awaited && is_over(s) ? ended(err) : got;
}

int java_await(struct session *s, struct error *err)
{
	int64_t until = time_tick() + patience(s);
	int got;

	if (!s->java.is_awaited)
		return 0;
	spawn_go(s->pid);
	while (!is_over(s) && !is_made(s->pid)) {
		if (stopping_is_told())
			return error_set(err, EINTR, "it was ended before the program had begun");
		if (time_tick() > until)
			return error_set(err, ETIMEDOUT,
					 "process %d made no Java machine within %lld seconds",
					 s->pid, (long long)(patience(s) / NS_S));
		rest(MADE_LOOK_NS);
	}
	/* there are more functions now than at its beginning */
	got = is_over(s) ? 0 : session_has(s, s->pid, err);
	if (got <= 0 && is_over(s))
		return ended(err);
	s->java.is_awaited = true;
	return got < 0 ? got : got ? 0 : -err->code;
}

static int late(const struct session *s, struct str name, struct error *err)
{
	return error_set(err, ENOENT,
			 "no class with a method of this name and code was loaded within %lld "
			 "seconds: '" STR_FMT "'",
			 (long long)(patience(s) / NS_S), STR_ARG(name));
}

int java_look_again(struct session *s, struct str name, struct jvm_heard *heard, struct error *err)
{
	int64_t until = time_tick() + patience(s), pause = LOOK_FIRST_NS;
	int64_t say = time_tick() + SAY_NS;
	int got = 0, nr_failed = 0;

	do {
		got = java_look(s, name, heard, err);
		if (got >= 0 && heard->found.nr)
			return got;
		if (is_over(s))
			return error_set(err, ESRCH,
					 "the program ended before a class with '" STR_FMT
					 "' was loaded, or looked at",
					 STR_ARG(name));
		if (stopping_is_told())
			return error_set(err, EINTR, "'" STR_FMT "' was not loaded by then",
					 STR_ARG(name));
		if (got < 0 && ++nr_failed == TRIES)
			return got;
		if (time_tick() > say) {
			say_error("no class with '" STR_FMT
				  "' is loaded yet: it is waited for, %lld seconds at the most",
				  STR_ARG(name), (long long)(patience(s) / NS_S));
			say = until;
		}
		rest(pause);
		pause = pause * 2 < LOOK_MOST_NS ? pause * 2 : LOOK_MOST_NS;
	} while (time_tick() < until);
	return late(s, name, err);
}
