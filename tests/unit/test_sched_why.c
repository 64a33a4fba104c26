#include "unit.h"

#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "capture/sched_why.h"
#include "wire/sched_record.h"

static enum wait_why why(long call, uint32_t detail, uint32_t more, uint8_t flags)
{
	const struct sched_record r = { .call = (int16_t)call,
					.detail = detail,
					.more = more,
					.act = SCHED_OFF,
					.flags = flags };
	bool is_open;

	return sched_why(&r, &is_open);
}

static bool may_be_queue(long call, uint32_t detail, uint32_t more)
{
	const struct sched_record r = {
		.call = (int16_t)call, .detail = detail, .more = more, .flags = SCHED_BLOCKED
	};
	bool is_open;

	sched_why(&r, &is_open);
	return is_open;
}

static void what_could_go_on_waits_for_a_processor(void **state)
{
	(void)state;
	assert_int_equal(why(SYS_futex, 0, 0, 0), WAIT_CPU);
	assert_int_equal(why(-1, 0, 0, 0), WAIT_CPU);
}

/* As glibc calls them. */
static void a_futex_tells_locks_from_queues(void **state)
{
	const uint32_t bits = FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME;

	(void)state;
	assert_int_equal(why(SYS_futex, FUTEX_WAIT_PRIVATE, 2, SCHED_BLOCKED), WAIT_LOCK);
	assert_int_equal(why(SYS_futex, FUTEX_WAIT, 2, SCHED_BLOCKED), WAIT_LOCK);
	assert_int_equal(why(SYS_futex, FUTEX_LOCK_PI_PRIVATE, 0, SCHED_BLOCKED), WAIT_LOCK);
	/* pthread_cond_wait; pthread_rwlock_rdlock; sem_wait between processes; pthread_join */
	assert_int_equal(why(SYS_futex, bits | FUTEX_PRIVATE_FLAG, 0, SCHED_BLOCKED), WAIT_QUEUE);
	assert_int_equal(why(SYS_futex, bits | FUTEX_PRIVATE_FLAG, 3, SCHED_BLOCKED), WAIT_LOCK);
	assert_int_equal(why(SYS_futex, bits, 0, SCHED_BLOCKED), WAIT_LOCK);
	assert_int_equal(why(SYS_futex, bits, 12345, SCHED_BLOCKED), WAIT_QUEUE);
}

static void files_are_io_unless_a_thread_that_is_known_fills_them(void **state)
{
	(void)state;
	assert_int_equal(why(SYS_read, S_IFREG, 0, SCHED_BLOCKED), WAIT_IO);
	assert_int_equal(why(SYS_fsync, 0, 0, SCHED_BLOCKED), WAIT_IO);
	assert_int_equal(why(SYS_recvfrom, S_IFSOCK, AF_INET, SCHED_BLOCKED), WAIT_IO);
	assert_false(may_be_queue(SYS_read, S_IFREG, 0));
	assert_false(may_be_queue(SYS_recvfrom, S_IFSOCK, AF_INET));
	assert_true(may_be_queue(SYS_recvfrom, S_IFSOCK, AF_UNIX));
	assert_true(may_be_queue(SYS_read, S_IFIFO, 0));
	assert_true(may_be_queue(SYS_epoll_pwait, 0, 16));
	assert_int_equal(why(-1, 0, 0, SCHED_BLOCKED | SCHED_BOUND | SCHED_DISK), WAIT_IO);
	assert_int_equal(why(-1, 0, 0, SCHED_BLOCKED | SCHED_BOUND), WAIT_OTHER);
}

static void time_passes(void **state)
{
	(void)state;
	assert_int_equal(why(SYS_nanosleep, 0, 0, SCHED_BLOCKED), WAIT_SLEEP);
	assert_int_equal(why(SYS_pselect6, 0, 0, SCHED_BLOCKED), WAIT_SLEEP);
	assert_int_equal(why(SYS_ppoll, 0, 0, SCHED_BLOCKED), WAIT_SLEEP);
	assert_int_equal(why(SYS_ppoll, 0, 1, SCHED_BLOCKED), WAIT_IO);
}

static void who_was_only_interrupted_woke_nobody(void **state)
{
	(void)state;
	assert_true(sched_is_waker(SYS_futex, SYS_futex));
	assert_false(sched_is_waker(SYS_futex, -1));
	assert_false(sched_is_waker(SYS_futex, SYS_write));
	assert_true(sched_is_waker(SYS_read, SYS_write));
	assert_true(sched_is_waker(SYS_epoll_pwait, SYS_kill));
	assert_false(sched_is_waker(SYS_read, SYS_futex));
	assert_false(sched_is_waker(SYS_nanosleep, SYS_futex));
	assert_false(sched_is_waker(SYS_fsync, SYS_write));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_could_go_on_waits_for_a_processor),
		cmocka_unit_test(a_futex_tells_locks_from_queues),
		cmocka_unit_test(files_are_io_unless_a_thread_that_is_known_fills_them),
		cmocka_unit_test(time_passes),
		cmocka_unit_test(who_was_only_interrupted_woke_nobody),
	};

	return RUN(tests);
}
