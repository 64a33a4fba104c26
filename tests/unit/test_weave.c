/* Asks a running program (weave_sample.c), which counts what it does, and compares. */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "capture/weave/weave.h"
#include "children.h"
#include "query/partial.h"
#include "query/run.h"

#define PATIENCE_NS (180 * NS_S) /* for what must be so, on a machine with much else to do */
#define ROWS 4096
#define CELLS 6

static const char points[] =
	"tracepoint Shop.begin\n"
	"	at function weave_sample!shop_begin entry\n"
	"	begins a request\n"
	"	export client = arg0:text, number = arg1\n"
	"tracepoint Shop.read\n"
	"	at function weave_sample!shop_read entry\n"
	"	export bytes = arg1, name = *(*(arg0 + 8)):text, rows = *(arg0 + 16):i32\n"
	"tracepoint Shop.done\n"
	"	at function weave_sample!shop_read exit\n"
	"	export bytes = arg1, got = return, took = duration\n"
	"tracepoint Shop.wrote\n"
	"	at function weave_sample!shop_write exit\n"
	"	export sixth = arg5, got = return\n";

struct sample {
	pid_t pid;
	FILE *out;
	int in;
	long reads[5], bytes[5], apart[5], tables[3], begins, written;
	char clients[5][32];
};

struct told {
	size_t nr;
	char text[ROWS][CELLS][64];
	long number[ROWS][CELLS];
};

static const char *sample_path;
static pid_t running;

static void sample_start(struct sample *s, const char *threads, const char *requests,
			 const char *forever)
{
	int from[2], to[2];
	char line[64];

	/* of a test that has failed */
	if (running > 0)
		kill(running, SIGKILL);
	memset(s, 0, sizeof(*s));
	assert_int_equal(pipe(from), 0);
	assert_int_equal(pipe(to), 0);
	s->pid = fork();
	if (s->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(from[1], 1);
		dup2(to[0], 0);
		close(from[0]);
		close(to[1]);
		execl(sample_path, sample_path, threads, requests, forever, NULL);
		_exit(127);
	}
	running = s->pid;
	close(from[1]);
	close(to[0]);
	s->out = fdopen(from[0], "r");
	s->in = to[1];
	assert_non_null(fgets(line, sizeof(line), s->out));
}

/* What it says of itself when its work is done. */
static void sample_truth(struct sample *s)
{
	for (int i = 0; i < 5; i++)
		assert_int_equal(fscanf(s->out, "%31s %ld %ld %ld", s->clients[i], &s->reads[i],
					&s->bytes[i], &s->apart[i]),
				 4);
	assert_int_equal(fscanf(s->out, " tables %ld %ld %ld\nbegins %ld\nwritten %ld",
				&s->tables[0], &s->tables[1], &s->tables[2], &s->begins,
				&s->written),
			 5);
}

static void sample_end(struct sample *s)
{
	int status;

	close(s->in);
	fclose(s->out);
	running = 0;
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static struct weave *watch(const struct sample *s)
{
	const struct weave_options o = { .host = "here" };
	struct weave *w = NULL;
	struct error err = { 0 };
	struct buf told = { 0 };
	int64_t end = time_tick() + PATIENCE_NS;
	int r;

	assert_int_equal(weave_open(&w, &o, &err), 0);
	/* a machine with much to do may need several attempts to stop it */
	while ((r = weave_enter(w, s->pid, &told, &err)) == -EBUSY && time_tick() < end)
		usleep(200000);
	if (r == -EPERM || r == -EACCES) {
		print_message("skipped: %s\n", err.msg);
		kill(s->pid, SIGKILL);
		waitpid(s->pid, NULL, 0);
		weave_close(w);
		skip();
	}
	assert_true(r >= 0);
	buf_done(&told);
	return w;
}

static int install(struct weave *w, uint64_t id, const char *text)
{
	const struct weave_request r = {
		.id = id, .text = str_of(text), .tracepoints = str_of(points), .file = STR("points")
	};
	struct error err = { 0 };
	struct buf told = { 0 };
	int nr = weave_install(w, &r, &told, &err);

	if (nr < 0)
		print_message("%s\n", err.msg);
	if (told.n)
		print_message(STR_FMT, STR_ARG(buf_str(&told)));
	buf_done(&told);
	return nr;
}

struct taking {
	struct told *told;
	const struct names *names;
};

static int row_take(void *ctx, const struct answer_cell *cells, size_t nr)
{
	struct taking *k = ctx;
	struct told *t = k->told;

	assert_true(t->nr < ROWS && nr <= CELLS);
	for (size_t i = 0; i < nr; i++) {
		struct buf b = { 0 };

		value_show(&b, cells[i].value, k->names);
		snprintf(t->text[t->nr][i], 64, STR_FMT, STR_ARG(buf_str(&b)));
		t->number[t->nr][i] =
			cells[i].value.type == VALUE_INT ? (long)cells[i].value.i : -1;
		buf_done(&b);
	}
	t->nr++;
	return 0;
}

static struct told *answer(struct weave *w, uint64_t id)
{
	static struct told told;
	struct partial *p = weave_partial(w, id);
	struct taking k = { &told, &p->names };
	struct answer a = { &k, row_take };
	struct error err = { 0 };

	told.nr = 0;
	assert_int_equal(partial_answer(p, weave_plan(w, id), &a, &err), 0);
	for (int i = 0; i < LOSS_NR; i++)
		if (p->losses.count[i] && i != LOSS_ROWS_CUT)
			print_message("%llu %s\n", (unsigned long long)p->losses.count[i],
				      loss_text((enum loss)i, p->losses.count[i]));
	return &told;
}

static long in_row(const struct told *t, const char *key, int column)
{
	for (size_t i = 0; i < t->nr; i++)
		if (strcmp(t->text[i][0], key) == 0)
			return t->number[i][column];
	return -1;
}

/* Lets it work and gathers meanwhile. */
static void work(struct weave *w, struct sample *s)
{
	struct error err = { 0 };
	bool is_over = false;

	kill(s->pid, SIGUSR1);
	for (int i = 0; !is_over; i++) {
		fd_set ready;
		struct timeval wait = { .tv_usec = 5000 };

		FD_ZERO(&ready);
		FD_SET(fileno(s->out), &ready);
		is_over = select(fileno(s->out) + 1, &ready, NULL, NULL, &wait) > 0;
		assert_true(weave_gather(w, i % 10 == 0, &err) >= 0);
	}
	sample_truth(s);
	weave_gather(w, true, &err);
	weave_gather(w, true, &err);
}

static uint64_t lost(struct weave *w, enum loss loss)
{
	struct weave_health h;

	weave_health(w, &h);
	return h.losses.count[loss];
}

/* Exact, unless this machine had no processor for who watches, which is counted then: places that
 * were passed meanwhile, or, where threads were made and joined only, what was carried before. */
static void assert_all(struct weave *w, long told, long truth)
{
	if (lost(w, LOSS_ADVICE_ASLEEP) || lost(w, LOSS_TUPLES_LOST))
		assert_true(told <= truth);
	else
		assert_int_equal(told, truth);
}

/* … of calls that are told one by one, as is what was not seen. */
static void assert_each(struct weave *w, long told, long truth)
{
	assert_all(w, told, truth);
	assert_true(told + (long)lost(w, LOSS_ADVICE_ASLEEP) >= truth);
}

static void what_is_counted_is_what_was_done(void **state)
{
	struct sample s;
	struct weave *w;
	const struct told *t;

	(void)state;
	sample_start(&s, "3", "2000", NULL);
	w = watch(&s);
	assert_int_equal(install(w, 1,
				 "From r In Shop.read GroupBy r.name Select r.name, COUNT, "
				 "SUM(r.bytes), MIN(r.rows)"),
			 1);
	assert_int_equal(install(w, 2, "From b In Shop.begin Select COUNT"), 1);
	assert_int_equal(install(w, 3,
				 "From d In Shop.done Where d.got != d.bytes * 2 + 10 "
				 "Select COUNT, MIN(d.took)"),
			 1);
	assert_int_equal(install(w, 4,
				 "From v In Shop.wrote Where v.sixth + v.got = 0 "
				 "GroupBy v.procName, v.host, v.tracepoint "
				 "Select v.procName, v.host, v.tracepoint, COUNT"),
			 1);
	work(w, &s);
	t = answer(w, 1);
	assert_int_equal(t->nr, 3);
	assert_each(w, in_row(t, "orders", 1), s.tables[0]);
	assert_each(w, in_row(t, "customers", 1), s.tables[1]);
	assert_int_equal(in_row(t, "customers", 3), -20);
	assert_each(w, in_row(t, "a name that is longer than what is kept of a tex", 1),
		    s.tables[2]);
	t = answer(w, 2);
	assert_each(w, t->number[0][0], s.begins);
	t = answer(w, 3);
	assert_each(w, t->number[0][0], s.tables[1] + s.tables[2]);
	assert_true(t->number[0][1] >= 0);
	t = answer(w, 4);
	assert_string_equal(t->text[0][0], "weave_sample");
	assert_string_equal(t->text[0][1], "here");
	assert_string_equal(t->text[0][2], "Shop.wrote");
	assert_each(w, t->number[0][3], s.written);
	weave_close(w);
	sample_end(&s);
}

/* Q2 of the paper: who has read how much, over threads of a pool, threads made and children. */
static void what_a_request_does_is_told_by_who_asked(void **state)
{
	struct sample s;
	struct weave *w;
	const struct told *t;

	(void)state;
	sample_start(&s, "4", "4000", NULL);
	w = watch(&s);
	assert_int_equal(install(w, 7,
				 "From r In Shop.read Join b In First(Shop.begin) On b -> r "
				 "GroupBy b.client Select b.client, COUNT, SUM(r.bytes)"),
			 2);
	assert_int_equal(install(w, 8,
				 "From v In Shop.wrote Join r In Shop.read On r -> v "
				 "Join b In MostRecent(Shop.begin) On b -> r "
				 "GroupBy b.client Select b.client, COUNT, SUM(r.bytes)"),
			 3);
	work(w, &s);
	t = answer(w, 7);
	assert_int_equal(t->nr, 5);
	for (int i = 0; i < 5; i++) {
		assert_all(w, in_row(t, s.clients[i], 1), s.reads[i]);
		assert_all(w, in_row(t, s.clients[i], 2), s.bytes[i]);
	}
	/* what a child did happened before nothing that its parent did */
	t = answer(w, 8);
	assert_int_equal(t->nr, 5);
	for (int i = 0; i < 5; i++)
		assert_all(w, in_row(t, s.clients[i], 1), s.reads[i] - s.apart[i]);
	weave_close(w);
	sample_end(&s);
}

/* Threads that were never seen before, in places that nobody had, end while others begin to wait
 * for them. */
static void threads_that_end_at_once_are_joined(void **state)
{
	struct sample s;
	struct weave *w;
	const struct told *t;

	(void)state;
	sample_start(&s, "4", "3000", "apart");
	w = watch(&s);
	assert_int_equal(install(w, 1,
				 "From v In Shop.wrote Join r In Shop.read On r -> v "
				 "Join b In MostRecent(Shop.begin) On b -> r "
				 "GroupBy b.client Select b.client, COUNT"),
			 3);
	work(w, &s);
	t = answer(w, 1);
	assert_int_equal(t->nr, 5);
	for (int i = 0; i < 5; i++)
		assert_all(w, in_row(t, s.clients[i], 1), s.reads[i] - s.apart[i]);
	weave_close(w);
	sample_end(&s);
}

/* More threads than the table has places, until who watches clears those that have ended. */
static void threads_without_a_place_are_counted(void **state)
{
	struct sample s;
	struct weave *w;
	const struct told *t;
	long nr = 0;

	(void)state;
	sample_start(&s, "4", "9000", "apart");
	w = watch(&s);
	assert_int_equal(install(w, 1,
				 "From v In Shop.wrote Join r In Shop.read On r -> v "
				 "Join b In MostRecent(Shop.begin) On b -> r "
				 "GroupBy b.client Select b.client, COUNT"),
			 3);
	work(w, &s);
	t = answer(w, 1);
	for (int i = 0; i < 5; i++) {
		assert_true(in_row(t, s.clients[i], 1) <= s.reads[i] - s.apart[i]);
		nr += s.reads[i] - s.apart[i] - in_row(t, s.clients[i], 1);
	}
	if (!lost(w, LOSS_ADVICE_ASLEEP))
		assert_true(nr <= (long)(lost(w, LOSS_ADVICE_UNSEEN) + lost(w, LOSS_TUPLES_LOST)));
	weave_close(w);
	sample_end(&s);
}

/* In the manner of the others of the paper. */
static void queries_of_many_forms_answer_right(void **state)
{
	struct sample s;
	struct weave *w;
	const struct told *t;
	long nr_reads = 0;

	(void)state;
	sample_start(&s, "3", "1000", NULL);
	w = watch(&s);
	assert_int_equal(install(w, 1,
				 "From e In Shop.read, Shop.begin GroupBy e.tracepoint "
				 "Select e.tracepoint, COUNT"),
			 2);
	assert_int_equal(install(w, 2,
				 "From v In Shop.wrote Join b In MostRecent(Shop.begin) On b -> v "
				 "Let t = v.time - b.time Where b.number = v.sixth "
				 "Select COUNT, MIN(t), PERCENTILE(t, 50)"),
			 2);
	assert_int_equal(install(w, 3,
				 "Small: From b In Shop.begin Where b.number < 100 "
				 "Select b.number; "
				 "From v In Shop.wrote Join b In Small On b -> v "
				 "Select COUNT, MAX(b.number)"),
			 2);
	assert_int_equal(install(w, 4,
				 "From v In Shop.wrote Join b In FirstN(2, Shop.read) On b -> v "
				 "Select COUNT"),
			 3);
	work(w, &s);
	for (int i = 0; i < 5; i++)
		nr_reads += s.reads[i];
	t = answer(w, 1);
	assert_each(w, in_row(t, "Shop.read", 1), nr_reads);
	assert_each(w, in_row(t, "Shop.begin", 1), s.begins);
	t = answer(w, 2);
	assert_all(w, t->number[0][0], s.written);
	assert_true(t->number[0][1] > 0);
	t = answer(w, 3);
	assert_all(w, t->number[0][0], 300);
	assert_all(w, t->number[0][1], 99);
	for (int i = 0; i < 5; i++)
		nr_reads -= s.apart[i];
	t = answer(w, 4);
	assert_all(w, t->number[0][0], nr_reads);
	weave_close(w);
	sample_end(&s);
}

static void rows_come_one_by_one(void **state)
{
	struct sample s;
	struct weave *w;
	const struct told *t;

	(void)state;
	sample_start(&s, "2", "500", NULL);
	w = watch(&s);
	assert_int_equal(install(w, 3, "From b In Shop.begin Select b.number, b.client"), 1);
	work(w, &s);
	t = answer(w, 3);
	assert_each(w, (long)t->nr, s.begins);
	weave_close(w);
	sample_end(&s);
}

static void advice_comes_and_goes_while_it_works(void **state)
{
	const char *rounds = getenv("WEAVE_ROUNDS");
	int nr = rounds ? atoi(rounds) : 50;
	struct sample s;
	struct weave *w;
	struct error err = { 0 };
	long nr_seen = 0;

	(void)state;
	sample_start(&s, "2", "2000", "forever");
	w = watch(&s);
	kill(s.pid, SIGUSR1);
	for (int i = 0; i < nr; i++) {
		uint64_t id = (uint64_t)i + 1;

		assert_int_equal(
			install(w, id,
				"From r In Shop.read Join b In First(Shop.begin) On b -> r "
				"GroupBy b.client Select b.client, COUNT, SUM(r.bytes)"),
			2);
		usleep(2000);
		assert_true(weave_gather(w, true, &err) >= 0);
		/* the last one stays until the program has had a processor */
		for (int64_t end = time_tick() + PATIENCE_NS;
		     i == nr - 1 && !nr_seen && !answer(w, id)->nr && time_tick() < end;) {
			usleep(2000);
			assert_true(weave_gather(w, true, &err) >= 0);
		}
		if (weave_remove(w, id, &err) < 0)
			fail_msg("%s", err.msg);
		nr_seen += (long)answer(w, id)->nr;
		weave_forget(w, id);
	}
	assert_true(nr_seen > 0);
	kill(s.pid, SIGUSR2);
	sample_truth(&s);
	weave_close(w);
	sample_end(&s);
}

/* Who watches gets no processor for longer than our code goes on without it: what passed meanwhile
 * is counted, one by one, and nothing of before is taken for what it is not. */
static void what_passes_while_nobody_watches_is_counted(void **state)
{
	struct sample s;
	struct weave *w;
	struct error err = { 0 };
	pid_t guardian;

	(void)state;
	for (int joins = 0; joins < 2; joins++) {
		sample_start(&s, "2", "500", "forever");
		w = watch(&s);
		guardian = child_youngest();
		assert_true(guardian > 0);
		assert_true(install(w, 1,
				    joins ? "From v In Shop.wrote Join b In "
					    "MostRecent(Shop.begin) On b -> v "
					    "Where b.number != v.sixth Select COUNT"
					  : "From b In Shop.begin Select COUNT") > 0);
		kill(s.pid, SIGUSR1);
		kill(guardian, SIGSTOP);
		for (int64_t end = time_tick() + PATIENCE_NS;
		     lost(w, LOSS_ADVICE_ASLEEP) < 1000 && time_tick() < end;) {
			usleep(5000);
			assert_true(weave_gather(w, true, &err) >= 0);
		}
		kill(guardian, SIGCONT);
		for (int i = 0; i < 100; i++) {
			usleep(5000);
			assert_true(weave_gather(w, true, &err) >= 0);
		}
		kill(s.pid, SIGUSR2);
		sample_truth(&s);
		weave_gather(w, true, &err);
		weave_gather(w, true, &err);
		assert_true(lost(w, LOSS_ADVICE_ASLEEP) >= 1000);
		if (joins)
			assert_true(!answer(w, 1)->nr || !answer(w, 1)->number[0][0]);
		else
			assert_int_equal(answer(w, 1)->number[0][0] +
						 (long)lost(w, LOSS_ADVICE_ASLEEP),
					 s.begins);
		weave_close(w);
		sample_end(&s);
	}
}

/* Who watches is killed: the program goes on, and is patched no more. */
static void it_goes_on_when_who_watches_is_killed(void **state)
{
	struct sample s;
	struct weave *w;
	int64_t end;
	pid_t pid;

	(void)state;
	sample_start(&s, "2", "2000", "forever");
	pid = fork();
	if (pid == 0) {
		const struct weave_options o = { 0 };
		struct error err = { 0 };
		struct buf told = { 0 };

		if (weave_open(&w, &o, &err) < 0 || weave_enter(w, s.pid, &told, &err) < 0 ||
		    install(w, 1,
			    "From r In Shop.read Join b In First(Shop.begin) On b -> r "
			    "GroupBy b.client Select b.client, COUNT") < 0)
			_exit(1);
		kill(s.pid, SIGUSR1);
		for (;;)
			weave_gather(w, true, &err);
	}
	usleep(500000); /* any moment will do */
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* nobody is there any more: it can be watched by others */
	w = watch(&s);
	assert_int_equal(install(w, 9, "From b In Shop.begin Select COUNT"), 1);
	kill(s.pid, SIGUSR1);
	end = time_tick() + PATIENCE_NS;
	while ((!answer(w, 9)->nr || answer(w, 9)->number[0][0] <= 0) && time_tick() < end) {
		usleep(100000);
		weave_gather(w, true, NULL);
	}
	assert_true(answer(w, 9)->number[0][0] > 0);
	weave_close(w);
	kill(s.pid, SIGUSR2);
	sample_truth(&s);
	sample_end(&s);
}

static void what_is_wrong_is_told(void **state)
{
	struct sample s;
	struct weave *w;
	const struct weave_request r = {
		.id = 1,
		.text = STR("From r In Shop.reed Select COUNT"),
		.tracepoints = str_of(points),
	};
	const struct weave_request nowhere = {
		.id = 2,
		.text = STR("From r In Shop.x Select COUNT"),
		.tracepoints = STR("tracepoint Shop.x at function weave_sample!shop_reed entry"),
	};
	struct error err = { 0 };
	struct buf told = { 0 };

	(void)state;
	sample_start(&s, "1", "10", NULL);
	w = watch(&s);
	assert_int_equal(weave_install(w, &r, &told, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "Shop.read"));
	assert_int_equal(weave_install(w, &nowhere, &told, &err), 0);
	buf_char(&told, 0);
	assert_non_null(strstr(told.p, "did you mean shop_read"));
	buf_done(&told);
	work(w, &s);
	weave_close(w);
	sample_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_counted_is_what_was_done),
		cmocka_unit_test(what_a_request_does_is_told_by_who_asked),
		cmocka_unit_test(threads_that_end_at_once_are_joined),
		cmocka_unit_test(threads_without_a_place_are_counted),
		cmocka_unit_test(queries_of_many_forms_answer_right),
		cmocka_unit_test(rows_come_one_by_one),
		cmocka_unit_test(advice_comes_and_goes_while_it_works),
		cmocka_unit_test(what_passes_while_nobody_watches_is_counted),
		cmocka_unit_test(it_goes_on_when_who_watches_is_killed),
		cmocka_unit_test(what_is_wrong_is_told),
	};

	sample_path = getenv("CULPRIT_SAMPLE");
	if (!sample_path)
		return 77;
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
