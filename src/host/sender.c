/*
 * rsyslogd reads the files of the spool as they grow (imfile) and hands each line on at once, in
 * the same thread, without a queue of its own in between: the spool is the queue. What it had read
 * and was not acknowledged is lost with it when it is killed, and where it stood in the files would
 * be wrong then. So each start reads all files of the spool from their beginnings, and the hub
 * passes over what it has.
 */
#include "host/sender.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/time.h"

#define STATE_PREFIX "imfile-state:"
#define SHORT_NS (5 * NS_S)      /* a life that was too short */
#define PAUSE_MAX_NS (30 * NS_S) /* between two of them */
#define STOP_NS (3 * NS_S)
#define MESSAGE_BYTES "1m"

struct sender {
	struct sender_options o;
	char *work; /* the directory of rsyslogd */
	char *conf, *said;
	pid_t pid; /* 0: not running */
	int64_t began, again_at, pause;
};

static void put_quoted(struct buf *b, const char *name, const char *value)
{
	buf_fmt(b, " %s=\"", name);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			buf_char(b, '\\');
		buf_char(b, *value);
	}
	buf_char(b, '"');
}

static void put_action(const struct sender_options *o, struct buf *b)
{
	buf_fmt(b, "\taction(type=\"%s\"", o->is_plain ? "omfwd" : "omrelp");
	put_quoted(b, "target", o->host);
	put_quoted(b, "port", o->port);
	if (o->is_plain)
		buf_fmt(b, " protocol=\"tcp\" TCP_Framing=\"octet-counted\"");
	else
		buf_fmt(b, " windowSize=\"%d\"", SENDER_WINDOW);
	if (o->cert) {
		buf_fmt(b, " tls=\"on\" tls.authMode=\"certvalid\"");
		put_quoted(b, "tls.caCert", o->ca);
		put_quoted(b, "tls.myCert", o->cert);
		put_quoted(b, "tls.myPrivKey", o->key);
	}
	buf_fmt(b, " template=\"culprit_line\" queue.type=\"Direct\"\n"
		   "\t\taction.resumeRetryCount=\"-1\" action.resumeInterval=\"1\""
		   " action.resumeIntervalMax=\"5\")\n");
}

void sender_conf(const struct sender_options *o, bool is_part, struct buf *b)
{
	struct buf path = { 0 };

	if (!is_part) {
		buf_fmt(&path, "%s/rsyslog%c", o->state, 0);
		buf_fmt(b, "global(maxMessageSize=\"" MESSAGE_BYTES "\"");
		put_quoted(b, "workDirectory", path.p);
		buf_fmt(b, ")\n");
	} else {
		buf_fmt(b, "# in front of all else, once: global(maxMessageSize=\"" MESSAGE_BYTES
			   "\")\n");
	}
	buf_fmt(b, "module(load=\"imfile\" mode=\"inotify\")\n");
	if (!o->is_plain)
		buf_fmt(b, "module(load=\"omrelp\")\n");
	buf_fmt(b, "template(name=\"culprit_line\" type=\"string\" string=\"%%msg%%\")\n"
		   "ruleset(name=\"culprit\" queue.type=\"Direct\") {\n");
	put_action(o, b);
	buf_clear(&path);
	buf_fmt(&path, "%s/*.spool%c", o->state, 0);
	buf_fmt(b, "}\ninput(type=\"imfile\" tag=\"culprit\" ruleset=\"culprit\" "
		   "persistStateInterval=\"1\" maxSubmitAtOnce=\"1\" addMetadata=\"off\"");
	put_quoted(b, "file", path.p);
	buf_fmt(b, ")\n");
	buf_done(&path);
}

static char *path_in(const char *dir, const char *name)
{
	char *path = NULL;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		abort();
	return path;
}

static int write_conf(struct sender *s, struct error *err)
{
	FILE *f = fopen(s->conf, "we");
	struct buf b = { 0 };
	int r = 0;

	sender_conf(&s->o, false, &b);
	if (!f || fwrite(b.p, 1, b.n, f) != b.n || fflush(f))
		r = error_set(err, errno, "cannot write '%s': %s", s->conf, strerror(errno));
	if (f)
		fclose(f);
	buf_done(&b);
	return r;
}

/* Where an earlier one stood is not known to be true. */
static void forget_places(struct sender *s)
{
	DIR *d = opendir(s->work);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char *path;

		if (strncmp(e->d_name, STATE_PREFIX, strlen(STATE_PREFIX)) != 0)
			continue;
		path = path_in(s->work, e->d_name);
		unlink(path);
		free(path);
	}
	if (d)
		closedir(d);
}

/* In the child: becomes rsyslogd, which dies with its parent. */
static void become(const struct sender *s, const char *pid_file, pid_t parent)
{
	static const char *const places[] = { "rsyslogd", "/usr/sbin/rsyslogd", "/sbin/rsyslogd" };
	int out = open(s->said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	if (out >= 0) {
		dup2(out, STDOUT_FILENO);
		dup2(out, STDERR_FILENO);
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		execlp(places[i], "rsyslogd", "-n", "-f", s->conf, "-i", pid_file, (char *)NULL);
	dprintf(STDERR_FILENO, "rsyslogd is not there (Debian: rsyslog, rsyslog-relp)\n");
	_exit(127);
}

static int run(struct sender *s, struct error *err)
{
	char *pid_file = path_in(s->work, "pid");
	pid_t parent = getpid();

	forget_places(s);
	unlink(pid_file);
	s->began = time_tick();
	s->pid = fork();
	if (!s->pid)
		become(s, pid_file, parent);
	free(pid_file);
	if (s->pid < 0) {
		s->pid = 0;
		return error_set(err, errno, "cannot start rsyslogd: %s", strerror(errno));
	}
	return 0;
}

int sender_start(struct sender **out, const struct sender_options *o, struct error *err)
{
	struct sender *s = mem_zalloc(sizeof(*s));
	int r = 0;

	s->o = *o;
	s->work = path_in(o->state, "rsyslog");
	s->conf = path_in(o->state, "rsyslog.conf");
	s->said = path_in(o->state, "rsyslog.said");
	s->pause = NS_S;
	if (mkdir(s->work, 0700) && errno != EEXIST)
		r = error_set(err, errno, "cannot make '%s': %s", s->work, strerror(errno));
	if (r >= 0)
		r = write_conf(s, err);
	if (r >= 0)
		r = run(s, err);
	if (r < 0)
		sender_stop(s);
	else
		*out = s;
	return r;
}

/* The first line of its last words. */
static int tell_death(struct sender *s, int status, struct error *err)
{
	FILE *f = fopen(s->said, "re");
	char line[256] = "";

	if (!f || !fgets(line, sizeof(line), f) || !*line)
		snprintf(line, sizeof(line), WIFSIGNALED(status) ? "signal %d" : "status %d",
			 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = 0;
	error_set(err, ECHILD, "rsyslogd ended (%s); it is begun anew", line);
	return 1;
}

int sender_look(struct sender *s, struct error *err)
{
	int64_t now = time_tick();
	int status, r = 0;

	if (s->pid && waitpid(s->pid, &status, WNOHANG) == s->pid) {
		s->pid = 0;
		r = tell_death(s, status, err);
		s->pause = now - s->began < SHORT_NS ? 2 * s->pause : NS_S / 10;
		if (s->pause > PAUSE_MAX_NS)
			s->pause = PAUSE_MAX_NS;
		s->again_at = now + s->pause;
	}
	if (!s->pid && now >= s->again_at) {
		struct error ignored;

		run(s, &ignored);
	}
	return r;
}

/* "strt_offs": where the line begins that was not handed on yet. */
static uint64_t read_place(int dir, const char *name)
{
	static const char key[] = "\"strt_offs\":";
	cleanup(close_fd) int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	char text[8192];
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	const char *at;

	text[n > 0 ? n : 0] = 0;
	at = strstr(text, key);
	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* imfile-state:INODE, and behind it a hash of the file once it is large enough for that. */
uint64_t sender_taken(void *sender, uint64_t inode)
{
	const struct sender *s = sender;
	DIR *d = opendir(s->work);
	struct dirent *e;
	uint64_t most = 0;

	while (d && (e = readdir(d))) {
		struct str name = str_of(e->d_name);
		uint64_t nr, at;

		if (!str_take(&name, STR(STATE_PREFIX)) || !str_take_uint(&name, &nr) ||
		    nr != inode || (name.n && name.p[0] != ':'))
			continue;
		at = read_place(dirfd(d), e->d_name);
		most = at > most ? at : most;
	}
	if (d)
		closedir(d);
	return most;
}

void sender_stop(struct sender *s)
{
	const struct timespec wait = { .tv_nsec = 20 * NS_MS };
	int64_t end = time_tick() + STOP_NS;

	if (s->pid)
		kill(s->pid, SIGTERM);
	while (s->pid && waitpid(s->pid, NULL, WNOHANG) == 0) {
		if (time_tick() > end)
			kill(s->pid, SIGKILL);
		nanosleep(&wait, NULL);
	}
	free(s->work);
	free(s->conf);
	free(s->said);
	free(s);
}
