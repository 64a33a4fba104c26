/*
 *	driver: plan --> workers: map | combine --> driver: shuffle --> workers: reduce --> driver:
 *merge files, how each           records, a few              lines by         requests begins per
 *cent of the logs        chains
 *
 * The driver keeps the events, so all records come by it; where lines are many they are cut into
 * chains there, by time, and the chains go out again: tying lines into requests is half of the
 * work. What is learned in doing so (which names everybody has, where the threads of a system cut)
 * is learned from all lines of a window, so that is as small as a reducer's share gets.
 */
#include "cli/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/engine_far.h"
#include "cli/engine_merge.h"
#include "cli/engine_plan.h"
#include "cli/engine_reduce.h"
#include "infer/requests/requests.h"
#include "infer/requests/shuffle.h"

enum { REDUCERS_MOST = 1000 };

static const struct engine *const engines[] = { &engine_spark, &engine_hadoop };

void engine_say(struct engine_words *w, const char *word)
{
	vec_push(&w->of, word);
}

const char *engine_below(struct engine_job *j, const char *name)
{
	return arena_z(&j->arena, arena_fmt(&j->arena, "%s/%s", j->folder, name));
}

const char *engine_find(struct engine_job *j, const char *name, const char *const *folders)
{
	struct str rest = str_of(getenv("PATH") ? getenv("PATH") : "");

	for (; *folders; folders++) {
		struct str path = arena_fmt(&j->arena, "%s/%s", *folders, name);

		if (**folders && !access(arena_z(&j->arena, path), X_OK))
			return arena_z(&j->arena, path);
	}
	while (rest.n) {
		struct str one = str_head(rest, str_find_char(rest, ':'));
		char *path =
			arena_z(&j->arena, arena_fmt(&j->arena, STR_FMT "/%s", STR_ARG(one), name));

		rest = str_skip(rest, one.n + 1);
		if (one.n && !access(path, X_OK))
			return path;
	}
	return NULL;
}

size_t engine_path_of(struct str uri)
{
	size_t at = str_find(uri, STR("://"));

	if (at == uri.n)
		return 0;
	return at + 3 + str_find_char(str_skip(uri, at + 3), '/');
}

/* Its output in the file, what it complains of in the log. */
static int start(struct engine_job *j, char *const *words, const char *output, pid_t *pid)
{
	posix_spawn_file_actions_t to;
	int got;

	posix_spawn_file_actions_init(&to);
	posix_spawn_file_actions_addchdir_np(&to, engine_below(j, "work"));
	posix_spawn_file_actions_addopen(&to, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&to, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0600);
	posix_spawn_file_actions_addopen(&to, 2, j->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	got = posix_spawn(pid, words[0], &to, NULL, words, environ);
	posix_spawn_file_actions_destroy(&to);
	return got;
}

static void wake(int signal)
{
	(void)signal;
}

/* A signal to us is one to the engine, whose end is then waited for, so that nothing stays behind.
 */
static int wait_for(pid_t pid, int *status)
{
	const struct sigaction act = { .sa_handler = wake };
	struct sigaction interrupt, terminate;
	bool was_woken = false;
	int got;

	sigaction(SIGINT, &act, &interrupt);
	sigaction(SIGTERM, &act, &terminate);
	while ((got = waitpid(pid, status, 0)) < 0 && errno == EINTR) {
		was_woken = true;
		kill(pid, SIGTERM);
	}
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGTERM, &terminate, NULL);
	return was_woken ? -EINTR : got < 0 ? -errno : 0;
}

int engine_run(struct engine_job *j, const char *const *words, const char *output,
	       struct error *err)
{
	pid_t pid;
	int status, got = start(j, (char *const *)words, output, &pid);

	if (got)
		return error_set(err, got, "cannot start '%s': %s", words[0], strerror(got));
	got = wait_for(pid, &status);
	if (got == -EINTR)
		return error_set(err, EINTR, "interrupted");
	if (got < 0)
		return error_set(err, -got, "lost sight of '%s'", words[0]);
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	if (WIFSIGNALED(status))
		return error_set(err, ECHILD, "'%s' was ended by signal %d", words[0],
				 WTERMSIG(status));
	return error_set(err, ECHILD, "'%s' failed (status %d)", words[0], WEXITSTATUS(status));
}

/* The last line of a log that names what was thrown, or else its last line. */
static void find_reason(FILE *f, char *reason, size_t n)
{
	bool has_thrown = false;
	char line[1000];

	while (fgets(line, sizeof(line), f)) {
		bool is_frame = *line == '\t' || *line == ' ';
		bool is_thrown = strstr(line, "Exception") || strstr(line, "rror:") ||
				 strstr(line, " ERROR ") || strstr(line, "culprit:");

		line[strcspn(line, "\n")] = 0;
		if (*line && !is_frame && (is_thrown || !has_thrown))
			snprintf(reason, n, "%.250s", line);
		has_thrown |= is_thrown && !is_frame;
	}
}

int engine_blame_log(struct engine_job *j, const char *engine, struct error *err)
{
	cleanup(fclose) FILE *f = fopen(j->log, "re");
	char reason[300] = "";

	if (f)
		find_reason(f, reason, sizeof(reason));
	if (!*reason)
		return error_prefix(err, "%s", engine);
	return error_set(err, ECHILD, "%s: %s", engine, reason);
}

static int copy_bytes(int from, int to)
{
	char room[1 << 16];
	ssize_t n;

	while ((n = read(from, room, sizeof(room))) > 0)
		if (write(to, room, (size_t)n) != n)
			return -1;
	return (int)n;
}

/* Engines follow symbolic links and keep the name at their end, so it must be the file itself. */
static int bring(const char *from, const char *to)
{
	cleanup(close_fd) int in = -1, out = -1;
	cleanup(free) char *real = realpath(from, NULL);

	if (real && !link(real, to))
		return 0;
	in = open(from, O_RDONLY | O_CLOEXEC);
	out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	return out < 0 ? -1 : copy_bytes(in, out);
}

/* Names that workers see must not clash: models get names of their own. */
static int add_models(struct engine_job *j, const char *named, struct error *err)
{
	struct str rest = str_of(named ? named : "");

	while (rest.n) {
		struct str one = str_head(rest, str_find_char(rest, ','));
		char name[32];

		rest = str_skip(rest, one.n + 1);
		if (!one.n)
			continue;
		snprintf(name, sizeof(name), "model-%zu", j->models.nr);
		vec_push(&j->models, engine_below(j, name));
		if (bring(arena_z(&j->arena, one), j->models.v[j->models.nr - 1]))
			return error_set(err, errno, "cannot use the model '" STR_FMT "': %s",
					 STR_ARG(one), strerror(errno));
	}
	return 0;
}

static int add_program(struct engine_job *j, struct error *err)
{
	const char *named = getenv("CULPRIT_WORKER");

	if (named && *named) {
		j->program = named;
		return 0;
	}
	j->program = engine_below(j, "culprit");
	if (bring("/proc/self/exe", j->program))
		return error_set(err, errno, "cannot send this program to workers: %s",
				 strerror(errno));
	return 0;
}

bool engine_is_sent(const struct engine_job *j)
{
	const char *named = getenv("CULPRIT_WORKER");

	return !named || strcmp(named, j->program) != 0;
}

static int prepare(struct engine_job *j, const struct call *call, struct error *err)
{
	int got = add_program(j, err);

	if (got >= 0 && mkdir(engine_below(j, "work"), 0700))
		got = error_set(err, errno, "cannot make a folder in '%s'", j->folder);
	if (got >= 0)
		got = add_models(j, call_get(call, "model"), err);
	j->plan_path = engine_below(j, "plan");
	j->records = engine_below(j, "records");
	j->chains = engine_below(j, "chains");
	j->fragments = engine_below(j, "fragments");
	j->log = engine_below(j, "log");
	return got;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	remove(path);
	return 0;
}

static const struct engine *choose(const struct call *call, struct engine_job *j, struct error *err)
{
	struct str on = str_of(call_get(call, "on"));
	struct str name = str_head(on, str_find_char(on, ':'));

	j->where = arena_z(&j->arena, str_skip(on, name.n + 1));
	for (size_t i = 0; i < sizeof(engines) / sizeof(*engines); i++)
		if (str_eq(name, str_of(engines[i]->name)))
			return engines[i];
	error_set(err, EINVAL, "no engine '" STR_FMT "'; there is: spark, hadoop", STR_ARG(name));
	return NULL;
}

static bool has_work(const struct plan *p)
{
	for (size_t i = 0; i < p->files.nr; i++)
		if (*p->files.v[i].uri)
			return true;
	return false;
}

/* As many reducers as there are chains unless that is told. */
static int choose_reducers(struct engine_job *j, const struct call *call, struct error *err)
{
	const char *told = call_get(call, "reducers");
	struct str digits = str_of(told ? told : "0");
	uint64_t nr;

	if (!str_take_uint(&digits, &nr) || digits.n || nr > REDUCERS_MOST || (told && !nr))
		return error_set(err, EINVAL, "--reducers '%s' is no number from 1 to %d", told,
				 REDUCERS_MOST);
	j->nr_reducers = (unsigned)nr;
	return 0;
}

struct reducing {
	struct engine_job *j;
	const struct engine *e;
};

static int reduce(void *to, const struct shuffle *sh, struct merge *m, struct error *err)
{
	struct engine_job *j = ((struct reducing *)to)->j;
	size_t most = sh->nr_chains < REDUCERS_MOST ? sh->nr_chains : REDUCERS_MOST;
	FILE *f = fopen(j->chains, "we");
	int got;

	if (!f)
		return error_set(err, errno, "cannot write '%s': %s", j->chains, strerror(errno));
	got = engine_shuffle(sh, f, err);
	if (fclose(f) && got >= 0)
		got = error_set(err, errno, "cannot write '%s': %s", j->chains, strerror(errno));
	if (!j->nr_reducers || j->nr_reducers > most)
		j->nr_reducers = (unsigned)most;
	if (got >= 0)
		got = ((struct reducing *)to)->e->reduce(j, err);
	return got < 0 ? got : engine_fragments(j->fragments, m, err);
}

static int distribute(const struct call *call, struct engine_job *j, const struct engine *e,
		      const char *path, struct store **s, struct error *err)
{
	char **inputs = arena_array(&j->arena, char *, call->nr_inputs);
	struct reducing reducing = { j, e };
	const struct reducers reducers = { &reducing, reduce, false };
	int got = choose_reducers(j, call, err);

	if (got >= 0)
		got = prepare(j, call, err);
	if (got >= 0)
		got = far_mirror(j, e, call->inputs, call->nr_inputs, inputs, err);
	if (got >= 0)
		got = plan_make(j->plan, call, inputs, call->nr_inputs, err);
	if (got >= 0) {
		far_name(j, call->inputs, call->nr_inputs, j->plan);
		got = plan_write(j->plan, j->plan_path, err);
	}
	if (got >= 0 && has_work(j->plan))
		got = e->run(j, err);
	if (got >= 0)
		got = has_work(j->plan)
			      ? engine_merge(call, j->plan, j->records, &reducers, path, s, err)
			      : engine_merge(call, j->plan, "/dev/null", NULL, path, s, err);
	return got;
}

int engine_observe(const struct call *call, const char *path, struct store **s, struct error *err)
{
	const char *tmp = getenv("TMPDIR");
	char folder[PATH_MAX];
	struct plan plan = { 0 };
	struct engine_job j = { .folder = folder, .plan = &plan };
	const struct engine *e = choose(call, &j, err);
	int got = e ? 0 : -EINVAL;

	snprintf(folder, sizeof(folder), "%s/culprit-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (e && !mkdtemp(folder)) {
		got = error_set(err, errno, "cannot make '%s': %s", folder, strerror(errno));
	} else if (e) {
		got = distribute(call, &j, e, path, s, err);
		nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	}
	vec_done(&j.models);
	arena_done(&j.arena);
	plan_done(&plan);
	return got;
}
