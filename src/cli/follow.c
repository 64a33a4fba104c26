/*
 * All that is there is analysed anew each time, since the requests of a run depend on all of it: a
 * line read now may belong to a request of an hour ago. What that costs decides how often: reading
 * takes a third of the time at the most, whatever --every says. In between, only names and sizes
 * are looked at.
 *
 * A run is written beside the old one and takes its place when it is whole, so that questions can
 * be put to it at any moment, and nothing that goes wrong here takes it away.
 */
#include "cli/follow.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "base/time.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/models.h"
#include "cli/observe.h"
#include "cli/say.h"
#include "model/sink.h"
#include "source/follow.h"
#include "source/follow_watch.h"
#include "store/store.h"

#define EVERY_NS (5 * NS_S)
#define SHORTEST_NS (100 * NS_MS)
#define STEP_NS (500 * NS_MS)  /* how long a signal may wait */
#define SETTLE_NS (20 * NS_MS) /* renaming is rarely done alone */
#define LAG_NS (30 * NS_S)     /* worth a word */
#define OPEN_MAX 8192
#define KEPT_BYTES ((uint64_t)1 << 30)
#define TRIES_MAX 5 /* in a row, when files are replaced while they are read */

static volatile sig_atomic_t is_told_to_stop;

static void stop(int signal)
{
	(void)signal;
	is_told_to_stop = 1;
}

static void catch_signals(void)
{
	struct sigaction act = { .sa_handler = stop };

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
}

struct following {
	const struct call *call;
	const char *path;
	struct follow *files;
	struct follow_watch *watch;
	int64_t every_ns, end; /* end: when to stop by itself */
	bool is_terminal, is_shown, is_last;

	/* the run that stands at path */
	bool has_run, is_behind; /* is_behind: there is something that it does not hold */
	bool has_more;           /* a line that was not whole was left out of it */
	int64_t seen_at;         /* when the files were as it holds them */
	int64_t due;             /* not to be made anew before */
	uint64_t nr_lines, nr_requests, bytes;

	/* the one that is being made */
	bool has_begun;
	size_t nr_taken, nr_read;
	char said[512]; /* last, so that it is said once */
	int64_t lag_said;
};

static void wipe(struct following *f)
{
	if (f->is_shown)
		fputs("\r\033[K", stderr);
	f->is_shown = false;
}

static void say_once(struct following *f, const char *what, const char *then)
{
	if (!strcmp(f->said, what))
		return;
	wipe(f);
	say_error("%s (%s)", what, then);
	snprintf(f->said, sizeof(f->said), "%s", what);
}

static const char *name_of(void *to, size_t nr)
{
	return follow_name(((struct following *)to)->files, nr);
}

/* What is wrong with one file now may be well the next time: the others count. */
static int read_one(void *to, size_t nr, const struct source_options *o, struct sink *sink,
		    struct error *err)
{
	struct following *f = to;
	struct follow_state state;
	int got = follow_read(f->files, nr, o, sink, err);

	f->has_begun = true;
	f->nr_read += got > 0;
	follow_state(f->files, &state);
	if (nr + 1 == f->nr_taken)
		sink->losses->count[LOSS_LOGS_GONE] += state.nr_lost;
	if (got != -EIO && got != -EACCES)
		return got;
	say_once(f, err->msg, "left out for now");
	sink->losses->count[LOSS_FILES_UNREADABLE]++;
	return 0;
}

static void watch_directory(void *to, const char *path)
{
	follow_watch_add(to, path);
}

static void look(struct following *f)
{
	struct error trouble;

	f->is_behind |= follow_look(f->files, time_tick(), &trouble);
	if (trouble.code && !f->is_last)
		say_once(f, trouble.msg, "waiting for it");
	follow_each_directory(f->files, watch_directory, f->watch);
}

/* Reads everything that is whole now into a run. */
static int analyse(struct following *f, struct store **s, struct error *err)
{
	int64_t seen_at = time_tick();
	struct observed_files files = { .to = f, .name = name_of, .read = read_one };
	struct follow_state state;
	bool has_more;
	int got;

	f->nr_taken = files.nr = follow_take(f->files, seen_at, f->is_last, &has_more);
	f->nr_read = 0;
	f->has_begun = false;
	if (!files.nr)
		return error_set(err, ENODATA, "there is nothing to read yet");
	follow_state(f->files, &state);
	files.bytes = state.bytes;
	got = observe_files(f->call, &files, f->path, s, err);
	if (got < 0)
		return got;
	f->has_run = true;
	f->is_behind = false;
	f->has_more = has_more;
	f->seen_at = seen_at;
	f->bytes = state.bytes;
	return 0;
}

static void note_run(struct following *f, struct store *s)
{
	struct store_totals t;
	struct error err;

	if (store_totals(s, &t, &err) < 0)
		return;
	f->nr_lines = t.nr_log_lines;
	f->nr_requests = t.nr_requests;
}

/* Files that are replaced while they are read are looked at again. */
static int analyse_again(struct following *f, struct store **s, struct error *err)
{
	int got = -ESTALE;

	for (int i = 0; i < TRIES_MAX && got == -ESTALE; i++) {
		if (i)
			look(f);
		got = analyse(f, s, err);
	}
	return got;
}

static bool may_pass(const struct following *f, int got)
{
	return f->has_run || f->has_begun || got == -ENODATA || got == -ENOSPC || got == -EDQUOT;
}

static void say_lag(struct following *f, int64_t took)
{
	int64_t lag = time_tick() - f->seen_at + 2 * took;
	char text[128];

	if (lag < LAG_NS || lag < 4 * f->every_ns || lag < 2 * f->lag_said || f->is_terminal)
		return;
	f->lag_said = lag;
	snprintf(text, sizeof(text), "the run is up to %.0f s behind: making it takes %.1f s",
		 (double)lag / 1e9, (double)took / 1e9);
	say_error("%s", text);
}

/* One time of many: what fails is tried again later, with the run that there is left alone. */
static int refresh(struct following *f, struct error *err)
{
	int64_t began = time_tick(), took;
	struct store *s = NULL;
	int got;

	wipe(f);
	got = analyse_again(f, &s, err);
	took = time_tick() - began;
	if (got >= 0)
		note_run(f, s);
	if (s)
		store_close(s);
	is_told_to_stop |= observe_was_interrupted();
	catch_signals();
	f->due = began + took + (2 * took > f->every_ns ? 2 * took : f->every_ns);
	if (got >= 0) {
		f->said[0] = 0;
		say_lag(f, took);
	} else if (got != -EINTR && got != -ESTALE && got != -ENODATA) {
		if (!may_pass(f, got))
			return got;
		say_once(f, err->msg, f->has_run ? "the run stays as it is" : "tried again later");
	}
	return 0;
}

static void draw(struct following *f)
{
	struct follow_state state;

	if (!f->is_terminal)
		return;
	follow_state(f->files, &state);
	fprintf(stderr, "\r\033[Kfollowing  %zu %s  %llu lines  %llu requests", state.nr_files,
		state.nr_files == 1 ? "file" : "files", (unsigned long long)f->nr_lines,
		(unsigned long long)f->nr_requests);
	if (f->has_run && f->is_behind) {
		fprintf(stderr, "  %.0f s behind", (double)(time_tick() - f->seen_at) / 1e9);
		if (state.bytes > f->bytes)
			fprintf(stderr, ", %.1f MB", (double)(state.bytes - f->bytes) / 1e6);
	}
	fprintf(stderr, "  (Ctrl-C ends it)");
	fflush(stderr);
	f->is_shown = true;
}

/* Until it is time to look again: names are looked at as soon as one changes. */
static void wait_a_while(struct following *f)
{
	int64_t until = time_tick() + f->every_ns;

	if (f->is_behind && f->due < until)
		until = f->due;
	if (f->end < until)
		until = f->end;
	while (!is_told_to_stop) {
		int64_t left = until - time_tick();

		draw(f);
		if (left <= 0)
			return;
		if (follow_watch_wait(f->watch, left < STEP_NS ? left : STEP_NS)) {
			follow_watch_wait(f->watch, SETTLE_NS);
			return;
		}
	}
}

static int go_on(struct following *f, struct error *err)
{
	int got = 0;

	while (!is_told_to_stop && got >= 0 && time_tick() < f->end) {
		look(f);
		/* a last line without an end counts once it has rested */
		if (f->has_more && time_tick() >= f->seen_at + 2 * f->every_ns)
			f->is_behind = true;
		if (f->is_behind && time_tick() >= f->due)
			got = refresh(f, err);
		if (got >= 0)
			wait_a_while(f);
	}
	return got;
}

/* The run as it will stay. Nothing new since it was made: it is as it is. */
static int finish(struct following *f, struct store **s, struct error *err)
{
	int got;

	wipe(f);
	f->is_last = true;
	look(f);
	if (f->has_run && !f->is_behind && !f->has_more)
		return store_open(s, f->path, err);
	got = analyse_again(f, s, err);
	if (got == -ENODATA && !f->nr_taken)
		return error_set(err, ENODATA, "there was nothing to read");
	if (got < 0 && f->has_run)
		error_prefix(err, "the run '%s' lacks what came last", f->path);
	return got;
}

static int time_option(const struct call *call, const char *name, int64_t *ns, struct error *err)
{
	const char *text = call_get(call, name);

	if (text && (!time_parse_span(str_of(text), ns) || *ns < SHORTEST_NS))
		return error_set(err, EINVAL,
				 "--%s '%s' is no time of 100ms or more; write it like 5s or 1min",
				 name, text);
	return 0;
}

static int check(const struct call *call, struct error *err)
{
	for (size_t i = 0; i < call->nr_inputs; i++)
		if (!strcmp(call->inputs[i], "-"))
			return error_set(err, EINVAL,
					 "standard input cannot be followed: name files or "
					 "directories");
	if (call_has(call, "no-run"))
		return error_set(err, EINVAL, "--follow keeps a run up to date: without --no-run");
	return observe_refuse_runs(call->inputs, call->nr_inputs, err);
}

/* Files are kept open, and the system lets programs have more than they begin with. */
static unsigned raise_open_files(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r))
		return 64;
	r.rlim_cur = r.rlim_max < 2 * OPEN_MAX ? r.rlim_max : 2 * OPEN_MAX;
	if (setrlimit(RLIMIT_NOFILE, &r) && getrlimit(RLIMIT_NOFILE, &r))
		return 64;
	return (unsigned)(r.rlim_cur / 2);
}

static int follow_logs(struct following *f, struct follow_options *o, struct store **s,
		       struct error *err)
{
	int got;

	o->rest_ns = 2 * f->every_ns;
	o->open_max = raise_open_files();
	f->is_terminal = isatty(STDERR_FILENO);
	f->files = follow_new(o);
	f->watch = follow_watch_new();
	catch_signals();
	got = go_on(f, err);
	if (got >= 0)
		got = finish(f, s, err);
	follow_watch_free(f->watch);
	follow_free(f->files);
	return got;
}

int follow_until_told(const struct call *call, const char *path, struct store **s,
		      struct error *err)
{
	struct following f = { .call = call, .path = path, .every_ns = EVERY_NS };
	struct follow_options o = { .output = path, .kept_bytes = KEPT_BYTES };
	VEC(char *) logs = { 0 }; /* programs say what lines mean, and hold none themselves */
	int64_t for_ns = INT64_MAX;
	int got = check(call, err);

	if (got >= 0)
		got = time_option(call, "every", &f.every_ns, err);
	if (got >= 0)
		got = time_option(call, "for", &for_ns, err);
	f.end = time_tick();
	f.end = for_ns > INT64_MAX - f.end ? INT64_MAX : f.end + for_ns;
	for (size_t i = 0; i < call->nr_inputs && got >= 0; i++)
		if (!models_is_program(call->inputs[i]))
			vec_push(&logs, call->inputs[i]);
	if (got >= 0 && !logs.nr)
		got = error_set(err, EINVAL, "'%s' is a program: name the logs to follow as well",
				call->inputs[0]);
	o.args = logs.v;
	o.nr_args = logs.nr;
	if (got >= 0)
		got = follow_logs(&f, &o, s, err);
	vec_done(&logs);
	return got;
}
