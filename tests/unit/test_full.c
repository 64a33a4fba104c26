/* Requests that pack more than a bag has room for (full_sample.c), asked while they run: the answer
 * is what was done, to the last tuple. */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "capture/weave/weave.h"
#include "query/partial.h"
#include "query/run.h"

#define THINGS 1200
#define REQUESTS 6
#define CELLS 4
#define ROWS 8192

static const char points[] = "tracepoint Full.begin\n"
			     "	at function full_sample!full_begin entry\n"
			     "	begins a request\n"
			     "	export client = arg0:text, number = arg1\n"
			     "tracepoint Full.take\n"
			     "	at function full_sample!full_take entry\n"
			     "	export key = arg0, value = arg1\n"
			     "tracepoint Full.mark\n"
			     "	at function full_sample!full_mark entry\n"
			     "	export number = arg0\n"
			     "tracepoint Full.end\n"
			     "	at function full_sample!full_end entry\n"
			     "	export number = arg0\n";

static const char *sample_path;

struct sample {
	pid_t pid;
	FILE *out;
};

struct told {
	size_t nr;
	char text[ROWS][32];
	long number[ROWS][CELLS];
	const struct names *names;
};

static void line_read(struct sample *s)
{
	char line[64];
	int status = 0;

	if (fgets(line, sizeof(line), s->out))
		return;
	waitpid(s->pid, &status, 0);
	fail_msg("the program has ended with %#x", (unsigned)status);
}

static void sample_start(struct sample *s, const char *things, const char *threads)
{
	int from[2];

	assert_int_equal(pipe(from), 0);
	s->pid = fork();
	if (s->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(from[1], 1);
		close(from[0]);
		execl(sample_path, sample_path, things, threads, NULL);
		_exit(127);
	}
	close(from[1]);
	s->out = fdopen(from[0], "r");
	line_read(s);
}

static void sample_end(struct sample *s)
{
	int status;

	kill(s->pid, SIGUSR2);
	fclose(s->out);
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static struct weave *watch(struct sample *s)
{
	const struct weave_options o = { .host = "here" };
	struct weave *w = NULL;
	struct error err = { 0 };
	struct buf told = { 0 };
	int r;

	assert_int_equal(weave_open(&w, &o, &err), 0);
	/* a machine with much to do may need several attempts to stop it */
	for (int i = 0; (r = weave_enter(w, s->pid, &told, &err)) == -EBUSY && i < 900; i++)
		usleep(200000);
	if (r == -EPERM || r == -EACCES) {
		print_message("skipped: %s\n", err.msg);
		sample_end(s);
		weave_close(w);
		skip();
	}
	assert_true(r >= 0);
	buf_done(&told);
	return w;
}

static void install(struct weave *w, uint64_t id, const char *text)
{
	const struct weave_request r = {
		.id = id, .text = str_of(text), .tracepoints = str_of(points), .file = STR("points")
	};
	struct error err = { 0 };
	struct buf told = { 0 };

	if (weave_install(w, &r, &told, &err) <= 0)
		fail_msg("%s", err.msg);
	buf_done(&told);
}

/* One request after another; what it tells is read in between. */
static void work(struct weave *w, struct sample *s, int nr)
{
	struct error err = { 0 };
	struct weave_health h;

	for (int i = 0; i < nr; i++) {
		kill(s->pid, SIGUSR1);
		line_read(s);
		assert_true(weave_gather(w, true, &err) >= 0);
	}
	/* what a run waits for comes with one of the next looks */
	do {
		assert_true(weave_gather(w, true, &err) >= 0);
		assert_true(weave_gather(w, true, &err) >= 0);
		weave_health(w, &h);
		usleep(1000);
	} while (h.nr_unfinished);
}

static int row_take(void *ctx, const struct answer_cell *cells, size_t nr)
{
	struct told *t = ctx;
	struct buf b = { 0 };

	assert_true(t->nr < ROWS && nr <= CELLS);
	value_show(&b, cells[0].value, t->names);
	snprintf(t->text[t->nr], 32, STR_FMT, STR_ARG(buf_str(&b)));
	for (size_t i = 0; i < nr; i++)
		t->number[t->nr][i] =
			cells[i].value.type == VALUE_INT ? (long)cells[i].value.i : -1;
	t->nr++;
	buf_done(&b);
	return 0;
}

/* Nothing is missing. */
static const struct told *answer(struct weave *w, uint64_t id)
{
	static struct told told;
	struct partial *p = weave_partial(w, id);
	struct answer a = { &told, row_take };
	struct error err = { 0 };

	told.nr = 0;
	told.names = &p->names;
	assert_int_equal(partial_answer(p, weave_plan(w, id), &a, &err), 0);
	/* the pipe that it answers by is a connection, too, and met in the middle */
	for (int i = 0; i < LOSS_NR; i++)
		if (p->losses.count[i] && i != LOSS_BAGS_UNPLACED)
			fail_msg("query %d: %llu %s", (int)id,
				 (unsigned long long)p->losses.count[i],
				 loss_text((enum loss)i, p->losses.count[i]));
	return &told;
}

static long value_sum(long from, long nr)
{
	long sum = 0;

	for (long i = from; i < from + nr; i++)
		sum += i % 7;
	return sum;
}

/* Each thing of a request is met by both ends. */
static void check_groups(const struct told *t)
{
	long seen[THINGS] = { 0 };

	assert_int_equal(t->nr, THINGS);
	for (size_t i = 0; i < t->nr; i++) {
		long key = t->number[i][0];

		assert_true(key >= 0 && key < THINGS && !seen[key]++);
		assert_int_equal(t->number[i][1], 2 * REQUESTS);
		assert_int_equal(t->number[i][2], 2 * REQUESTS * (key % 7));
	}
}

static void check_rows(const struct told *t)
{
	static char seen[REQUESTS + 1][THINGS];

	memset(seen, 0, sizeof(seen));
	assert_int_equal(t->nr, REQUESTS * THINGS);
	for (size_t i = 0; i < t->nr; i++) {
		long number = t->number[i][0], key = t->number[i][1];

		assert_true(number > 0 && number <= REQUESTS && number % 2);
		assert_true(key >= 0 && key < THINGS && seen[number][key]++ < 2);
	}
}

static void what_does_not_fit_is_told_to_the_last_tuple(void **state)
{
	struct sample s;
	struct weave_health h;
	struct weave *w;
	const struct told *t;

	(void)state;
	sample_start(&s, "1200", "1");
	w = watch(&s);
	install(w, 1,
		"From e In Full.end Join t In Full.take On t -> e GroupBy t.key "
		"Select t.key, COUNT, SUM(t.value)");
	install(w, 2,
		"From e In Full.end Join t In FirstN(500, Full.take) On t -> e "
		"Select COUNT, SUM(t.key)");
	install(w, 3,
		"From e In Full.end Join m In MostRecent(Full.mark) On m -> e "
		"Join t In Full.take On t -> m GroupBy e.number Select e.number, COUNT, "
		"SUM(t.key)");
	install(w, 4,
		"From e In Full.end Join t In Full.take On t -> e Join b In "
		"MostRecent(Full.begin) On b -> t GroupBy b.client Select b.client, COUNT, "
		"SUM(t.key * t.value)");
	work(w, &s, REQUESTS);
	check_groups(answer(w, 1));
	t = answer(w, 2);
	assert_int_equal(t->number[0][0], 2 * REQUESTS * 500);
	assert_int_equal(t->number[0][1], 2 * REQUESTS * (500 * 499 / 2));
	/* the first end has the mark that is before the threads are joined, the second one all */
	t = answer(w, 3);
	assert_int_equal(t->nr, REQUESTS);
	for (size_t i = 0; i < t->nr; i++) {
		assert_int_equal(t->number[i][1], THINGS / 2 + THINGS);
		assert_int_equal(t->number[i][2],
				 THINGS / 2 * (THINGS / 2 - 1) / 2 + THINGS * (THINGS - 1) / 2);
	}
	t = answer(w, 4);
	assert_int_equal(t->nr, 2);
	for (size_t i = 0; i < t->nr; i++)
		assert_int_equal(t->number[i][1], REQUESTS * THINGS);
	weave_health(w, &h);
	assert_true(h.nr_finished > 0);
	weave_close(w);
	sample_end(&s);
}

static void rows_of_full_bags_come_one_by_one(void **state)
{
	struct sample s;
	struct weave *w;

	(void)state;
	sample_start(&s, "1200", "1");
	w = watch(&s);
	install(w, 1,
		"From e In Full.end Join t In Full.take On t -> e Where e.number % 2 = 1 "
		"Select e.number, t.key");
	work(w, &s, REQUESTS);
	check_rows(answer(w, 1));
	weave_close(w);
	sample_end(&s);
}

/* A group that every thread packs is an entry of each: more than a bag has room for. */
static void a_group_of_many_threads_is_whole(void **state)
{
	struct sample s;
	struct weave *w;
	const struct told *t;
	long sum = 0;
	int rounds = 2;

	(void)state;
	sample_start(&s, "6400", "16");
	w = watch(&s);
	install(w, 1,
		"From e In Full.end Join t In Full.take On t -> e GroupBy t.key % 16 "
		"Select t.key % 16, COUNT, SUM(t.value)");
	work(w, &s, rounds);
	t = answer(w, 1);
	assert_int_equal(t->nr, 16);
	for (size_t i = 0; i < t->nr; i++) {
		assert_int_equal(t->number[i][1], 2 * rounds * 400);
		sum += t->number[i][2];
	}
	assert_int_equal(sum, 2 * rounds * value_sum(0, 6400));
	weave_close(w);
	sample_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_does_not_fit_is_told_to_the_last_tuple),
		cmocka_unit_test(rows_of_full_bags_come_one_by_one),
		cmocka_unit_test(a_group_of_many_threads_is_whole),
	};

	sample_path = getenv("CULPRIT_SAMPLE");
	return sample_path ? RUN(tests) : 77;
}
