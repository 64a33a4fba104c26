#include "host/reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/names.h"
#include "base/time.h"
#include "base/vec.h"
#include "host/tail.h"
#include "host/tail_file.h"
#include "ident/namer.h"
#include "model/event.h"
#include "model/loss.h"
#include "model/mention.h"
#include "source/layout.h"
#include "source/logs.h"
#include "source/source.h"

#define HEAD_BYTES ((size_t)64 << 10) /* shows a layout */
#define LINE_MAX_BYTES ((size_t)16 << 10)
#define LIVE_NS (10 * NS_S) /* since it was written */
#define LAYOUTS_MAX 1024    /* of logs, kept at a time */
#define NONE_MAX 50         /* lines in a row that begin no event: the layout is another by now */

struct reader_log {
	struct str name;
	struct logs logs;
	bool has_layout;
	uint64_t turn;    /* when it was read last */
	size_t tried;     /* bytes of its beginning that showed no layout */
	unsigned nr_none; /* lines since an event began */
};

struct reader {
	struct reader_options o;
	struct names names;            /* of logs */
	VEC(struct reader_log *) logs; /* by the number of their name */
	struct namer *namer;
	struct arena round; /* of the mentions */
	VEC(struct mention *) mentions;
	size_t bytes;
	uint64_t turn;
	unsigned nr_layouts; /* about */
};

/* The lines of one call. */
struct reading {
	struct reader *r;
	struct reader_log *log;
	int64_t now;
	bool is_live;    /* the log is being written */
	struct event ev; /* that goes on */
	bool has_event;
	struct str message;
	const char *began;  /* where its line stands */
	struct losses lost; /* of it alone: it may be read again */
};

struct reader *reader_new(const struct reader_options *o)
{
	struct reader *r = mem_zalloc(sizeof(*r));

	r->o = *o;
	reader_know(r, NULL);
	return r;
}

void reader_know(struct reader *r, const struct constants *constants)
{
	const struct namer_options options = { r->o.overrides, constants };

	namer_free(r->namer);
	r->namer = namer_new(&options);
}

void reader_free(struct reader *r)
{
	vec_each (&r->logs, log) {
		if (!*log)
			continue;
		logs_close(&(*log)->logs);
		free(*log);
	}
	vec_done(&r->logs);
	names_done(&r->names);
	namer_free(r->namer);
	arena_done(&r->round);
	vec_done(&r->mentions);
	free(r);
}

static struct reader_log *log_of(struct reader *r, struct str name)
{
	sym_t sym = names_add(&r->names, name);

	while (r->logs.nr <= sym)
		vec_push(&r->logs, NULL);
	if (!r->logs.v[sym]) {
		r->logs.v[sym] = mem_zalloc(sizeof(**r->logs.v));
		r->logs.v[sym]->name = names_str(&r->names, sym);
	}
	return r->logs.v[sym];
}

/* From the beginning of the file, which has the most lines, or from what is there. */
static void learn(struct reader *r, struct reader_log *log, const struct tail_log *from,
		  struct str bytes)
{
	const struct source_options o = { .layout = r->o.layout,
					  .zone = r->o.zone,
					  .is_bare = true };
	char *head = mem_alloc(HEAD_BYTES);
	ssize_t n = from->fd < 0 ? 0 : pread(from->fd, head, HEAD_BYTES, 0);
	struct logs_about about = { .path = from->path, .mtime_ns = time_now() };
	struct error err;
	struct stat st;

	about.head = n > (ssize_t)bytes.n ? (struct str){ head, (size_t)n } : bytes;
	if (from->fd >= 0 && !fstat(from->fd, &st))
		about.mtime_ns = tail_file_mtime(&st);
	if (about.head.n >= 2 * log->tried) {
		log->has_layout = logs_open(&log->logs, &about, &o, &err) >= 0;
		log->tried = about.head.n;
		log->nr_none = 0;
	}
	free(head);
}

/* Its lines stopped looking like that. */
static void unlearn(struct reader_log *log)
{
	logs_close(&log->logs);
	log->has_layout = false;
	log->tried = 0;
	log->nr_none = 0;
}

/* Logs come and go: those that nobody wrote to for long are learned anew when somebody does. */
static void limit_layouts(struct reader *r)
{
	if (r->nr_layouts < LAYOUTS_MAX)
		return;
	r->nr_layouts = 0;
	vec_each (&r->logs, log) {
		if (*log && (*log)->has_layout && (*log)->turn + LAYOUTS_MAX / 2 < r->turn)
			unlearn(*log);
		r->nr_layouts += *log && (*log)->has_layout;
	}
}

static size_t bytes_of(const struct mention *m)
{
	size_t n = 64 + m->title.n + m->thread.n;

	for (size_t i = 0; i < m->nr; i++)
		n += m->v[i].type.n + m->v[i].value.n + 16;
	return n;
}

/* The namer puts lines of one origin together: the log is part of it. */
static struct str origin_of(struct reading *g, struct str node)
{
	struct reader *r = g->r;
	char *to;

	if (str_eq(node, r->o.host))
		return g->log->name;
	to = arena_room(&r->round, g->log->name.n + 1 + node.n);
	memcpy(to, g->log->name.p, g->log->name.n);
	to[g->log->name.n] = 0;
	if (node.n)
		memcpy(to + g->log->name.n + 1, node.p, node.n);
	return (struct str){ to, g->log->name.n + 1 + node.n };
}

static void mention(struct reading *g, struct str text, const struct event *ev, struct str node)
{
	struct reader *r = g->r;
	const struct namer_where at = { origin_of(g, node), ev->thread, ev->level };
	struct mention *m = namer_line(r->namer, text, &at, &r->round, r->o.losses);

	if (!m->count) {
		m->file = g->log->name;
		vec_push(&r->mentions, m);
		r->bytes += bytes_of(m);
	}
	mention_count(m, ev->ns == NS_NONE ? g->now : ev->ns);
}

/* A path is no place where something happens live: this host is. */
static struct str node_of(const struct reading *g, const struct event *ev)
{
	struct str by_path = g->log->has_layout ? layout_node(g->log->logs.layout) : STR("");

	return !ev->node.n || str_eq(ev->node, by_path) ? g->r->o.host : ev->node;
}

/* The event has its end. */
static void end_event(struct reading *g)
{
	if (!g->has_event)
		return;
	layout_settle(g->log->logs.layout, &g->ev, 1, &g->lost);
	losses_add(g->r->o.losses, &g->lost);
	mention(g, g->message, &g->ev, node_of(g, &g->ev));
	g->has_event = false;
}

static void read_line(struct reading *g, struct str line)
{
	struct reader_log *log = g->log;
	struct event ev;
	struct losses lost = { 0 };
	const char *began = line.p;

	line = str_head(line, LINE_MAX_BYTES);
	if (layout_parse(log->logs.layout, log->logs.looker, line, &g->r->round, &ev, &lost)) {
		struct str message = layout_naming(log->logs.looker);

		end_event(g);
		g->ev = ev;
		g->has_event = true;
		g->message = message;
		g->began = began;
		g->lost = lost;
		log->nr_none = 0;
		return;
	}
	log->nr_none++;
	losses_add(g->has_event ? &g->lost : g->r->o.losses, &lost);
	if (g->has_event && log->logs.has_more) {
		layout_more(log->logs.layout, log->logs.looker, line, &g->r->round, &g->ev,
			    &g->lost);
		g->message = layout_naming(log->logs.looker);
	}
}

/* Text without a time: each line is an event of now, if it is seen to be written. Of older ones
 * nothing tells when they were, and they are passed over as culprit-analyze does. */
static void read_undated(struct reading *g, struct str line)
{
	const struct event ev = { .ns = NS_NONE, .level = LEVEL_NONE };

	g->r->o.losses->count[LOSS_LINES_NO_TIME]++;
	if (g->is_live)
		mention(g, str_head(line, LINE_MAX_BYTES), &ev, g->r->o.host);
}

static bool is_written(const struct tail_log *from, int64_t now)
{
	struct stat st;

	return from->fd >= 0 && !fstat(from->fd, &st) && tail_file_mtime(&st) > now - LIVE_NS;
}

size_t reader_take(struct reader *r, const struct tail_log *from, struct str bytes, bool is_whole,
		   int64_t now)
{
	struct reading g = { .r = r, .log = log_of(r, str_of(from->name)), .now = now };
	struct str rest, line;
	size_t used = bytes.n;

	g.is_live = is_written(from, now);
	if (g.log->has_layout && g.log->nr_none > NONE_MAX)
		unlearn(g.log);
	g.log->turn = ++r->turn;
	if (!g.log->has_layout) {
		limit_layouts(r);
		learn(r, g.log, from, bytes);
		r->nr_layouts += g.log->has_layout;
	}
	/* a line or two show less than a few more do */
	if (!g.log->has_layout && !is_whole)
		return 0;
	bytes = rest = arena_str(&r->round, bytes);
	while (str_take_line(&rest, &line)) {
		if (g.log->has_layout)
			read_line(&g, line);
		else if (line.n)
			read_undated(&g, line);
	}
	if (g.has_event && !is_whole)
		used = (size_t)(g.began - bytes.p);
	else
		end_event(&g);
	r->bytes += 200; /* the note of its place */
	return used;
}

struct mention *const *reader_mentions(const struct reader *r, size_t *nr)
{
	*nr = r->mentions.nr;
	for (size_t i = 0; i < r->mentions.nr; i++) {
		struct mention *m = r->mentions.v[i];
		size_t at = str_find_char(m->node, 0);

		m->node = at == m->node.n ? r->o.host : str_skip(m->node, at + 1);
	}
	return r->mentions.v;
}

size_t reader_bytes(const struct reader *r)
{
	return r->bytes;
}

void reader_clear(struct reader *r)
{
	vec_clear(&r->mentions);
	namer_begin(r->namer);
	arena_reset(&r->round);
	r->bytes = 0;
}
