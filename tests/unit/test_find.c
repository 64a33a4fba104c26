#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/find.h"
#include "model/loss.h"

/* A /proc of our own making, with one process. */
struct world {
	char dir[64];
	char found[8][256]; /* "name path" */
	unsigned nr_found;
};

static const char *path_of(const struct world *w, const char *name)
{
	static char path[4][256];
	static unsigned turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", w->dir, name);
	return path[turn];
}

static void write_file(const struct world *w, const char *name, const char *bytes, size_t n)
{
	FILE *f = fopen(path_of(w, name), "w");

	if (!f)
		abort();
	fwrite(bytes, 1, n, f);
	fclose(f);
}

/* The process has the file open. */
static void open_file(const struct world *w, int fd, const char *name, const char *flags)
{
	char link[64], text[64];

	snprintf(link, sizeof(link), "proc/77/fd/%d", fd);
	assert_int_equal(symlink(path_of(w, name), path_of(w, link)), 0);
	snprintf(link, sizeof(link), "proc/77/fdinfo/%d", fd);
	snprintf(text, sizeof(text), "pos:\t0\nflags:\t%s\n", flags);
	write_file(w, link, text, strlen(text));
}

static void take(void *ctx, const struct found_log *log)
{
	struct world *w = ctx;

	assert_int_equal(log->pid, 77);
	if (w->nr_found < 8)
		snprintf(w->found[w->nr_found++], sizeof(w->found[0]), "%s", log->name);
}

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	snprintf(w->dir, sizeof(w->dir), "/tmp/culprit-find-XXXXXX");
	*state = w;
	if (!mkdtemp(w->dir))
		return -1;
	mkdir(path_of(w, "proc"), 0700);
	mkdir(path_of(w, "proc/77"), 0700);
	mkdir(path_of(w, "proc/77/fd"), 0700);
	mkdir(path_of(w, "proc/77/fdinfo"), 0700);
	mkdir(path_of(w, "own-logs"), 0700);
	mkdir(path_of(w, "data"), 0700);
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", w->dir);
	free(w);
	return system(command) ? -1 : 0;
}

static bool has_found(const struct world *w, const char *name)
{
	for (unsigned i = 0; i < w->nr_found; i++)
		if (!strcmp(w->found[i], path_of(w, name)))
			return true;
	return false;
}

static void text_that_is_written_and_named_as_a_log_is_found(void **state)
{
	static const char text[] = "2026-11-16 08:00:00 INFO hello\n";
	static const char bytes[] = "\x7f\x45\x4c\x46\x01\x02\x03\x04\x05\x06\x07\x08\x0e\x0f";
	struct world *w = *state;
	struct find *f;
	struct losses losses = { 0 };

	write_file(w, "app.LOG", text, sizeof(text) - 1);
	write_file(w, "data/plain", text, sizeof(text) - 1);
	write_file(w, "data/job.out", text, sizeof(text) - 1);
	write_file(w, "data/read.log", text, sizeof(text) - 1);
	write_file(w, "data/index.log", bytes, sizeof(bytes) - 1);
	write_file(w, "own-logs/spool", text, sizeof(text) - 1);
	open_file(w, 0, "data/job.out", "0100001");
	open_file(w, 1, "data/job.out", "0100001");
	open_file(w, 3, "app.LOG", "02102001");
	open_file(w, 4, "app.LOG", "02102001");
	open_file(w, 5, "data/plain", "0100001");
	open_file(w, 6, "data/read.log", "0100000");
	open_file(w, 7, "data/index.log", "0100002");
	open_file(w, 8, "own-logs/spool", "0100002");
	f = find_new(path_of(w, "proc"), path_of(w, "own-logs"));
	find_logs(f, take, w, &losses);
	assert_int_equal(w->nr_found, 2);
	assert_true(has_found(w, "app.LOG") && has_found(w, "data/job.out"));
	assert_int_equal(losses.count[LOSS_LOGS_BINARY], 1);
	find_logs(f, take, w, &losses);
	assert_int_equal(w->nr_found, 4);
	assert_int_equal(losses.count[LOSS_LOGS_BINARY], 1);
	find_free(f);
}

struct search {
	const char *name;
	char path[64];
};

static void take_named(void *ctx, const struct found_log *log)
{
	struct search *s = ctx;

	if (!strcmp(log->name, s->name))
		snprintf(s->path, sizeof(s->path), "%s", log->path);
}

/* In the real /proc, by a child of ours. */
static void logs_that_were_deleted_are_found_while_they_are_open(void **state)
{
	struct world *w = *state;
	struct find *f = find_new("/proc", NULL);
	struct losses losses = { 0 };
	struct search s = { .name = path_of(w, "gone.log") };
	int fd = open(s.name, O_WRONLY | O_CREAT, 0600);
	char text[8] = "";
	pid_t pid;

	assert_int_equal(write(fd, "hello\n", 6), 6);
	unlink(s.name);
	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	close(fd);
	find_logs(f, take_named, &s, &losses);
	fd = open(s.path, O_RDONLY);
	assert_true(fd >= 0 && read(fd, text, sizeof(text) - 1) == 6);
	assert_string_equal(text, "hello\n");
	close(fd);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	find_free(f);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(text_that_is_written_and_named_as_a_log_is_found),
		TEST(logs_that_were_deleted_are_found_while_they_are_open),
	};

	return RUN(tests);
}
