/*
 * Writes a message trace and its truth, always the same for the same arguments, after the generator
 * of "Performance debugging for distributed systems of black boxes" (section 7.1.1).
 *
 * usage: gen_messages CASE PARALLELISM MESSAGES SEED TRUTH [sd=0.2] [think=0.1] [rate=0] [queue=64]
 *                     [skew=NODE:SECONDS] > trace
 *
 * A case is a name of the table below or its own list of tracelets: "A:B(C,D(E)|F)" has a client A
 * call B, which calls C and D one after the other and F at the same time as D; several stand side
 * by side with spaces between. Each of the PARALLELISM clients takes a tracelet in turn and repeats
 * it with a uniformly random think time. Every delay is Gaussian with deviation sd: 50 ms before a
 * call, 10 ms before a return. rate is what a sniffer can take in messages a second before its
 * queue overflows (0: everything). The truth says for each line its instance and the line of its
 * parent call (0 for none, and for returns).
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS_MAX = 64, TRACELETS_MAX = 32, NAME_MAX_BYTES = 24 };

static const struct {
	const char *name, *tracelets;
} cases[] = {
	{ "multitier", "CL0:WS1(AUTH(DB1),AP1(DB2)) CL1:WS2(AP2(DB1,DB2)) CL2:WS1(AP2(DB2)) "
		       "CL0:WS2(AUTH(DB1),AP1(DB1|DB2)) CL1:WS2(AUTH)" },
	{ "children-parallel", "A:B(C|C)" },
	{ "children-02", "A:B(C,C) A:B" },
	{ "children-dcc", "A:B(C,C) A:B(D)" },
	{ "penalty-breaker", "A:B(C,C,D) A:B(D,C,C) A:B(D)" },
};

/* One call of a tracelet; kids stand behind it. */
struct tcall {
	char to[NAME_MAX_BYTES];
	int parent;
	int beside; /* starts together with the call before it */
};

struct tracelet {
	char client[NAME_MAX_BYTES];
	struct tcall calls[CALLS_MAX];
	int nr;
};

struct message {
	double t;
	long instance, id, parent; /* ids of calls; parent 0 for a root */
	const char *from, *to;
	int is_return;
	long order;
};

struct gen {
	uint64_t seed;
	double sd, think;
	struct tracelet tracelets[TRACELETS_MAX];
	int nr_tracelets;
	struct message *v;
	long nr, room, nr_ids, nr_instances;
};

static double uniform(struct gen *g)
{
	uint64_t z = (g->seed += 0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	z ^= z >> 31;
	return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

static double delay(struct gen *g, double mean)
{
	double n = sqrt(-2 * log(uniform(g))) * cos(6.283185307179586 * uniform(g));
	double d = mean * (1 + g->sd * n);

	return d > 1e-6 ? d : 1e-6;
}

static void fail(const char *what)
{
	fprintf(stderr, "gen_messages: %s\n", what);
	exit(2);
}

static const char *read_name(const char *s, char *name)
{
	size_t n = strcspn(s, ":(),| ");

	if (!n || n >= NAME_MAX_BYTES)
		fail("a tracelet needs names of up to 23 letters");
	memcpy(name, s, n);
	return s + n;
}

/* "B(C,D)" and what follows it on the same level. */
static const char *read_calls(const char *s, struct tracelet *t, int parent)
{
	int beside = 0;

	for (;;) {
		int at = t->nr++;

		if (t->nr > CALLS_MAX)
			fail("a tracelet has too many calls");
		s = read_name(s, t->calls[at].to);
		t->calls[at].parent = parent;
		t->calls[at].beside = beside;
		if (*s == '(') {
			s = read_calls(s + 1, t, at);
			if (*s++ != ')')
				fail("a bracket is missing");
		}
		if (*s != ',' && *s != '|')
			return s;
		beside = *s++ == '|';
	}
}

static void read_tracelets(struct gen *g, const char *s)
{
	while (*s) {
		struct tracelet *t = &g->tracelets[g->nr_tracelets++];

		if (g->nr_tracelets > TRACELETS_MAX)
			fail("too many tracelets");
		s = read_name(s, t->client);
		if (*s++ != ':')
			fail("a tracelet begins with its client and a colon");
		s = read_calls(s, t, -1);
		s += strspn(s, " ");
	}
}

static void add(struct gen *g, struct message m)
{
	if (g->nr == g->room) {
		g->room = g->room ? 2 * g->room : 4096;
		g->v = realloc(g->v, (size_t)g->room * sizeof(*g->v));
		if (!g->v)
			fail("no memory");
	}
	m.order = g->nr;
	g->v[g->nr++] = m;
}

/* Runs call `at` of the tracelet from t on and returns when it returned. */
static double run_call(struct gen *g, const struct tracelet *t, int at, double now, long parent)
{
	const char *from = t->calls[at].parent < 0 ? t->client : t->calls[t->calls[at].parent].to;
	double began = now, group = now, done = now;
	long id = ++g->nr_ids;

	add(g, (struct message){ began, g->nr_instances, id, parent, from, t->calls[at].to, 0, 0 });
	for (int k = at + 1; k < t->nr; k++) {
		double returned;

		if (t->calls[k].parent != at)
			continue;
		if (!t->calls[k].beside)
			group = done;
		returned = run_call(g, t, k, group + delay(g, 0.05), id);
		done = returned > done ? returned : done;
	}
	done += delay(g, 0.01);
	add(g, (struct message){ done, g->nr_instances, id, 0, t->calls[at].to, from, 1, 0 });
	return done;
}

static int by_time(const void *pa, const void *pb)
{
	const struct message *a = pa, *b = pb;

	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Each client goes on by itself; the one that is earliest makes the next request. */
static void run_clients(struct gen *g, int parallelism, long messages)
{
	double *at = calloc((size_t)parallelism, sizeof(*at));

	for (int i = 0; i < parallelism; i++)
		at[i] = uniform(g);
	while (g->nr < messages) {
		int next = 0;

		for (int i = 1; i < parallelism; i++)
			if (at[i] < at[next])
				next = i;
		g->nr_instances++;
		at[next] = run_call(g, &g->tracelets[next % g->nr_tracelets], 0, at[next], 0) +
			   2 * g->think * uniform(g);
	}
	free(at);
}

/* The bounded queue of a sniffer: what comes while it is full is lost. */
static void drop(struct gen *g, double rate, double queue)
{
	double filled = 0, last = g->nr ? g->v[0].t : 0;
	long kept = 0;

	for (long i = 0; i < g->nr && rate > 0; i++) {
		filled -= (g->v[i].t - last) * rate;
		filled = filled < 0 ? 0 : filled;
		last = g->v[i].t;
		if (filled + 1 > queue)
			continue;
		filled++;
		g->v[kept++] = g->v[i];
	}
	if (rate > 0)
		g->nr = kept;
}

static void skew(struct gen *g, const char *what)
{
	size_t n = strcspn(what, ":");

	for (long i = 0; i < g->nr && what[n]; i++)
		if (strlen(g->v[i].from) == n && !strncmp(g->v[i].from, what, n))
			g->v[i].t += atof(what + n + 1);
}

static void write_out(const struct gen *g, const char *path)
{
	long *line = calloc((size_t)g->nr_ids + 1, sizeof(*line));
	FILE *truth = fopen(path, "w");

	if (!truth)
		fail("cannot write the truth");
	for (long i = 0; i < g->nr; i++)
		if (!g->v[i].is_return)
			line[g->v[i].id] = i + 1;
	for (long i = 0; i < g->nr; i++) {
		const struct message *m = &g->v[i];

		printf("%.6f %s %s %s id%ld\n", 1000000000 + m->t,
		       m->is_return ? "RET_SENT" : "CALL_SENT", m->from, m->to, m->id);
		fprintf(truth, "%ld %ld %ld -\n", i + 1, m->instance, line[m->parent]);
	}
	fclose(truth);
	free(line);
}

static const char *option(int argc, char **argv, const char *name, const char *otherwise)
{
	size_t n = strlen(name);

	for (int i = 6; i < argc; i++)
		if (!strncmp(argv[i], name, n) && argv[i][n] == '=')
			return argv[i] + n + 1;
	return otherwise;
}

int main(int argc, char **argv)
{
	static struct gen g;
	const char *tracelets;

	if (argc < 6)
		fail("usage: CASE PARALLELISM MESSAGES SEED TRUTH [sd=] [think=] [rate=] [queue=] "
		     "[skew=NODE:SECONDS]");
	tracelets = argv[1];
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(argv[1], cases[i].name))
			tracelets = cases[i].tracelets;
	g.seed = strtoull(argv[4], NULL, 10);
	g.sd = atof(option(argc, argv, "sd", "0.2"));
	g.think = atof(option(argc, argv, "think", "0.1"));
	read_tracelets(&g, tracelets);
	run_clients(&g, atoi(argv[2]) > 0 ? atoi(argv[2]) : 1, atol(argv[3]));
	skew(&g, option(argc, argv, "skew", ""));
	qsort(g.v, (size_t)g.nr, sizeof(*g.v), by_time);
	drop(&g, atof(option(argc, argv, "rate", "0")), atof(option(argc, argv, "queue", "64")));
	write_out(&g, argv[5]);
	free(g.v);
	return 0;
}
