/* System calls of a host, watched from outside: of programs that nobody entered. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "capture/weave/weave.h"
#include "query/partial.h"
#include "query/run.h"

#define MANY 60000 /* more than the ring holds */

static const char points[] = "tracepoint Written at syscall write exit\n"
			     "	export bytes = return, took = duration\n";

/* A program that writes, under a name that nobody else has. */
struct writer {
	char folder[64], path[96], name[16];
};

static void writer_make(struct writer *w)
{
	strcpy(w->folder, "/tmp/culprit-onlooker.XXXXXX");
	assert_non_null(mkdtemp(w->folder));
	snprintf(w->name, sizeof(w->name), "dd-%d", (int)getpid());
	snprintf(w->path, sizeof(w->path), "%s/%s", w->folder, w->name);
	assert_int_equal(symlink("/bin/dd", w->path), 0);
}

/* weave: gathers meanwhile, as all that others write comes as well; NULL: not. */
static void writer_run(const struct writer *w, int count, struct weave *weave)
{
	struct error err = { 0 };
	char times[32];
	int status;
	pid_t pid;

	snprintf(times, sizeof(times), "count=%d", count);
	pid = fork();
	if (pid == 0) {
		execl(w->path, w->name, "if=/dev/zero", "of=/dev/null", "bs=7", "status=none",
		      times, (char *)NULL);
		_exit(127);
	}
	while (weave && waitpid(pid, &status, WNOHANG) == 0) {
		assert_true(weave_gather(weave, true, &err) >= 0);
		usleep(1000);
	}
	if (!weave)
		assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void writer_done(const struct writer *w)
{
	unlink(w->path);
	rmdir(w->folder);
}

static struct weave *ask(const struct writer *w)
{
	const struct weave_options o = { .host = "here", .is_of_host = true };
	struct weave_request r = { .id = 1, .tracepoints = str_of(points), .file = STR("points") };
	struct weave *weave = NULL;
	struct error err = { 0 };
	struct buf told = { 0 };
	char query[256];

	snprintf(
		query, sizeof(query),
		"From w In Written Where w.procName = '%s' Select COUNT, SUM(w.bytes), MIN(w.took)",
		w->name);
	r.text = str_of(query);
	assert_int_equal(weave_open(&weave, &o, &err), 0);
	if (weave_install(weave, &r, &told, &err) != 1) {
		buf_char(&told, 0);
		print_message("skipped: %s%s\n", told.p, err.msg);
		weave_close(weave);
		buf_done(&told);
		writer_done(w);
		skip();
	}
	buf_done(&told);
	return weave;
}

struct counted {
	int64_t nr, bytes, least;
};

static int row_take(void *ctx, const struct answer_cell *cells, size_t nr)
{
	struct counted *c = ctx;

	assert_int_equal(nr, 3);
	*c = (struct counted){ cells[0].value.i, cells[1].value.i, cells[2].value.i };
	return 0;
}

static struct counted answer(struct weave *w, struct losses *lost)
{
	struct counted c = { 0 };
	const struct answer to = { &c, row_take };
	struct error err = { 0 };
	struct partial *p;

	assert_true(weave_gather(w, true, &err) >= 0);
	p = weave_partial(w, 1);
	assert_int_equal(partial_answer(p, weave_plan(w, 1), &to, &err), 0);
	*lost = p->losses;
	return c;
}

static void calls_of_any_process_are_told(void **state)
{
	struct losses lost;
	struct counted c;
	struct writer w;
	struct weave *weave;

	(void)state;
	writer_make(&w);
	weave = ask(&w);
	writer_run(&w, 200, weave);
	c = answer(weave, &lost);
	assert_int_equal(c.nr, 200);
	assert_int_equal(c.bytes, 200 * 7);
	assert_true(c.least > 0);
	/* what it does after the query was taken back is not told */
	assert_int_equal(weave_remove(weave, 1, &(struct error){ 0 }), 0);
	writer_run(&w, 10, NULL);
	assert_int_equal(answer(weave, &lost).nr, 200);
	weave_close(weave);
	writer_done(&w);
}

static void what_comes_too_fast_is_counted(void **state)
{
	struct losses lost;
	struct counted c;
	struct writer w;
	struct weave *weave;
	uint64_t dropped;

	(void)state;
	writer_make(&w);
	weave = ask(&w);
	writer_run(&w, MANY, NULL);
	c = answer(weave, &lost);
	dropped = lost.count[LOSS_PASSES_DROPPED];
	assert_true(c.nr > 0 && c.nr < MANY);
	/* others write, too */
	assert_true((uint64_t)c.nr + dropped >= MANY);
	assert_int_equal(c.bytes, c.nr * 7);
	weave_close(weave);
	writer_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_of_any_process_are_told),
		cmocka_unit_test(what_comes_too_fast_is_counted),
	};

	return RUN(tests);
}
