/*
 * What a wait is for is guessed from outside, without a list of functions:
 *
 * - A futex that is waited on plainly is a mutex. Conditions, semaphores, locks for readers and
 * writers and threads that are joined wait with a bit set (glibc), and the value that they wait on
 * tells them apart: 2 and 3 say that somebody holds a lock and others wait for it. A semaphore that
 * processes share (not private, 0) guards something between them: a lock. The others are conditions
 * and semaphores of one program, by which work is handed over: a queue.
 * - A file, a disk or a network is I/O, but for pipes, local sockets and what is polled: there it
 * is a queue when a thread of the watched processes wakes it.
 */
#include "capture/sched_why.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "wire/sched_record.h"

/* Of what a thread waits in. */
enum sort {
	SORT_NONE,
	SORT_FUTEX,
	SORT_DISK,
	SORT_FILE,
	SORT_POLL,
	SORT_SLEEP,
	SORT_LOCK,
	SORT_QUEUE
};

/* Newer than the headers of some systems. */
#define CALL_FUTEX_WAITV 449
#define CALL_FUTEX_WAKE 454
#define CALL_FUTEX_WAIT 455
#define CALL_FUTEX_REQUEUE 456

static const struct {
	long number;
	uint8_t sort, form;
} calls[] = {
	{ SYS_futex, SORT_FUTEX, SCHED_FUTEX },
	{ CALL_FUTEX_WAITV, SORT_LOCK, SCHED_PLAIN },
	{ CALL_FUTEX_WAIT, SORT_LOCK, SCHED_PLAIN },
	{ SYS_flock, SORT_LOCK, SCHED_PLAIN },
	{ SYS_fcntl, SORT_LOCK, SCHED_PLAIN },
	{ SYS_semop, SORT_LOCK, SCHED_PLAIN },
	{ SYS_semtimedop, SORT_LOCK, SCHED_PLAIN },
	{ SYS_msgrcv, SORT_QUEUE, SCHED_PLAIN },
	{ SYS_msgsnd, SORT_QUEUE, SCHED_PLAIN },
	{ SYS_mq_timedreceive, SORT_QUEUE, SCHED_PLAIN },
	{ SYS_mq_timedsend, SORT_QUEUE, SCHED_PLAIN },
	{ SYS_nanosleep, SORT_SLEEP, SCHED_PLAIN },
	{ SYS_clock_nanosleep, SORT_SLEEP, SCHED_PLAIN },
#ifdef SYS_poll
	{ SYS_poll, SORT_POLL, SCHED_NUMBER },
	{ SYS_select, SORT_POLL, SCHED_FIRST },
	{ SYS_epoll_wait, SORT_POLL, SCHED_NUMBER },
	{ SYS_accept, SORT_FILE, SCHED_FILE },
	{ SYS_open, SORT_DISK, SCHED_PLAIN },
	{ SYS_unlink, SORT_DISK, SCHED_PLAIN },
	{ SYS_rename, SORT_DISK, SCHED_PLAIN },
#endif
	{ SYS_ppoll, SORT_POLL, SCHED_NUMBER },
	{ SYS_pselect6, SORT_POLL, SCHED_FIRST },
	{ SYS_epoll_pwait, SORT_POLL, SCHED_NUMBER },
#ifdef SYS_epoll_pwait2
	{ SYS_epoll_pwait2, SORT_POLL, SCHED_NUMBER },
#endif
	{ SYS_read, SORT_FILE, SCHED_FILE },
	{ SYS_readv, SORT_FILE, SCHED_FILE },
	{ SYS_write, SORT_FILE, SCHED_FILE },
	{ SYS_writev, SORT_FILE, SCHED_FILE },
	{ SYS_recvfrom, SORT_FILE, SCHED_FILE },
	{ SYS_recvmsg, SORT_FILE, SCHED_FILE },
	{ SYS_recvmmsg, SORT_FILE, SCHED_FILE },
	{ SYS_sendto, SORT_FILE, SCHED_FILE },
	{ SYS_sendmsg, SORT_FILE, SCHED_FILE },
	{ SYS_sendmmsg, SORT_FILE, SCHED_FILE },
	{ SYS_accept4, SORT_FILE, SCHED_FILE },
	{ SYS_connect, SORT_FILE, SCHED_FILE },
	{ SYS_splice, SORT_FILE, SCHED_FILE },
	{ SYS_sendfile, SORT_FILE, SCHED_FILE },
	{ SYS_pread64, SORT_DISK, SCHED_PLAIN },
	{ SYS_pwrite64, SORT_DISK, SCHED_PLAIN },
	{ SYS_preadv, SORT_DISK, SCHED_PLAIN },
	{ SYS_pwritev, SORT_DISK, SCHED_PLAIN },
	{ SYS_fsync, SORT_DISK, SCHED_PLAIN },
	{ SYS_fdatasync, SORT_DISK, SCHED_PLAIN },
	{ SYS_sync, SORT_DISK, SCHED_PLAIN },
	{ SYS_syncfs, SORT_DISK, SCHED_PLAIN },
	{ SYS_sync_file_range, SORT_DISK, SCHED_PLAIN },
	{ SYS_msync, SORT_DISK, SCHED_PLAIN },
	{ SYS_fallocate, SORT_DISK, SCHED_PLAIN },
	{ SYS_ftruncate, SORT_DISK, SCHED_PLAIN },
	{ SYS_openat, SORT_DISK, SCHED_PLAIN },
	{ SYS_unlinkat, SORT_DISK, SCHED_PLAIN },
	{ SYS_renameat2, SORT_DISK, SCHED_PLAIN },
	{ SYS_io_getevents, SORT_DISK, SCHED_PLAIN },
	{ SYS_io_submit, SORT_DISK, SCHED_PLAIN },
	{ SYS_io_uring_enter, SORT_DISK, SCHED_PLAIN },
};

/* What ends the waits of others: by a lock, by bytes or a signal. */
static const struct {
	long number;
	bool of_lock, of_file;
} wakers[] = {
	{ SYS_futex, true, false },
	{ CALL_FUTEX_WAKE, true, false },
	{ CALL_FUTEX_REQUEUE, true, false },
	{ SYS_semop, true, false },
	{ SYS_semtimedop, true, false },
	{ SYS_msgsnd, true, false },
	{ SYS_msgrcv, true, false },
	{ SYS_mq_timedsend, true, false },
	{ SYS_mq_timedreceive, true, false },
	{ SYS_flock, true, false },
	{ SYS_fcntl, true, false },
	{ SYS_close, true, true },
	{ SYS_exit, true, true },
	{ SYS_exit_group, true, true },
	{ SYS_kill, true, true },
	{ SYS_tkill, true, true },
	{ SYS_tgkill, true, true },
	{ SYS_write, false, true },
	{ SYS_writev, false, true },
	{ SYS_read, false, true },
	{ SYS_readv, false, true },
	{ SYS_recvfrom, false, true },
	{ SYS_recvmsg, false, true },
	{ SYS_sendto, false, true },
	{ SYS_sendmsg, false, true },
	{ SYS_sendmmsg, false, true },
	{ SYS_sendfile, false, true },
	{ SYS_splice, false, true },
	{ SYS_connect, false, true },
	{ SYS_shutdown, false, true },
	{ SYS_io_uring_enter, false, true },
};

#define NR_WAKERS (sizeof(wakers) / sizeof(*wakers))
#define NR_CALLS (sizeof(calls) / sizeof(*calls))

void sched_forms(uint8_t *forms)
{
	for (size_t i = 0; i < NR_CALLS; i++)
		if (calls[i].number >= 0 && calls[i].number < SCHED_CALLS_MAX)
			forms[calls[i].number] = calls[i].form;
}

static enum wait_why why_of_futex(const struct sched_record *r)
{
	bool is_held = r->more == 2 || r->more == 3;
	bool is_private = r->detail & FUTEX_PRIVATE_FLAG;

	if ((r->detail & FUTEX_CMD_MASK) != FUTEX_WAIT_BITSET || is_held)
		return WAIT_LOCK;
	return is_private || r->more ? WAIT_QUEUE : WAIT_LOCK;
}

static bool is_between_threads(const struct sched_record *r)
{
	if (r->detail == S_IFSOCK)
		return r->more == AF_UNIX;
	return r->detail == S_IFIFO || !r->detail; /* those of eventfd and its like have no kind */
}

static enum sort sort_of(int16_t call)
{
	for (size_t i = 0; i < NR_CALLS; i++)
		if (calls[i].number == call)
			return calls[i].sort;
	return SORT_NONE;
}

enum wait_why sched_why(const struct sched_record *r, bool *is_open)
{
	*is_open = false;
	if (!(r->flags & SCHED_BLOCKED))
		return WAIT_CPU;
	switch (sort_of(r->call)) {
	case SORT_FUTEX:
		return why_of_futex(r);
	case SORT_DISK:
		return WAIT_IO;
	case SORT_FILE:
		*is_open = is_between_threads(r);
		return WAIT_IO;
	case SORT_POLL:
		if (!r->more)
			return WAIT_SLEEP;
		*is_open = true;
		return WAIT_IO;
	case SORT_SLEEP:
		return WAIT_SLEEP;
	case SORT_LOCK:
		return WAIT_LOCK;
	case SORT_QUEUE:
		return WAIT_QUEUE;
	case SORT_NONE:
		break;
	}
	return r->flags & SCHED_DISK ? WAIT_IO : WAIT_OTHER;
}

bool sched_is_waker(int16_t waits_in, int16_t waker_in)
{
	enum sort sort = sort_of(waits_in);
	bool is_lock = sort == SORT_FUTEX || sort == SORT_LOCK || sort == SORT_QUEUE;

	for (size_t i = 0; i < NR_WAKERS; i++)
		if (wakers[i].number == waker_in)
			return is_lock ? wakers[i].of_lock
				       : (sort == SORT_FILE || sort == SORT_POLL) &&
						 wakers[i].of_file;
	return false;
}
