#include "cli/live_show.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/time.h"
#include "cli/command.h"
#include "cli/live_keep.h"
#include "cli/say.h"
#include "cli/show.h"
#include "export/otlp_metrics.h"
#include "export/post.h"
#include "model/live.h"
#include "query/history.h"
#include "query/plan.h"
#include "report/pivot.h"
#include "report/report.h"
#include "report/shown.h"
#include "report/writer.h"

#define OTLP_EVERY_NS (10 * NS_S)
#define ACROSS_COLUMNS 26 /* that a value across takes, about: a number and its bars */
#define ROWS_AROUND 5     /* lines above and below the table */
#define NOTHING SIZE_MAX

struct live_show {
	const struct call *call;
	struct history *h;
	int64_t since_ns, otlp_ns;
	size_t across, measure; /* columns; NOTHING: a list */
	struct live_keep *keep;
	FILE *otlp;           /* NULL: posted, or not wanted */
	bool is_drawn;        /* anew each second */
	size_t nr_lines;      /* that were drawn last */
	struct losses losses; /* that were told by others */
	char failed[512];     /* what was told of a failure to hand on */
};

/* --- beginning -------------------------------------------------------------------------------- */

/* A buffer that nothing was put into has no bytes to point to. */
static bool put(const struct buf *b, FILE *to)
{
	return (!b->n || fwrite(b->p, 1, b->n, to) == b->n) && !fflush(to);
}

static int no_column(const struct live_answer *a, const char *name, const char *what,
		     struct error *err)
{
	struct buf all = { 0 };
	int got;

	for (size_t i = 0; i < a->nr_columns; i++)
		buf_fmt(&all, "%s'" STR_FMT "'", i ? ", " : "", STR_ARG(a->columns[i].name));
	got = error_set(err, EINVAL, "--%s '%s' is no such column: there are " STR_FMT, what, name,
			STR_ARG(buf_str(&all)));
	buf_done(&all);
	return got;
}

/* The column of that name; without a name the first that fits. */
static int find_column(const struct live_show *s, const struct live_answer *a, const char *option,
		       bool is_key, size_t *column, struct error *err)
{
	const char *name = call_get(s->call, option);

	for (size_t i = 0; i < a->nr_columns; i++)
		if (a->columns[i].is_key == is_key &&
		    (!name || str_eq(a->columns[i].name, str_of(name)))) {
			*column = i;
			return 0;
		}
	return no_column(a, name ? name : "", option, err);
}

static int find_columns(struct live_show *s, struct error *err)
{
	struct arena arena = { 0 };
	struct live_answer a;
	int got = history_answer(s->h, UINT64_MAX, s->since_ns, &arena, &a, err);

	s->across = s->measure = NOTHING;
	if (got >= 0 && call_has(s->call, "pivot")) {
		got = find_column(s, &a, "pivot", true, &s->across, err);
		if (got >= 0)
			got = find_column(s, &a, "show", false, &s->measure, err);
	}
	arena_done(&arena);
	return got;
}

static bool is_address(const char *otlp)
{
	return !strncmp(otlp, "http://", 7) || !strncmp(otlp, "https://", 8);
}

static int open_files(struct live_show *s, struct str text, struct error *err)
{
	const char *otlp = call_get(s->call, "otlp"), *output = call_get(s->call, "output");

	if (otlp && !is_address(otlp)) {
		s->otlp = fopen(otlp, "we");
		if (!s->otlp)
			return error_set(err, errno, "cannot write '%s': %s", otlp,
					 strerror(errno));
	}
	return output ? live_keep_open(&s->keep, output, history_name(s->h), text, err) : 0;
}

int live_show_open(struct live_show **made, const struct call *call, struct str id, struct str text,
		   struct error *err)
{
	struct live_show *s = mem_zalloc(sizeof(*s));
	int got;

	s->call = call;
	s->since_ns = s->otlp_ns = time_now();
	s->is_drawn = isatty(STDOUT_FILENO) && !call_has(call, "json");
	got = history_new(&s->h, id, text, s->since_ns, err);
	if (got >= 0)
		got = find_columns(s, err);
	if (got >= 0)
		got = open_files(s, text, err);
	if (got < 0) {
		if (s->otlp)
			fclose(s->otlp);
		history_free(s->h);
		free(s);
		return got;
	}
	*made = s;
	return 0;
}

void live_show_losses(struct live_show *s, const struct losses *losses)
{
	s->losses = *losses;
}

/* All keys told apart, with all losses. */
static int answer_all(struct live_show *s, int64_t until_ns, struct arena *arena,
		      struct live_answer *a, struct error *err)
{
	int got = history_answer(s->h, UINT64_MAX, until_ns, arena, a, err);

	if (got >= 0)
		losses_most(&a->losses, &s->losses);
	return got;
}

/* --- the table -------------------------------------------------------------------------------- */

static uint64_t bits_of_keys(const struct live_answer *a, size_t without)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < a->nr_columns && i < 64; i++)
		if (a->columns[i].is_key && i != without)
			bits |= (uint64_t)1 << i;
	return bits;
}

static int lay_pivot(struct live_show *s, int64_t until_ns, struct live_answer *cells,
		     struct arena *arena, struct report *r, struct error *err)
{
	struct live_answer rows, columns, whole;
	struct text_style style = show_style();
	const struct pivot p = { cells,
				 &rows,
				 &columns,
				 &whole,
				 s->across,
				 s->measure,
				 style.columns / ACROSS_COLUMNS };
	uint64_t others = bits_of_keys(cells, s->across);
	int got = history_answer(s->h, others, until_ns, arena, &rows, err);

	if (got >= 0)
		got = history_answer(s->h, (uint64_t)1 << s->across, until_ns, arena, &columns,
				     err);
	if (got >= 0)
		got = history_answer(s->h, 0, until_ns, arena, &whole, err);
	if (got >= 0)
		pivot_report(&p, r);
	return got;
}

/* What does not fit on the screen would scroll away and leave its upper half behind. */
static void fit_screen(const struct live_show *s, struct live_answer *a)
{
	struct winsize size;
	size_t room;

	if (!s->is_drawn || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row)
		return;
	room = size.ws_row > ROWS_AROUND + 1 ? size.ws_row - ROWS_AROUND : 1;
	if (a->nr_rows <= room)
		return;
	a->nr_left_out += a->nr_rows - room;
	a->nr_rows = room;
}

static int lay_out(struct live_show *s, int64_t until_ns, bool is_last, struct report *r,
		   size_t *nr_rows, struct error *err)
{
	struct arena arena = { 0 };
	struct live_answer a;
	int got = answer_all(s, until_ns, &arena, &a, err);

	if (got >= 0) {
		*nr_rows = a.nr_rows;
		if (!is_last)
			fit_screen(s, &a);
		if (s->across != NOTHING && a.nr_rows)
			got = lay_pivot(s, until_ns, &a, &arena, r, err);
		else
			pivot_list(&a, r);
	}
	arena_done(&arena);
	return got;
}

static void add_words(const struct live_show *s, const char *words, struct buf *out)
{
	buf_add(out, STR("  "));
	time_span_text(out, (time_now() - s->since_ns) / NS_S * NS_S);
	if (words && *words) {
		buf_add(out, STR(", "));
		shown_text(out, str_of(words), false);
	}
	buf_char(out, '\n');
}

/* Over what was drawn last: up as many lines, and away with what is below. */
static int draw(struct live_show *s, const char *words, int64_t until_ns, bool is_last,
		struct error *err)
{
	const struct text_style style = show_style();
	struct buf out = { 0 };
	struct report r;
	size_t nr_rows = 0;
	int got;

	report_init(&r);
	got = lay_out(s, until_ns, is_last, &r, &nr_rows, err);
	if (got >= 0) {
		if (s->nr_lines)
			buf_fmt(&out, "\033[%zuA\033[J", s->nr_lines);
		if (s->is_drawn)
			add_words(s, words, &out);
		report_write_text(&r, &style, &out);
		s->nr_lines = 0;
		for (size_t i = 0; s->is_drawn && i < out.n; i++)
			s->nr_lines += out.p[i] == '\n';
		put(&out, stdout);
	}
	buf_done(&out);
	report_done(&r);
	return got < 0 ? got : !nr_rows;
}

/* --- handing on ------------------------------------------------------------------------------- */

static int tell_json(const struct live_answer *second)
{
	struct buf out = { 0 };
	struct report r;
	bool is_gone;

	report_init(&r);
	pivot_second(second, &r);
	report_write_json_piece(&r, &out);
	is_gone = !put(&out, stdout);
	buf_done(&out);
	report_done(&r);
	return is_gone ? -EPIPE : 0;
}

/* Each second that is over, and once more when something came late for it. */
static int tell_seconds(struct live_show *s, int64_t until_ns, struct error *err)
{
	struct arena arena = { 0 };
	bool is_again = false;
	int64_t ns;
	int got = 0;

	while (got >= 0 && (ns = history_next(s->h, until_ns, &is_again)) != NS_NONE) {
		struct live_answer second;

		if (!call_has(s->call, "json"))
			continue;
		got = history_second(s->h, ns, &arena, &second, err);
		if (got >= 0)
			got = tell_json(&second);
		if (got == -EPIPE)
			error_set(err, EPIPE, "nobody reads the answer");
		arena_reset(&arena);
	}
	arena_done(&arena);
	return got;
}

/* Into the run, where nothing is told twice. */
static int keep_seconds(struct live_show *s, int64_t until_ns, struct error *err)
{
	struct arena arena = { 0 };
	int64_t ns;
	int got = 0;

	while (s->keep && got >= 0 && (ns = history_next_final(s->h, until_ns)) != NS_NONE) {
		struct live_answer second;

		got = history_second(s->h, ns, &arena, &second, err);
		if (got >= 0)
			got = live_keep_add(s->keep, &second, err);
		arena_reset(&arena);
	}
	arena_done(&arena);
	return got;
}

/* After a while without a word seconds come faster than they are told. */
int live_show_add(struct live_show *s, int64_t until_ns, const struct partial *seen,
		  struct error *err)
{
	int got = tell_seconds(s, history_room(until_ns), err);

	if (got >= 0)
		got = keep_seconds(s, history_room(until_ns), err);
	return got < 0 ? got : history_add(s->h, until_ns, seen, err);
}

/* Rows that stand for themselves are in the whole then, and no more in the seconds that were told.
 */
int live_show_set(struct live_show *s, const struct partial *whole, struct error *err)
{
	int64_t until = time_now() - HISTORY_WAIT_NS;
	int got = history_plan(s->h)->output.is_aggregated ? 0 : keep_seconds(s, until, err);

	return got < 0 ? got : history_set(s->h, whole, err);
}

static int tell_otlp(struct live_show *s, int64_t until_ns, struct error *err)
{
	const char *to = call_get(s->call, "otlp");
	struct arena arena = { 0 };
	struct buf out = { 0 };
	struct live_answer a;
	const struct live_answer *all[] = { &a };
	int got = answer_all(s, until_ns, &arena, &a, err);

	if (got >= 0 && s->otlp) {
		otlp_metrics_json(all, 1, &out);
		if (!put(&out, s->otlp))
			got = error_set(err, errno, "cannot write '%s': %s", to, strerror(errno));
	} else if (got >= 0) {
		otlp_metrics_proto(all, 1, &out);
		got = post_bytes(to, "application/x-protobuf", buf_str(&out), err);
	}
	buf_done(&out);
	arena_done(&arena);
	return got;
}

/* Whoever takes the metrics may be away for a while: told once, and tried again. */
static void hand_on(struct live_show *s, int64_t until_ns)
{
	struct error err = { 0 };

	if (!call_has(s->call, "otlp") || tell_otlp(s, until_ns, &err) >= 0) {
		s->failed[0] = '\0';
		return;
	}
	if (strcmp(s->failed, err.msg) != 0)
		say_error("%s (tried again later)", err.msg);
	snprintf(s->failed, sizeof(s->failed), "%s", err.msg);
}

int live_show_tick(struct live_show *s, const char *words, struct error *err)
{
	int64_t until = time_now() - HISTORY_WAIT_NS;
	int got = tell_seconds(s, until, err);

	if (got >= 0)
		got = keep_seconds(s, until + HISTORY_WAIT_NS - HISTORY_FINAL_NS, err);
	if (got >= 0 && s->is_drawn)
		got = draw(s, words, until, false, err);
	if (until - s->otlp_ns >= OTLP_EVERY_NS) {
		hand_on(s, until);
		s->otlp_ns = until;
	}
	return got < 0 ? got : 0;
}

/* --- the end ---------------------------------------------------------------------------------- */

static int end_json(struct live_show *s, struct error *err)
{
	struct arena arena = { 0 };
	struct live_answer a;
	struct buf out = { 0 };
	struct report r;
	int got = answer_all(s, 0, &arena, &a, err);

	report_init(&r);
	if (got >= 0) {
		r.losses = a.losses;
		report_write_json(&r, &out);
		put(&out, stdout);
		got = !a.nr_rows;
	}
	buf_done(&out);
	report_done(&r);
	arena_done(&arena);
	return got;
}

static int end_keep(struct live_show *s, bool is_whole, struct error *err)
{
	struct arena arena = { 0 };
	struct live_answer a = { 0 };
	int got = answer_all(s, 0, &arena, &a, err);

	a.losses.count[LOSS_REPORTS_LATE] += history_late(s->h);
	if (got >= 0 || !is_whole)
		got = live_keep_close(s->keep, &a.losses, is_whole, err);
	arena_done(&arena);
	return got;
}

int live_show_close(struct live_show *s, struct error *err)
{
	/* what is on its way is not waited for: the second that ends now is told as it is */
	int64_t until = (time_now() / NS_S + 1) * NS_S;
	int got = tell_seconds(s, until, err), kept;
	bool has_rows = false;

	if (got >= 0)
		got = keep_seconds(s, until, err);
	if (got >= 0)
		got = call_has(s->call, "json") ? end_json(s, err) : draw(s, "", until, true, err);
	has_rows = !got;
	if (got >= 0)
		hand_on(s, until);
	kept = s->keep ? end_keep(s, got >= 0, err) : 0;
	if (got >= 0 && kept < 0)
		got = kept;
	if (s->otlp)
		fclose(s->otlp);
	history_free(s->h);
	free(s);
	return got < 0 ? got : !has_rows;
}
