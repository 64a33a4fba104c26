#include "capture/jvm/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"

#define NAMELESS 8 /* threads: a machine that has more, and names none, is one of early JDK 8 */

int jvm_proc_read(int pid, const char *name, struct buf *text)
{
	char path[320];
	cleanup(close_fd) int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((n = read(fd, buf_room(text, 65536), 65536)) > 0)
		text->n += (size_t)n;
	return n < 0 ? -errno : 0;
}

/* What follows the name at the beginning of a line. */
static bool take_field(struct str status, struct str name, struct str *value)
{
	struct str line;

	while (str_take_line(&status, &line)) {
		if (str_take(&line, name)) {
			*value = str_trim(line);
			return true;
		}
	}
	return false;
}

/* The last number of some: real and effective ids, PIDs from outside to inside. */
static bool take_number(struct str numbers, unsigned nr, uint64_t *value)
{
	struct str word;
	unsigned i = 0;

	while (i < nr && str_take_word(&numbers, &word)) {
		if (!str_take_uint(&word, value) || word.n)
			return false;
		i++;
	}
	return i > 0;
}

bool jvm_target_parse(struct str status, struct jvm_target *t)
{
	struct str state, own, uids, gids, caught;
	uint64_t pid, uid, gid, signals;

	if (!take_field(status, STR("State:"), &state) || !take_field(status, STR("Uid:"), &uids) ||
	    !take_field(status, STR("Gid:"), &gids) || !take_field(status, STR("SigCgt:"), &caught))
		return false;
	/* kernels without PID namespaces know one PID only */
	if (!take_field(status, STR("NSpid:"), &own) && !take_field(status, STR("Pid:"), &own))
		return false;
	if (!take_number(own, 32, &pid) || pid > INT32_MAX || !take_number(uids, 2, &uid) ||
	    !take_number(gids, 2, &gid) || !str_take_hex(&caught, &signals))
		return false;
	t->own_pid = (int)pid;
	t->uid = (uid_t)uid;
	t->gid = (gid_t)gid;
	t->is_stopped = state.n && (state.p[0] == 'T' || state.p[0] == 't');
	t->takes_quit = signals & 1ULL << (SIGQUIT - 1);
	return true;
}

int jvm_target_read(int pid, struct jvm_target *t, struct error *err)
{
	struct buf status = { 0 };
	int got = jvm_proc_read(pid, "status", &status);
	bool is_whole = !got && jvm_target_parse(buf_str(&status), t);

	buf_done(&status);
	if (got == -ENOENT || got == -ESRCH)
		return error_set(err, ESRCH, "there is no process %d", pid);
	if (got < 0)
		return error_set(err, -got, "cannot look at process %d: %s", pid, strerror(-got));
	if (!is_whole)
		return error_set(err, EBADMSG, "/proc/%d/status does not tell what is needed", pid);
	t->pid = pid;
	return 0;
}

/* A program that was upgraded under a running JVM leaves " (deleted)" behind. */
static bool maps_file(struct str line, struct str name)
{
	struct str deleted = STR(" (deleted)");

	if (str_ends(line, deleted))
		line = str_head(line, line.n - deleted.n);
	return str_ends(line, name);
}

enum jvm_kind jvm_kind_of(struct str maps)
{
	enum jvm_kind kind = JVM_NONE;
	struct str line;

	while (str_take_line(&maps, &line)) {
		if (str_find(line, STR("/libj9vm")) < line.n)
			return JVM_OPENJ9;
		if (maps_file(line, STR("/libjvm.so")))
			kind = JVM_HOTSPOT;
	}
	return kind;
}

enum jvm_kind jvm_kind(int pid)
{
	struct buf maps = { 0 };
	enum jvm_kind kind = JVM_NONE;

	if (!jvm_proc_read(pid, "maps", &maps))
		kind = jvm_kind_of(buf_str(&maps));
	buf_done(&maps);
	return kind;
}

/* JDK 11 and later, 9 and 10, 8. */
bool jvm_is_launcher(int pid)
{
	static const char *const places[] = { "lib/libjli.so", "lib/jli/libjli.so",
					      "lib/amd64/jli/libjli.so" };
	char link[32], exe[PATH_MAX], path[PATH_MAX + 64], *bin;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	n = readlink(link, exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = 0;
	bin = strstr(exe, "/bin/");
	for (char *next = bin; next && (next = strstr(next + 1, "/bin/"));)
		bin = next;
	if (!bin || strchr(bin + 5, '/'))
		return false;
	bin[1] = 0;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, sizeof(path), "/proc/%d/root%s%s", pid, exe, places[i]);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

bool jvm_has_thread(int pid, struct str name)
{
	return jvm_thread(pid, name) != 0;
}

/* Each thread until one is found; is_it: as it says. */
static int thread_find(int pid, bool (*is_it)(struct str comm, void *with), void *with)
{
	char path[300];
	struct dirent *entry;
	int found = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && !found && (entry = readdir(d))) {
		struct buf comm = { 0 };

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "task/%s/comm", entry->d_name);
		if (!jvm_proc_read(pid, path, &comm) && is_it(str_trim(buf_str(&comm)), with))
			found = atoi(entry->d_name);
		buf_done(&comm);
	}
	if (d)
		closedir(d);
	return found;
}

static bool is_named(struct str comm, void *name)
{
	return str_eq(comm, *(struct str *)name);
}

int jvm_thread(int pid, struct str name)
{
	return thread_find(pid, is_named, &name);
}

struct seen {
	char first[16]; /* what the program is called */
	size_t nr;
	bool has_names;
};

static bool is_last(struct str comm, void *with)
{
	struct seen *s = with;

	if (!s->nr++)
		snprintf(s->first, sizeof(s->first), STR_FMT, STR_ARG(comm));
	s->has_names |= !str_eq(comm, str_of(s->first));
	return str_eq(comm, STR("Service Thread"));
}

bool jvm_may_be_made(int pid)
{
	struct seen s = { 0 };

	/* the launcher has two threads of its own, and one that was made just now has no name yet
	 */
	return thread_find(pid, is_last, &s) || !s.nr || (s.nr > NAMELESS && !s.has_names);
}

/* Links of a container must not lead to files of ours. */
int jvm_open_inside(int pid, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	char root[32];
	cleanup(close_fd) int dir = -1;
	long fd;

	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	return fd < 0 ? -errno : (int)fd;
}

static bool is_same(const char *ours, int pid, const char *theirs)
{
	struct stat a, b;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, theirs);
	return !stat(ours, &a) && !stat(path, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool jvm_sees_our_files(int pid)
{
	return is_same("/proc/self/ns/mnt", pid, "ns/mnt") && is_same("/", pid, "root/.");
}
