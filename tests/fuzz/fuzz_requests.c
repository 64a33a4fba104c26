/*
 * Any lines become requests or none: each line is in one request at the most, a request holds its
 * lines, and its spans stand as a tree.
 *
 * A line of the input is: how long after the one before, which log and thread, what to do with it,
 * then its text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/time.h"
#include "infer/requests/harvest.h"
#include "infer/requests/requests.h"
#include "infer/requests/sight.h"
#include "store/store.h"

enum { LINES_MAX = 2000, LOGS = 4 };

static void must(bool holds)
{
	if (!holds)
		abort();
}

static const char *const logs[LOGS] = { "nn.log", "dn1.log", "syslog_attempt_17_0001_m_000001",
					"app/application_17_0001/stderr" };
static const char *const threads[] = { "main",           "handler 3 on 8020", "handler 4 on 8020",
				       "pool-1-thread-", "write blk_1_2",     "",
				       "t[x=1]",         "Thread-99" };

/* 0x1 undated, 0x2 with a key, 0x4 an error, 0x8 what was packed is the text itself. */
static void tell(struct harvest *g, struct store *s, struct str line, int64_t *ns)
{
	struct event ev = { .kind = EVENT_LOG, .nr_lines = 1, .node = STR("n"), .duration = -1 };
	struct sink sink = store_sink(s);
	struct arena arena = { 0 };
	struct error err;
	const unsigned char *p = (const unsigned char *)line.p;

	if (line.n < 3)
		return;
	*ns += (int64_t)p[0] * p[0] * NS_MS;
	ev.ns = p[2] & 1 ? NS_NONE : *ns;
	ev.file = 1 + p[1] % LOGS;
	ev.thread = str_of(threads[p[1] / LOGS % (sizeof(threads) / sizeof(*threads))]);
	ev.level = p[2] & 4 ? LEVEL_ERROR : LEVEL_INFO;
	line = str_skip(line, 3);
	sight_event(NULL, &ev, line, &arena);
	if (p[2] & 8)
		ev.values = line;
	if (p[2] & 2) {
		ev.key_kind = KEY_REQUEST;
		ev.key = STR("r1");
	}
	must(harvest_events(g, &ev, 1, &err) == 0);
	must(sink.events(sink.to, &ev, 1, &err) == 0);
	arena_done(&arena);
}

static int check(void *ctx, const struct request *r, const struct request_body *body)
{
	uint8_t *seen = ctx;

	must(body->nr_events > 0 && body->nr_spans > 0 && r->start <= r->end);
	must(r->confidence >= 0 && r->confidence <= 1);
	for (size_t i = 0; i < body->nr_events; i++) {
		must(body->events[i] < LINES_MAX && !seen[body->events[i]]);
		seen[body->events[i]] = 1;
		must(body->event_span[i] < body->nr_spans);
	}
	for (size_t i = 0; i < body->nr_spans; i++)
		must(body->spans[i].parent < i || (!i && body->spans[i].parent == SPAN_NONE));
	for (size_t i = 0; i < body->nr_edges; i++)
		must(body->edges[i].from < body->nr_spans && body->edges[i].to < body->nr_spans);
	return 0;
}

static void add_logs(struct harvest *g, struct store *s)
{
	struct sink sink = store_sink(s);
	struct error err;

	for (int i = 0; i < LOGS; i++) {
		struct file_seen file = { .path = str_of(logs[i]), .format = STR("logs") };
		uint32_t number;

		must(sink.file(sink.to, &file, &number, &err) == 0);
		harvest_file(g, number, str_of(logs[i]));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size }, line;
	struct infer_options o = INFER_DEFAULTS;
	const struct request_filter all = { 0 };
	/* of few lines, so that there are several */
	struct harvest g = { .window = size % 7 ? 0 : 20 };
	uint8_t seen[LINES_MAX] = { 0 };
	struct error err;
	struct store *s;
	int64_t ns = 1700000000LL * NS_S;

	must(store_create(&s, NULL, &err) == 0);
	add_logs(&g, s);
	for (int i = 0; i < LINES_MAX && str_take_line(&text, &line); i++)
		tell(&g, s, line, &ns);
	must(harvest_end(&g, &err) == 0);
	o.harvest = &g;
	must(infer_requests.run(s, &o, &err) >= 0);
	must(store_finish(s, &err) == 0);
	must(store_each_body(s, &all, check, seen, &err) == 0);
	store_close(s);
	harvest_done(&g);
	return 0;
}
