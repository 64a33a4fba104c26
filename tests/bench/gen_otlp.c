/*
 * Writes OTLP JSON lines of a shop made of four services, always the same for the same seed.
 *
 * usage: gen_otlp SPANS SEED [SPANS_A_LINE] > file
 *
 *	frontend -> cart -> db
 *	         -> payment -> db
 *
 * Each request is one trace of eight spans (client and server side of every call). Durations are
 * lognormal; one of the three replicas of payment is slow, and one request in fifty fails there.
 * A line holds the spans of one process, as a collector batches them; by default one span a line.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { NR_SERVICES = 4, NR_REPLICAS = 3, SPANS_A_TRACE = 8 };
enum { FRONTEND, CART, PAYMENT, DB };

static const char *const services[NR_SERVICES] = { "frontend", "cart", "payment", "db" };

/* A line being gathered. */
struct line {
	FILE *out;
	char *text;
	size_t bytes;
	unsigned nr;
};

struct gen {
	uint64_t seed;
	uint64_t left; /* spans still to write */
	unsigned per_line;
	struct line lines[NR_SERVICES][NR_REPLICAS];
};

struct made {
	uint64_t trace[2], id, parent;
	int service, replica, kind;
	int64_t start, end;
	int failed;
	const char *name;
};

static uint64_t next(struct gen *g)
{
	uint64_t z = (g->seed += 0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static double uniform(struct gen *g)
{
	return ((double)(next(g) >> 11) + 0.5) / 9007199254740992.0;
}

/* Nanoseconds around the median, with a long tail. */
static int64_t lognormal(struct gen *g, double median_ms, double sigma)
{
	double normal = sqrt(-2 * log(uniform(g))) * cos(6.283185307179586 * uniform(g));

	return (int64_t)(median_ms * 1e6 * exp(sigma * normal));
}

static void close_line(struct line *l)
{
	if (!l->out)
		return;
	fputs("]}]}]}\n", l->out);
	fclose(l->out);
	fwrite(l->text, 1, l->bytes, stdout);
	free(l->text);
	*l = (struct line){ 0 };
}

static FILE *open_line(struct line *l, const struct made *m)
{
	if (l->nr++) {
		fputc(',', l->out);
		return l->out;
	}
	l->out = open_memstream(&l->text, &l->bytes);
	if (!l->out)
		abort();
	fprintf(l->out,
		"{\"resourceSpans\":[{\"resource\":{\"attributes\":["
		"{\"key\":\"service.name\",\"value\":{\"stringValue\":\"%s\"}},"
		"{\"key\":\"host.name\",\"value\":{\"stringValue\":\"%s-%d\"}}]},\"scopeSpans\":"
		"[{\"scope\":{\"name\":\"shop\",\"version\":\"1.4.2\"},\"spans\":[",
		services[m->service], services[m->service], m->replica);
	return l->out;
}

static void write_span(struct gen *g, const struct made *m)
{
	struct line *l = &g->lines[m->service][m->replica];
	FILE *out;

	if (!g->left)
		return;
	g->left--;
	out = open_line(l, m);
	fprintf(out, "{\"traceId\":\"%016llx%016llx\",\"spanId\":\"%016llx\",",
		(unsigned long long)m->trace[0], (unsigned long long)m->trace[1],
		(unsigned long long)m->id);
	if (m->parent)
		fprintf(out, "\"parentSpanId\":\"%016llx\",", (unsigned long long)m->parent);
	fprintf(out,
		"\"name\":\"%s\",\"kind\":%d,\"startTimeUnixNano\":\"%lld\","
		"\"endTimeUnixNano\":\"%lld\",\"attributes\":["
		"{\"key\":\"http.request.method\",\"value\":{\"stringValue\":\"GET\"}},"
		"{\"key\":\"http.response.status_code\",\"value\":{\"intValue\":\"%d\"}},"
		"{\"key\":\"thread.id\",\"value\":{\"intValue\":\"%llu\"}}],\"status\":{%s}}",
		m->name, m->kind, (long long)m->start, (long long)m->end, m->failed ? 503 : 200,
		(unsigned long long)(m->id % 16), m->failed ? "\"code\":2" : "");
	if (l->nr >= g->per_line)
		close_line(l);
}

/* A call from one service to another: the client's span around the server's. Returns its end. */
static int64_t call(struct gen *g, struct made *client, struct made *server, int64_t start,
		    int64_t work)
{
	int64_t there = lognormal(g, 0.2, 0.3), back = lognormal(g, 0.2, 0.3);

	client->kind = 3;
	server->kind = 2;
	client->start = start;
	server->start = start + there;
	server->end = server->start + work;
	client->end = server->end + back;
	return client->end;
}

static void write_trace(struct gen *g, int64_t at)
{
	static const struct {
		int service, parent;
		const char *name;
	} plan[SPANS_A_TRACE] = {
		{ FRONTEND, -1, "GET /checkout" }, { FRONTEND, 0, "cart.Get" },
		{ CART, 1, "cart.Get" },           { CART, 2, "SELECT items" },
		{ FRONTEND, 0, "payment.Charge" }, { PAYMENT, 4, "payment.Charge" },
		{ PAYMENT, 5, "INSERT charge" },   { DB, 6, "INSERT charge" }
	};
	struct made m[SPANS_A_TRACE] = { 0 };
	int replica[NR_SERVICES];
	int64_t now;

	for (int i = 0; i < NR_SERVICES; i++)
		replica[i] = (int)(next(g) % NR_REPLICAS);
	m[0].trace[0] = next(g);
	m[0].trace[1] = next(g);
	for (int i = 0; i < SPANS_A_TRACE; i++) {
		m[i].trace[0] = m[0].trace[0];
		m[i].trace[1] = m[0].trace[1];
		m[i].id = next(g) | 1;
		m[i].parent = plan[i].parent < 0 ? 0 : m[plan[i].parent].id;
		m[i].service = plan[i].service;
		m[i].replica = replica[plan[i].service];
		m[i].name = plan[i].name;
		m[i].kind = 1;
	}
	m[0].kind = 2;
	m[0].start = at;
	now = call(g, &m[1], &m[2], at + lognormal(g, 0.5, 0.5), lognormal(g, 6, 0.5));
	m[3].start = m[2].start + (m[2].end - m[2].start) / 4;
	m[3].end = m[2].end - (m[2].end - m[2].start) / 4;
	now = call(g, &m[4], &m[5], now + lognormal(g, 0.5, 0.5),
		   lognormal(g, replica[PAYMENT] == 2 ? 45 : 12, 0.6));
	call(g, &m[6], &m[7], m[5].start + (m[5].end - m[5].start) / 3,
	     (m[5].end - m[5].start) / 4);
	m[5].failed = m[4].failed = m[0].failed = next(g) % 50 == 0;
	m[0].end = now + lognormal(g, 0.8, 0.5);
	for (int i = 0; i < SPANS_A_TRACE; i++)
		write_span(g, &m[i]);
}

int main(int argc, char **argv)
{
	struct gen g = { 0 };
	int64_t at = 1767225600000000000; /* 2026-01-01 */

	if (argc < 3) {
		fprintf(stderr, "usage: gen_otlp SPANS SEED [SPANS_A_LINE] > file\n");
		return 2;
	}
	g.left = strtoull(argv[1], NULL, 10);
	g.seed = strtoull(argv[2], NULL, 10);
	g.per_line = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1;
	while (g.left) {
		at += (int64_t)(-log(uniform(&g)) * 4e6);
		write_trace(&g, at);
	}
	for (int i = 0; i < NR_SERVICES * NR_REPLICAS; i++)
		close_line(&g.lines[i / NR_REPLICAS][i % NR_REPLICAS]);
	return fflush(stdout) ? 1 : 0;
}
