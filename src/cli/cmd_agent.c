/* culprit agent: reads the logs of this host as they are written, and sends what they name. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/time.h"
#include "cli/agent_queries.h"
#include "cli/command.h"
#include "cli/say.h"
#include "cli/size.h"
#include "host/agent.h"
#include "host/sender.h"
#include "host/spool.h"
#include "ident/overrides.h"
#include "model/loss.h"

#define EPOCH_NS NS_S
#define EPOCH_MIN_NS (10 * NS_MS)
#define EPOCH_MAX_NS (3600 * NS_S)
#define TRIM_NS (5 * NS_S)
#define SPOOL_BYTES ((uint64_t)256 << 20)
#define BACKLOG_BYTES ((uint64_t)64 << 20)
#define LAST_NS (2 * NS_S) /* for what is to be sent in the end */
#define FILES_MAX 65536
#define DEFAULT_PORT "2514"

static volatile sig_atomic_t is_told_to_stop;

static void stop(int signal)
{
	(void)signal;
	is_told_to_stop = 1;
}

struct agency {
	const struct call *call;
	struct agent_options o;
	struct sender_options to;
	struct agent *agent;
	struct overrides *overrides;
	struct sender *sender; /* NULL: somebody else reads the spool */
	char state[PATH_MAX], tls[3][PATH_MAX], host[256], to_host[256], to_port[16];
	char said[512]; /* last, so that it is said once */
	int64_t end, trim_at;
};

/* --- options ------------------------------------------------------------------------------- */

static int take_state(struct agency *a, struct error *err)
{
	const char *dir = call_get(a->call, "state"), *home = getenv("HOME");
	char path[PATH_MAX];

	if (dir)
		snprintf(path, sizeof(path), "%s", dir);
	else if (!geteuid() || !home)
		snprintf(path, sizeof(path), "/var/lib/culprit/agent");
	else
		snprintf(path, sizeof(path), "%s/.local/state/culprit/agent", home);
	if (path[0] == '/') {
		snprintf(a->state, sizeof(a->state), "%s", path);
	} else {
		char here[PATH_MAX];

		if (!getcwd(here, sizeof(here)))
			return error_set(err, errno, "cannot tell where I am: %s", strerror(errno));
		if (snprintf(a->state, sizeof(a->state), "%s/%s", here, path) >=
		    (int)sizeof(a->state))
			return error_set(err, ENAMETOOLONG, "'%s' is too long", path);
	}
	a->o.state = a->to.state = a->state;
	return 0;
}

/* "HOST[:PORT]", with relp:// or tcp:// in front. */
static int take_hub(struct agency *a, struct error *err)
{
	struct str to = str_of(call_get(a->call, "to")), port = STR(DEFAULT_PORT), host;
	size_t colon;
	uint64_t nr;

	a->to.is_plain = str_take(&to, STR("tcp://"));
	str_take(&to, STR("relp://"));
	host = to;
	for (colon = to.n; colon && to.p[colon - 1] != ':' && to.p[colon - 1] != ']';)
		colon--;
	if (colon && to.p[colon - 1] == ':') {
		host = str_head(to, colon - 1);
		port = str_skip(to, colon);
	}
	if (host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
		host = (struct str){ host.p + 1, host.n - 2 };
	snprintf(a->to_host, sizeof(a->to_host), "%.*s", (int)host.n, host.p);
	snprintf(a->to_port, sizeof(a->to_port), "%.*s", (int)port.n, port.p);
	if (!host.n || host.n >= sizeof(a->to_host) || !str_take_uint(&port, &nr) || port.n ||
	    !nr || nr > UINT16_MAX)
		return error_set(err, EINVAL, "--to '%s' is no hub; write it like HOST:2514",
				 call_get(a->call, "to"));
	a->to.host = a->to_host;
	a->to.port = a->to_port;
	return 0;
}

static int take_time(const struct call *call, const char *name, int64_t *ns, struct error *err)
{
	const char *text = call_get(call, name);

	if (text && (!time_parse_span(str_of(text), ns) || *ns < EPOCH_MIN_NS))
		return error_set(err, EINVAL, "--%s '%s' is no time; write it like 1s or 500ms",
				 name, text);
	return 0;
}

/* rsyslogd works elsewhere: it needs whole paths. */
static int take_file(struct agency *a, const char *option, char to[PATH_MAX], const char **file,
		     struct error *err)
{
	const char *path = call_get(a->call, option);

	if (!path)
		return 0;
	if (!realpath(path, to))
		return error_set(err, errno, "cannot read '%s': %s", path, strerror(errno));
	*file = to;
	return 0;
}

static int take_tls(struct agency *a, struct error *err)
{
	int r = take_file(a, "tls-ca", a->tls[0], &a->to.ca, err);

	if (r >= 0)
		r = take_file(a, "tls-cert", a->tls[1], &a->to.cert, err);
	if (r >= 0)
		r = take_file(a, "tls-key", a->tls[2], &a->to.key, err);
	if (r < 0 || (!a->to.ca == !a->to.cert && !a->to.cert == !a->to.key))
		return r;
	return error_set(err, EINVAL, "TLS needs all three: --tls-ca, --tls-cert and --tls-key");
}

static int take_options(struct agency *a, struct error *err)
{
	const struct call *call = a->call;
	int64_t for_ns = INT64_MAX;
	int r;

	a->o = (struct agent_options){ .inputs = call->inputs,
				       .nr_inputs = call->nr_inputs,
				       .layout = call_get(call, "layout"),
				       .zone = call_get(call, "zone"),
				       .has_no_programs = call_has(call, "no-programs"),
				       .spool_bytes = SPOOL_BYTES,
				       .backlog_bytes = BACKLOG_BYTES,
				       .epoch_ns = EPOCH_NS,
				       .host = a->host };
	if (!call_has(call, "logs"))
		return error_set(err, EINVAL, "what shall the agent do? --logs");
	r = take_state(a, err);
	if (r >= 0 && call_has(call, "to"))
		r = take_hub(a, err);
	if (r >= 0)
		r = take_time(call, "epoch", &a->o.epoch_ns, err);
	if (r >= 0 && a->o.epoch_ns > EPOCH_MAX_NS)
		r = error_set(err, EINVAL, "--epoch is an hour at the most");
	if (r >= 0)
		r = take_time(call, "for", &for_ns, err);
	if (r >= 0)
		r = size_option(call, "spool", &a->o.spool_bytes, err);
	if (r >= 0)
		r = size_option(call, "backlog", &a->o.backlog_bytes, err);
	if (r >= 0)
		r = take_tls(a, err);
	if (r >= 0 && call_get(call, "types"))
		r = overrides_read(&a->overrides, call_get(call, "types"), err);
	a->o.overrides = a->overrides;
	a->end = time_tick();
	a->end = for_ns > INT64_MAX - a->end ? INT64_MAX : a->end + for_ns;
	if (call_get(call, "name"))
		snprintf(a->host, sizeof(a->host), "%s", call_get(call, "name"));
	else if (gethostname(a->host, sizeof(a->host) - 1))
		snprintf(a->host, sizeof(a->host), "host");
	return r;
}

/* --- the loop ------------------------------------------------------------------------------ */

static void say_once(struct agency *a, const char *what)
{
	if (!strcmp(a->said, what))
		return;
	say_error("%s", what);
	snprintf(a->said, sizeof(a->said), "%s", what);
}

static uint64_t nobody_took(void *ctx, uint64_t inode)
{
	(void)ctx;
	(void)inode;
	return 0;
}

static void trim(struct agency *a)
{
	const struct spool_ack ack = { a->sender, a->sender ? sender_taken : nobody_took,
				       SENDER_DOUBT };

	if (time_tick() < a->trim_at)
		return;
	agent_trim(a->agent, &ack);
	a->trim_at = time_tick() + TRIM_NS;
}

static void one_epoch(struct agency *a)
{
	struct error err;

	if (agent_look(a->agent, &err) < 0)
		say_once(a, err.msg);
	else
		a->said[0] = 0;
	if (a->sender && sender_look(a->sender, &err) > 0)
		say_error("%s", err.msg);
	trim(a);
}

/* Epochs end at whole multiples of their length, on all hosts at the same time. */
static void wait_for_epoch(const struct agency *a)
{
	int64_t now = time_now(), left = a->o.epoch_ns - now % a->o.epoch_ns;
	int64_t most = a->end - time_tick();
	struct timespec wait;

	if (left > most)
		left = most > 0 ? most : 0;
	wait = (struct timespec){ left / NS_S, left % NS_S };
	nanosleep(&wait, NULL);
}

static void tell(const struct agency *a)
{
	const struct losses *losses = agent_losses(a->agent);
	struct agent_state s;

	agent_state(a->agent, &s);
	printf("%zu %s  %llu lines  %llu messages\n", s.nr_logs, s.nr_logs == 1 ? "log" : "logs",
	       (unsigned long long)s.nr_lines, (unsigned long long)s.nr_messages);
	for (int i = 0; i < LOSS_NR; i++)
		if (losses->count[i])
			printf("  %llu %s\n", (unsigned long long)losses->count[i],
			       loss_text((enum loss)i, losses->count[i]));
}

/* What was read last is given a moment to be sent; what is not, is sent by the next start. */
static void finish(struct agency *a)
{
	const struct timespec wait = { .tv_nsec = 50 * NS_MS };
	int64_t end = time_tick() + LAST_NS;

	one_epoch(a);
	while (a->sender && !agent_is_sent(a->agent, sender_taken, a->sender) && time_tick() < end)
		nanosleep(&wait, NULL);
}

/* Logs are kept open, and the system lets programs have more than they begin with. */
static void raise_open_files(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r))
		return;
	r.rlim_cur = r.rlim_max < FILES_MAX ? r.rlim_max : FILES_MAX;
	setrlimit(RLIMIT_NOFILE, &r);
}

static int run(struct agency *a, struct error *err)
{
	const struct sigaction act = { .sa_handler = stop };
	int r;

	raise_open_files();
	/* first: who is told to stop while it begins takes its sender along */
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	r = agent_open(&a->agent, &a->o, err);
	if (r >= 0 && a->to.host)
		r = sender_start(&a->sender, &a->to, err);
	while (r >= 0 && !is_told_to_stop && time_tick() < a->end) {
		one_epoch(a);
		wait_for_epoch(a);
	}
	if (r >= 0) {
		finish(a);
		tell(a);
	}
	if (a->sender)
		sender_stop(a->sender);
	if (a->agent)
		agent_close(a->agent);
	return r;
}

static int print_conf(struct agency *a, struct error *err)
{
	struct buf b = { 0 };

	if (!a->to.host)
		return error_set(err, EINVAL, "which hub shall rsyslog send to? --to HOST:PORT");
	sender_conf(&a->to, true, &b);
	fwrite(b.p, 1, b.n, stdout);
	buf_done(&b);
	return 0;
}

int cmd_agent(const struct call *call)
{
	struct agency a = { .call = call };
	struct error err = { 0 };
	int r;

	if (call_has(call, "queries"))
		return agent_queries(call);
	r = take_options(&a, &err);
	if (r >= 0)
		r = call_has(call, "print-rsyslog-conf") ? print_conf(&a, &err) : run(&a, &err);
	overrides_free(a.overrides);
	if (r < 0)
		say_error("%s", err.msg);
	return r < 0 ? EXIT_CANNOT : EXIT_ANSWERED;
}
