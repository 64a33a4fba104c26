/* A run whose blobs stand elsewhere answers as the file does, and notices when they are changed. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/vec.h"
#include "store/db.h"
#include "store_same.h"

struct blob {
	enum db_table table;
	uint64_t number;
	struct buf data;
};

struct elsewhere {
	VEC(struct blob) v;
	enum db_table table; /* while it is filled */
	int nr_closed;
};

static int keep(void *ctx, uint64_t number, struct str packed)
{
	struct elsewhere *e = ctx;
	struct blob b = { .table = e->table, .number = number };

	buf_add(&b.data, packed);
	vec_push(&e->v, b);
	return 0;
}

static int get(void *to, enum db_table table, uint64_t at, uint64_t *number, struct str *packed,
	       struct error *err)
{
	struct elsewhere *e = to;
	int found = 0;

	(void)err;
	vec_each (&e->v, b) {
		if (b->table != table || b->number > at || (found && b->number < *number))
			continue;
		*number = b->number;
		*packed = buf_str(&b->data);
		found = 1;
	}
	return found;
}

static void count_close(void *to)
{
	((struct elsewhere *)to)->nr_closed++;
}

static void elsewhere_done(struct elsewhere *e)
{
	vec_each (&e->v, b)
		buf_done(&b->data);
	vec_done(&e->v);
}

/* Ten blobs of events, each of which says its number. */
static struct db *make(struct error *err)
{
	struct db *db = NULL;
	char text[32];

	assert_int_equal(db_create(&db, NULL, "near", err), 0);
	for (uint64_t i = 0; i < 10; i++) {
		snprintf(text, sizeof(text), "block %d", (int)i);
		assert_int_equal(db_put(db, DB_EVENTS, i * 100, str_of(text), err), 0);
	}
	assert_int_equal(db_put(db, DB_CATALOG, 0, STR("catalog"), err), 0);
	assert_int_equal(db_finish(db, err), 0);
	return db;
}

static void take_all(struct db *db, struct elsewhere *e)
{
	struct error err = { 0 };

	for (int i = 0; i < DB_TABLES; i++) {
		e->table = (enum db_table)i;
		OK(db_each_packed(db, e->table, keep, e, &err));
	}
}

static void blobs_are_handed_out_the_last_first(void **state)
{
	struct error err = { 0 };
	struct elsewhere e = { 0 };
	struct db *db = make(&err);

	(void)state;
	take_all(db, &e);
	assert_int_equal(e.v.nr, 11);
	assert_int_equal(e.v.v[0].table, DB_CATALOG);
	assert_int_equal(e.v.v[1].number, 900);
	assert_int_equal(e.v.v[10].number, 0);
	db_close(db);
	elsewhere_done(&e);
}

static void what_stands_elsewhere_answers_the_same(void **state)
{
	static const uint64_t asked[] = { 0, 1, 99, 100, 555, 900, 901, UINT64_MAX };
	struct error err = { 0 };
	struct elsewhere e = { 0 };
	struct db *db = make(&err), *far;
	struct buf a = { 0 }, b = { 0 };

	(void)state;
	take_all(db, &e);
	far = db_of_far(&(struct db_far){ &e, get, count_close }, "far");
	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		uint64_t x = 0, y = 0;

		assert_int_equal(db_get(db, DB_EVENTS, asked[i], &x, &a, &err), 1);
		assert_int_equal(db_get(far, DB_EVENTS, asked[i], &y, &b, &err), 1);
		assert_int_equal(x, y);
		assert_same_str(buf_str(&a), buf_str(&b));
		assert_int_equal(db_get(far, DB_BODIES, asked[i], &y, &b, &err), 0);
	}
	db_close(far);
	assert_int_equal(e.nr_closed, 1);
	db_close(db);
	buf_done(&a);
	buf_done(&b);
	elsewhere_done(&e);
}

static void a_bit_that_changed_elsewhere_is_damage(void **state)
{
	struct error err = { 0 };
	struct elsewhere e = { 0 };
	struct db *db = make(&err), *far;
	struct buf raw = { 0 };
	uint64_t number = 0;

	(void)state;
	take_all(db, &e);
	far = db_of_far(&(struct db_far){ &e, get, count_close }, "far");
	e.v.v[1].data.p[e.v.v[1].data.n / 2] ^= 1;
	assert_int_equal(db_get(far, DB_EVENTS, 950, &number, &raw, &err), -EBADMSG);
	assert_non_null(strstr(err.msg, "'far' is damaged"));
	e.v.v[1].data.n = 3;
	assert_int_equal(db_get(far, DB_EVENTS, 950, &number, &raw, &err), -EBADMSG);
	/* a blob that is whole but stands in the place of another */
	e.v.v[2].number = 850;
	assert_int_equal(db_get(far, DB_EVENTS, 860, &number, &raw, &err), -EBADMSG);
	db_close(far);
	db_close(db);
	buf_done(&raw);
	elsewhere_done(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blobs_are_handed_out_the_last_first),
		cmocka_unit_test(what_stands_elsewhere_answers_the_same),
		cmocka_unit_test(a_bit_that_changed_elsewhere_is_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
