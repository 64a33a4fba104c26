/* Watches a program of its own (probe_sample.cpp), which checks its results and ends with 0 only if
 * all were right. PROBE_ROUNDS: how often what is slow is done (8; 20 with LIVE=all). */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "capture/probe/kin.h"
#include "capture/probe/probe.h"
#include "capture/probe/spawn.h"
#include "capture/probe/ticks.h"
#include "children.h"
#include "program/functions.h"

#define FRONT 16

static const char *const names[] = {
	"leaf",       "thrower",    "cleaner",       "catcher",     "rethrower", "jumper",
	"jumped",     "tail_end",   "tail_start",    "various",     "in_memory", "in_two",
	"in_both",    "in_x87",     "in_pair",       "recursive",   "on_stack",  "in_xmm",
	"in_handler", "take_order", "leaves_thread", "whole_round",
};
#define NR (sizeof(names) / sizeof(*names))

enum { LEAF, THROWER, CATCHER = 3, TAIL_END = 7, TAIL_START, TAKE_ORDER = 19, WHOLE_ROUND = 21 };

/* What was told. */
struct told {
	uint64_t nr[NR], nr_unwound[NR], nr_wrong, nr_open;
	uint64_t nr_entry, nr_exit, nr_inner;
	uint64_t last_id;
	uint32_t process;
	uint64_t nr_others;
	uint32_t threads[512], last_thread;
	size_t nr_threads;
};

static struct probe_function functions[NR];
static const char *sample;
static pid_t running;

static void thread_note(struct told *t, uint32_t thread)
{
	if (t->last_thread == thread)
		return; /* calls come thread by thread */
	t->last_thread = thread;
	for (size_t i = 0; i < t->nr_threads; i++)
		if (t->threads[i] == thread)
			return;
	if (t->nr_threads < 512)
		t->threads[t->nr_threads++] = thread;
}

static int take_calls(void *to, const struct function_call *c, size_t nr, struct error *err)
{
	struct told *t = to;

	(void)err;
	for (size_t i = 0; i < nr; i++) {
		if (c[i].function >= NR || c[i].end < c[i].start) {
			t->nr_wrong++;
			continue;
		}
		t->nr[c[i].function]++;
		t->nr_unwound[c[i].function] += c[i].is_unwound;
		t->nr_open += c[i].is_open;
		t->nr_others += c[i].process != t->process;
		thread_note(t, c[i].thread);
	}
	return 0;
}

static int take_marks(void *to, const struct mark *m, size_t nr, struct error *err)
{
	struct told *t = to;

	(void)err;
	for (size_t i = 0; i < nr; i++) {
		t->nr_wrong += !m[i].has_value;
		if (m[i].function == LEAF) {
			t->nr_inner += m[i].value == 77;
			continue;
		}
		if (m[i].place == MARK_ENTRY) {
			t->nr_entry++;
			t->last_id = m[i].value;
		} else {
			t->nr_exit++;
		}
	}
	return 0;
}

static void functions_look_up(void)
{
	struct functions f = { 0 };
	struct error err = { 0 };

	assert_int_equal(functions_of_file(&f, sample, &err), 0);
	for (size_t i = 0; i < NR; i++) {
		uint32_t nr;

		assert_int_equal(functions_find(&f, str_of(names[i]), &nr, 1), 1);
		functions[i] = (struct probe_function){ .id = (uint32_t)i,
							.module = sample,
							.address = f.v.v[nr].address,
							.size = f.v.v[nr].size,
							.is_call = true };
	}
	functions_done(&f);
}

static bool is_sample(int pid)
{
	return child_runs(pid, sample);
}

static pid_t sample_start(const char *seconds, const char *threads, const char *forks)
{
	char *argv[] = { (char *)sample, (char *)seconds, (char *)threads, (char *)forks, NULL };

	running = fork();
	if (running == 0) {
		execv(sample, argv);
		_exit(127);
	}
	assert_true(child_begins(running, sample));
	usleep(50000);
	return running;
}

static void sample_ends_well(void)
{
	int status;

	kill(running, SIGTERM);
	assert_int_equal(waitpid(running, &status, 0), running);
	running = 0;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static uint64_t base_of(pid_t pid)
{
	char path[64], line[512];
	unsigned long at = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (strstr(line, sample)) {
			sscanf(line, "%lx", &at);
			break;
		}
	fclose(f);
	return at;
}

/* How many functions begin otherwise than in the file. */
static int nr_patched(pid_t pid)
{
	uint64_t base = base_of(pid);
	char path[64];
	int mem, file = open(sample, O_RDONLY), nr = 0;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	mem = open(path, O_RDONLY);
	if (mem < 0) {
		close(file);
		return 0;
	}
	for (size_t i = 0; i < NR; i++) {
		uint8_t a[FRONT], b[FRONT];

		/* of this program code lies in memory as in the file, one page or more further */
		if (pread(mem, a, FRONT, (off_t)(base + functions[i].address)) != FRONT ||
		    pread(file, b, FRONT, (off_t)functions[i].address) != FRONT)
			continue;
		nr += memcmp(a, b, FRONT) != 0;
	}
	close(mem);
	close(file);
	return nr;
}

static struct probe *watch(pid_t pid, bool follows)
{
	struct probe_options o = { .pid = pid, .follows = follows };
	struct probe *p = NULL;
	struct error err = { 0 };

	if (probe_open(&p, &o, &err) < 0) {
		if (err.code == EPERM || err.code == EACCES) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			print_message("skipped: %s\n", err.msg);
			skip();
		}
		print_message("%s\n", err.msg);
	}
	assert_non_null(p);
	return p;
}

static void add_all(struct probe *p)
{
	struct probe_verdict verdicts[NR];
	struct error err = { 0 };

	if (probe_add(p, functions, NR, verdicts, &err) < 0)
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < NR; i++)
		if (verdicts[i].means != PROBE_PATCHED)
			fail_msg("%s: %s", names[i], verdicts[i].why);
}

static void read_for(struct probe *p, struct told *t, int ms)
{
	struct probe_reader r = { t, take_calls, take_marks };
	struct error err = { 0 };
	int64_t until;

	for (; ms > 0; ms -= 5) {
		int e = probe_read(p, &r, &until, &err);

		assert_true(e >= 0);
		if (e > 0)
			return;
		usleep(5000);
	}
}

static void all_kinds_of_calls_are_told_and_go_on_as_before(void **state)
{
	struct told t = { 0 };
	struct probe *p;
	struct probe_counts c;

	(void)state;
	t.process = (uint32_t)sample_start("60", "3", "0");
	p = watch(running, false);
	add_all(p);
	assert_int_equal(nr_patched(running), NR);
	read_for(p, &t, 1000);
	probe_count(p, &c);
	probe_close(p);
	assert_int_equal(nr_patched(running), 0);
	sample_ends_well();
	for (size_t i = 0; i < NR; i++)
		if (!t.nr[i] && strcmp(names[i], "leaves_thread") != 0)
			fail_msg("no call of %s", names[i]);
	assert_int_equal(t.nr_wrong, 0);
	assert_int_equal(c.nr_dropped, 0);
	assert_int_equal(t.nr_others, 0);
	assert_int_equal(t.nr_threads, 4);
	assert_true(t.nr_unwound[THROWER] > 0);
	/* what catches, and what returns from a call that was jumped out of, ends by itself */
	assert_int_equal(t.nr_unwound[CATCHER], 0);
	assert_int_equal(t.nr_unwound[WHOLE_ROUND], 0);
	assert_int_equal(t.nr_unwound[TAIL_START], 0);
	assert_true(t.nr[TAIL_END] >= t.nr[WHOLE_ROUND] - 4 &&
		    t.nr[TAIL_END] <= t.nr[WHOLE_ROUND] + 4);
	assert_true(t.nr[TAIL_START] >= t.nr[WHOLE_ROUND] - 4 &&
		    t.nr[TAIL_START] <= t.nr[WHOLE_ROUND] + 4);
}

static void children_are_told_of_and_left_clean(void **state)
{
	struct told t = { 0 };
	struct probe_counts c;
	struct probe *p;

	(void)state;
	t.process = (uint32_t)sample_start("60", "1", "1");
	p = watch(running, true);
	add_all(p);
	read_for(p, &t, 1500);
	probe_count(p, &c);
	probe_close(p);
	sample_ends_well();
	assert_true(t.nr_others > 0);
	assert_true(c.nr_processes > 1);
	assert_int_equal(t.nr_wrong, 0);
}

static void two_hundred_threads(void **state)
{
	struct told t = { 0 };
	struct probe *p;

	(void)state;
	t.process = (uint32_t)sample_start("60", "200", "0");
	p = watch(running, false);
	add_all(p);
	for (int i = 0; i < 300 && (i < 50 || t.nr_threads <= 150); i++)
		read_for(p, &t, 5);
	probe_close(p);
	assert_int_equal(nr_patched(running), 0);
	sample_ends_well();
	assert_true(t.nr_threads > 150);
	assert_int_equal(t.nr_wrong, 0);
}

static void marks_carry_values(void **state)
{
	struct probe_function f[2];
	struct probe_verdict v[2];
	struct told t = { 0 };
	struct error err = { 0 };
	struct probe *p;

	(void)state;
	t.process = (uint32_t)sample_start("60", "1", "0");
	p = watch(running, false);
	f[0] = functions[TAKE_ORDER];
	f[0].is_call = false;
	f[0].at_entry = (struct probe_take){ .from = TAKE_ARGUMENT, .nr_loads = 1, .bytes = 8 };
	f[0].at_exit = (struct probe_take){ .from = TAKE_RETURN, .bytes = 8 };
	/* an argument that is no pointer is no danger */
	f[1] = functions[LEAF];
	f[1].at_entry = (struct probe_take){ .from = TAKE_ARGUMENT, .nr_loads = 2, .bytes = 4 };
	f[1].at_entry.offsets[0] = 1 << 30;
	assert_int_equal(probe_add(p, f, 2, v, &err), 0);
	assert_int_equal(v[0].means, PROBE_PATCHED);
	read_for(p, &t, 500);
	probe_close(p);
	sample_ends_well();
	assert_true(t.nr_entry > 10);
	assert_true(t.nr_exit + 4 >= t.nr_entry && t.nr_exit <= t.nr_entry + 4);
	assert_true(t.last_id < 1000000);
	assert_int_equal(t.nr[TAKE_ORDER], 0);
	/* all of leaf's, and none of the others */
	assert_true(t.nr_wrong > 0);
}

static void what_is_behind_pointers_is_found(void **state)
{
	struct probe_function f = functions[TAKE_ORDER];
	struct probe_verdict v;
	struct told t = { 0 };
	struct error err = { 0 };
	struct probe *p;

	(void)state;
	t.process = (uint32_t)sample_start("60", "1", "0");
	p = watch(running, false);
	f.id = LEAF;
	/* *(*(arg0 + 8) + 4), four bytes, when it returns */
	f.at_exit = (struct probe_take){
		.from = TAKE_ARGUMENT, .nr_loads = 2, .offsets = { 8, 4 }, .bytes = 4
	};
	assert_int_equal(probe_add(p, &f, 1, &v, &err), 0);
	assert_int_equal(v.means, PROBE_PATCHED);
	read_for(p, &t, 400);
	probe_close(p);
	sample_ends_well();
	assert_true(t.nr_inner > 10);
	assert_int_equal(t.nr_wrong, 0);
}

/* Functions that wait are those that have not ended. */
static void calls_that_have_not_ended_are_told_when_asked(void **state)
{
	struct told t = { 0 }, open = { 0 };
	struct probe_reader r = { &open, take_calls, take_marks };
	struct error err = { 0 };
	struct probe *p;

	(void)state;
	t.process = open.process = (uint32_t)sample_start("60", "3", "0");
	p = watch(running, false);
	add_all(p);
	for (int i = 0; i < 400 && !open.nr[WHOLE_ROUND]; i++) {
		read_for(p, &t, 5);
		assert_int_equal(probe_read_open(p, &r, &err), 0);
	}
	probe_close(p);
	sample_ends_well();
	assert_true(open.nr[WHOLE_ROUND] > 0);
	assert_int_equal(open.nr_wrong, 0);
	assert_true(open.nr_open >= open.nr[WHOLE_ROUND]);
}

static int take_site(void *to, const struct function_call *c, size_t nr, struct error *err)
{
	(void)err;
	for (size_t i = 0; i < nr; i++)
		if (c[i].function == TAIL_START)
			*(uint32_t *)to = c[i].site;
	return 0;
}

static void where_calls_come_from_is_known(void **state)
{
	const struct probe_function *caller = &functions[WHOLE_ROUND];
	struct error err = { 0 };
	uint32_t site = 0;
	struct probe_reader r = { &site, take_site, take_marks };
	const char *module = "";
	uint64_t address = 0;
	int64_t until;
	struct probe *p;

	(void)state;
	sample_start("60", "1", "0");
	p = watch(running, false);
	add_all(p);
	for (int i = 0; i < 400 && !site; i++) {
		assert_true(probe_read(p, &r, &until, &err) >= 0);
		usleep(5000);
	}
	assert_true(probe_site(p, site, &module, &address));
	assert_string_equal(module, sample);
	assert_true(address > caller->address && address < caller->address + caller->size);
	probe_close(p);
	sample_ends_well();
}

static int rounds(void)
{
	const char *r = getenv("PROBE_ROUNDS"), *live = getenv("LIVE");

	return r ? atoi(r) : live && !strcmp(live, "all") ? 20 : 8;
}

static void patched_and_unpatched_under_load(void **state)
{
	uint32_t ids[NR];
	struct told t = { 0 };
	struct error err = { 0 };
	struct probe *p;

	(void)state;
	t.process = (uint32_t)sample_start("600", "3", "0");
	p = watch(running, false);
	for (uint32_t i = 0; i < NR; i++)
		ids[i] = i;
	for (int i = 0; i < rounds() * 3 && waitpid(running, NULL, WNOHANG) == 0; i++) {
		add_all(p);
		read_for(p, &t, 5);
		assert_int_equal(probe_remove(p, ids, NR, &err), 0);
	}
	assert_int_equal(nr_patched(running), 0);
	probe_close(p);
	sample_ends_well();
	assert_int_equal(t.nr_wrong, 0);
}

/* Exceptions are thrown all the while, through calls that were entered before a pause. */
static void pauses_disturb_nobody(void **state)
{
	struct told t = { 0 };
	struct probe *p;

	(void)state;
	t.process = (uint32_t)sample_start("600", "3", "0");
	p = watch(running, false);
	add_all(p);
	for (int i = 0; i < rounds() * 20 && waitpid(running, NULL, WNOHANG) == 0; i++) {
		probe_pause(p, true);
		usleep((useconds_t)(i * 131 % 1500));
		probe_pause(p, false);
		read_for(p, &t, 1);
	}
	probe_close(p);
	sample_ends_well();
	assert_int_equal(t.nr_wrong, 0);
	assert_true(t.nr[CATCHER] > 0);
}

/* By them it is told what watching costs. */
static void pieces_of_work_are_counted_in_pauses(void **state)
{
	struct probe_function f = functions[CATCHER];
	struct probe_counts before, after;
	struct probe_verdict verdict;
	struct error err = { 0 };
	struct told t = { 0 };
	struct probe *p;

	(void)state;
	t.process = (uint32_t)sample_start("600", "3", "0");
	p = watch(running, false);
	f.is_unit = true;
	assert_int_equal(probe_add(p, &f, 1, &verdict, &err), 0);
	read_for(p, &t, 50);
	probe_pause(p, true);
	read_for(p, &t, 50);
	probe_count(p, &before);
	assert_true(before.nr_units >= before.nr_calls && before.nr_calls > 0);
	read_for(p, &t, 100);
	probe_count(p, &after);
	assert_true(after.nr_units > before.nr_units + 5);
	/* those that were under way */
	assert_true(after.nr_calls <= before.nr_calls + 3);
	assert_true(after.lost_ns > 0 && after.patcher_ns > 0);
	probe_close(p);
	sample_ends_well();
}

static int nr_children(void)
{
	char path[64], line[256] = "";
	int nr = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", getpid(), getpid());
	f = fopen(path, "re");
	assert_non_null(f);
	if (fgets(line, sizeof(line), f))
		for (char *p = strchr(line, ' '); p; p = strchr(p + 1, ' '))
			nr++;
	fclose(f);
	return nr;
}

static bool has_other_children(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0)
		if (pid == running)
			fail_msg("the program has ended with status %x", (unsigned)status);
	return nr_children() > 1;
}

/* A watcher of its own, which is killed at any moment. */
static void killed_in_the_middle(int us)
{
	struct timespec wait = { .tv_nsec = us * 1000L };
	pid_t watcher = fork();

	if (watcher == 0) {
		struct probe_options o = { .pid = running };
		struct probe_verdict verdicts[NR];
		struct error err = { 0 };
		uint32_t ids[NR];
		struct probe *p;

		for (uint32_t i = 0; i < NR; i++)
			ids[i] = i;
		if (probe_open(&p, &o, &err) == 0)
			for (;;) {
				probe_add(p, functions, NR, verdicts, &err);
				probe_remove(p, ids, NR, &err);
			}
		_exit(err.code == EBUSY ? 0 : 1);
	}
	nanosleep(&wait, NULL);
	kill(watcher, SIGKILL);
	waitpid(watcher, NULL, 0);
	/* who patches is our child now, and ends when it has taken everything back */
	for (int i = 0; i < 1500 && has_other_children(); i++)
		usleep(10000);
	assert_int_equal(nr_patched(running), 0);
}

static void a_watcher_that_is_killed_leaves_all_clean(void **state)
{
	int nr = rounds();

	(void)state;
	sample_start("600", "3", "0");
	for (int i = 0; i < nr; i++) {
		killed_in_the_middle(15000 + i * 7919 % 60000);
	}
	sample_ends_well();
}

/* Our only child besides the program. */
static pid_t guardian_of_ours(void)
{
	char path[64];
	int a = 0, b = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", getpid(), getpid());
	f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d %d", &a, &b), 2);
	fclose(f);
	return a == running ? b : a;
}

static void a_guardian_that_is_killed_is_replaced_at_the_end(void **state)
{
	struct told t = { 0 };
	struct probe *p;

	(void)state;
	t.process = (uint32_t)sample_start("60", "3", "0");
	p = watch(running, false);
	add_all(p);
	read_for(p, &t, 200);
	kill(guardian_of_ours(), SIGKILL);
	usleep(100000);
	assert_int_equal(nr_patched(running), NR);
	probe_close(p);
	assert_int_equal(nr_patched(running), 0);
	/* and all can be done again */
	p = watch(running, false);
	t = (struct told){ .process = (uint32_t)running };
	add_all(p);
	read_for(p, &t, 300);
	probe_close(p);
	sample_ends_well();
	assert_true(t.nr[WHOLE_ROUND] > 0);
	assert_int_equal(t.nr_wrong, 0);
}

static void a_program_is_watched_from_its_beginning(void **state)
{
	char *argv[] = { (char *)sample, (char *)"0.3", (char *)"0", (char *)"0", NULL };
	struct told t = { 0 };
	struct error err = { 0 };
	struct probe *p;

	(void)state;
	assert_int_equal(spawn_stopped(argv, -1, &running, &err), 0);
	p = watch(running, true);
	add_all(p);
	t.process = (uint32_t)running;
	assert_int_equal(spawn_go(running), 0);
	read_for(p, &t, 3000);
	probe_close(p);
	sample_ends_well();
	assert_true(t.nr[WHOLE_ROUND] > 1);
	/* main's first round, and no call before it */
	assert_true(t.nr[TAIL_START] == t.nr[WHOLE_ROUND]);
}

static int wants_sample(void *to, int pid, struct error *err)
{
	(void)err;
	++*(int *)to;
	return is_sample(pid);
}

static void a_script_is_followed_to_the_program_that_is_meant(void **state)
{
	char text[8192], *argv[] = { (char *)"/bin/sh", (char *)"-c", text, NULL };
	int nr_seen = 0;
	struct spawn_wish wish = { &nr_seen, wants_sample, NULL };
	struct spawned got = { 0 };
	struct told t = { 0 };
	struct error err = { 0 };
	struct probe *p;

	(void)state;
	snprintf(text, sizeof(text), "/bin/true; %s 0.3 0 0; exit $?", sample);
	assert_int_equal(spawn_until(argv, -1, &wish, &got, &err), 0);
	assert_int_equal(nr_seen, 3);
	assert_true(got.pid && got.pid != got.command && !got.has_ended);
	running = got.command;
	p = watch(got.pid, true);
	add_all(p);
	assert_int_equal(spawn_go(got.pid), 0);
	t.process = (uint32_t)got.pid;
	read_for(p, &t, 3000);
	probe_close(p);
	assert_int_equal(waitpid(got.command, &nr_seen, 0), got.command);
	running = 0;
	assert_int_equal(nr_seen, 0);
	assert_true(t.nr[WHOLE_ROUND] > 1);
	assert_true(t.nr[TAIL_START] == t.nr[WHOLE_ROUND]);
}

static void a_script_without_the_program_ends_as_it_would(void **state)
{
	char *argv[] = { (char *)"/bin/sh", (char *)"-c", (char *)"(kill -TERM $$); sleep 5",
			 NULL };
	int nr_seen = 0;
	struct spawn_wish wish = { &nr_seen, wants_sample, NULL };
	struct spawned got = { 0 };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(spawn_until(argv, -1, &wish, &got, &err), 0);
	assert_true(got.has_ended && !got.pid);
	assert_true(WIFSIGNALED(got.status) && WTERMSIG(got.status) == SIGTERM);
	argv[0] = (char *)"/nowhere/none";
	assert_int_equal(spawn_until(argv, -1, &wish, &got, &err), -ENOENT);
}

/* A supervisor starts it again and again: each time it is watched, from its beginning on. */
static void programs_that_are_started_again_are_watched(void **state)
{
	char text[8192];
	struct told t = { 0 };
	struct error err = { 0 };
	struct probe_options o = { .follows = true };
	struct probe *p = NULL;
	pid_t pid = 0;
	int status;

	(void)state;
	/* the first one stays until it is watched, however long that takes; who is to see the
	 * others may wait for a processor */
	snprintf(text, sizeof(text), "for i in 300 2 2 2; do %s $i 0 0 || exit 9; done", sample);
	running = o.root = fork();
	if (running == 0) {
		execl("/bin/sh", "sh", "-c", text, NULL);
		_exit(127);
	}
	for (int i = 0; i < 60000 && !(pid && is_sample(pid)); i++) {
		size_t nr = 0;

		usleep(1000);
		kin_children(running, true, &pid, &nr, 1);
	}
	o.pid = pid;
	if (probe_open(&p, &o, &err) < 0)
		fail_msg("%s", err.msg);
	add_all(p);
	for (int i = 0; i < 6000 && !t.nr_threads; i++)
		read_for(p, &t, 10);
	kill(pid, SIGTERM);
	read_for(p, &t, 60000);
	probe_close(p);
	assert_int_equal(waitpid(running, &status, 0), running);
	running = 0;
	assert_int_equal(status, 0);
	assert_true(t.nr_threads >= 3);
	assert_int_equal(t.nr_wrong, 0);
}

static void refusals_say_why(void **state)
{
	struct probe_options o = { .pid = 0x3ffffff };
	struct probe_function f[3] = { functions[LEAF], functions[LEAF], functions[LEAF] };
	struct probe_verdict v[3];
	struct error err = { 0 };
	struct probe *p = NULL;

	(void)state;
	assert_true(probe_open(&p, &o, &err) < 0);
	assert_non_null(strstr(err.msg, "no process"));
	sample_start("60", "1", "0");
	p = watch(running, false);
	f[0].module = "/nowhere/libnone.so";
	f[1].address = 16;
	f[1].id = 1;
	f[2].size = 2;
	f[2].id = 2;
	assert_int_equal(probe_add(p, f, 3, v, &err), 0);
	assert_int_equal(v[0].means, PROBE_REFUSED);
	assert_string_equal(v[0].why, "its module is not loaded");
	assert_string_equal(v[1].why, "not in the code of its module");
	assert_string_equal(v[2].why, "too short");
	probe_close(p);
	sample_ends_well();
}

static void a_process_that_ends_is_read_to_its_end(void **state)
{
	struct told t = { 0 };
	struct error err = { 0 };
	struct probe_verdict v[NR];
	struct probe *p;

	(void)state;
	t.process = (uint32_t)sample_start("3", "2", "0");
	p = watch(running, false);
	add_all(p);
	read_for(p, &t, 60000);
	sample_ends_well();
	assert_true(probe_add(p, functions, NR, v, &err) < 0 || v[0].means == PROBE_REFUSED);
	probe_close(p);
	assert_true(t.nr[WHOLE_ROUND] > 0);
}

static void ticks_keep_to_the_clock(void **state)
{
	struct ticks t;
	struct error err = { 0 };
	int64_t last = 0, worst = 0;

	(void)state;
	assert_int_equal(ticks_init(&t, &err), 0);
	for (int i = 0; i < 300; i++) {
		struct timespec a, b;
		uint64_t tick;
		int64_t ns, before, after;

		clock_gettime(CLOCK_MONOTONIC, &a);
		tick = ticks_now();
		clock_gettime(CLOCK_MONOTONIC, &b);
		ns = ticks_ns(&t, tick);
		before = (int64_t)a.tv_sec * 1000000000 + a.tv_nsec;
		after = (int64_t)b.tv_sec * 1000000000 + b.tv_nsec;
		assert_true(ns >= last);
		last = ns;
		if (ns < before && before - ns > worst)
			worst = before - ns;
		if (ns > after && ns - after > worst)
			worst = ns - after;
		ticks_keep(&t);
		assert_true(llabs(ticks_ns(&t, tick) - ns) <= 1);
		usleep(2000);
	}
	assert_true(worst < 5000);
	ticks_done(&t);
}

static int clean(void **state)
{
	(void)state;
	if (running > 0) {
		kill(running, SIGKILL);
		waitpid(running, NULL, 0);
		running = 0;
	}
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_keep_to_the_clock),
		cmocka_unit_test_teardown(all_kinds_of_calls_are_told_and_go_on_as_before, clean),
		cmocka_unit_test_teardown(children_are_told_of_and_left_clean, clean),
		cmocka_unit_test_teardown(two_hundred_threads, clean),
		cmocka_unit_test_teardown(marks_carry_values, clean),
		cmocka_unit_test_teardown(what_is_behind_pointers_is_found, clean),
		cmocka_unit_test_teardown(calls_that_have_not_ended_are_told_when_asked, clean),
		cmocka_unit_test_teardown(where_calls_come_from_is_known, clean),
		cmocka_unit_test_teardown(patched_and_unpatched_under_load, clean),
		cmocka_unit_test_teardown(pauses_disturb_nobody, clean),
		cmocka_unit_test_teardown(pieces_of_work_are_counted_in_pauses, clean),
		cmocka_unit_test_teardown(a_watcher_that_is_killed_leaves_all_clean, clean),
		cmocka_unit_test_teardown(a_guardian_that_is_killed_is_replaced_at_the_end, clean),
		cmocka_unit_test_teardown(a_program_is_watched_from_its_beginning, clean),
		cmocka_unit_test_teardown(a_script_is_followed_to_the_program_that_is_meant, clean),
		cmocka_unit_test_teardown(a_script_without_the_program_ends_as_it_would, clean),
		cmocka_unit_test_teardown(programs_that_are_started_again_are_watched, clean),
		cmocka_unit_test_teardown(refusals_say_why, clean),
		cmocka_unit_test_teardown(a_process_that_ends_is_read_to_its_end, clean),
	};

	/* those whose parents were killed come to us */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sample = getenv("CULPRIT_SAMPLE");
	if (!sample)
		return 77;
	functions_look_up();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
