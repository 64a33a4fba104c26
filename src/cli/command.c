#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

#include "ask/selection.h"
#include "base/mem.h"
#include "cli/shared.h"

static const struct option analyze_options[] = {
	{ "output", "FILE", "write the run there (default: run.culprit)" },
	{ "method", "METHOD",
	  "how messages become paths: auto (default), joint, nesting, convolution" },
	{ "no-run", NULL, "keep no run file, only print the report" },
	STORING_OPTIONS,
	{ "follow", NULL, "keep the run up to date while logs grow and rotate, until Ctrl-C" },
	{ "every", "TIME", "with --follow: how often the run is written (default: 5s)" },
	{ "for", "TIME", "with --follow: stop after this time: 10min (default: at Ctrl-C)" },
	{ "on", "ENGINE", "read logs on many machines: spark, spark:MASTER or hadoop" },
	{ "reducers", "N", "with --on: how many work side by side on the requests of many lines" },
	SHARED_OPTIONS,
	{ 0 },
};

static const struct example analyze_examples[] = {
	{ "analyze logs/", "what is slow in the system that wrote these logs" },
	{ "analyze traces.json -o slow.culprit", "the same from traces, kept for later questions" },
	{ "analyze --layout '%d{ISO8601} %-5p [%t] %c{2}: %m%n' logs/nn.log",
	  "with the layout told instead of found" },
	{ "analyze --html report.html logs/", "the report as one file to send to a colleague" },
	{ "analyze --follow --for 2s -o now.culprit logs/",
	  "a run that is kept up to date as the logs grow and rotate" },
	{ 0 },
};

static const struct option record_options[] = {
	{ "messages", NULL, "record the messages that programs send to each other" },
	{ "sockets", NULL, "watch what programs send and receive on sockets (eBPF), not packets" },
	{ "jvm", NULL, "record requests inside running Java machines instead" },
	{ "pid", "PID...", "with --jvm: these machines; with --sockets: of this process only" },
	{ "span", "METHOD...", "with --jvm: a span for each call of a.b.C.method" },
	{ "tracepoints", "FILE...",
	  "with --jvm: spans where these files or sets have tracepoints (default: rpc)" },
	{ "no-lines", NULL, "with --jvm: leave the log lines of requests out" },
	{ "overhead", "SHARE", "with --jvm: of a thread's time that it may cost (default: 5%)" },
	{ "interface", "IF...", "packets of this network interface only (default: any)" },
	{ "filter", "EXPR", "only packets that match, as tcpdump writes it: 'tcp port 80'" },
	{ "for", "TIME", "stop after this time: 30s, 2min (default: at Ctrl-C)" },
	{ "packets", "N", "stop after so many packets" },
	{ "buffer", "MIB", "room for packets that wait, in the kernel (default: 32)" },
	{ "write", "FILE", "also write the packets to a capture file" },
	{ "output", "FILE", "write the run there (default: run.culprit)" },
	{ "method", "METHOD",
	  "how messages become paths: auto (default), joint, nesting, convolution" },
	{ "names", "FILE", "names of hosts: lines of ADDRESS[/BITS][:PORT] NAME" },
	{ "blind", NULL, "ignore the trace and request ids that messages carry" },
	{ "json", NULL, "one JSON object per line" },
	{ "html", "FILE", "also write the report as one self-contained HTML file" },
	{ 0 },
};

static const struct option agent_options[] = {
	{ "logs", NULL, "read the logs of this host as they are written" },
	{ "to", "HOST:PORT", "the hub to send to, over RELP; tcp://HOST:PORT for plain TCP" },
	{ "state", "DIR", "what waits to be sent, and where reading stands" },
	{ "epoch", "TIME", "how often what is new is sent (default: 1s)" },
	{ "spool", "SIZE", "of what may wait for the hub (default: 256M)" },
	{ "backlog", "SIZE", "of a log that is met first: read so much of its end (default: 64M)" },
	{ "types", "FILE", "what you know of types of identifiers: see culprit-objects(1)" },
	{ "no-programs", NULL, "do not look into the programs that write the logs" },
	{ "name", "NAME", "of this host (default: its host name)" },
	{ "for", "TIME", "stop after this time: 10min (default: at Ctrl-C)" },
	{ "layout", "PATTERN", "layout of the log lines as a log4j pattern (default: found out)" },
	{ "zone", "ZONE", "zone of times that name none: +02:00, UTC (default: the local one)" },
	{ "tls-ca", "FILE", "speak TLS: certificate of who signed the hub's" },
	{ "tls-cert", "FILE", "likewise: certificate of this host" },
	{ "tls-key", "FILE", "likewise: its key" },
	{ "print-rsyslog-conf", NULL, "print what the system's rsyslog has to be told instead" },
	{ "queries", NULL, "run the live queries of a hub in processes of this host instead" },
	{ "hub", "ENDPOINT", "with --queries: the hub, HOST:PORT or ipc:///PATH" },
	{ "keys", "FILE", "with --queries: the keys of this agent (culprit hub --keys)" },
	{ "overhead", "SHARE",
	  "with --queries: of a thread's time that asking in Java may cost (default: 5%)" },
	{ "java-sockets", NULL,
	  "with --queries: requests go on over all connections of Java programs, too" },
	{ "pid", "PID...",
	  "with --queries: these processes and those that they make (default: all that a query "
	  "asks of)" },
	{ 0 },
};

static const struct option hub_options[] = {
	{ "listen", "HOST:PORT...", "where agents send to, over RELP; tcp://HOST:PORT: plain TCP" },
	{ "output", "FILE", "keep the run there up to date (default: run.culprit)" },
	{ "state", "DIR",
	  "of the journal of all messages (default: FILE.hub); of queries (default: queries.hub)" },
	{ "every", "TIME", "how often the run is written (default: 5s)" },
	{ "journal", "SIZE", "of what the journal may take (default: 4G)" },
	{ "memory", "SIZE", "of what is kept of objects while they are found (default: 512M)" },
	{ "for", "TIME", "stop after this time: 10min (default: at Ctrl-C)" },
	{ "tls-cert", "FILE", "speak TLS: certificate of the hub" },
	{ "tls-key", "FILE", "likewise: its key" },
	{ "tls-ca", "FILE", "likewise: take only agents whose certificate this one signed" },
	{ "queries", NULL, "be the hub of live queries instead" },
	{ "parent", "ENDPOINT", "with --queries: the hub above, to which results go on" },
	{ "name", "NAME", "with --queries: of this hub (default: the host name)" },
	{ "limits", "LIST",
	  "with --queries: of each tenant: queries=64,advice=512,rows=200000,seconds=256" },
	{ "keys", "DIR", "with --queries: who may come in; alone: make the keys of a hub" },
	{ "parent-key", "FILE", "with --parent: the key file that the hub above has granted" },
	{ "grant", "ROLE:NAME[@TENANT]",
	  "with --keys: make keys for an agent, an operator or a hub below" },
	{ "revoke", "NAME", "with --keys: whose keys are worth nothing any more" },
	{ "status", "ENDPOINT",
	  "show who is at a hub of queries, what stands and what is counted" },
	{ "key", "FILE", "with --status: keys of an operator" },
	{ "json", NULL, "with --status: one JSON object per line" },
	{ "metrics", "HOST:PORT",
	  "with --queries: answers and health for Prometheus at /metrics, and the page "
	  "(127.0.0.1:9464)" },
	{ "metrics-keys", "FILE", "with --metrics: the keys of an operator" },
	{ 0 },
};

static const struct option learn_options[] = {
	{ "output", "FILE", "write the model there (default: program.model)" },
	{ "show", NULL, "show what a model holds, or what would be learned" },
	{ "points", NULL, "of a model: every log point with its patterns" },
	{ "method", "NAME",
	  "of a model: why requests begin there, what they log and in which order" },
	{ "pairs", NULL, "of a model: which methods talk to each other, and how" },
	{ "dot", "NAME", "of a model: the order of the log points of a method, for Graphviz" },
	{ "table", NULL, "of a model: the figures of table 2 of the lprof paper" },
	{ "threads", "N", "how many to work with (default: one for each core)" },
	{ "progress", NULL, "tell each step even where there is no terminal" },
	{ "json", NULL, "one JSON object per line" },
	{ 0 },
};

static const struct example learn_examples[] = {
	{ "learn lib/ -o store.model", "the model of a program, from all its jars" },
	{ "learn --show store.model --method Server.write",
	  "why requests begin there, and what they log in which order" },
	{ "learn --show store.model --points --json", "every log point with its patterns" },
	{ "learn lib/ --table", "the figures of the lprof paper, without keeping a model" },
	{ 0 },
};

static const struct option export_options[] = {
	{ "format", "NAME",
	  "otlp, jaeger, chrome, perfetto, folded, dot, csv, objects or object-types" },
	{ "output", "FILE", "write there instead of standard output" },
	STORING_OPTIONS,
	READING_OPTIONS,
	{ 0 },
};

static const struct example export_examples[] = {
	{ "export run.culprit --format perfetto -o run.pftrace",
	  "to look at it in the Perfetto UI" },
	{ "export run.culprit --format jaeger -o run.json", "to upload it in the Jaeger UI" },
	{ "export run.culprit --format csv", "one row for each request" },
	{ 0 },
};

static const struct option serve_options[] = {
	{ "listen", "HOST:PORT",
	  "where (default: 127.0.0.1:7272); port 0: any that is free; elsewhere than here only "
	  "with TLS" },
	{ "tls-cert", "FILE", "speak TLS: certificate, in PEM" },
	{ "tls-key", "FILE", "likewise: its key" },
	{ "for", "TIME", "stop after this time: 10min (default: at Ctrl-C)" },
	{ "token", "TEXT", "what one has to know to see the page (default with TLS: made up)" },
	READING_OPTIONS,
	{ "hub", "ENDPOINT",
	  "queries on running systems, through this hub (culprit hub --queries)" },
	{ "keys", "FILE", "with --hub: the keys of an operator (culprit hub --keys)" },
	{ "tracepoints", "FILE...",
	  "with --hub: what queries may be asked of (default: all sets)" },
	{ 0 },
};

static const struct example serve_examples[] = {
	{ "serve --for 1s run.culprit", "the page of a run, on this machine" },
	{ "serve --for 1s before.culprit after.culprit", "two runs, to be compared" },
	{ 0 },
};

static const struct option step_options[] = {
	{ "plan", "FILE", "the plan that all steps follow" },
	{ "file", "NAME", "of map: the file that the lines are of (Hadoop tells it)" },
	{ "offset", "BYTES", "of map: where the part begins, by which parts are put in order" },
	{ "frames", NULL,
	  "of map: several parts, with \"FILE PART BYTES\" in front of each piece" },
	{ "fragments", "FILE", "of merge: what all reducers wrote" },
	{ "output", "FILE", "of plan and merge: where to write it" },
	READING_OPTIONS,
	{ 0 },
};

static const struct option variance_options[] = {
	{ "pid", "PID", "of this process, while it runs" },
	{ "carry", "SPEC...", "likewise: 'work(id=arg0)', which works for the interval id" },
	{ "put", "SPEC...", "likewise: 'enqueue(id=arg1)', where a thread hands it on" },
	{ "take", "SPEC...", "likewise: 'dequeue(id=ret)', where another one takes it" },
	{ "work", "SPEC...",
	  "an amount of work: 'sort(arg1)', 'read(ret)'; what goes with it is inherent" },
	{ "root", "FUNCTION...", "functions to begin with, where the interval is no call of one" },
	{ "preset", "NAME",
	  "intervals of a program: postgresql, postgresql-query, mariadb, apache, nginx, redis, "
	  "libculprit" },
	{ "rounds", "N", "end after so many rounds (default: when nothing is left to look into)" },
	{ "round", "TIME", "of one round at least (default: 2s)" },
	{ "for", "TIME", "stop after this time: 60s" },
	{ "overhead", "SHARE", "of the program's time that watching may cost (default: 5%)" },
	{ "system", NULL, "watch functions of the C library and the like as well" },
	{ "no-states", NULL, "do not watch how threads wait and wake each other" },
	{ "output", "FILE", "write the run there (default: run.culprit)" },
	{ "no-run", NULL, "keep no run file, only print the report" },
	{ 0 },
};

static const struct option query_options[] = {
	{ "saved", "FILE", "queries with names (Q1: From ...) that the query may use as sources" },
	{ "live", NULL, "ask processes that run, and go on telling what they answer" },
	{ "overhead", "SHARE",
	  "with --live: of a thread's time that asking in Java may cost (default: 5%)" },
	{ "java-sockets", NULL,
	  "with --live: requests go on over all connections of Java programs, too" },
	{ "pid", "PID...", "with --live: these processes, and those that they make" },
	{ "hub", "ENDPOINT", "with --live: the processes of all agents of this hub instead" },
	{ "keys", "FILE", "with --hub: the keys of an operator (culprit hub --keys)" },
	{ "tracepoints", "FILE...",
	  "files and sets of tracepoints (default with --live: all sets that come with culprit)" },
	{ "measure", NULL,
	  "with --live --explain: count for five seconds how often each stage would run" },
	{ "for", "TIME", "with --live: stop after this time: 60s (default: at Ctrl-C)" },
	{ "pivot", "COLUMN", "with --live: the values of this key side by side" },
	{ "show", "COLUMN", "with --pivot: which number is shown (default: the first)" },
	{ "otlp", "FILE|URL", "with --live: hand the numbers on as OpenTelemetry metrics" },
	{ "output", "FILE", "with --live: keep all rows there as a run" },
	{ 0 },
};

static const struct option tracepoints_options[] = {
	{ "check", NULL, "say nothing where all is well" },
	{ "program", "FILE...",
	  "look for the places in this program or library, or in these jars" },
	{ "pid", "PID", "likewise in all that this process has loaded" },
	{ "test", NULL, "with --pid: how often each is passed now, and what it exports" },
	{ "for", "TIME", "with --test: for so long (default: 5s)" },
	{ "json", NULL, "one JSON object per line" },
	{ 0 },
};

static const struct example tracepoints_examples[] = {
	{ "tracepoints postgresql", "what queries can be asked of a PostgreSQL server" },
	{ "tracepoints --check", "whether all definitions make sense" },
	{ 0 },
};

static const struct option attach_options[] = {
	{ "status", NULL,
	  "load nothing: say whether our library is in it, and what it does there" },
	{ "hops", NULL,
	  "list what hands on what requests carry there, and how often it did, or lost it" },
	{ "json", NULL, "one JSON object per line" },
	{ 0 },
};

static const struct option no_options[] = { { 0 } };

static const struct option help_options[] = {
	{ "examples", NULL, "print the examples of all commands, one a line" },
	{ 0 },
};

static const struct command builtin[] = {
	{ .name = "analyze",
	  .summary = "read everything, find the requests, say what is slow and why",
	  .usage = "INPUT...",
	  .about = "Inputs are files, directories, globs or - for standard input, plain or "
		   "compressed (gz, xz, zst).\n"
		   "What each one is, is found out by looking: logs of nearly any layout, OTLP, "
		   "Jaeger, Zipkin and\n"
		   "Chrome traces, message traces, causal event graphs.",
	  .options = analyze_options,
	  .examples = analyze_examples,
	  .inputs_min = 1,
	  .run = cmd_analyze },
	{ .name = "learn",
	  .summary = "learn from the program itself what its log lines mean",
	  .usage = "PROGRAM... -o FILE | --show FILE",
	  .about =
		  "Programs are jars, wars, folders with jars or class files, and class files. "
		  "Give "
		  "all that runs\n"
		  "together, libraries and clients included: what is not given cannot be followed.",
	  .options = learn_options,
	  .examples = learn_examples,
	  .inputs_min = 1,
	  .run = cmd_learn },
	{ .name = "record",
	  .summary = "watch a running system, then say what is slow and why",
	  .usage = "--messages [-- COMMAND...] | --jvm --pid PID...",
	  .about = "Until Ctrl-C, the time given, or the end of the command. Capturing packets "
		   "needs root or CAP_NET_RAW; watching sockets needs root.",
	  .options = record_options,
	  .run = cmd_record },
	{ .name = "agent",
	  .summary = "send what the logs of this host name to a hub, as they are written",
	  .usage = "--logs --to HOST:PORT [FILE|DIR...] | --queries --hub HOST:PORT",
	  .about = "Without files, all logs that processes of this host have open are found and "
		   "read. Rotation,\n"
		   "truncation and kill -9 lose no line and read none twice.",
	  .options = agent_options,
	  .run = cmd_agent },
	{ .name = "hub",
	  .summary = "keep a run of the objects that the logs of many hosts name up to date",
	  .usage = "--listen HOST:PORT -o FILE | --queries [--listen ENDPOINT] [--keys DIR] | "
		   "--status ENDPOINT",
	  .about =
		  "Agents send here. Each message is on disk before it is acknowledged, and "
		  "counts once.\n"
		  "With --queries it hands live queries to agents and puts their results together.",
	  .options = hub_options,
	  .run = cmd_hub },
	{ .name = "export",
	  .summary = "write a run for the tools that people already use",
	  .usage = "RUN|INPUT... --format NAME | --store ADDRESS",
	  .options = export_options,
	  .examples = export_examples,
	  .inputs_min = 1,
	  .run = cmd_export },
	{ .name = "serve",
	  .summary = "show runs on a page in the browser, on this machine",
	  .usage = "[RUN|INPUT...]",
	  .about = "Raw inputs are analyzed while the page is open already. Without any, "
		   "run.culprit is shown.",
	  .options = serve_options,
	  .examples = serve_examples,
	  .run = cmd_serve },
	{ .name = "step",
	  .summary = "one step of a distributed run, as engines call them",
	  .usage = "plan INPUT... | map | combine | shuffle | reduce | merge",
	  .about = "For engines that analyze --on does not know: map turns lines on standard input "
		   "into records,\n"
		   "combine packs them, shuffle deals out to reducers what was sorted bytewise, "
		   "reduce "
		   "makes requests,\n"
		   "merge makes a run of records and requests.",
	  .options = step_options,
	  .inputs_min = 1,
	  .run = cmd_step },
	{ .name = "tracepoints",
	  .summary = "list, check and test definitions of tracepoints for live queries",
	  .usage = "[SET|FILE...]",
	  .about = "Sets come with culprit: cassandra, hadoop, hbase, hdfs, linux, logs, "
		   "postgresql, rpc, stress, yarn; without any, all of them are listed.\n"
		   "docs/tracepoints.md tells how a file defines them.",
	  .options = tracepoints_options,
	  .examples = tracepoints_examples,
	  .run = cmd_tracepoints },
	{ .name = "attach",
	  .summary = "load the agent library into a running JVM",
	  .usage = "PID",
	  .about = "It is idle there until a query asks for something. The JVM may be in a "
		   "container; one of another\nuser needs root.",
	  .options = attach_options,
	  .inputs_min = 1,
	  .inputs_max = 1,
	  .run = cmd_attach },
	{ .name = "completion",
	  .summary = "print the completion script of a shell",
	  .usage = "bash|zsh",
	  .options = no_options,
	  .inputs_min = 1,
	  .inputs_max = 1,
	  .run = cmd_completion },
	{ .name = "help",
	  .summary = "show what a command does",
	  .usage = "[COMMAND]",
	  .options = help_options,
	  .inputs_max = 1,
	  .run = cmd_help },
};

#define NR_BUILTIN (sizeof(builtin) / sizeof(*builtin))
#define COMMANDS_MAX 64

static const struct option shared_options[] = { SHARED_OPTIONS, { 0 } };

static size_t count(const struct option *o)
{
	size_t nr = 0;

	while (o && o[nr].name)
		nr++;
	return nr;
}

static bool has_option(const struct option *o, const char *name)
{
	for (; o && o->name; o++)
		if (!strcmp(o->name, name))
			return true;
	return false;
}

static void add_options(struct option *all, const struct option *more)
{
	size_t nr = count(all);

	for (; more->name; more++)
		if (!has_option(all, more->name))
			all[nr++] = *more;
}

/* Questions that can be put to something that runs, too: with these options, by that command. */
static const struct live {
	const char *question, *usage, *about;
	const struct option *options;
	int (*run)(const struct call *call);
} live[] = {
	{ "variance", "RUN|INPUT... | -p PID | -- COMMAND...",
	  "Of a process, functions are watched where they begin and end, round after round, closer "
	  "to what\nvaries each time; nothing is recompiled or restarted. Needs the right to "
	  "trace it (root, or its user).",
	  variance_options, cmd_variance },
	{ "query", "RUN|INPUT... 'From ...' | --live --pid PID|--hub HOST:PORT 'From ...'",
	  "docs/query.md and culprit-query(1) tell the language; -> is the run's happened-before, "
	  "never a\ncomparison of times.",
	  query_options, cmd_query },
};

static const struct live *live_of(const struct question *q)
{
	for (size_t i = 0; i < sizeof(live) / sizeof(*live); i++)
		if (!strcmp(live[i].question, q->name))
			return &live[i];
	return NULL;
}

/* A question's own options, then those of every question but for names that it uses otherwise.
 * Lives as long as the program. */
static const struct option *with_shared(const struct question *q)
{
	const struct live *l = live_of(q);
	size_t nr = count(q->options) + count(l ? l->options : NULL) + count(selection_options) +
		    count(shared_options);
	struct option *all = mem_zalloc(mem_bytes(nr + 1, sizeof(*all)));

	add_options(all, q->options);
	if (l)
		add_options(all, l->options);
	if (selection_is_for(q))
		add_options(all, selection_options);
	add_options(all, shared_options);
	return all;
}

static struct command command_of(const struct question *q)
{
	struct command c = { .name = q->name,
			     .summary = q->summary,
			     .usage = q->nr_runs == 2 ? "BEFORE AFTER" : "RUN|INPUT...",
			     .options = with_shared(q),
			     .examples = q->examples,
			     .question = q,
			     .inputs_min = q->nr_runs,
			     .inputs_max = q->nr_runs == 2 ? 2 : 0,
			     .run = cmd_ask };
	const struct live *l = live_of(q);

	if (l) {
		c.usage = l->usage;
		c.about = l->about;
		c.inputs_min = 0;
		c.run = l->run;
	}
	return c;
}

const struct command *command_table(size_t *nr)
{
	static struct command all[COMMANDS_MAX];
	static size_t filled;

	if (!filled) {
		all[filled++] = builtin[0];
		for (size_t i = 0; questions[i] && filled + NR_BUILTIN < COMMANDS_MAX; i++)
			all[filled++] = command_of(questions[i]);
		for (size_t i = 1; i < NR_BUILTIN; i++)
			all[filled++] = builtin[i];
	}
	*nr = filled;
	return all;
}

const struct command *command_find(const char *name)
{
	size_t nr;
	const struct command *all = command_table(&nr);

	for (size_t i = 0; i < nr; i++)
		if (!strcmp(all[i].name, name))
			return &all[i];
	return NULL;
}

const char *call_get(const struct call *call, const char *name)
{
	for (size_t i = 0; call->options[i].name; i++)
		if (!strcmp(call->options[i].name, name))
			return call->values[i];
	return NULL;
}
