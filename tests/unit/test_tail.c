#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/vec.h"
#include "host/tail.h"
#include "model/loss.h"

#define LINES_MAX 20000

/* A log that is written, an agent that reads it, and what of it was read and kept. */
struct world {
	char dir[64];
	struct tail *tail;
	struct losses losses;
	int64_t now;
	unsigned nr_written, nr_rotated;
	unsigned kept[LINES_MAX], taken[LINES_MAX]; /* how often, by number */
	unsigned nr_other;                          /* lines that are none of ours */
	VEC(char *) notes;
	bool holds_last; /* the last line waits until it is whole */
};

static size_t take(void *ctx, const struct tail_log *log, struct str bytes, bool is_whole)
{
	struct world *w = ctx;
	size_t n = bytes.n;
	struct str line;

	assert_string_equal(strrchr(log->name, '/'), "/app.log");
	if (w->holds_last && !is_whole && n > 1) {
		const char *last = memrchr(bytes.p, '\n', n - 1);

		n = last ? (size_t)(last - bytes.p) + 1 : 0;
	}
	bytes = str_head(bytes, n);
	while (str_take_line(&bytes, &line)) {
		uint64_t nr;

		if (str_take(&line, STR("2026-11-16 07:28:00 line number ")) &&
		    str_take_uint(&line, &nr) && nr < LINES_MAX)
			w->taken[nr]++;
		else
			w->nr_other++;
	}
	return n;
}

static void put_note(void *ctx, struct str note)
{
	struct world *w = ctx;

	vec_push(&w->notes, strndup(note.p, note.n));
}

static void keep(struct world *w)
{
	tail_notes(w->tail, false, put_note, w);
	tail_keep(w->tail);
	for (unsigned i = 0; i < w->nr_written; i++) {
		w->kept[i] += w->taken[i];
		w->taken[i] = 0;
	}
}

static int pause_now(void *ctx)
{
	struct world *w = ctx;

	if (w->nr_rotated % 2)
		keep(w);
	return 0;
}

static const char *path_of(const struct world *w, const char *name)
{
	static char path[2][160];
	static unsigned turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", w->dir, name);
	return path[turn];
}

static void begin(struct world *w)
{
	const struct tail_options o = { .backlog_bytes = 1 << 20,
					.rest_ns = 10,
					.close_ns = 30,
					.losses = &w->losses,
					.ctx = w,
					.take = take,
					.pause = pause_now };

	w->tail = tail_new(&o);
	vec_each (&w->notes, note)
		assert_true(tail_recall(w->tail, str_of(*note)));
	tail_add(w->tail, path_of(w, "app.log"), path_of(w, "app.log"));
}

/* As kill -9: what was not kept is not known. */
static void begin_again(struct world *w)
{
	tail_free(w->tail);
	memset(w->taken, 0, sizeof(w->taken));
	begin(w);
}

static void write_raw(struct world *w, const char *name, const char *text)
{
	FILE *f = fopen(path_of(w, name), "a");

	if (!f)
		abort();
	fputs(text, f);
	fclose(f);
}

static void write_lines(struct world *w, unsigned nr)
{
	FILE *f = fopen(path_of(w, "app.log"), "a");

	if (!f)
		abort();
	while (nr--)
		fprintf(f, "2026-11-16 07:28:00 line number %u\n", w->nr_written++);
	fclose(f);
}

static void poll_now(struct world *w)
{
	w->now += 10;
	tail_add(w->tail, path_of(w, "app.log"), path_of(w, "app.log"));
	assert_int_equal(tail_poll(w->tail, w->now), 0);
}

static void shift(struct world *w)
{
	char from[32], to[32];

	usleep(5000); /* times of files are no finer than that */
	for (int i = 8; i; i--) {
		snprintf(from, sizeof(from), "app.log.%d", i);
		snprintf(to, sizeof(to), "app.log.%d", i + 1);
		rename(path_of(w, from), path_of(w, to));
		snprintf(from, sizeof(from), "app.log.%d.gz", i);
		snprintf(to, sizeof(to), "app.log.%d.gz", i + 1);
		rename(path_of(w, from), path_of(w, to));
	}
	w->nr_rotated++;
}

static void rotate(struct world *w)
{
	shift(w);
	rename(path_of(w, "app.log"), path_of(w, "app.log.1"));
	write_raw(w, "app.log", "");
}

static void copy(struct world *w, const char *from, const char *to, bool packs)
{
	FILE *in = fopen(path_of(w, from), "r");
	gzFile out = gzopen(path_of(w, to), packs ? "wb" : "wbT");
	char bytes[4096];
	size_t n;

	if (!in || !out)
		abort();
	do {
		n = fread(bytes, 1, sizeof(bytes), in);
		gzwrite(out, bytes, (unsigned)n);
	} while (n == sizeof(bytes));
	fclose(in);
	gzclose(out);
}

static void copy_and_cut(struct world *w)
{
	shift(w);
	copy(w, "app.log", "app.log.1", false);
	assert_int_equal(truncate(path_of(w, "app.log"), 0), 0);
}

static void pack(struct world *w, const char *name)
{
	char packed[40];
	struct stat st;

	if (stat(path_of(w, name), &st))
		return;
	snprintf(packed, sizeof(packed), "%s.gz", name);
	copy(w, name, packed, true);
	const struct timespec times[] = { st.st_atim, st.st_mtim };
	utimensat(AT_FDCWD, path_of(w, packed), times, 0);
	unlink(path_of(w, name));
}

static void settle(struct world *w)
{
	for (int i = 0; i < 6; i++)
		poll_now(w);
	keep(w);
}

static void assert_each_once(struct world *w)
{
	for (unsigned i = 0; i < w->nr_written; i++)
		if (w->kept[i] != 1)
			fail_msg("line %u of %u was read %u times", i, w->nr_written, w->kept[i]);
	assert_int_equal(w->nr_other, 0);
}

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	snprintf(w->dir, sizeof(w->dir), "/tmp/culprit-tail-XXXXXX");
	if (!mkdtemp(w->dir))
		return -1;
	w->now = 1000;
	write_raw(w, "app.log", "");
	begin(w);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;
	char command[128];

	tail_free(w->tail);
	vec_each (&w->notes, note)
		free(*note);
	vec_done(&w->notes);
	snprintf(command, sizeof(command), "rm -rf '%s'", w->dir);
	if (system(command))
		return -1;
	free(w);
	return 0;
}

static void lines_are_taken_as_they_come(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < 20; i++) {
		write_lines(w, 3);
		poll_now(w);
		keep(w);
		if (i == 10)
			begin_again(w);
	}
	assert_each_once(w);
}

static void a_line_without_its_end_waits(void **state)
{
	struct world *w = *state;

	write_lines(w, 1);
	write_raw(w, "app.log", "2026-11-16 07:28:00 line nu");
	settle(w);
	assert_int_equal(w->kept[1], 0);
	write_raw(w, "app.log", "mber 1\n");
	w->nr_written++;
	settle(w);
	assert_each_once(w);
}

static void the_last_event_waits_until_it_rests(void **state)
{
	struct world *w = *state;

	w->holds_last = true;
	write_lines(w, 2);
	poll_now(w);
	assert_int_equal(w->taken[0], 1);
	assert_int_equal(w->taken[1], 0);
	poll_now(w);
	keep(w);
	assert_each_once(w);
}

static void the_rest_of_a_renamed_file_is_read(void **state)
{
	struct world *w = *state;

	write_lines(w, 5);
	poll_now(w);
	write_lines(w, 5);
	rotate(w);
	write_lines(w, 5);
	settle(w);
	assert_each_once(w);
}

static void files_that_came_and_were_renamed_between_looks_are_read(void **state)
{
	struct world *w = *state;

	write_lines(w, 5);
	poll_now(w);
	for (int i = 0; i < 4; i++) {
		write_lines(w, 5);
		rotate(w);
	}
	settle(w);
	assert_each_once(w);
}

static void the_copy_of_a_file_that_was_cut_is_read_on(void **state)
{
	struct world *w = *state;

	write_lines(w, 50);
	poll_now(w);
	write_lines(w, 5);
	copy_and_cut(w);
	write_lines(w, 90);
	settle(w);
	assert_each_once(w);
}

static void a_file_that_was_cut_twice_between_looks_is_read(void **state)
{
	struct world *w = *state;

	write_lines(w, 50);
	poll_now(w);
	write_lines(w, 5);
	copy_and_cut(w);
	write_lines(w, 40);
	copy_and_cut(w);
	write_lines(w, 30);
	copy_and_cut(w);
	write_lines(w, 90);
	copy(w, "app.log", "app.log.20", false); /* and is about to be cut again */
	settle(w);
	write_lines(w, 3);
	copy_and_cut(w);
	settle(w);
	assert_each_once(w);
}

static void a_packed_copy_is_read_on(void **state)
{
	struct world *w = *state;

	write_lines(w, 50);
	poll_now(w);
	write_lines(w, 5);
	copy_and_cut(w);
	pack(w, "app.log.1");
	settle(w);
	assert_each_once(w);
}

static void what_happened_while_nobody_looked_is_found(void **state)
{
	struct world *w = *state;

	write_lines(w, 50);
	poll_now(w);
	keep(w);
	write_lines(w, 5);
	poll_now(w); /* taken and not kept */
	rotate(w);
	write_lines(w, 40);
	usleep(20000);
	rotate(w);
	pack(w, "app.log.2");
	write_lines(w, 40);
	rotate(w);
	pack(w, "app.log.2");
	write_lines(w, 7);
	begin_again(w);
	settle(w);
	assert_each_once(w);
	assert_int_equal(w->losses.count[LOSS_LOGS_GONE], 0);
}

static void a_copy_is_found_by_one_start_and_read_by_the_next(void **state)
{
	struct world *w = *state;

	write_lines(w, 50);
	poll_now(w);
	keep(w);
	write_lines(w, 5);
	poll_now(w);
	copy_and_cut(w);
	w->nr_rotated = 0;
	poll_now(w);
	begin_again(w);
	write_lines(w, 5);
	keep(w);
	begin_again(w);
	settle(w);
	assert_each_once(w);
}

static void what_is_found_nowhere_is_counted(void **state)
{
	struct world *w = *state;

	write_lines(w, 50);
	poll_now(w);
	keep(w);
	write_lines(w, 5);
	unlink(path_of(w, "app.log"));
	write_raw(w, "app.log", "");
	begin_again(w);
	settle(w);
	assert_int_equal(w->losses.count[LOSS_LOGS_GONE], 1);
	begin_again(w);
	settle(w);
	assert_int_equal(w->losses.count[LOSS_LOGS_GONE], 1);
}

static void what_could_not_be_kept_comes_again(void **state)
{
	struct world *w = *state;

	write_lines(w, 50);
	poll_now(w);
	keep(w);
	write_lines(w, 5);
	rotate(w);
	for (int i = 0; i < 6; i++)
		poll_now(w);
	memset(w->taken, 0, sizeof(w->taken));
	w->nr_rotated = 0;
	tail_back(w->tail);
	settle(w);
	assert_each_once(w);
}

static void a_line_that_is_too_long_is_cut_and_counted(void **state)
{
	struct world *w = *state;

	write_lines(w, 1);
	for (int i = 0; i < 30000; i++)
		write_raw(w, "app.log", "0123456789");
	write_raw(w, "app.log", "\n");
	write_lines(w, 1);
	settle(w);
	assert_int_equal(w->losses.count[LOSS_LINES_CUT], 1);
	assert_int_equal(w->kept[0] + w->kept[1], 2);
}

static void old_lines_beyond_the_backlog_are_counted(void **state)
{
	struct world *w = *state;

	unlink(path_of(w, "app.log"));
	tail_free(w->tail);
	for (int i = 0; i < 4; i++)
		write_lines(w, 4800);
	for (int i = 0; i < 15; i++) {
		w->nr_written = 0;
		write_lines(w, 2400);
	}
	memset(w->kept, 0, sizeof(w->kept));
	begin(w);
	settle(w);
	assert_true(w->losses.count[LOSS_LOG_BYTES_BEFORE] > 0);
	assert_int_equal(w->kept[2399], 12);
	assert_int_equal(w->nr_other, 0);
}

/* Whatever happens in whatever order, each line is read once. */
static void torture(void **state)
{
	struct world *w = *state;

	poll_now(w);
	keep(w);
	srand(getenv("SEED") ? (unsigned)strtoul(getenv("SEED"), NULL, 10) : 7);
	for (int i = 0; i < 1500 && w->nr_written + 200 < LINES_MAX; i++) {
		switch (rand() % 24) {
		case 0:
			rotate(w);
			break;
		case 1:
			/* a copy is told by how it begins */
			if (w->nr_written > 10) {
				write_lines(w, 30);
				poll_now(w);
				copy_and_cut(w);
				if (rand() % 2)
					poll_now(w);
			}
			break;
		case 2:
			poll_now(w);
			pack(w, "app.log.2");
			break;
		case 3:
			begin_again(w);
			break;
		case 4:
			w->holds_last = !w->holds_last;
			break;
		case 5:
			tail_back(w->tail);
			memset(w->taken, 0, sizeof(w->taken));
			break;
		case 6:
		case 7:
		case 8:
			keep(w);
			break;
		case 9:
		case 10:
		case 11:
		case 12:
		case 13:
			poll_now(w);
			break;
		default:
			write_lines(w, (unsigned)rand() % 12);
			usleep(200);
		}
	}
	settle(w);
	assert_each_once(w);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lines_are_taken_as_they_come),
		TEST(a_line_without_its_end_waits),
		TEST(the_last_event_waits_until_it_rests),
		TEST(the_rest_of_a_renamed_file_is_read),
		TEST(files_that_came_and_were_renamed_between_looks_are_read),
		TEST(the_copy_of_a_file_that_was_cut_is_read_on),
		TEST(a_file_that_was_cut_twice_between_looks_is_read),
		TEST(a_packed_copy_is_read_on),
		TEST(what_happened_while_nobody_looked_is_found),
		TEST(a_copy_is_found_by_one_start_and_read_by_the_next),
		TEST(what_is_found_nowhere_is_counted),
		TEST(what_could_not_be_kept_comes_again),
		TEST(a_line_that_is_too_long_is_cut_and_counted),
		TEST(old_lines_beyond_the_backlog_are_counted),
		TEST(torture),
	};

	return RUN(tests);
}
