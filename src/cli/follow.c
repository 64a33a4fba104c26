/*
 * What was read stays: logs are read on from where they were left, and what is over in them is
 * inferred once. That is kept in a run that is not finished. To have one that is, a child, which
 * has a copy of all that we know, reads what is not over yet (the last event of each log, small
 * logs, what is no log), infers the rest and finishes a copy of the run:
 *
 *	we      keep what is new | . . . . . . . . . | keep what is new | ...
 *	child                    | the rest, the run |
 *
 * So all that goes wrong in it costs nothing but this time. What goes wrong while we keep makes us
 * begin anew, from the first byte. What it all costs decides how often: it takes a third of the
 * time at the most, whatever --every says. In between, only names and sizes are looked at.
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
#include "cli/branch.h"
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
	struct observation *kept; /* NULL: everything is read from its beginning */
	bool has_begun;
	int64_t taken_at;
	size_t nr_taken;
	bool is_unsaid; /* what goes wrong is told by the parent */
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
	if (!strcmp(f->said, what) || f->is_unsaid)
		return;
	wipe(f);
	say_error("%s (%s)", what, then);
	snprintf(f->said, sizeof(f->said), "%s", what);
}

static const char *name_of(void *to, size_t nr)
{
	return follow_name(((struct following *)to)->files, nr);
}

/* Once and for all. */
static int keep_one(void *to, size_t nr, const struct source_options *o, struct sink *sink,
		    struct error *err)
{
	struct following *f = to;

	return follow_read_on(f->files, nr, f->taken_at, o, sink, err);
}

/* What a child leaves to its parent. */
struct told {
	char said[512]; /* about a file that was left out */
	uint64_t nr_lines, nr_requests;
};

struct telling {
	struct following *f;
	struct told *told;
};

/* The rest. What is wrong with one file now may be well the next time: the others count. */
static int read_one(void *to, size_t nr, const struct source_options *o, struct sink *sink,
		    struct error *err)
{
	struct telling *t = to;
	struct following *f = t->f;
	struct follow_state state;
	int got = follow_read(f->files, nr, o, sink, err);

	follow_state(f->files, &state);
	if (nr + 1 == f->nr_taken)
		sink->losses->count[LOSS_LOGS_GONE] += state.nr_lost;
	if (got != -EIO && got != -EACCES)
		return got;
	snprintf(t->told->said, sizeof(t->told->said), "%s", err->msg);
	sink->losses->count[LOSS_FILES_UNREADABLE]++;
	return 0;
}

static const char *name_to_tell(void *to, size_t nr)
{
	return name_of(((struct telling *)to)->f, nr);
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

/* What was kept may be wrong: everything is read from its beginning the next time. */
static void begin_anew(struct following *f)
{
	observation_free(f->kept);
	f->kept = NULL;
	follow_forget(f->files);
}

static void note_run(struct store *s, struct told *told)
{
	struct store_totals t;
	struct error err;

	if (store_totals(s, &t, &err) < 0)
		return;
	told->nr_lines = t.nr_log_lines;
	told->nr_requests = t.nr_requests;
}

static int tell(struct following *f, struct told *told, struct store **s, struct error *err)
{
	struct telling t = { f, told };
	struct observed_files files = {
		.to = &t, .nr = f->nr_taken, .name = name_to_tell, .read = read_one
	};
	int got = observation_tell(f->kept, &files, !f->is_last, s, err);

	if (got >= 0)
		note_run(*s, told);
	return got;
}

static int tell_in_child(void *to, void *out, struct error *err)
{
	struct following *f = to;
	struct store *s = NULL;

	f->is_unsaid = true;
	return tell(f, out, &s, err);
}

static int keep(struct following *f, uint64_t bytes, struct error *err)
{
	const struct observed_files files = { .to = f,
					      .nr = f->nr_taken,
					      .bytes = bytes,
					      .name = name_of,
					      .read = keep_one,
					      .is_strict = true };
	int got = f->kept ? 0 : observation_begin(&f->kept, f->call, f->path, err);

	if (got < 0)
		return got;
	f->has_begun = true;
	got = observation_keep(f->kept, &files, err);
	return got < 0 ? got : observation_pause(f->kept, err);
}

/* Everything that is whole now becomes a run, which is in *s if it is the last one. */
static int analyse(struct following *f, struct store **s, struct error *err)
{
	struct follow_state state;
	struct told told = { 0 };
	bool has_more;
	int got;

	f->taken_at = time_tick();
	f->nr_taken = follow_take(f->files, f->taken_at, f->is_last, &has_more);
	if (!f->nr_taken)
		return error_set(err, ENODATA, "there is nothing to read yet");
	follow_state(f->files, &state);
	got = keep(f, state.bytes - f->bytes, err);
	if (got < 0) {
		begin_anew(f);
		return got;
	}
	got = f->is_last ? tell(f, &told, s, err)
			 : branch_run(tell_in_child, f, &told, sizeof(told), err);
	if (f->is_last || got == -ESTALE)
		begin_anew(f);
	if (told.said[0])
		say_once(f, told.said, "left out for now");
	if (got < 0)
		return got;
	if (!told.said[0])
		f->said[0] = 0;
	f->has_run = true;
	f->is_behind = false;
	f->has_more = has_more;
	f->seen_at = f->taken_at;
	f->bytes = state.bytes;
	f->nr_lines = told.nr_lines;
	f->nr_requests = told.nr_requests;
	return 0;
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
	is_told_to_stop |= observe_was_interrupted();
	catch_signals();
	f->due = began + took + (2 * took > f->every_ns ? 2 * took : f->every_ns);
	if (got >= 0) {
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
	begin_anew(f);
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
