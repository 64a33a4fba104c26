#include "cli/steps.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/names.h"
#include "base/time.h"
#include "base/vec.h"
#include "cli/models.h"
#include "report/report.h"
#include "store/store.h"

/* Files that are read alike are told together. */
struct kind {
	struct str name;
	struct str live; /* what was recorded; empty for files */
	uint64_t nr_files, nr_lines;
};

struct kinds {
	struct arena arena;
	uint64_t nr_live;
	VEC(struct kind) v;
};

static int count_file(void *ctx, const struct stored_file *f)
{
	struct kinds *k = ctx;
	struct str name = arena_fmt(&k->arena, STR_FMT "%s" STR_FMT, STR_ARG(f->seen.format),
				    f->seen.layout.n ? "  " : "", STR_ARG(f->seen.layout));
	struct str live = { 0 };

	if (str_starts(f->seen.format, STR("live "))) {
		live = arena_str(&k->arena, f->seen.path);
		k->nr_live++;
	}
	vec_each (&k->v, it) {
		if (!str_eq(it->name, name) || live.n)
			continue;
		it->nr_files++;
		it->nr_lines += f->nr_lines;
		return 0;
	}
	vec_push(&k->v, (struct kind){ name, live, 1, f->nr_lines });
	return 0;
}

/* 14472 -> "14,472" */
static void add_count(struct buf *b, uint64_t n)
{
	char digits[24];
	int nr = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);

	for (int i = 0; i < nr; i++) {
		if (i && (nr - i) % 3 == 0)
			buf_char(b, ',');
		buf_char(b, digits[i]);
	}
}

static void add_counted(struct buf *b, uint64_t n, const char *one, const char *many)
{
	add_count(b, n);
	buf_fmt(b, " %s", n == 1 ? one : many);
}

static void tell_totals(struct section *s, const struct store_totals *t, uint64_t nr_live)
{
	struct buf b = { 0 };

	if (t->nr_files > nr_live || !nr_live)
		add_counted(&b, t->nr_files - nr_live, "file", "files");
	else
		buf_add(&b, STR("live"));
	if (t->nr_log_lines) {
		buf_add(&b, STR(", "));
		add_counted(&b, t->nr_log_lines, "log line", "log lines");
	}
	if (t->nr_events) {
		buf_add(&b, STR(", "));
		add_counted(&b, t->nr_events, "event", "events");
	}
	if (t->nr_spans) {
		buf_add(&b, STR(", "));
		add_counted(&b, t->nr_spans, "span", "spans");
	}
	if (t->first_ns != NS_NONE) {
		buf_add(&b, STR(", "));
		time_text(&b, t->first_ns, 0);
		buf_add(&b, STR(" for "));
		time_span_text(&b, t->last_ns - t->first_ns);
	}
	section_say(s, "read", STR_FMT, STR_ARG(buf_str(&b)));
	buf_done(&b);
}

static void tell_kinds(struct section *s, const struct kinds *k)
{
	vec_each (&k->v, it) {
		struct buf b = { 0 };

		if (it->live.n) {
			buf_fmt(&b, STR_FMT ": " STR_FMT, STR_ARG(it->name), STR_ARG(it->live));
		} else {
			add_counted(&b, it->nr_files, "file", "files");
			buf_fmt(&b, " as " STR_FMT, STR_ARG(it->name));
		}
		section_say(s, "as", STR_FMT, STR_ARG(buf_str(&b)));
		buf_done(&b);
	}
}

/* Below this, most lines were written by something else than what is given. */
#define SHARE_LOW 0.5

static void tell_statements(struct section *s, struct store *st)
{
	struct str asked = store_fact(st, FACT_LINES_ASKED);
	struct str found = store_fact(st, FACT_LINES_OF_STATEMENTS);
	struct buf b = { 0 };
	uint64_t nr, nr_found;

	if (!str_take_uint(&asked, &nr) || !str_take_uint(&found, &nr_found) || !nr)
		return;
	/* cut, not rounded: 100 % is all of them */
	buf_fmt(&b, "%.1f %% of ", (double)(uint64_t)(1000.0 * (double)nr_found / (double)nr) / 10);
	add_counted(&b, nr, "log line was", "log lines were");
	buf_fmt(&b, " written by statements of " STR_FMT, STR_ARG(store_fact(st, FACT_MODELS)));
	if ((double)nr_found < SHARE_LOW * (double)nr)
		buf_add(&b, STR(": another program wrote most, or another version of it"));
	section_say(s, "match", STR_FMT, STR_ARG(buf_str(&b)));
	buf_done(&b);
}

struct placed {
	uint64_t nr_requests, nr_events;
	uint64_t nr_by_work;  /* by an identifier in the text that is no request id */
	uint64_t nr_inferred; /* by no name at all, and not surely */
};

static int count_request(void *ctx, const struct request *r)
{
	struct placed *p = ctx;

	p->nr_requests++;
	p->nr_events += r->nr_events;
	if ((double)r->confidence < CONFIDENCE_LOW) {
		p->nr_by_work += r->key_kind != KEY_NONE;
		p->nr_inferred += r->key_kind == KEY_NONE;
	}
	return 0;
}

static int count_type(void *ctx, struct str type, uint64_t nr)
{
	(void)type;
	(void)nr;
	++*(uint64_t *)ctx;
	return 0;
}

static void tell_requests(struct section *s, const struct placed *p, uint64_t nr_types,
			  uint64_t nr_events)
{
	struct buf b = { 0 };

	add_counted(&b, p->nr_requests, "request", "requests");
	buf_add(&b, STR(" of "));
	add_counted(&b, nr_types, "type", "types");
	if (nr_events && p->nr_requests)
		buf_fmt(&b, ", %.1f %% of the events are in one",
			100.0 * (double)p->nr_events / (double)nr_events);
	if (p->nr_inferred) {
		buf_add(&b, STR("; "));
		add_count(&b, p->nr_inferred);
		buf_fmt(&b, " inferred with a confidence below %.1f", CONFIDENCE_LOW);
	}
	if (p->nr_by_work) {
		buf_add(&b, STR("; "));
		add_count(&b, p->nr_by_work);
		buf_add(&b, STR(" rest on an identifier of work in the text, not on a request id"));
	}
	section_say(s, "infer", STR_FMT, STR_ARG(buf_str(&b)));
	buf_done(&b);
}

static int tell_clock(void *ctx, const struct clock_fix *f)
{
	struct section *s = ctx;
	struct buf b = { 0 };
	int64_t ahead = -f->offset_ns;

	buf_add(&b, f->node);
	if (ahead) {
		buf_add(&b, STR(" runs "));
		time_span_text(&b, ahead < 0 ? -ahead : ahead);
		buf_add(&b, ahead > 0 ? STR(" ahead") : STR(" behind"));
	} else {
		buf_add(&b, STR(" seems off"));
	}
	buf_fmt(&b, " (%s; %llu of %llu pairs agree)", f->applied ? "corrected" : "not corrected",
		(unsigned long long)f->agree, (unsigned long long)f->pairs);
	section_say(s, "clock", STR_FMT, STR_ARG(buf_str(&b)));
	buf_done(&b);
	return 0;
}

int steps_tell(struct store *st, struct report *r, struct error *err)
{
	struct section *s = report_section(r, SECTION_STEPS, "step", "");
	struct kinds kinds = { 0 };
	struct placed placed = { 0 };
	struct store_totals totals;
	struct request_filter all = { 0 };
	uint64_t nr_types = 0;
	int got = store_totals(st, &totals, err);

	s->tagged = true;
	if (got >= 0)
		got = store_each_file(st, count_file, &kinds, err);
	if (got >= 0)
		got = store_each_request(st, &all, count_request, &placed, err);
	if (got >= 0)
		got = store_each_type(st, count_type, &nr_types, err);
	if (got >= 0) {
		tell_totals(s, &totals, kinds.nr_live);
		tell_kinds(s, &kinds);
		tell_statements(s, st);
		tell_requests(s, &placed, nr_types, totals.nr_events);
		got = store_each_clock_fix(st, tell_clock, s, err);
	}
	arena_done(&kinds.arena);
	vec_done(&kinds.v);
	return got;
}
