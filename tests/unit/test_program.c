#include "home.h"
#include "jar_writer.h"

#include "base/error.h"
#include "program/callgraph.h"
#include "program/identifiers.h"
#include "program/logpoints.h"
#include "program/order.h"
#include "program/program.h"
#include "model/loss.h"

struct sample {
	struct program *program;
	struct losses losses;
};

/* Everything that is done with a program, for what it does to the machine. */
static void analyse(struct program *p, struct losses *losses)
{
	struct log_points points;
	struct callgraph g;
	struct identifiers ids;
	struct orders orders;

	log_points_find(&points, p, losses);
	callgraph_init(&g, p, losses);
	identifiers_find(&ids, &g, &points);
	orders_find(&orders, &g, &points, &ids);
	orders_done(&orders);
	identifiers_done(&ids);
	callgraph_done(&g);
	log_points_done(&points);
}

static void load(struct sample *s, const char *path)
{
	const char *paths[] = { path };
	struct error err = { 0 };

	*s = (struct sample){ 0 };
	if (program_load(&s->program, paths, 1, 2, &s->losses, &err) < 0)
		fail_msg("%s", err.msg);
}

static void put_class(const struct home *h, const char *file, struct class_writer *w)
{
	struct buf b = { 0 };
	char path[128];

	writer_done(w, 52, &b);
	snprintf(path, sizeof(path), "%s/%s.class", h->dir, file);
	home_write(path, buf_str(&b));
	buf_done(&b);
}

static sym_t sym(const struct sample *s, const char *name)
{
	return names_find(&s->program->names, str_of(name));
}

static void a_call_finds_what_is_inherited(void **state)
{
	struct home *h = *state;
	struct class_writer w;
	struct sample s;
	uint32_t below, found;

	writer_init(&w, "p/Above", "java/lang/Object");
	writer_method(&w, "m", "()V", 1, 1, STR("\xb1"), STR(""));
	put_class(h, "a", &w);
	writer_init(&w, "p/Between", "p/Above");
	put_class(h, "b", &w);
	writer_init(&w, "p/Below", "p/Between");
	put_class(h, "c", &w);
	load(&s, h->dir);
	below = program_class(s.program, STR("p/Below"));
	found = program_resolve(s.program, below, sym(&s, "m"), sym(&s, "()V"));
	assert_int_not_equal(found, NO_METHOD);
	assert_str_equal(program_class_of(s.program, found)->name, "p/Above");
	assert_int_equal(program_declared(s.program, below, sym(&s, "m"), sym(&s, "()V")),
			 NO_METHOD);
	assert_true(program_is_a(s.program, below, STR("p/Above")));
	assert_true(program_is_a(s.program, below, STR("java/lang/Object")));
	assert_false(program_is_a(s.program, below, STR("p/Other")));
	assert_int_equal(s.losses.count[LOSS_SUPERS_MISSING], 0);
	program_free(s.program);
}

static void a_super_that_is_not_given_is_counted(void **state)
{
	struct home *h = *state;
	struct class_writer w;
	struct sample s;

	writer_init(&w, "p/Orphan", "gone/Parent");
	writer_interface(&w, "gone/Face");
	writer_method(&w, "m", "()V", 1, 1, STR("\xb1"), STR(""));
	put_class(h, "a", &w);
	load(&s, h->dir);
	assert_int_equal(s.losses.count[LOSS_SUPERS_MISSING], 2);
	assert_true(program_is_a(s.program, program_class(s.program, STR("p/Orphan")),
				 STR("gone/Face")));
	analyse(s.program, &s.losses);
	program_free(s.program);
}

/* Classes that are their own grandparents, by supers and by interfaces, and call and log. */
static void circles_of_classes_end(void **state)
{
	struct home *h = *state;
	static const char *const names[] = { "p/A", "p/B", "p/C" };
	struct class_writer w;
	struct sample s;
	char file[8];

	for (unsigned i = 0; i < 3; i++) {
		struct buf code = { 0 };
		uint16_t field, call;

		writer_init(&w, names[i], names[(i + 1) % 3]);
		for (unsigned k = 0; k < 3; k++)
			writer_interface(&w, names[k]);
		field = writer_member(&w, 9, names[i], "LOG", "Lorg/slf4j/Logger;");
		call = writer_member(&w, 11, "org/slf4j/Logger", "info", "(Ljava/lang/String;)V");
		put_u1(&code, 0xb2);
		put_u2(&code, field);
		put_u1(&code, 0x13);
		put_u2(&code, writer_named(&w, 8, "said"));
		put_u1(&code, 0xb9);
		put_u2(&code, call);
		put_u2(&code, 0x0200);
		put_u1(&code, 0xb8);
		put_u2(&code, writer_member(&w, 10, names[(i + 1) % 3], "nowhere", "()V"));
		put_u1(&code, 0xb1);
		writer_method(&w, "m", "()V", 2, 1, buf_str(&code), STR(""));
		snprintf(file, sizeof(file), "%u", i);
		put_class(h, file, &w);
		buf_done(&code);
	}
	writer_init(&w, "p/Self", "p/Self");
	put_class(h, "self", &w);
	load(&s, h->dir);
	assert_true(program_is_a(s.program, program_class(s.program, STR("p/A")), STR("p/C")));
	assert_int_equal(program_resolve(s.program, program_class(s.program, STR("p/Self")),
					 sym(&s, "nowhere"), sym(&s, "()V")),
			 NO_METHOD);
	analyse(s.program, &s.losses);
	program_free(s.program);
}

static void the_first_of_two_classes_counts(void **state)
{
	struct home *h = *state;
	struct class_writer w;
	struct sample s;

	writer_init(&w, "p/Twice", "p/First");
	put_class(h, "a", &w);
	writer_init(&w, "p/Twice", "p/Second");
	put_class(h, "b", &w);
	load(&s, h->dir);
	assert_int_equal(s.program->classes.nr, 1);
	assert_str_equal(s.program->classes.v[0].c.super, "p/First");
	assert_int_equal(s.losses.count[LOSS_CLASSES_TWICE], 1);
	program_free(s.program);
}

static void the_newest_release_counts(void **state)
{
	struct home *h = *state;
	struct buf old = { 0 }, middle = { 0 }, new = { 0 };
	struct sample s;
	char path[96];

	jar_class(&old, "p/A", "p/Old");
	jar_class(&middle, "p/A", "p/Middle");
	jar_class(&new, "p/A", "p/New");
	snprintf(path, sizeof(path), "%s/m.jar", h->dir);
	jar_write(path,
		  (struct entry[]){ { "p/A.class", buf_str(&old) },
				    { "META-INF/versions/17/p/A.class", buf_str(&new) },
				    { "META-INF/versions/9/p/A.class", buf_str(&middle) } },
		  3);
	load(&s, path);
	assert_int_equal(s.program->classes.nr, 1);
	assert_str_equal(s.program->classes.v[0].c.super, "p/New");
	assert_int_equal(s.losses.count[LOSS_CLASSES_TWICE], 0);
	program_free(s.program);
	buf_done(&old);
	buf_done(&middle);
	buf_done(&new);
}

/* Names as obfuscators choose them: one letter, keywords, spaces, other scripts, very long ones. */
static void odd_names_are_names(void **state)
{
	struct home *h = *state;
	char *endless = calloc(1, 60001);
	const char *names[] = { "a", "if", "a/b c", "\xe2\x80\xae/x", ";", "[", endless };
	struct class_writer w;
	struct sample s;
	char file[8];

	memset(endless, 'x', 60000);
	for (unsigned i = 0; i < 7; i++) {
		writer_init(&w, names[i], "java/lang/Object");
		writer_method(&w, names[i], "()V", 1, 1, STR("\xb1"), STR(""));
		snprintf(file, sizeof(file), "%u", i);
		put_class(h, file, &w);
	}
	load(&s, h->dir);
	assert_int_equal(s.program->classes.nr, 7);
	for (unsigned i = 0; i < 7; i++)
		assert_int_not_equal(program_class(s.program, str_of(names[i])), NO_CLASS);
	analyse(s.program, &s.losses);
	program_free(s.program);
	free(endless);
}

static void what_is_damaged_does_not_hide_the_rest(void **state)
{
	struct home *h = *state;
	struct class_writer w;
	struct sample s;
	char path[128];

	writer_init(&w, "p/Good", "java/lang/Object");
	writer_method(&w, "m", "()V", 1, 1, STR("\xb1"), STR(""));
	put_class(h, "good", &w);
	snprintf(path, sizeof(path), "%s/bad.class", h->dir);
	home_write(path, STR("\xca\xfe\xba\xbe and then nothing"));
	snprintf(path, sizeof(path), "%s/bad.jar", h->dir);
	home_write(path, STR("PK\x03\x04 and then nothing"));
	load(&s, h->dir);
	assert_int_equal(s.program->classes.nr, 1);
	assert_int_equal(s.losses.count[LOSS_CLASSES_BROKEN], 1);
	assert_int_equal(s.losses.count[LOSS_JARS_BROKEN], 1);
	program_free(s.program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		HOME_TEST(a_call_finds_what_is_inherited),
		HOME_TEST(a_super_that_is_not_given_is_counted),
		HOME_TEST(circles_of_classes_end),
		HOME_TEST(the_first_of_two_classes_counts),
		HOME_TEST(the_newest_release_counts),
		HOME_TEST(odd_names_are_names),
		HOME_TEST(what_is_damaged_does_not_hide_the_rest),
	};

	return RUN(tests);
}
