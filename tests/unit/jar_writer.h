/* Writes jars for tests. */
#ifndef CULPRIT_TESTS_JAR_WRITER_H
#define CULPRIT_TESTS_JAR_WRITER_H

#include "class_writer.h"

#include <stdlib.h>
#include <zip.h>

struct entry {
	const char *name;
	struct str content;
};

static inline void jar_write(const char *path, const struct entry *entries, size_t nr)
{
	zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);

	assert_non_null(zip);
	for (size_t i = 0; i < nr; i++) {
		zip_source_t *s =
			zip_source_buffer(zip, entries[i].content.p, entries[i].content.n, 0);

		assert_true(zip_file_add(zip, entries[i].name, s, 0) >= 0);
	}
	assert_int_equal(zip_close(zip), 0);
}

/* A class without anything in it. */
static inline void jar_class(struct buf *b, const char *name, const char *super)
{
	struct class_writer w;

	writer_init(&w, name, super);
	writer_done(&w, 52, b);
}

#endif
