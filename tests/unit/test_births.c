/* The kernel tells of processes that are made to root only. */
#include "unit.h"

#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/probe/births.h"

struct told {
	VEC(int) pids;
};

static void note(void *to, int pid)
{
	struct told *t = to;

	vec_push(&t->pids, pid);
}

static bool has(const struct told *t, int pid)
{
	vec_each (&t->pids, p)
		if (*p == pid)
			return true;
	return false;
}

static bool has_made(const struct births *b, int pid)
{
	vec_each (&b->made, p)
		if (*p == pid)
			return true;
	return false;
}

/* A child that becomes a program, and ends; its number, or that which is asked for. */
static int program(int number)
{
	pid_t wanted = number;
	struct clone_args a = { .exit_signal = SIGCHLD,
				.set_tid = number ? (uintptr_t)&wanted : 0,
				.set_tid_size = number ? 1 : 0 };
	int pid = (int)syscall(SYS_clone3, &a, sizeof(a));

	if (!pid) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return pid;
}

/* One of no family that does as program(), as often as it is told a number; 0: it could not. */
struct stranger {
	int pid, ask[2], answer[2];
};

static void stranger_run(struct stranger *s)
{
	int number;

	while (read(s->ask[0], &number, sizeof(number)) == sizeof(number)) {
		number = program(number) > 0;
		if (write(s->answer[1], &number, sizeof(number)) < 0)
			break;
	}
	_exit(0);
}

static void stranger_begin(struct stranger *s)
{
	assert_int_equal(pipe(s->ask), 0);
	assert_int_equal(pipe(s->answer), 0);
	s->pid = fork();
	if (!s->pid) {
		close(s->ask[1]);
		stranger_run(s);
	}
}

static bool stranger_do(struct stranger *s, int number)
{
	assert_int_equal(write(s->ask[1], &number, sizeof(number)), sizeof(number));
	assert_int_equal(read(s->answer[0], &number, sizeof(number)), sizeof(number));
	return number;
}

static void stranger_end(struct stranger *s)
{
	close(s->ask[1]);
	waitpid(s->pid, NULL, 0);
	close(s->ask[0]);
	close(s->answer[0]);
	close(s->answer[1]);
}

static struct births births;
static struct told told;

static void listen_anew(void)
{
	births_open(&births);
	if (births.fd < 0)
		skip();
}

static void end(void)
{
	births_close(&births);
	births = (struct births){ 0 };
	vec_done(&told.pids);
	told = (struct told){ 0 };
}

/* A stranger, and a child of ours that has been a program; its number. */
static int begin(struct stranger *s)
{
	int pid;

	stranger_begin(s);
	listen_anew();
	births_of(&births, getpid());
	pid = program(0);
	assert_true(pid > 0);
	return pid;
}

static void programs_of_the_family_are_told_and_others_not(void **state)
{
	struct stranger s;
	int pid = begin(&s);

	(void)state;
	assert_true(stranger_do(&s, 0));
	births_read(&births, note, &told);
	assert_int_equal(told.pids.nr, 1);
	assert_true(has(&told, pid));
	assert_int_equal(births.made.nr, 1);
	stranger_end(&s);
	end();
}

/* What was said of its own birth before somebody asked for it does not make it a stranger. */
static void one_that_was_just_made_by_others_is_of_the_family(void **state)
{
	struct stranger s;

	(void)state;
	listen_anew();
	stranger_begin(&s);
	births_of(&births, s.pid);
	assert_true(stranger_do(&s, 0));
	births_read(&births, note, &told);
	assert_int_equal(told.pids.nr, 1);
	stranger_end(&s);
	end();
}

static void a_stranger_with_the_number_of_one_that_has_ended_is_none_of_it(void **state)
{
	struct stranger s;
	int pid = begin(&s);

	(void)state;
	births_read(&births, note, &told);
	assert_true(has(&told, pid) && has_made(&births, pid));
	vec_clear(&told.pids);
	/* (somebody else may have the number just now) */
	if (stranger_do(&s, pid)) {
		births_read(&births, note, &told);
		assert_false(has(&told, pid));
	}
	stranger_end(&s);
	end();
}

/* Where both are heard of at once. */
static void a_number_that_is_given_out_again_before_it_was_heard_of_is_a_strangers(void **state)
{
	struct stranger s;
	int pid = begin(&s);

	(void)state;
	if (stranger_do(&s, pid) && stranger_do(&s, pid)) {
		births_read(&births, note, &told);
		assert_int_equal(told.pids.nr, 1);
	}
	stranger_end(&s);
	end();
}

static bool is_known(int pid)
{
	const uint64_t *at = map_find(&births.family, (uint64_t)pid);

	return at && *at;
}

static void those_that_have_ended_are_left_out_when_it_is_seen_twice(void **state)
{
	int pid;

	(void)state;
	listen_anew();
	births_of(&births, getpid());
	pid = program(0);
	births_read(&births, note, &told);
	births_sweep(&births);
	assert_true(is_known(pid));
	births_sweep(&births);
	assert_false(is_known(pid));
	assert_true(is_known(getpid()));
	end();
}

static void many_that_come_and_go_are_not_kept(void **state)
{
	(void)state;
	listen_anew();
	births_of(&births, getpid());
	for (int i = 0; i < 300; i++) {
		assert_true(program(0) > 0);
		births_read(&births, note, &told);
	}
	assert_int_equal(told.pids.nr, 300);
	assert_true(births.family.nr < 200);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_of_the_family_are_told_and_others_not),
		cmocka_unit_test(one_that_was_just_made_by_others_is_of_the_family),
		cmocka_unit_test(a_stranger_with_the_number_of_one_that_has_ended_is_none_of_it),
		cmocka_unit_test(
			a_number_that_is_given_out_again_before_it_was_heard_of_is_a_strangers),
		cmocka_unit_test(those_that_have_ended_are_left_out_when_it_is_seen_twice),
		cmocka_unit_test(many_that_come_and_go_are_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
