/* culprit serve: the page on this machine, over runs that are there or are being made. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/time.h"
#include "cli/address.h"
#include "cli/command.h"
#include "cli/live_feed.h"
#include "cli/observe.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cli/storing.h"
#include "cli/tracepoint_files.h"
#include "store/store.h"
#include "web/runs.h"
#include "web/web.h"

#define PORT 7272
#define TOKEN_BYTES 16
#define PEM_BYTES_MAX (1 << 20)
#define PATIENCE_NS (500 * NS_MS)

/* What is being made while the page is open already. */
struct making {
	const struct call *call;
	struct runs *runs;
	char **inputs;
	size_t nr_inputs;
	unsigned run;
	char *folder, *path; /* where the run is written, gone in the end */
	pthread_t thread;
	bool is_started;
	atomic_bool is_leaving; /* what fails from now on is nobody's business */
};

static void tell_progress(void *to, const char *what, double share)
{
	struct making *m = to;

	runs_progress(m->runs, m->run, what, share);
}

static void *make_run(void *to)
{
	struct making *m = to;
	struct store *s = NULL;
	struct error err = { 0 };

	int r = observe(m->call, m->inputs, m->nr_inputs, m->path, &s, &err);

	if (r < 0)
		runs_failed(m->runs, m->run, err.msg);
	else
		runs_ready(m->runs, m->run, m->path);
	if (r < 0 && !m->is_leaving)
		say_error("%s", err.msg);
	if (s)
		store_close(s);
	return NULL;
}

/* A folder of its own: what is half written beside the run goes with it. */
static int make_folder(struct making *m, struct error *err)
{
	const char *tmp = getenv("TMPDIR");
	struct buf b = { 0 };

	if (!tmp || !*tmp)
		tmp = "/tmp";
	buf_fmt(&b, "%s/culprit-serve-XXXXXX", tmp);
	buf_char(&b, '\0');
	m->folder = b.p;
	if (!mkdtemp(m->folder)) {
		m->folder[0] = '\0';
		return error_set(err, errno, "cannot write to '%s': %s", tmp, strerror(errno));
	}
	b = (struct buf){ 0 };
	buf_fmt(&b, "%s/run.culprit", m->folder);
	buf_char(&b, '\0');
	m->path = b.p;
	return 0;
}

static void remove_folder(const char *path)
{
	DIR *d = opendir(path);

	for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(path);
}

static int start_making(struct making *m, struct error *err)
{
	struct buf shown = { 0 };
	int r = make_folder(m, err);

	if (r < 0)
		return r;
	buf_fmt(&shown, "%s", strcmp(m->inputs[0], "-") ? m->inputs[0] : "standard input");
	if (m->nr_inputs > 1)
		buf_fmt(&shown, " and %zu more", m->nr_inputs - 1);
	buf_char(&shown, '\0');
	m->run = runs_add_pending(m->runs, shown.p);
	buf_done(&shown);
	runs_progress(m->runs, m->run, "reading", -1);
	progress_watch(tell_progress, m);
	if (pthread_create(&m->thread, NULL, make_run, m))
		return error_set(err, EAGAIN, "cannot start a thread");
	m->is_started = true;
	return 0;
}

static void *leave(void *to)
{
	(void)to;
	nanosleep(&(struct timespec){ .tv_nsec = PATIENCE_NS }, NULL);
	_exit(EXIT_ANSWERED);
	return NULL;
}

/* Whoever ends the program does not wait for an inference or an answer that takes its time: what
 * would be left behind is removed first, and then there is little patience with the rest. */
static void begin_leaving(struct making *m)
{
	pthread_t last;

	m->is_leaving = true;
	observe_interrupt();
	if (m->folder && m->folder[0])
		remove_folder(m->folder);
	if (!pthread_create(&last, NULL, leave, NULL))
		pthread_detach(last);
}

static void end_making(struct making *m)
{
	if (m->is_started) {
		m->is_leaving = true;
		observe_interrupt();
		pthread_join(m->thread, NULL);
		progress_watch(NULL, NULL);
	}
	if (m->folder && m->folder[0])
		remove_folder(m->folder);
	free(m->folder);
	free(m->path);
	free(m->inputs);
}

/* --- options ------------------------------------------------------------------------------- */

/* The library only says that it failed; what people get wrong is told here. */
static int check_pem(const char *path, const char *text, const char *what, struct error *err)
{
	const char *block = strstr(text, "-----BEGIN ");

	if (strstr(text, "BEGIN ENCRYPTED PRIVATE KEY") || strstr(text, "Proc-Type: 4,ENCRYPTED"))
		return error_set(
			err, EINVAL,
			"the key in '%s' is locked by a password: give one without (openssl "
			"pkey -in '%s' -out FILE)",
			path, path);
	for (; block; block = strstr(block + 1, "-----BEGIN ")) {
		const char *end = strchr(block, '\n'), *word = strstr(block, what);

		if (end && word && word < end)
			return strstr(end, "-----END ")
				       ? 0
				       : error_set(err, EINVAL,
						   "'%s' is cut off: it does not end with "
						   "-----END %s-----",
						   path, what);
	}
	return error_set(err, EINVAL, "'%s' holds no %s in PEM (-----BEGIN %s-----)", path, what,
			 what);
}

static int read_pem(const struct call *call, const char *option, const char *what, struct buf *to,
		    struct error *err)
{
	const char *path = call_get(call, option);
	cleanup(fclose) FILE *f = NULL;

	if (!path)
		return 0;
	f = fopen(path, "re");
	if (!f)
		return error_set(err, errno, "cannot read '%s': %s", path, strerror(errno));
	to->n += fread(buf_room(to, PEM_BYTES_MAX), 1, PEM_BYTES_MAX - 1, f);
	if (ferror(f))
		return error_set(err, errno, "cannot read '%s': %s", path, strerror(errno));
	buf_char(to, '\0');
	return check_pem(path, to->p, what, err);
}

static int make_token(char *token, size_t room, struct error *err)
{
	unsigned char raw[TOKEN_BYTES];

	if (getrandom(raw, sizeof(raw), 0) != (ssize_t)sizeof(raw))
		return error_set(err, EIO, "the system gives no random numbers");
	for (size_t i = 0; i < sizeof(raw) && 2 * i + 3 <= room; i++)
		snprintf(token + 2 * i, 3, "%02x", raw[i]);
	return 0;
}

struct serving {
	char host[256], token[2 * TOKEN_BYTES + 1];
	struct buf cert, key;
	struct web_options web;
	int64_t for_ns; /* 0: until a signal */
	struct tracepoint_files points;
	struct live_feed *feed; /* of a hub; NULL: none */
};

static int take_options(const struct call *call, struct serving *s, struct error *err)
{
	const char *listen = call_get(call, "listen"), *token = call_get(call, "token");
	int r = 0;

	s->web = (struct web_options){ .port = PORT, .version = CULPRIT_VERSION };
	if (listen)
		r = address_take("listen", listen, s->host, sizeof(s->host), &s->web.port, err);
	if (r >= 0)
		r = read_pem(call, "tls-cert", "CERTIFICATE", &s->cert, err);
	if (r >= 0)
		r = read_pem(call, "tls-key", "PRIVATE KEY", &s->key, err);
	if (r >= 0 && call_has(call, "for") &&
	    !time_parse_span(str_of(call_get(call, "for")), &s->for_ns))
		r = error_set(err, EINVAL, "--for takes a time, as 10min, not '%s'",
			      call_get(call, "for"));
	if (r >= 0 && !token && s->cert.n)
		r = make_token(s->token, sizeof(s->token), err);
	if (r < 0)
		return r;
	s->web.host = s->host[0] ? s->host : NULL;
	s->web.cert = s->cert.n ? s->cert.p : NULL;
	s->web.key = s->key.n ? s->key.p : NULL;
	s->web.token = token ? token : s->token[0] ? s->token : NULL;
	return 0;
}

/* --- serving ------------------------------------------------------------------------------- */

/* Runs are opened once to see that they can be. */
static int add_run(struct runs *runs, const char *path, struct error *err)
{
	struct store *s = NULL;
	struct buf shown = { 0 };
	uint64_t generation = 0;
	unsigned run = runs_add(runs, path, storing_shown(path, &shown));
	int r = runs_take(runs, run, &s, &generation, err);

	if (r >= 0)
		runs_give(runs, run, generation, s);
	buf_done(&shown);
	return r;
}

/* A name that was mistyped is better told now than on the page. */
static bool is_missing(const char *input)
{
	return strcmp(input, "-") && !strpbrk(input, "*?[{") && access(input, F_OK);
}

static int add_inputs(const struct call *call, struct runs *runs, struct making *m,
		      struct error *err)
{
	int r = 0;

	*m = (struct making){ .call = call, .runs = runs };
	m->inputs = mem_zalloc(mem_bytes(call->nr_inputs + 1, sizeof(*m->inputs)));
	for (size_t i = 0; i < call->nr_inputs && r >= 0; i++) {
		if (observe_is_run(call->inputs[i]))
			r = add_run(runs, call->inputs[i], err);
		else if (is_missing(call->inputs[i]))
			r = error_set(err, errno, "cannot read '%s': %s", call->inputs[i],
				      strerror(errno));
		else
			m->inputs[m->nr_inputs++] = call->inputs[i];
	}
	if (!call->nr_inputs && !access("run.culprit", R_OK))
		r = add_run(runs, "run.culprit", err);
	return r >= 0 && m->nr_inputs ? start_making(m, err) : r;
}

static void say_address(const struct serving *s, const struct web *w)
{
	const char *host = s->web.host ? s->web.host : "localhost";
	bool is_v6 = strchr(host, ':') != NULL;
	char own[256];

	/* everywhere is no place to go to */
	if ((!strcmp(host, "0.0.0.0") || !strcmp(host, "::")) && !gethostname(own, sizeof(own))) {
		own[sizeof(own) - 1] = '\0';
		host = own;
		is_v6 = false;
	}

	printf("%s://%s%s%s:%u/%s%s\n", s->web.cert ? "https" : "http", is_v6 ? "[" : "", host,
	       is_v6 ? "]" : "", web_port(w), s->web.token ? "?token=" : "",
	       s->web.token ? s->web.token : "");
	fflush(stdout);
	fprintf(stderr, "open it in a browser; Ctrl-C ends it\n");
}

static void wait_for_end(const sigset_t *ends, int64_t ns)
{
	const struct timespec most = { .tv_sec = ns / NS_S, .tv_nsec = ns % NS_S };
	int signal;

	if (ns)
		sigtimedwait(ends, NULL, &most);
	else
		sigwait(ends, &signal);
}

/* Where nobody asked for a port, the usual one may be taken: by the page of another run. */
static int start(struct serving *s, bool is_asked, struct runs *runs, struct web **w,
		 struct error *err)
{
	int r = web_start(w, &s->web, runs, err);

	if (r == -EADDRINUSE && !is_asked) {
		s->web.port = 0;
		r = web_start(w, &s->web, runs, err);
	}
	return r;
}

/* Queries on running systems, where a hub was named. */
static int start_feed(const struct call *call, struct serving *s, struct error *err)
{
	struct live_feed_options o = { .endpoint = call_get(call, "hub"),
				       .keys = call_get(call, "keys") };
	int r;

	if (!o.endpoint)
		return 0;
	r = tracepoint_files_list(&s->points, call_get(call, "tracepoints"), err);
	o.known = (struct live_known){ s->points.v.v, s->points.v.nr };
	if (r >= 0)
		r = live_feed_start(&s->feed, &o, err);
	if (r >= 0)
		s->web.live = live_feed_hub(s->feed);
	return r;
}

static void end_serving(struct serving *s)
{
	live_feed_stop(s->feed);
	tracepoint_files_done(&s->points);
	buf_done(&s->cert);
	buf_done(&s->key);
}

int cmd_serve(const struct call *call)
{
	struct serving s = { 0 };
	struct making m = { 0 };
	struct runs *runs = runs_new();
	struct web *w = NULL;
	struct error err = { 0 };
	sigset_t ends;
	int r = take_options(call, &s, &err);

	/* threads inherit it: the signal is for us, who wait for it */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &ends, NULL);
	if (r >= 0)
		r = start_feed(call, &s, &err);
	if (r >= 0)
		r = start(&s, call_has(call, "listen"), runs, &w, &err);
	if (r >= 0)
		r = add_inputs(call, runs, &m, &err);
	if (r >= 0) {
		say_address(&s, w);
		wait_for_end(&ends, s.for_ns);
		begin_leaving(&m);
	}
	web_stop(w);
	end_making(&m);
	runs_free(runs);
	end_serving(&s);
	if (r >= 0)
		return EXIT_ANSWERED;
	say_error("%s", err.msg);
	return EXIT_CANNOT;
}
