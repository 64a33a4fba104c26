/*
 * The process makes a pair of sockets, of which we take one; we send it the file over that, it
 * receives it, maps it, and closes all three. So neither paths nor rights of files nor namespaces
 * matter.
 */
#include "capture/probe/share.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"

/* In memory of the process: what its calls read and write. */
struct share_room {
	int pair[2];
	struct msghdr message;
	struct iovec part;
	uint64_t byte;
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
};
_Static_assert(sizeof(struct share_room) <= sizeof(((struct probe_own *)0)->share_room), "room");

static uint64_t room_of(const struct family *f)
{
	return f->region->own + offsetof(struct probe_own, share_room);
}

static int send_file(int pid, int far, int fd)
{
	cleanup(close_fd) int process = (int)syscall(SYS_pidfd_open, pid, 0);
	cleanup(close_fd) int near =
		process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, far, 0);
	char byte = 0;
	struct iovec part = { &byte, 1 };
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control.room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	if (near < 0)
		return -errno;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	return sendmsg(near, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 ? 0 : -EIO;
}

/* The number that our file has in the process, or negative. */
static int receive_file(const struct family *f, struct tracee *t, const struct image *im, int far)
{
	uint64_t at = room_of(f);
	struct share_room room = {
		.message = { .msg_iov = (void *)(at + offsetof(struct share_room, part)),
			     .msg_iovlen = 1,
			     .msg_control = (void *)(at + offsetof(struct share_room, control)),
			     .msg_controllen = sizeof(room.control.room) },
		.part = { (void *)(at + offsetof(struct share_room, byte)), 1 },
	};
	struct tracee_call c = { .nr = SYS_recvmsg,
				 .args = { (uint64_t)far, at + offsetof(struct share_room, message),
					   MSG_DONTWAIT | MSG_CMSG_CLOEXEC } };
	struct error err = { 0 };
	int fd = -1;

	if (tracee_write(t, at, &room, sizeof(room)) < 0 || tracee_calls(t, im, &c, 1, &err) < 0 ||
	    c.result != 1 || tracee_read(t, at, &room, sizeof(room)) < 0 ||
	    room.control.align.cmsg_type != SCM_RIGHTS)
		return -EIO;
	memcpy(&fd, CMSG_DATA(&room.control.align), sizeof(fd));
	return fd;
}

/* At the place of the one before, when there is one: nobody is left with what is not there. */
static uint64_t map_file(const struct family *f, struct tracee *t, const struct image *im, int fd,
			 uint64_t bytes, const int *pair)
{
	uint64_t old = f->region->handover_bytes == bytes ? f->region->handover_at : 0;
	struct tracee_call c[] = {
		{ .nr = SYS_mmap,
		  .args = { old, bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_NORESERVE | (old ? MAP_FIXED : 0), (uint64_t)fd, 0 } },
		{ .nr = SYS_close, .args = { (uint64_t)fd } },
		{ .nr = SYS_close, .args = { (uint64_t)pair[0] } },
		{ .nr = SYS_close, .args = { (uint64_t)pair[1] } },
	};
	struct error err = { 0 };
	size_t from = fd < 0 ? 2 : 0;

	if (tracee_calls(t, im, c + from, 4 - from, &err) < 0 || from ||
	    (c[0].result < 0 && c[0].result > -4096))
		return 0;
	return (uint64_t)c[0].result;
}

void share_handover(struct family *f, struct tracee *t, const struct image *im, int fd)
{
	struct tracee_call c = { .nr = SYS_socketpair,
				 .args = { AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, room_of(f) } };
	struct error err = { 0 };
	struct stat st;
	int pair[2], got;
	uint64_t at;

	__atomic_store_n(&f->region->handover, 0, __ATOMIC_RELEASE);
	if (fd < 0 || fstat(fd, &st) < 0 || tracee_calls(t, im, &c, 1, &err) < 0 || c.result ||
	    tracee_read(t, room_of(f), pair, sizeof(pair)) < 0)
		return;
	got = send_file(t->pid, pair[0], fd) < 0 ? -1 : receive_file(f, t, im, pair[1]);
	at = map_file(f, t, im, got, (uint64_t)st.st_size, pair);
	if (!at)
		return;
	f->region->handover_at = at;
	f->region->handover_bytes = (uint64_t)st.st_size;
	__atomic_store_n(&f->region->handover, at, __ATOMIC_RELEASE);
}
