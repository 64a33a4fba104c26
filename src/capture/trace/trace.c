#include "capture/trace/trace.h"

#include <errno.h>
#include <sys/resource.h>
#include <time.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "capture/capture.h"
#include "capture/trace/deliver.h"
#include "capture/trace/points.h"
#include "capture/trace/spans.h"
#include "capture/weave/weave.h"
#include "model/sink.h"

#define ROWS_NS (20 * NS_MS) /* how often rows are taken */
#define READ_NICE (-5)
#define LINKS_ID 1 /* first: a link goes before what it is of */
#define ROWS_ID 2

struct recording {
	const struct trace_options *o;
	const struct capture *c;
	struct weave *weave;
	struct trace_spans *spans;
	struct deliver deliver;
	struct capture_state state;
	struct buf points, query, told;
};

static int enter(struct recording *r, struct error *err)
{
	const struct weave_options o = { .overhead = r->o->overhead };
	int got = weave_open(&r->weave, &o, err);

	for (size_t i = 0; got >= 0 && i < r->o->nr_pids; i++)
		got = weave_enter(r->weave, r->o->pids[i], &r->told, err);
	return got;
}

static int install(struct recording *r, uint64_t id, struct buf *told, struct error *err)
{
	const struct weave_request q = { .id = id,
					 .text = buf_str(&r->query),
					 .tracepoints = buf_str(&r->points),
					 .file = STR("recording"),
					 .row = id == ROWS_ID ? trace_spans_row : trace_spans_link,
					 .ctx = r->spans };

	return weave_install(r->weave, &q, told, err);
}

/* "process 17: no method a.b.C.m is loaded yet; …": which one is meant; NULL: none. */
static const struct trace_point *point_missing(const struct trace_points *points, struct str line)
{
	size_t at = str_find(line, STR(" is loaded yet;"));

	vec_each (&points->v, p) {
		struct str name = str_head(p->place, str_find_char(p->place, '('));

		if (at < line.n && str_ends(str_head(line, at), name))
			return p;
	}
	return NULL;
}

/* Each once, though beginning, end and exception may be told; but for those that nobody named. */
static void told_pass(struct recording *r)
{
	struct str left = buf_str(&r->told), line;
	struct buf kept = { 0 };

	while (str_take_line(&left, &line)) {
		const struct trace_point *p = point_missing(r->o->points, line);

		if ((!p || !p->is_offered) && str_find(buf_str(&kept), line) == kept.n)
			buf_fmt(&kept, STR_FMT "\n", STR_ARG(line));
	}
	if (kept.n && r->o->told)
		r->o->told(r->o->to, &kept);
	buf_done(&kept);
}

/* What is told of one query would be told of the other as well. */
static int weave_all(struct recording *r, struct error *err)
{
	struct buf again = { 0 };
	int got;

	trace_points_define(r->o->points, &r->points);
	trace_points_links(r->o->points, &r->query);
	got = install(r, LINKS_ID, &r->told, err);
	buf_clear(&r->query);
	trace_points_rows(r->o->points, &r->query);
	if (got >= 0)
		got = install(r, ROWS_ID, &again, err);
	buf_done(&again);
	told_pass(r);
	if (got == 0)
		return error_set(err, ENOENT, "none of these methods is in these processes");
	return got;
}

static int tell_file(struct recording *r, struct error *err)
{
	struct sink *sink = r->c->sink;
	struct file_seen seen = { .path = STR("java"),
				  .name = STR("java"),
				  .format = STR("live java") };
	uint32_t file = 0;
	int got = sink->file(sink->to, &seen, &file, err);

	if (got >= 0)
		deliver_init(&r->deliver, sink, file, r->o->pids, r->o->nr_pids);
	return got;
}

static int pass_on(struct recording *r, bool is_over, struct error *err)
{
	struct weave_health h;
	int got = trace_spans_tell(r->spans, is_over, deliver_one, &r->deliver);

	if (got >= 0)
		got = deliver_flush(&r->deliver, err);
	weave_health(r->weave, &h);
	r->state.seen = (struct capture_seen){ trace_spans_counts(r->spans)->nr_spans,
					       h.losses.count[LOSS_ROWS_DROPPED] };
	capture_tell(r->c, &r->state);
	return got;
}

/* Little to do, but in time: what is not read is dropped. Who may not has to do without. */
static void hurry(int nice)
{
	if (getpriority(PRIO_PROCESS, 0) != nice && setpriority(PRIO_PROCESS, 0, nice) < 0)
		errno = 0;
}

static int watch(struct recording *r, struct error *err)
{
	int64_t next = time_tick();
	int got = 0;

	while (got == 0 && !capture_is_over(r->c, &r->state)) {
		bool is_due = time_tick() >= next;

		nanosleep(&(struct timespec){ .tv_nsec = ROWS_NS }, NULL);
		got = weave_gather(r->weave, is_due, err);
		trace_spans_pass(r->spans);
		if (got < 0 || !is_due)
			continue;
		next += NS_S / 5;
		if (pass_on(r, false, err) < 0)
			return -err->code;
	}
	return got < 0 ? got : 0;
}

static void losses_tell(struct recording *r)
{
	const struct trace_counts *n = trace_spans_counts(r->spans);
	struct losses *to = r->c->sink->losses;
	struct weave_health h;

	weave_health(r->weave, &h);
	losses_add(to, &h.losses);
	to->count[LOSS_ROWS_CUT] += n->nr_cut;
	to->count[LOSS_ROWS_BROKEN] += n->nr_broken;
}

/*
 * What is at work is waited for no longer: it is told as far as it has come. A machine that ends
 * just now takes nothing back, and needs not; what it told is kept.
 */
static int end(struct recording *r, struct error *err)
{
	struct error ignored = { 0 };
	int got;

	trace_spans_until(r->spans, time_now());
	weave_remove(r->weave, LINKS_ID, &ignored);
	weave_remove(r->weave, ROWS_ID, &ignored);
	got = pass_on(r, true, err);
	losses_tell(r);
	return got;
}

int trace_record(const struct trace_options *o, const struct capture *c, struct error *err)
{
	struct recording r = { .o = o, .c = c, .spans = trace_spans_new(o->points) };
	int got = enter(&r, err), usual;

	if (got >= 0)
		got = weave_all(&r, err);
	if (got >= 0)
		got = tell_file(&r, err);
	if (got >= 0) {
		trace_spans_from(r.spans, time_now());
		got = capture_ready(c, &r.state, err);
	}
	usual = getpriority(PRIO_PROCESS, 0);
	if (usual > READ_NICE)
		hurry(READ_NICE);
	if (got >= 0)
		got = watch(&r, err);
	if (got >= 0)
		got = end(&r, err);
	hurry(usual);
	weave_close(r.weave);
	trace_spans_free(r.spans);
	deliver_done(&r.deliver);
	buf_done(&r.points);
	buf_done(&r.query);
	buf_done(&r.told);
	return got < 0 ? got : 0;
}
