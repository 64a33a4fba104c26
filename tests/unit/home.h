/* A directory of its own for each test, gone afterwards. */
#ifndef CULPRIT_TESTS_HOME_H
#define CULPRIT_TESTS_HOME_H

#include "unit.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

struct home {
	char dir[64], run[80];
};

static inline int home_setup(void **state)
{
	struct home *h = calloc(1, sizeof(*h));

	strcpy(h->dir, "/tmp/culprit-store-XXXXXX");
	if (!mkdtemp(h->dir))
		return -1;
	snprintf(h->run, sizeof(h->run), "%s/a.culprit", h->dir);
	*state = h;
	return 0;
}

static inline int home_teardown(void **state)
{
	struct home *h = *state;
	char command[128];
	int r;

	snprintf(command, sizeof(command), "rm -rf '%s'", h->dir);
	r = system(command);
	free(h);
	return r;
}

static inline size_t home_nr_files(const struct home *h)
{
	char pattern[128];
	glob_t g;
	size_t nr;

	snprintf(pattern, sizeof(pattern), "%s/*", h->dir);
	nr = glob(pattern, 0, NULL, &g) ? 0 : g.gl_pathc;
	if (nr)
		globfree(&g);
	return nr;
}

static inline void home_write(const char *path, struct str content)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(content.p, 1, content.n, f), content.n);
	assert_int_equal(fclose(f), 0);
}

#define HOME_TEST(name) cmocka_unit_test_setup_teardown(name, home_setup, home_teardown)

#endif
