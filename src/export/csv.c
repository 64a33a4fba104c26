#include "export/csv.h"

#include <string.h>

#include "base/time.h"
#include "export/export.h"
#include "export/feed.h"
#include "model/request.h"
#include "store/store.h"

#define FLUSH_BYTES ((size_t)256 << 10)

static bool needs_quotes(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == ',' || s.p[i] == '"' || s.p[i] == '\n' || s.p[i] == '\r')
			return true;
	/* outer spaces are part of a field, but many readers trim them */
	return s.n && (s.p[0] == ' ' || s.p[s.n - 1] == ' ');
}

/* A name from a log must not become a formula in a spreadsheet. */
static bool is_like_a_formula(struct str s)
{
	return s.n && strchr("=+-@\t\r", s.p[0]) && s.p[0];
}

static void add_text(struct buf *out, struct str s)
{
	bool quotes = needs_quotes(s);

	if (quotes)
		buf_char(out, '"');
	if (is_like_a_formula(s))
		buf_char(out, '\'');
	if (!quotes) {
		buf_add(out, s);
		return;
	}
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '"')
			buf_char(out, '"');
		buf_char(out, s.p[i]);
	}
	buf_char(out, '"');
}

/* "2026-11-15T09:31:15.045000000Z" */
static void add_time(struct buf *out, int64_t ns)
{
	struct civil c;

	time_to_civil(ns, &c);
	buf_fmt(out, "%04d-%02d-%02dT%02d:%02d:%02d.%09dZ", c.year, c.month, c.day, c.hour, c.min,
		c.sec, c.ns);
}

void csv_head(struct buf *out)
{
	buf_add(out, STR("id,type,key,method,start,start_ns,end_ns,duration_ns,spans,events,error,"
			 "incomplete,confidence\r\n"));
}

void csv_request(const struct request *r, struct buf *out)
{
	buf_fmt(out, "%llu,", (unsigned long long)r->id);
	add_text(out, r->type);
	buf_char(out, ',');
	add_text(out, r->key);
	buf_char(out, ',');
	add_text(out, r->method);
	buf_char(out, ',');
	add_time(out, r->start);
	buf_fmt(out, ",%lld,%lld,%lld,%u,%u,%s,%s,%.3g\r\n", (long long)r->start, (long long)r->end,
		(long long)(r->end - r->start), r->nr_spans, r->nr_events,
		r->error ? "true" : "false", r->incomplete ? "true" : "false",
		(double)r->confidence);
}

struct walk {
	struct buf out;
	FILE *to;
	struct error *err;
};

static int one_request(void *ctx, const struct request *r)
{
	struct walk *w = ctx;

	csv_request(r, &w->out);
	return w->out.n < FLUSH_BYTES ? 0 : feed_flush(&w->out, w->to, w->err);
}

static int write_csv(struct store *s, FILE *to, struct error *err)
{
	struct walk w = { .to = to, .err = err };
	struct request_filter all = { 0 };
	int r;

	csv_head(&w.out);
	r = store_each_request(s, &all, one_request, &w, err);
	if (!r)
		r = feed_flush(&w.out, to, err);
	buf_done(&w.out);
	return r;
}

const struct exporter export_csv = {
	.name = "csv",
	.summary = "the request table as comma-separated values",
	.suffix = ".csv",
	.write = write_csv,
};
