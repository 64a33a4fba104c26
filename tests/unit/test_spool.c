#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "host/spool.h"
#include "model/mention_pack.h"
#include "model/mention_wire.h"

struct place {
	char dir[64];
	char last[64]; /* note that was recalled last */
	unsigned nr_notes;
};

static void recall_note(void *ctx, struct str note)
{
	struct place *p = ctx;

	snprintf(p->last, sizeof(p->last), "%.*s", (int)note.n, note.p);
	p->nr_notes++;
}

static struct spool *open_spool(struct place *p, uint64_t segment, uint64_t max)
{
	const struct spool_options o = { p->dir, segment, max };
	const struct spool_recall recall = { p, recall_note };
	struct error err = { 0 };
	struct spool *s = NULL;

	p->last[0] = 0;
	p->nr_notes = 0;
	if (spool_open(&s, &o, &recall, &err) < 0)
		fail_msg("%s", err.msg);
	return s;
}

static void append(struct spool *s, const char *note)
{
	struct mention_packer p = { 0 };
	struct buf line = { 0 };
	struct error err = { 0 };
	struct wire_head head = {
		.agent = spool_agent(s), .boot = STR("b"), .host = STR("h"), .seq = spool_next(s)
	};

	if (spool_is_full(s))
		assert_int_equal(spool_begin(s, STR(""), &err), 0);
	mention_pack_note(&p, str_of(note));
	wire_write(&line, &head, buf_str(&p.body));
	assert_int_equal(spool_append(s, buf_str(&line), &err), 0);
	buf_done(&line);
	mention_packer_done(&p);
}

static int set_up(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	snprintf(p->dir, sizeof(p->dir), "/tmp/culprit-spool-XXXXXX");
	*state = p;
	return mkdtemp(p->dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	struct place *p = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", p->dir);
	free(p);
	return system(command) ? -1 : 0;
}

static void numbers_and_notes_go_on_after_a_restart(void **state)
{
	struct place *p = *state;
	struct spool *s = open_spool(p, 1 << 20, 1 << 30);
	char agent[64];

	snprintf(agent, sizeof(agent), "%.*s", (int)spool_agent(s).n, spool_agent(s).p);
	assert_int_equal(spool_next(s), 1);
	append(s, "one");
	append(s, "two");
	spool_close(s);
	s = open_spool(p, 1 << 20, 1 << 30);
	assert_str_equal(spool_agent(s), agent);
	assert_string_equal(p->last, "two");
	assert_int_equal(spool_next(s), 3);
	append(s, "three");
	spool_close(s);
	s = open_spool(p, 1 << 20, 1 << 30);
	assert_string_equal(p->last, "three");
	assert_int_equal(p->nr_notes, 1); /* of the newest file: it was begun with all there is */
	assert_int_equal(spool_next(s), 4);
	spool_close(s);
}

static void what_a_file_begins_with_is_recalled_first(void **state)
{
	struct place *p = *state;
	struct spool *s = open_spool(p, 1 << 20, 1 << 30);
	struct error err = { 0 };

	append(s, "one");
	assert_int_equal(spool_begin(s, STR("all a\nall b\n"), &err), 0);
	spool_close(s);
	s = open_spool(p, 1 << 20, 1 << 30);
	assert_string_equal(p->last, "all b");
	assert_int_equal(p->nr_notes, 2);
	assert_int_equal(spool_next(s), 2);
	assert_int_equal(spool_begin(s, STR("all a\nall b\n"), &err), 0);
	append(s, "two");
	spool_close(s);
	s = open_spool(p, 1 << 20, 1 << 30);
	assert_string_equal(p->last, "two");
	assert_int_equal(p->nr_notes, 3);
	spool_close(s);
}

static void cut_file(const char *path, off_t n)
{
	assert_int_equal(truncate(path, n), 0);
}

static void a_cut_at_any_byte_loses_the_last_message_only(void **state)
{
	struct place *p = *state;
	struct spool *s = open_spool(p, 1 << 20, 1 << 30);
	char path[128];
	struct stat before, after;

	append(s, "one");
	snprintf(path, sizeof(path), "%s/0000000000000001.spool", p->dir);
	assert_int_equal(stat(path, &before), 0);
	append(s, "two");
	spool_close(s);
	assert_int_equal(stat(path, &after), 0);
	for (off_t n = after.st_size - 1; n >= before.st_size; n--) {
		cut_file(path, n);
		s = open_spool(p, 1 << 20, 1 << 30);
		assert_string_equal(p->last, "one");
		assert_int_equal(spool_next(s), 2);
		spool_close(s);
	}
	cut_file(path, before.st_size / 2);
	s = open_spool(p, 1 << 20, 1 << 30);
	assert_string_equal(p->last, "");
	assert_int_equal(spool_next(s), 1);
	append(s, "again");
	spool_close(s);
	s = open_spool(p, 1 << 20, 1 << 30);
	assert_string_equal(p->last, "again");
	spool_close(s);
}

static void one_agent_works_in_a_folder(void **state)
{
	struct place *p = *state;
	struct spool *s = open_spool(p, 1 << 20, 1 << 30), *other = NULL;
	const struct spool_options o = { p->dir, 1, 1 };
	const struct spool_recall recall = { p, recall_note };
	struct error err = { 0 };

	assert_int_equal(spool_open(&other, &o, &recall, &err), -EBUSY);
	spool_close(s);
}

struct taken {
	uint64_t bytes;
};

static uint64_t taken(void *ctx, uint64_t inode)
{
	(void)inode;
	return ((struct taken *)ctx)->bytes;
}

static void files_go_when_they_are_there(void **state)
{
	struct place *p = *state;
	struct spool *s = open_spool(p, 1, 1 << 30);
	struct taken all = { 0 };
	const struct spool_ack ack = { &all, taken, 3 };
	uint64_t bytes;

	for (int i = 0; i < 9; i++)
		append(s, "a message of its own file");
	bytes = spool_bytes(s);
	assert_int_equal(spool_trim(s, &ack), 0);
	assert_int_equal(spool_bytes(s), bytes);
	all.bytes = 1 << 20;
	assert_int_equal(spool_trim(s, &ack), 0);
	/* four behind each that went */
	assert_int_equal(spool_bytes(s), bytes * 4 / 9);
	spool_close(s);
}

static void what_goes_unsent_is_counted(void **state)
{
	struct place *p = *state;
	struct spool *s = open_spool(p, 1, 500);
	struct taken none = { 0 };
	const struct spool_ack ack = { &none, taken, 3 };

	for (int i = 0; i < 10; i++)
		append(s, "a message of its own file");
	assert_true(spool_trim(s, &ack) >= 7);
	assert_true(spool_bytes(s) <= 500);
	spool_close(s);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(numbers_and_notes_go_on_after_a_restart),
		TEST(what_a_file_begins_with_is_recalled_first),
		TEST(a_cut_at_any_byte_loses_the_last_message_only),
		TEST(one_agent_works_in_a_folder),
		TEST(files_go_when_they_are_there),
		TEST(what_goes_unsent_is_counted),
	};

	return RUN(tests);
}
