#include "unit.h"

#include <stdlib.h>

#include "base/error.h"
#include "store/place.h"
#include "store/sorter.h"

/* A row begins with its own start, end and number; the rest only makes it large. */
struct row {
	int64_t start, end;
	uint64_t number;
};

struct walk {
	struct row last;
	size_t nr;
};

static int see(void *ctx, struct str bytes, struct error *err)
{
	struct walk *w = ctx;
	struct row row;

	(void)err;
	assert_true(bytes.n >= sizeof(row));
	memcpy(&row, bytes.p, sizeof(row));
	if (w->nr++) {
		assert_true(w->last.start <= row.start);
		if (w->last.start == row.start)
			assert_true(w->last.end <= row.end);
		if (w->last.start == row.start && w->last.end == row.end)
			assert_true(w->last.number < row.number);
	}
	w->last = row;
	return 0;
}

static void sort_rows(size_t nr, size_t bytes)
{
	struct place nowhere = { 0 };
	struct sorter *o = sorter_new(&nowhere);
	struct row *row = calloc(1, bytes);
	struct walk w = { 0 };
	struct error err = { 0 };
	uint32_t x = 7;

	for (size_t i = 0; i < nr; i++) {
		x = x * 1664525 + 1013904223;
		row->start = (int64_t)(x >> 20) - 2000;
		row->end = row->start + (x >> 12) % 3;
		row->number = i;
		assert_int_equal(sorter_add(o, row->start, row->end, STR("same"),
					    (struct str){ (char *)row, bytes }, &err),
				 0);
	}
	assert_int_equal(sorter_each(o, see, &w, &err), 0);
	assert_int_equal(w.nr, nr);
	sorter_free(o);
	free(row);
}

static void few_rows_are_sorted_in_memory(void **state)
{
	(void)state;
	sort_rows(0, 24);
	sort_rows(1, 24);
	sort_rows(10000, 40);
}

static void many_rows_are_merged_from_runs_and_keep_their_order(void **state)
{
	(void)state;
	sort_rows(20000, 4000); /* 80 MB: four runs */
}

static int refuse(void *ctx, struct str row, struct error *err)
{
	(void)ctx;
	(void)row;
	return error_set(err, 42, "enough");
}

static void a_failure_of_the_reader_ends_the_walk(void **state)
{
	struct place nowhere = { 0 };

	(void)state;
	for (size_t bytes = 100; bytes <= 20 << 20; bytes += (20 << 20) - 100) {
		struct sorter *o = sorter_new(&nowhere);
		char *row = calloc(1, bytes);
		struct error err = { 0 };

		for (int i = 0; i < 3; i++)
			assert_int_equal(
				sorter_add(o, i, i, STR(""), (struct str){ row, bytes }, &err), 0);
		assert_int_equal(sorter_each(o, refuse, NULL, &err), -42);
		sorter_free(o);
		free(row);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_rows_are_sorted_in_memory),
		cmocka_unit_test(many_rows_are_merged_from_runs_and_keep_their_order),
		cmocka_unit_test(a_failure_of_the_reader_ends_the_walk),
	};

	return RUN(tests);
}
