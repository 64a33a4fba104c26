/* One run that holds text without a time, in a request and outside of any: every question and every
 * export says what is known of it and invents nothing. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ask_run.h"
#include "export/export.h"
#include "home.h"

#define LINE_A "2023-11-14 22:13:21 INFO begins\n"
#define LINE_B "2023-11-14 22:13:22 INFO ends\n"
#define TEXT "SLF4J: Class path\n\nSLF4J: more\n\n\n"

static void add(struct store *s, uint32_t file, uint64_t line, struct str text, uint32_t nr_lines,
		int64_t ns)
{
	const struct event ev = { .ns = ns,
				  .kind = EVENT_LOG,
				  .file = file,
				  .line = line,
				  .nr_lines = nr_lines,
				  .offset = line > 1 ? strlen(LINE_A) : 0,
				  .length = text.n - 1,
				  .node = STR("nm1"),
				  .duration = -1 };
	struct sink sink = store_sink(s);
	struct error err;

	assert_int_equal(sink.events(sink.to, &ev, 1, &err), 0);
}

static uint32_t add_file(struct store *s, const char *path, struct str bytes)
{
	struct file_seen seen = { .path = str_of(path), .format = STR("text"), .bytes = bytes.n };
	struct sink sink = store_sink(s);
	struct error err;
	uint32_t number;
	int fd;

	home_write(path, bytes);
	fd = open(path, O_RDONLY);
	/* another time, as of a file that has grown since */
	seen.bytes--;
	seen.mark = sink_mark(fd, seen.bytes);
	close(fd);
	assert_int_equal(sink.file(sink.to, &seen, &number, &err), 0);
	return number;
}

static int enter(void **state)
{
	return home_setup(state) || chdir(((struct home *)*state)->dir);
}

static int leave(void **state)
{
	return chdir("/") || home_teardown(state);
}

/* Events 0 (undated) to 2 are in the request, event 3 (undated) is in none. */
static struct store *run_of_text(void)
{
	struct store *s = run_new();
	uint32_t text = add_file(s, "stderr", STR(TEXT));
	uint32_t log = add_file(s, "app.log", STR(LINE_A LINE_B));
	uint32_t other = add_file(s, "stdout", STR(TEXT));
	struct span span = { .start = RUN_START + NS_S,
			     .end = RUN_START + 2 * NS_S,
			     .parent = SPAN_NONE,
			     .id = STR("s1"),
			     .name = STR("work"),
			     .node = STR("nm1"),
			     .confidence = 1 };
	uint64_t events[] = { 0, 1, 2 };
	uint32_t spans[] = { 0, 0, 0 };
	struct request_body body = {
		.spans = &span, .nr_spans = 1, .events = events, .event_span = spans, .nr_events = 3
	};
	struct request r = { .type = STR("work"),
			     .method = STR("test"),
			     .start = span.start,
			     .end = span.end,
			     .confidence = 1 };
	struct error err;

	add(s, text, 1, STR(TEXT), 5, NS_NONE);
	add(s, log, 1, STR(LINE_A), 1, RUN_START + NS_S);
	add(s, log, 2, STR(LINE_B), 1, RUN_START + 2 * NS_S);
	add(s, other, 1, STR(TEXT), 5, NS_NONE);
	assert_int_equal(store_add_request(s, &r, &body, &err), 0);
	run_finish(s);
	return s;
}

static int check_event(void *ctx, uint64_t number, const struct event *ev)
{
	struct error err;
	struct buf text = { 0 };

	assert_int_equal(ev->ns == NS_NONE, number == 0 || number == 3);
	assert_int_equal(store_event_text(ctx, ev, &text, &err), 1);
	if (ev->ns == NS_NONE)
		/* blank lines at the end are lines, but nothing to show */
		assert_str_equal(buf_str(&text), "SLF4J: Class path\n\nSLF4J: more");
	buf_done(&text);
	return 0;
}

static void a_run_begins_and_ends_with_what_has_a_time(void **state)
{
	struct store *s = run_of_text();
	struct store_totals totals;
	uint64_t *requests, nr;
	struct error err;

	(void)state;
	assert_int_equal(store_totals(s, &totals, &err), 0);
	assert_int_equal(totals.first_ns, RUN_START + NS_S);
	assert_int_equal(totals.last_ns, RUN_START + 2 * NS_S);
	assert_int_equal(totals.nr_log_lines, 12);
	assert_int_equal(store_each_event(s, 0, 4, check_event, s, &err), 0);
	assert_int_equal(store_event_requests(s, &requests, &nr, &err), 0);
	assert_int_equal(nr, 4);
	for (uint64_t i = 0; i < nr; i++)
		assert_int_equal(requests[i], i < 3);
	free(requests);
	store_close(s);
}

static void every_line_is_listed_once(void **state)
{
	struct store *s = run_of_text();
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	struct str lines;
	int got, nr = 0, nr_in = 0;

	(void)state;
	ASK(s, "requests", &out, &got, "lines", "", );
	assert_int_equal(got, 0);
	for (lines = buf_str(&out); run_next(j, &lines, &v); nr++)
		nr_in += run_int(v, "request") == 1;
	assert_int_equal(nr, 12);
	assert_int_equal(nr_in, 7);
	buf_done(&out);
	json_free(j);
	store_close(s);
}

static void a_tree_shows_it_without_a_time(void **state)
{
	struct store *s = run_of_text();
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	struct str lines;
	int got, nr_dated = 0, nr_undated = 0;

	(void)state;
	ASK(s, "requests", &out, &got, "request", "1", );
	assert_int_equal(got, 0);
	for (lines = buf_str(&out); run_next(j, &lines, &v);) {
		if (!str_eq(run_str(v, "what"), STR("line")))
			continue;
		if (str_eq(run_str(v, "name"), STR("SLF4J: Class path"))) {
			nr_undated++;
			assert_int_equal(run_int(v, "start"), INT64_MIN);
			assert_int_equal(run_int(v, "offset"), INT64_MIN);
		} else {
			nr_dated++;
			assert_true(run_int(v, "offset") >= 0);
		}
	}
	assert_int_equal(nr_undated, 1);
	assert_int_equal(nr_dated, 2);
	buf_done(&out);
	json_free(j);
	store_close(s);
}

static void every_question_is_answered(void **state)
{
	static const char *const asked[] = { "requests", "slow", "paths", "answer" };
	struct store *s = run_of_text();
	struct buf out = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		int got;

		ASK(s, asked[i], &out, &got, );
		assert_true(got >= 0);
		/* nor is a time of the year 1677 in any of them */
		assert_int_equal(str_find(buf_str(&out), STR("-9223372")), out.n);
	}
	buf_done(&out);
	store_close(s);
}

/* Formats that need a time for everything get one, and are told that it is none. */
static void exports_place_it_where_its_span_begins(void **state)
{
	struct store *s = run_of_text();

	(void)state;
	for (size_t i = 0; exporters[i]; i++) {
		char *text;
		size_t n;
		FILE *f = open_memstream(&text, &n);
		struct error err;
		struct str all, told = STR("culprit.undated");
		bool shows;

		int r = exporters[i]->write(s, f, &err);

		fclose(f);
		/* objects, of which the run has none */
		if (r == -ENOENT) {
			free(text);
			continue;
		}
		assert_int_equal(r, 0);
		all = (struct str){ text, n };
		shows = str_find(all, STR("INFO begins")) < n;
		assert_int_equal(str_find(all, STR("SLF4J: more")) < n, shows);
		assert_int_equal(str_find(all, told) < n, shows);
		assert_int_equal(str_find(all, STR("9223372")), n);
		free(text);
	}
	store_close(s);
}

#define HERE(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HERE(a_run_begins_and_ends_with_what_has_a_time),
		HERE(every_line_is_listed_once),
		HERE(a_tree_shows_it_without_a_time),
		HERE(every_question_is_answered),
		HERE(exports_place_it_where_its_span_begins),
	};

	return RUN(tests);
}
