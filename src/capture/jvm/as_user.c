#include "capture/jvm/as_user.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Room for one descriptor, aligned. */
union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* The system's own calls: those of the C library would look for threads to change as well. */
static int become(uid_t uid, gid_t gid)
{
	if (uid == geteuid() && gid == getegid())
		return 0;
	/* groups of root are of no use to anybody else; where they cannot be given up, they stay */
	(void)!syscall(SYS_setgroups, 0, NULL);
	if (syscall(SYS_setresgid, gid, gid, gid) < 0 || syscall(SYS_setresuid, uid, uid, uid) < 0)
		return -errno;
	return 0;
}

static void tell(int to, int result)
{
	union control control;
	struct iovec bytes = { &result, sizeof(result) };
	struct msghdr m = { .msg_iov = &bytes, .msg_iovlen = 1 };

	if (result >= 0) {
		memset(&control, 0, sizeof(control));
		m.msg_control = &control;
		m.msg_controllen = sizeof(control.bytes);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &result, sizeof(int));
	}
	(void)!sendmsg(to, &m, MSG_NOSIGNAL);
}

static int hear(int from)
{
	union control control;
	int result = -EIO, fd = -1;
	struct iovec bytes = { &result, sizeof(result) };
	struct msghdr m = { .msg_iov = &bytes,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *head;
	ssize_t n;

	do {
		n = recvmsg(from, &m, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n != sizeof(result))
		return -EIO; /* the child was killed */
	if (result < 0)
		return result;
	head = CMSG_FIRSTHDR(&m);
	if (!head || head->cmsg_type != SCM_RIGHTS)
		return -EMFILE;
	memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

int as_user(uid_t uid, gid_t gid, int (*act)(const void *how), const void *how)
{
	int ends[2], result;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	child = fork();
	if (!child) {
		result = become(uid, gid);
		tell(ends[1], result < 0 ? result : act(how));
		_exit(0);
	}
	result = child < 0 ? -errno : 0;
	close(ends[1]);
	if (!result)
		result = hear(ends[0]);
	close(ends[0]);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return result;
}
