#include "cli/watched.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/time.h"
#include "cli/say.h"

#define END_NS (5 * NS_S)
#define LOOK_NS (10 * NS_MS)

/* Signals as a shell would start it: main ignores SIGPIPE, which would be passed on. */
static int spawn(pid_t *pid, char *const *argv)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t usual;
	int failed;

	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &usual);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	failed = posix_spawnp(pid, argv[0], &files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return failed;
}

int watched_start(struct watched *w, char *const *argv, struct error *err)
{
	pid_t pid;
	int failed = spawn(&pid, argv);

	if (failed)
		return error_set(err, failed, "cannot run '%s': %s", argv[0], strerror(failed));
	*w = (struct watched){ .pid = pid };
	return 0;
}

bool watched_has_ended(struct watched *w)
{
	pid_t got = w->pid ? waitpid(w->pid, &w->status, WNOHANG) : 0;

	/* one that ended while its stacks were looked at has been waited for there */
	if (got > 0 || (got < 0 && errno == ECHILD)) {
		w->pid = 0;
		w->has_ended = true;
	}
	return w->has_ended;
}

static void say_how(const struct watched *w)
{
	if (WIFEXITED(w->status) && WEXITSTATUS(w->status))
		say_error("the command ended with status %d", WEXITSTATUS(w->status));
	else if (WIFSIGNALED(w->status))
		say_error("the command was ended by a signal: %s", strsignal(WTERMSIG(w->status)));
}

void watched_end(struct watched *w)
{
	const struct timespec look = { .tv_nsec = LOOK_NS };
	int64_t began = time_tick();

	if (watched_has_ended(w)) {
		say_how(w);
		return;
	}
	if (!w->pid)
		return;
	kill(w->pid, SIGTERM);
	while (!watched_has_ended(w) && time_tick() - began < END_NS)
		nanosleep(&look, NULL);
	if (w->pid)
		say_error("the command (process %d) goes on, although it was asked to end",
			  (int)w->pid);
}
