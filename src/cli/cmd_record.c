/*
 * culprit record --messages, --jvm: watches a running system until it is told to stop, then does
 * what analyze does. The observer (capture/) knows nothing of signals, commands and terminals: they
 * are here.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "capture/capture.h"
#include "capture/packets.h"
#include "capture/sockets.h"
#include "cli/command.h"
#include "cli/observe.h"
#include "cli/option.h"
#include "cli/record_java.h"
#include "cli/say.h"
#include "cli/stopping.h"
#include "cli/verdict.h"
#include "cli/watched.h"
#include "model/sink.h"
#include "source/source.h"
#include "store/store.h"

#define EVERY_NS (200 * NS_MS)
#define PACKETS_MAX 1000000000000
#define BUFFER_MIB_MAX 1024 /* libpcap takes bytes as an int */

struct record {
	const struct call *call;
	struct packets_options packets;
	struct sockets_options sockets;
	struct record_java java;
	struct source_options reading;
	struct capture_limits limits;
	VEC(const char *) interfaces;
	struct arena arena;
	struct watched watched;
	struct sink store;
	uint64_t nr_messages;
	bool may_tell, is_shown; /* the line that says how it goes */
	int64_t began, drawn;
};

static int pass_file(void *to, const struct file_seen *f, uint32_t *number, struct error *err)
{
	struct record *r = to;

	return r->store.file(r->store.to, f, number, err);
}

static int pass_events(void *to, const struct event *ev, size_t nr, struct error *err)
{
	struct record *r = to;

	r->nr_messages += nr;
	return r->store.events(r->store.to, ev, nr, err);
}

static int pass_spans(void *to, const struct span *sp, size_t nr, struct error *err)
{
	struct record *r = to;

	return r->store.spans(r->store.to, sp, nr, err);
}

static int ready(void *to, struct error *err)
{
	struct record *r = to;

	r->began = time_tick();
	return r->call->nr_inputs ? watched_start(&r->watched, r->call->inputs, err) : 0;
}

static bool is_stopped(void *to)
{
	struct record *r = to;

	return stopping_is_told() || watched_has_ended(&r->watched);
}

static void tell(void *to, const struct capture_seen *seen)
{
	struct record *r = to;
	int64_t now = time_tick();

	if (!r->may_tell || now - r->drawn < EVERY_NS)
		return;
	fprintf(stderr, "\r\033[Krecording  %.0f s  %llu %s", (double)(now - r->began) / 1e9,
		(unsigned long long)seen->nr_seen,
		call_has(r->call, "jvm")       ? "spans"
		: call_has(r->call, "sockets") ? "system calls"
					       : "packets");
	/* they come in batches: nothing yet does not mean that nothing was found */
	if (r->nr_messages)
		fprintf(stderr, "  %llu messages", (unsigned long long)r->nr_messages);
	fprintf(stderr, "  %llu dropped  (Ctrl-C ends it)", (unsigned long long)seen->nr_dropped);
	fflush(stderr);
	r->drawn = now;
	r->is_shown = true;
}

static int record(void *to, struct sink *store, struct error *err)
{
	struct record *r = to;
	struct sink sink = { r, pass_file, pass_events, pass_spans, NULL, store->losses };
	const struct capture c = { .sink = &sink,
				   .limits = r->limits,
				   .to = r,
				   .ready = ready,
				   .is_stopped = is_stopped,
				   .tell = tell };
	int got;

	r->store = *store;
	stopping_catch();
	if (call_has(r->call, "jvm"))
		got = trace_record(&r->java.options, &c, err);
	else if (call_has(r->call, "sockets"))
		got = sockets_record(&r->sockets, &c, err);
	else
		got = packets_record(&r->packets, &c, err);
	if (r->is_shown)
		fputs("\r\033[K", stderr);
	watched_end(&r->watched);
	return got;
}

static void split_interfaces(struct record *r, const char *text)
{
	struct str left = str_of(text ? text : ""), name;

	while (left.n) {
		size_t n = strcspn(left.p, ",");

		name = str_head(left, n);
		left = str_skip(left, n + 1);
		if (name.n)
			vec_push(&r->interfaces, arena_z(&r->arena, name));
	}
	r->packets.interfaces = r->interfaces.v;
	r->packets.nr_interfaces = r->interfaces.nr;
}

/* What says which packets to take says nothing of sockets, and the other way round. */
static int check_kind(const struct call *call, struct error *err)
{
	static const char *const of_packets[] = { "interface", "filter", "packets", "buffer",
						  "write" };
	bool is_sockets = call_has(call, "sockets");

	if (!is_sockets && call_get(call, "pid"))
		return error_set(err, EINVAL, "--pid needs --sockets: packets name no process");
	for (size_t i = 0; is_sockets && i < sizeof(of_packets) / sizeof(*of_packets); i++)
		if (call_get(call, of_packets[i]))
			return error_set(err, EINVAL,
					 "--%s is of packets; with --sockets there are none",
					 of_packets[i]);
	return 0;
}

static int read_java(struct record *r, struct error *err)
{
	static const char *const of_messages[] = { "messages", "sockets", "interface", "filter",
						   "packets",  "buffer",  "write",     "method",
						   "names",    "blind" };
	int got = option_time(r->call, "for", &r->limits.for_ns, err);

	for (size_t i = 0; got >= 0 && i < sizeof(of_messages) / sizeof(*of_messages); i++)
		if (call_has(r->call, of_messages[i]))
			got = error_set(err, EINVAL, "--%s is of messages; --jvm records methods",
					of_messages[i]);
	return got < 0 ? got : record_java_read(&r->java, r->call, err);
}

static int read_options(struct record *r, struct error *err)
{
	const struct call *call = r->call;
	uint64_t mib = 0, pid = 0;
	int got;

	if (call_has(call, "jvm"))
		return read_java(r, err);
	if (!call_has(call, "messages"))
		return error_set(err, EINVAL, "what is to be recorded? --messages or --jvm");
	got = check_kind(call, err);
	if (got >= 0)
		got = option_time(call, "for", &r->limits.for_ns, err);
	if (got >= 0)
		got = option_number(call, "pid", INT32_MAX, &pid, err);
	if (got >= 0)
		got = option_number(call, "packets", PACKETS_MAX, &r->limits.nr_max, err);
	if (got >= 0)
		got = option_number(call, "buffer", BUFFER_MIB_MAX, &mib, err);
	if (got < 0)
		return got;
	r->reading = (struct source_options){ .names = call_get(call, "names"),
					      .is_blind = call_has(call, "blind") };
	r->packets = (struct packets_options){ .filter = call_get(call, "filter"),
					       .write = call_get(call, "write"),
					       .buffer_bytes = (size_t)mib << 20,
					       .reading = &r->reading };
	if (r->packets.write && !strcmp(r->packets.write, "-"))
		return error_set(err, EINVAL,
				 "--write needs the name of a file: the report goes "
				 "to standard output");
	r->sockets = (struct sockets_options){ .source = &r->reading, .pid = (int)pid };
	split_interfaces(r, call_get(call, "interface"));
	return 0;
}

int cmd_record(const struct call *call)
{
	const char *path = call_get(call, "output");
	struct record r = { .call = call };
	const struct observer live = { &r, record };
	struct error err = { 0 };
	struct store *s = NULL;
	int got = read_options(&r, &err);

	path = path ? path : "run.culprit";
	/* the command prints there too */
	r.may_tell = isatty(STDERR_FILENO) && !call->nr_inputs;
	if (got >= 0)
		got = observe_live(call, &live, path, &s, &err);
	if (got >= 0)
		got = verdict(call, s, path, &err);
	if (s)
		store_close(s);
	vec_done(&r.interfaces);
	record_java_done(&r.java);
	arena_done(&r.arena);
	if (got >= 0)
		return got ? EXIT_NOTHING : EXIT_ANSWERED;
	say_error("%s", err.msg);
	return EXIT_CANNOT;
}
