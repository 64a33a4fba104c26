/* Whom a live variance is about: the process that was named or started, or the first program below
 * it that has the functions of the interval, as a server that a script starts. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/time.h"
#include "capture/jvm/target.h"
#include "capture/probe/kin.h"
#include "capture/probe/spawn.h"
#include "cli/say.h"
#include "cli/stopping.h"
#include "cli/variance_session.h"

#define KIN_MAX 4096
#define LOOK_NS (10 * NS_MS)

struct find {
	struct session *s;
	struct map seen;   /* programs that are not meant, by file */
	struct error miss; /* what the last of them lacks */
	size_t nr;
};

static uint64_t program_of(int pid)
{
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return stat(path, &st) < 0 ? 0 : map_pair((uint32_t)st.st_dev, (uint32_t)st.st_ino) | 1;
}

static struct str name_of(const struct session *s)
{
	struct str path = s->functions.modules.nr ? s->functions.modules.v[0].path : STR("it");

	for (size_t i = path.n; i > 0; i--)
		if (path.p[i - 1] == '/')
			return str_skip(path, i);
	return path;
}

static bool is_over(void *to)
{
	const struct session *s = ((struct find *)to)->s;

	return stopping_is_told() ||
	       (s->options->for_ns && time_tick() - s->began >= s->options->for_ns);
}

/* Without the place in the spec that follows. */
static void say_waiting(const struct error *miss, struct str who)
{
	say_error(STR_FMT ": %.*s; programs that it starts are looked at", STR_ARG(who),
		  (int)strcspn(miss->msg, "\n"), miss->msg);
}

static int wants(void *to, int pid, struct error *err)
{
	struct find *f = to;
	struct error miss = { 0 };
	uint64_t *seen = map_at(&f->seen, program_of(pid));
	int got;

	if (*seen)
		return 0;
	got = session_has(f->s, pid, &miss);
	/* what is wrong with another program than the first is no matter of ours */
	if (got < 0 && !f->nr)
		return error_set(err, -got, "%s", miss.msg);
	if (got > 0)
		return 1;
	/* what a launcher runs is another program each time */
	*seen = !jvm_is_launcher(pid);
	f->miss = miss;
	if (!f->nr++ && f->s->options->command)
		say_waiting(&miss, name_of(f->s));
	return 0;
}

static int start(struct session *s, struct find *f, struct error *err)
{
	const struct spawn_wish wish = { f, wants, is_over };
	struct spawned out = { 0 };
	/* what it prints goes to standard error: the answer has the other for itself */
	int got = spawn_until(s->options->command, STDERR_FILENO, &wish, &out, err);

	if (got < 0)
		return got;
	s->pid = out.pid;
	s->watched = (struct watched){ .pid = out.has_ended ? 0 : out.command,
				       .status = out.status,
				       .has_ended = out.has_ended };
	if (out.pid != out.command)
		s->root = out.command;
	return out.pid ? 1 : 0;
}

/* The process itself, else the nearest below it. */
static int look(struct session *s, struct find *f, struct error *err)
{
	int pids[KIN_MAX + 1] = { s->options->pid };
	size_t nr = 1 + kin_below(s->options->pid, pids + 1, KIN_MAX);

	for (size_t i = 0; i < nr; i++) {
		int got = wants(f, pids[i], err);

		if (got > 0 && i)
			s->root = s->options->pid;
		if (got > 0)
			s->pid = pids[i];
		if (got)
			return got;
	}
	return 0;
}

static int wait_for(struct session *s, struct find *f, struct error *err)
{
	const struct timespec t = { .tv_nsec = LOOK_NS };
	int got = look(s, f, err);

	if (!got && s->options->for_ns)
		say_waiting(&f->miss, STR("the process"));
	while (!got && s->options->for_ns && !is_over(f) && kin_started(s->options->pid)) {
		nanosleep(&t, NULL);
		got = look(s, f, err);
	}
	return got;
}

static int missing(const struct session *s, const struct find *f, struct error *err)
{
	if (f->nr < 2)
		return error_set(err, f->miss.code ? f->miss.code : ENOENT, "%s", f->miss.msg);
	return error_set(err, ENOENT, "none of %zu programs has it, '%s' being the first: %s",
			 f->nr, s->options->command ? s->options->command[0] : "this process",
			 f->miss.msg);
}

int session_find_programs(struct session *s, struct error *err)
{
	struct find f = { .s = s };
	int got;

	s->began = time_tick();
	got = s->options->command ? start(s, &f, err) : wait_for(s, &f, err);
	if (got == 0)
		got = missing(s, &f, err);
	if (got > 0 && s->root)
		say_error("watched is process %d, %.*s", s->pid, STR_ARG(name_of(s)));
	map_done(&f.seen);
	return got < 0 ? got : 0;
}

bool session_command_has_ended(struct session *s)
{
	/* what it has started may live on, and is what it is all about */
	return watched_has_ended(&s->watched) && !s->root;
}

void session_end_command(struct session *s)
{
	if (s->root && s->options->command && s->pid && kin_started(s->pid)) {
		if (watched_has_ended(&s->watched))
			say_error("process %d, which '%s' has started, goes on", s->pid,
				  s->options->command[0]);
		else
			kill(s->pid, SIGTERM);
	}
	watched_end(&s->watched);
}
