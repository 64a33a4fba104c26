#include "web/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/vec.h"

#define SELF "/proc/self/exe"
#define ANSWER_BYTES ((size_t)16 << 20)
#define YIELDING 10 /* as nice does */
#define PIECE ((size_t)64 << 10)
#define LOOK_MS 100         /* how often it is looked whether anybody still waits */
#define STAY_NS (10 * NS_S) /* who left may come back so long, if nobody else waits */

extern char **environ;

struct apart {
	pthread_mutex_t turn, lock; /* one asks at a time; of what follows */
	pid_t child;
	bool is_stopped;
	VEC(uint64_t) waiting; /* what those who wait for their turn ask for */
};

struct apart *apart_new(void)
{
	struct apart *a = mem_zalloc(sizeof(*a));

	pthread_mutex_init(&a->turn, NULL);
	pthread_mutex_init(&a->lock, NULL);
	return a;
}

void apart_free(struct apart *a)
{
	if (!a)
		return;
	pthread_mutex_destroy(&a->turn);
	pthread_mutex_destroy(&a->lock);
	vec_done(&a->waiting);
	free(a);
}

void apart_stop(struct apart *a)
{
	pthread_mutex_lock(&a->lock);
	a->is_stopped = true;
	if (a->child)
		kill(a->child, SIGKILL);
	pthread_mutex_unlock(&a->lock);
}

/* Who asks ahead keeps nobody from anything. */
void apart_lock(struct apart *a, const struct apart_asker *who)
{
	uint64_t key = str_hash(who->key);
	size_t at = 0;

	pthread_mutex_lock(&a->lock);
	if (!who->is_ahead)
		vec_push(&a->waiting, key);
	pthread_mutex_unlock(&a->lock);
	pthread_mutex_lock(&a->turn);
	pthread_mutex_lock(&a->lock);
	while (!who->is_ahead && a->waiting.v[at] != key)
		at++;
	if (!who->is_ahead)
		a->waiting.v[at] = a->waiting.v[--a->waiting.nr];
	pthread_mutex_unlock(&a->lock);
}

void apart_unlock(struct apart *a)
{
	pthread_mutex_unlock(&a->turn);
}

/* The server blocks the signals that end it: the child must not. */
static int spawn(struct apart *a, char *const *args, const int *out, const int *said,
		 struct error *err)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t none;
	int failed = ECANCELED;

	sigemptyset(&none);
	posix_spawnattr_init(&how);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", 0, 0);
	posix_spawn_file_actions_adddup2(&files, out[1], 1);
	posix_spawn_file_actions_adddup2(&files, said[1], 2);
	pthread_mutex_lock(&a->lock);
	if (!a->is_stopped)
		failed = posix_spawn(&a->child, SELF, &files, &how, args, environ);
	if (failed)
		a->child = 0;
	pthread_mutex_unlock(&a->lock);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	return failed ? error_set(err, failed, "cannot ask: %s", strerror(failed)) : 0;
}

/* Whether it is of no use to go on. *left is since when the asker is gone. */
static bool is_in_vain(struct apart *a, const struct apart_asker *who, int64_t *left)
{
	bool is_wanted = false, is_waited;

	if (!who->is_ahead && (!who->is_over || !who->is_over(who->over_to))) {
		*left = 0;
		return false;
	}
	pthread_mutex_lock(&a->lock);
	is_waited = a->waiting.nr;
	vec_each (&a->waiting, key)
		is_wanted |= *key == str_hash(who->key);
	pthread_mutex_unlock(&a->lock);
	if (is_wanted || who->is_ahead)
		return is_waited && !is_wanted;
	if (!*left)
		*left = time_tick();
	return is_waited || time_tick() - *left > STAY_NS;
}

/* False once nobody wants what comes. */
static bool wait_to_read(struct apart *a, const struct apart_asker *who, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int64_t left = 0;

	while (poll(&p, 1, LOOK_MS) <= 0)
		if (is_in_vain(a, who, &left))
			return false;
	return true;
}

static bool take_some(int fd, struct buf *to, size_t most)
{
	char spare[4096];
	bool is_full = to->n > most;
	char *p = is_full ? spare : buf_room(to, PIECE);
	ssize_t n = read(fd, p, is_full ? sizeof(spare) : PIECE);

	to->n += n > 0 && !is_full ? (size_t)n : 0;
	return n > 0 || (n < 0 && errno == EINTR);
}

/* To the end, so that the writer never waits; what is too much is dropped and refused later. False
 * where it was ended. */
static bool drain(struct apart *a, const struct apart_asker *who, int fd, struct buf *to,
		  size_t most)
{
	bool is_ended = false;

	do {
		if (is_ended || wait_to_read(a, who, fd))
			continue;
		is_ended = true;
		kill(a->child, SIGKILL);
	} while (take_some(fd, to, most));
	return !is_ended;
}

static int wait_for(struct apart *a, struct buf *said, struct error *err)
{
	siginfo_t info = { 0 };
	pid_t child = a->child;
	int status = 0;

	/* it keeps its number until it is forgotten: nobody else is killed in its stead */
	while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	pthread_mutex_lock(&a->lock);
	a->child = 0;
	waitpid(child, &status, 0);
	pthread_mutex_unlock(&a->lock);
	if (WIFEXITED(status) && WEXITSTATUS(status) <= 1)
		return WEXITSTATUS(status);
	return error_set(err, EIO, "it could not be answered: " STR_FMT,
			 STR_ARG(str_head(str_trim(buf_str(said)), 300)));
}

static void shut(int *ends)
{
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
}

static int hear(struct apart *a, const struct apart_asker *who, const int *out, const int *said,
		struct buf *answer, struct error *err)
{
	struct buf complaint = { 0 };
	bool is_whole = drain(a, who, out[0], answer, ANSWER_BYTES);
	int r;

	/* a sentence, which fits into a pipe */
	while (take_some(said[0], &complaint, PIECE))
		;
	r = wait_for(a, &complaint, err);
	buf_done(&complaint);
	return is_whole ? r : error_set(err, ECANCELED, "nobody waits for the answer any more");
}

int apart_ask(struct apart *a, char *const *args, const struct apart_asker *who, struct buf *answer,
	      struct error *err)
{
	int out[2] = { -1, -1 }, said[2] = { -1, -1 };
	size_t before = answer->n;
	int r = 0;

	if (pipe2(out, O_CLOEXEC) || pipe2(said, O_CLOEXEC))
		r = error_set(err, errno, "cannot ask: %s", strerror(errno));
	if (!r)
		r = spawn(a, args, out, said, err);
	if (!r) {
		if (who->is_ahead)
			setpriority(PRIO_PROCESS, (id_t)a->child, YIELDING);
		close(out[1]);
		close(said[1]);
		out[1] = said[1] = -1;
		r = hear(a, who, out, said, answer, err);
	}
	if (r < 0)
		answer->n = before;
	shut(out);
	shut(said);
	return r;
}
