/* A path of a JVM is read, or it is said where it is wrong; its names are stretches of its text,
 * and what was taken of a longer text is a path by itself. */
#include <stdlib.h>
#include <string.h>

#include "lib/advice/java_path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static bool is_within(struct str part, struct str text)
{
	return !part.n || (part.p >= text.p && part.p + part.n <= text.p + text.n);
}

static void check_path(const struct java_path *p, struct str text)
{
	check(p->nr_steps <= JAVA_PATH_STEPS);
	check(p->root < JAVA_DURATION || !p->nr_steps);
	check(p->root != JAVA_TEXT || is_within(p->text, text));
	for (size_t i = 0; i < p->nr_steps; i++) {
		check(is_within(p->steps[i].name, text));
		check(p->steps[i].kind <= JAVA_CLASS);
		check(p->steps[i].kind != JAVA_CLASS || i + 1 == p->nr_steps);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size ? size : 1); /* its own piece, so that its ends are watched */
	struct str text = { copy, size }, rest = text;
	struct java_mistake m = { 0 };
	struct java_path p, again;

	memcpy(copy, data, size);
	if (java_path_take(&rest, &p, &m) < 0) {
		check(m.what && m.length && m.at <= size);
	} else {
		struct str taken = str_head(text, size - rest.n);

		check(taken.n > 0);
		check_path(&p, text);
		check(!java_path_parse(taken, &again, &m));
		check(again.root == p.root && again.nr_steps == p.nr_steps);
		check(!rest.n || java_path_parse(text, &again, &m) < 0);
	}
	free(copy);
	return 0;
}
