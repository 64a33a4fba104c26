#include "home.h"
#include "jar_writer.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/error.h"
#include "model/loss.h"
#include "program/container.h"

/* "path size" of every class file, a line each. */
static void list(const char *path, struct buf *b, struct losses *losses)
{
	const char *paths[] = { path };
	struct error err = { 0 };
	struct container *c;
	struct packed p;

	assert_int_equal(container_open(&c, paths, 1, losses, &err), 0);
	while (container_next(c, &p, &err) > 0) {
		struct arena a = { 0 };
		struct str bytes = STR("");
		const char *name = strstr(p.path, "/culprit-store-");

		if (!packed_unpack(&p, &a, &bytes))
			losses->count[LOSS_CLASSES_BROKEN]++;
		else
			buf_fmt(b, "%s %zu %u\n", name ? name + 22 : p.path, bytes.n, p.release);
		arena_done(&a);
		packed_done(&p);
	}
	container_close(c);
}

static struct str file(const char *path, struct buf *b)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	assert_non_null(f);
	n = fread(buf_room(b, 1 << 20), 1, 1 << 20, f);
	b->n = n;
	fclose(f);
	return buf_str(b);
}

static void classes_are_found_in_jars_within_wars(void **state)
{
	struct home *h = *state;
	struct buf class = { 0 }, jar = { 0 }, out = { 0 };
	struct losses losses = { 0 };
	char inner[96], outer[96];

	snprintf(inner, sizeof(inner), "%s/in.jar", h->dir);
	snprintf(outer, sizeof(outer), "%s/app.war", h->dir);
	jar_class(&class, "A", "java/lang/Object");
	jar_write(inner, (struct entry[]){ { "a/A.class", buf_str(&class) } }, 1);
	jar_write(outer,
		  (struct entry[]){ { "WEB-INF/web.xml", STR("<x/>") },
				    { "WEB-INF/lib/in.jar", file(inner, &jar) },
				    { "WEB-INF/classes/B.class", buf_str(&class) } },
		  3);
	list(outer, &out, &losses);
	assert_str_equal(buf_str(&out), "app.war!WEB-INF/lib/in.jar!a/A.class 53 0\n"
					"app.war!WEB-INF/classes/B.class 53 0\n");
	assert_int_equal(losses.count[LOSS_JARS_BROKEN], 0);
	buf_done(&class);
	buf_done(&jar);
	buf_done(&out);
}

static void folders_are_read_in_the_order_of_names(void **state)
{
	struct home *h = *state;
	struct buf class = { 0 }, out = { 0 };
	struct losses losses = { 0 };
	static const char *const names[] = { "c.class", "a.class", "sub/b.class", "ignored.txt" };
	char path[128];

	jar_class(&class, "A", "java/lang/Object");
	snprintf(path, sizeof(path), "%s/sub", h->dir);
	assert_int_equal(mkdir(path, 0700), 0);
	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", h->dir, names[i]);
		home_write(path, buf_str(&class));
	}
	list(h->dir, &out, &losses);
	assert_str_equal(buf_str(&out), "a.class 53 0\nc.class 53 0\nsub/b.class 53 0\n");
	buf_done(&class);
	buf_done(&out);
}

static void releases_are_told_by_their_folder(void **state)
{
	struct home *h = *state;
	struct buf class = { 0 }, out = { 0 };
	struct losses losses = { 0 };
	char path[96];

	jar_class(&class, "A", "java/lang/Object");
	snprintf(path, sizeof(path), "%s/m.jar", h->dir);
	jar_write(path,
		  (struct entry[]){ { "A.class", buf_str(&class) },
				    { "META-INF/versions/11/A.class", buf_str(&class) } },
		  2);
	list(path, &out, &losses);
	assert_str_equal(buf_str(&out),
			 "m.jar!A.class 53 0\nm.jar!META-INF/versions/11/A.class 53 11\n");
	buf_done(&class);
	buf_done(&out);
}

static void a_jar_cut_anywhere_is_counted(void **state)
{
	struct home *h = *state;
	struct buf class = { 0 }, jar = { 0 };
	char path[96];

	jar_class(&class, "A", "java/lang/Object");
	snprintf(path, sizeof(path), "%s/c.jar", h->dir);
	jar_write(path, (struct entry[]){ { "A.class", buf_str(&class) } }, 1);
	file(path, &jar);
	for (size_t n = 0; n < jar.n; n++) {
		struct losses losses = { 0 };
		struct buf out = { 0 };

		home_write(path, str_head(buf_str(&jar), n));
		list(path, &out, &losses);
		assert_true(losses.count[LOSS_JARS_BROKEN] + losses.count[LOSS_CLASSES_BROKEN] > 0);
		assert_int_equal(out.n, 0);
		buf_done(&out);
	}
	buf_done(&class);
	buf_done(&jar);
}

static void a_class_damaged_in_its_jar_is_counted(void **state)
{
	struct home *h = *state;
	struct buf class = { 0 }, jar = { 0 }, out = { 0 };
	struct losses losses = { 0 };
	char path[96];

	jar_class(&class, "A", "java/lang/Object");
	snprintf(path, sizeof(path), "%s/d.jar", h->dir);
	jar_write(
		path,
		(struct entry[]){ { "A.class", buf_str(&class) }, { "B.class", buf_str(&class) } },
		2);
	file(path, &jar);
	jar.p[45] ^= 0x55; /* in the middle of the first */
	home_write(path, buf_str(&jar));
	list(path, &out, &losses);
	assert_str_equal(buf_str(&out), "d.jar!B.class 53 0\n");
	assert_int_equal(losses.count[LOSS_CLASSES_BROKEN], 1);
	buf_done(&class);
	buf_done(&jar);
	buf_done(&out);
}

/* Zeros without end: what is too large is not unpacked, nor is what swells too much. */
static void a_bomb_does_not_go_off(void **state)
{
	struct home *h = *state;
	struct losses losses = { 0 };
	struct buf out = { 0 };
	size_t large = (size_t)17 << 20, nr = 0;
	char *zeros = calloc(1, large), path[96];
	struct entry entries[13];
	char names[13][16];

	snprintf(path, sizeof(path), "%s/b.jar", h->dir);
	entries[nr++] = (struct entry){ "large.class", { zeros, large } };
	for (; nr < 13; nr++) {
		snprintf(names[nr], sizeof(names[nr]), "%zu.class", nr);
		entries[nr] = (struct entry){ names[nr], { zeros, (size_t)8 << 20 } };
	}
	jar_write(path, entries, nr);
	list(path, &out, &losses);
	assert_true(losses.count[LOSS_CLASSES_BROKEN] > 2);
	buf_done(&out);
	free(zeros);
}

static void jars_deep_within_each_other_are_counted(void **state)
{
	struct home *h = *state;
	struct losses losses = { 0 };
	struct buf jar = { 0 }, out = { 0 };
	char path[96];

	snprintf(path, sizeof(path), "%s/n.jar", h->dir);
	jar_write(path, (struct entry[]){ { "x.txt", STR("x") } }, 1);
	for (unsigned i = 0; i < 12; i++) {
		jar.n = 0;
		file(path, &jar);
		jar_write(path, (struct entry[]){ { "in.jar", buf_str(&jar) } }, 1);
	}
	list(path, &out, &losses);
	assert_int_equal(losses.count[LOSS_JARS_BROKEN], 1);
	buf_done(&jar);
	buf_done(&out);
}

static void a_path_that_is_not_there_fails(void **state)
{
	const char *paths[] = { "/nowhere/at/all.jar" };
	struct losses losses = { 0 };
	struct error err = { 0 };
	struct container *c = NULL;

	(void)state;
	assert_int_equal(container_open(&c, paths, 1, &losses, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "/nowhere/at/all.jar"));
	assert_null(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		HOME_TEST(classes_are_found_in_jars_within_wars),
		HOME_TEST(folders_are_read_in_the_order_of_names),
		HOME_TEST(releases_are_told_by_their_folder),
		HOME_TEST(a_jar_cut_anywhere_is_counted),
		HOME_TEST(a_class_damaged_in_its_jar_is_counted),
		HOME_TEST(a_bomb_does_not_go_off),
		HOME_TEST(jars_deep_within_each_other_are_counted),
		cmocka_unit_test(a_path_that_is_not_there_fails),
	};

	return RUN(tests);
}
