/* A program of one class goes through the file and comes out as it was; what is damaged is told. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "program/class.h"
#include "program/learn.h"
#include "program/model_file.h"
#include "program/model_format.h"
#include "program/model_write.h"

static void u1(struct buf *b, unsigned v)
{
	buf_char(b, (char)v);
}

static void u2(struct buf *b, unsigned v)
{
	u1(b, v >> 8);
	u1(b, v & 0xff);
}

static void u4(struct buf *b, unsigned v)
{
	u2(b, v >> 16);
	u2(b, v & 0xffff);
}

static void utf8(struct buf *b, const char *text)
{
	u1(b, 1);
	u2(b, (unsigned)strlen(text));
	buf_add(b, str_of(text));
}

static void ref(struct buf *b, unsigned tag, unsigned x, unsigned y)
{
	u1(b, tag);
	u2(b, x);
	if (y)
		u2(b, y);
}

static void refs(struct buf *b, unsigned tag, unsigned x, unsigned y, const char *next)
{
	ref(b, tag, x, y);
	utf8(b, next);
}

/* The numbers behind are those of the first of a line. */
static void write_constants(struct buf *b, const char *name, const char *file)
{
	utf8(b, name);
	refs(b, 7, 1, 0, "java/lang/Object"); /* 2 */
	refs(b, 7, 3, 0, "LOG");              /* 4 */
	utf8(b, "Lorg/slf4j/Logger;");        /* 6 */
	ref(b, 12, 5, 6);
	refs(b, 9, 2, 7, "org/slf4j/Logger"); /* 8 */
	refs(b, 7, 9, 0, "Code");             /* 10 */
	utf8(b, "Work on {}");                /* 12 */
	ref(b, 8, 12, 0);
	ref(b, 12, 16, 17); /* 14 */
	refs(b, 11, 10, 14, "info");
	utf8(b, "(Ljava/lang/String;Ljava/lang/Object;)V"); /* 17 */
	utf8(b, "Done");
	utf8(b, "work"); /* 19 */
	ref(b, 8, 18, 0);
	ref(b, 12, 16, 23); /* 21 */
	refs(b, 11, 10, 21, "(Ljava/lang/String;)V");
	utf8(b, "LineNumberTable"); /* 24 */
	utf8(b, "SourceFile");
	utf8(b, file); /* 26 */
	utf8(b, "org/slf4j/LoggerFactory");
	refs(b, 7, 27, 0, "getLogger"); /* 28 */
	utf8(b, "(Ljava/lang/Class;)Lorg/slf4j/Logger;");
	ref(b, 12, 29, 30); /* 31 */
	refs(b, 10, 28, 31, "<clinit>");
	utf8(b, "()V"); /* 34 */
}

/* Up to where its own attributes begin; more is how many bytes they take. */
static void write_method(struct buf *b, unsigned name, unsigned type, struct str code,
			 unsigned more)
{
	u2(b, ACCESS_STATIC);
	u2(b, name);
	u2(b, type);
	u2(b, 1);
	u2(b, 11);
	u4(b, 12 + (unsigned)code.n + more);
	u2(b, 4); /* stack */
	u2(b, 1); /* locals */
	u4(b, (unsigned)code.n);
	buf_add(b, code);
	u2(b, 0);
	u2(b, more > 0);
}

/*
 * class a.b.Name { static Logger LOG = LoggerFactory.getLogger(Name.class); static void work(String
 * id) { LOG.info("Work on {}", id); LOG.info("Done"); } } with the calls in lines 7 and 8.
 */
static void write_class(struct buf *b, const char *name, const char *file)
{
	static const char begin[] = { 0x12, 2, (char)0xb8, 0, 32, (char)0xb3, 0, 8, (char)0xb1 };
	static const char work[] = {
		(char)0xb2, 0, 8, 0x12, 13, 0x2a,       (char)0xb9, 0,  15, 3, 0,
		(char)0xb2, 0, 8, 0x12, 20, (char)0xb9, 0,          22, 2,  0, (char)0xb1,
	};
	static const unsigned behind[] = { ACCESS_PUBLIC, 2, 4, 0, 1, ACCESS_STATIC, 5, 6, 0, 2 };
	static const unsigned lines[] = { 24, 0, 10, 2, 0, 7, 11, 8 };

	u4(b, 0xcafebabe);
	u4(b, 52);
	u2(b, 35);
	write_constants(b, name, file);
	for (size_t i = 0; i < sizeof(behind) / sizeof(*behind); i++)
		u2(b, behind[i]);
	write_method(b, 33, 34, (struct str){ begin, sizeof(begin) }, 0);
	write_method(b, 19, 23, (struct str){ work, sizeof(work) }, 16);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		u2(b, lines[i]);
	u2(b, 1); /* attributes */
	u2(b, 25);
	u4(b, 2);
	u2(b, 26);
}

static void put_class(const char *folder, const char *name, const char *simple)
{
	struct buf b = { 0 };
	char path[256], file[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.class", folder, simple);
	snprintf(file, sizeof(file), "%s.java", simple);
	write_class(&b, name, file);
	f = fopen(path, "wb");
	if (!f)
		fail_msg("cannot write '%s'", path);
	else if (fwrite(b.p, 1, b.n, f) != b.n || fclose(f))
		fail_msg("cannot write all of '%s'", path);
	buf_done(&b);
}

/* The model of two such classes, in memory that is aligned as a file would be. */
static void make_image(struct buf *image, unsigned threads)
{
	char folder[] = "/tmp/culprit-model-XXXXXX", command[64];
	const char *paths[] = { folder };
	struct learn_options o = { .threads = threads };
	struct error err = { 0 };
	struct learned l;

	assert_non_null(mkdtemp(folder));
	put_class(folder, "shop/Till", "Till");
	put_class(folder, "shop/back/Oven", "Oven");
	assert_int_equal(learn(&l, paths, 1, &o, &err), 0);
	model_write(&l, image);
	learned_done(&l);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

static struct model_file *opened(const struct buf *image)
{
	struct error err = { 0 };
	struct model_file *m = NULL;

	if (model_of_bytes(&m, buf_str(image), &err) < 0)
		fail_msg("%s", err.msg);
	return m;
}

static void sum_up(struct buf *image)
{
	struct disk_head *h = (struct disk_head *)image->p;
	size_t from = offsetof(struct disk_head, sum) + sizeof(h->sum);

	h->sum = str_hash((struct str){ image->p + from, image->n - from });
}

static void points_come_out_as_they_were(void **state)
{
	struct buf image = { 0 };
	struct model_file *m;
	struct model_point p;
	struct model_method method;
	struct model_version v;
	struct model_part part;

	(void)state;
	make_image(&image, 1);
	m = opened(&image);
	assert_int_equal(model_nr_points(m), 4);
	assert_int_equal(model_count(m, COUNT_POINTS), 4);
	assert_int_equal(model_count(m, COUNT_CLASSES), 2);
	p = model_point(m, 0);
	method = model_method(m, p.method);
	assert_str_equal(method.class, "shop.back.Oven");
	assert_str_equal(method.name, "work");
	assert_str_equal(method.file, "Oven.java");
	assert_int_equal(p.line, 7);
	assert_int_equal(p.level, LEVEL_INFO);
	assert_true(p.has_id);
	assert_int_equal(p.versions.nr, 1);
	v = model_version(m, p.versions.first);
	assert_int_equal(v.point, 0);
	assert_int_equal(v.parts.nr, 2);
	part = model_part(m, v.literal);
	assert_int_equal(part.kind, PART_TEXT);
	assert_str_equal(part.text, "Work on ");
	part = model_part(m, v.parts.first + 1);
	assert_int_equal(part.kind, PART_HOLE);
	assert_int_equal(part.type, HOLE_TEXT);
	assert_str_equal(part.path, "#0");
	assert_true(part.is_id);
	model_close(m);
	buf_done(&image);
}

static void requests_begin_where_nothing_calls(void **state)
{
	struct buf image = { 0 };
	struct model_file *m;
	struct model_top t;

	(void)state;
	make_image(&image, 1);
	m = opened(&image);
	assert_int_equal(model_nr_tops(m), 2);
	t = model_top(m, 1);
	assert_str_equal(model_method(m, t.method).class, "shop.Till");
	assert_int_equal(model_method(m, t.method).top, 1);
	assert_int_equal(t.points.nr, 2);
	assert_int_equal(t.points.v[0], 2);
	assert_int_equal(t.points.v[1], 3);
	assert_int_equal(model_point(m, 3).tops.nr, 1);
	assert_int_equal(model_point(m, 3).tops.v[0], 1);
	assert_int_equal(t.nodes.nr, 2);
	assert_true(model_node(m, t.nodes.first).is_first);
	assert_int_equal(model_node(m, t.nodes.first).ahead.nr, 1);
	assert_int_equal(model_node(m, t.nodes.first).ahead.v[0], 1);
	assert_true(model_node(m, t.nodes.first + 1).is_last);
	assert_int_equal(t.ids.nr, 1);
	assert_str_equal(model_id(m, t.ids.first).path, "#0");
	assert_int_equal(model_id(m, t.ids.first).count, 1);
	model_close(m);
	buf_done(&image);
}

static void points_are_found_by_file_and_line(void **state)
{
	struct buf image = { 0 };
	struct model_file *m;
	struct model_range r;

	(void)state;
	make_image(&image, 1);
	m = opened(&image);
	r = model_find_place(m, STR("Till.java"), 8);
	assert_int_equal(r.nr, 1);
	assert_int_equal(model_place(m, r.first).point, 3);
	assert_int_equal(model_find_place(m, STR("Till.java"), 9).nr, 0);
	assert_int_equal(model_find_place(m, STR("Till"), 8).nr, 0);
	assert_int_equal(model_find_place(m, STR(""), 0).nr, 0);
	model_close(m);
	buf_done(&image);
}

static void points_are_found_by_the_end_of_their_logger(void **state)
{
	static const char *const endings[] = { "shop.back.Oven", "back.Oven", "Oven" };
	static const char *const others[] = { "oven", "ven", ".Oven", "a.Oven", "", "Oven." };
	struct buf image = { 0 };
	struct model_file *m;

	(void)state;
	make_image(&image, 1);
	m = opened(&image);
	assert_int_equal(model_nr_loggers(m), 2);
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		struct model_range r = model_find_logger(m, str_of(endings[i]));
		struct model_logger l = model_logger(m, r.first);

		assert_int_equal(r.nr, 1);
		assert_str_equal(l.name, "shop.back.Oven");
		assert_int_equal(l.points.nr, 2);
		assert_int_equal(l.points.v[0], 0);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_int_equal(model_find_logger(m, str_of(others[i])).nr, 0);
	model_close(m);
	buf_done(&image);
}

static void literals_stand_in_order(void **state)
{
	struct buf image = { 0 };
	struct model_file *m;

	(void)state;
	make_image(&image, 1);
	m = opened(&image);
	assert_int_equal(model_nr_literals(m), 4);
	assert_str_equal(model_literal(m, 0).text, "Done");
	assert_str_equal(model_literal(m, 1).text, "Done");
	assert_str_equal(model_literal(m, 2).text, "Work on ");
	for (uint32_t i = 0; i < 4; i++) {
		struct model_literal l = model_literal(m, i);
		struct model_version v = model_version(m, l.version);

		assert_true(str_eq(model_part(m, v.literal).text, l.text));
	}
	model_close(m);
	buf_done(&image);
}

static void endings_stand_behind_each_other(void **state)
{
	static const char *const sorted[] = { "Node",     "a.Node",     "a.b.Node",
					      "b.a.Node", "$Node",      "a.$Node",
					      "NameNode", "a.NameNode", "a.XameNode" };

	(void)state;
	for (size_t i = 1; i < sizeof(sorted) / sizeof(*sorted); i++) {
		assert_true(model_ending_cmp(str_of(sorted[0]), str_of(sorted[i])) < 0);
		assert_int_equal(model_ending_cmp(str_of(sorted[i]), str_of(sorted[i])), 0);
	}
	/* all "….Node" come before anything that ends with "Node" otherwise */
	assert_true(model_ending_cmp(STR("z.Node"), STR("$Node")) < 0);
	assert_true(model_ending_cmp(STR("z.Node"), STR("NameNode")) < 0);
	assert_true(model_ending_cmp(STR("a.NameNode"), STR("$Node")) > 0);
}

static void the_same_program_gives_the_same_bytes(void **state)
{
	struct buf one = { 0 }, two = { 0 };

	(void)state;
	make_image(&one, 1);
	make_image(&two, 2);
	assert_int_equal(one.n, two.n);
	assert_memory_equal(one.p, two.p, one.n);
	buf_done(&one);
	buf_done(&two);
}

static void every_changed_byte_is_noticed(void **state)
{
	struct buf image = { 0 };
	struct error err;
	struct model_file *m = NULL;

	(void)state;
	make_image(&image, 1);
	for (size_t i = 0; i < image.n; i++) {
		image.p[i] ^= 0x10;
		err = (struct error){ 0 };
		if (model_of_bytes(&m, buf_str(&image), &err) >= 0)
			fail_msg("byte %zu was changed, and nobody noticed", i);
		assert_non_null(strstr(err.msg, "culprit learn"));
		image.p[i] ^= 0x10;
	}
	buf_done(&image);
}

static void every_cut_is_noticed(void **state)
{
	struct buf image = { 0 };
	struct error err;
	struct model_file *m = NULL;

	(void)state;
	make_image(&image, 1);
	for (size_t n = 0; n < image.n; n++) {
		char *cut = malloc(n + 1); /* so that a read beyond it is seen */

		memcpy(cut, image.p, n);
		err = (struct error){ 0 };
		assert_true(model_of_bytes(&m, (struct str){ cut, n }, &err) < 0);
		assert_non_null(strstr(err.msg, "culprit learn"));
		free(cut);
	}
	buf_done(&image);
}

/* With a sum that fits, numbers that lead nowhere are still found. */
static void numbers_that_lead_nowhere_are_noticed(void **state)
{
	struct buf image = { 0 };
	struct disk_head *h;
	struct disk_point *points;
	struct error err = { 0 };
	struct model_file *m = NULL;

	(void)state;
	make_image(&image, 1);
	h = (struct disk_head *)image.p;
	points = (struct disk_point *)(image.p + h->sections[SECTION_POINTS].offset);
	points[1].method = 1000;
	sum_up(&image);
	assert_int_equal(model_of_bytes(&m, buf_str(&image), &err), -EBADMSG);
	points[1].method = 0;
	points[1].versions.nr = UINT32_MAX;
	sum_up(&image);
	assert_int_equal(model_of_bytes(&m, buf_str(&image), &err), -EBADMSG);
	points[1].versions.nr = 1;
	h->sections[SECTION_NODES].nr = (uint64_t)1 << 62;
	sum_up(&image);
	assert_int_equal(model_of_bytes(&m, buf_str(&image), &err), -EBADMSG);
	buf_done(&image);
}

static void another_version_is_told(void **state)
{
	struct buf image = { 0 };
	struct error err = { 0 };
	struct model_file *m = NULL;

	(void)state;
	make_image(&image, 1);
	((struct disk_head *)image.p)->version = MODEL_VERSION + 1;
	assert_true(model_of_bytes(&m, buf_str(&image), &err) < 0);
	assert_non_null(strstr(err.msg, "version"));
	assert_non_null(strstr(err.msg, "culprit learn"));
	buf_done(&image);
}

static void a_file_opens_as_its_bytes_do(void **state)
{
	char path[] = "/tmp/culprit-model-XXXXXX";
	struct buf image = { 0 };
	struct error err = { 0 };
	struct model_file *m = NULL;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_false(model_is_model(path));
	assert_true(model_open(&m, path, &err) < 0);
	assert_non_null(strstr(err.msg, path));
	make_image(&image, 1);
	assert_int_equal(write(fd, image.p, image.n), image.n);
	close(fd);
	assert_true(model_is_model(path));
	assert_int_equal(model_open(&m, path, &err), 0);
	assert_int_equal(model_nr_points(m), 4);
	model_close(m);
	unlink(path);
	assert_int_equal(model_open(&m, path, &err), -ENOENT);
	buf_done(&image);
}

static void a_folder_without_classes_is_told(void **state)
{
	char folder[] = "/tmp/culprit-model-XXXXXX";
	const char *paths[] = { folder };
	struct learn_options o = { 0 };
	struct error err = { 0 };
	struct learned l;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(learn(&l, paths, 1, &o, &err), -ENOENT);
	assert_non_null(strstr(err.msg, folder));
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_come_out_as_they_were),
		cmocka_unit_test(requests_begin_where_nothing_calls),
		cmocka_unit_test(points_are_found_by_file_and_line),
		cmocka_unit_test(points_are_found_by_the_end_of_their_logger),
		cmocka_unit_test(literals_stand_in_order),
		cmocka_unit_test(endings_stand_behind_each_other),
		cmocka_unit_test(the_same_program_gives_the_same_bytes),
		cmocka_unit_test(every_changed_byte_is_noticed),
		cmocka_unit_test(every_cut_is_noticed),
		cmocka_unit_test(numbers_that_lead_nowhere_are_noticed),
		cmocka_unit_test(another_version_is_told),
		cmocka_unit_test(a_file_opens_as_its_bytes_do),
		cmocka_unit_test(a_folder_without_classes_is_told),
	};

	return RUN(tests);
}
