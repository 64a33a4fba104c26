/* Names of which one is a version of another: blk_7_1 and blk_7_2 are one block, container_7_1 and
 * container_7_2 are two. And of several earlier pieces of work of one sort, the last. */
#include "unit.h"

#include <stdlib.h>

#include "infer/requests/tie.h"
#include "request_lines.h"

enum { NR = 60, OTHERS = 24 };

static struct lines l;
static struct steps s;

/* One call drops what is there of each thing and makes it anew under another number; before that
 * much was said of the thing. The first numbers are those of the thing, or of a group of them. */
static void change_all(const char *name, int group, uint64_t *updated, uint64_t *dropped)
{
	lines_begin(&l);
	lines_file(&l, "nn.log", "nn.log");
	for (int i = 0; i < NR; i++) {
		int thing = 5000 + i / group, version = 100 + i;
		const char *thread = i % 2 ? "handler 1" : "handler 2";

		for (int k = 0; k < OTHERS; k++)
			lines_add(&l, i * 1000 + k * 20, "reports", "stored %s_%d", name, thing);
		lines_add(&l, i * 1000 + 500, thread, "ask %s_%d_%d of user_%d", name, thing,
			  version, 300 + i);
		lines_add(&l, i * 1000 + 500, thread, "give %s_%d_%d to user_%d", name, thing,
			  version, 300 + i);
		updated[i] = lines_add(&l, i * 1000 + 600, thread, "update %s_%d_%d", name, thing,
				       version);
		dropped[i] = lines_add(&l, i * 1000 + 600, thread, "drop %s_%d_%d", name, thing,
				       version + (group > 1 ? 1
						  : i % 3   ? 0
							    : 1000));
		lines_add(&l, i * 1000 + 700, thread, "open /data/dir/f%d", i);
	}
	steps_begin(&s, &l);
}

static void another_version_is_the_same_thing(void **state)
{
	uint64_t updated[NR], dropped[NR];

	(void)state;
	change_all("blk", 1, updated, dropped);
	for (int i = 0; i < NR; i++)
		assert_ptr_equal(steps_unit(&s, updated[i]), steps_unit(&s, dropped[i]));
	steps_end(&s);
	lines_end(&l);
}

static void one_of_many_is_no_version(void **state)
{
	uint64_t updated[NR], dropped[NR];

	(void)state;
	change_all("container", 20, updated, dropped);
	for (int i = 0; i < NR; i++)
		assert_ptr_not_equal(steps_unit(&s, updated[i]), steps_unit(&s, dropped[i]));
	steps_end(&s);
	lines_end(&l);
}

static bool has_candidate(const struct ties *t, const struct unit *u, const struct unit *earlier)
{
	uint32_t unit = (uint32_t)(u - s.w.units.v);

	for (uint32_t i = t->at.v[unit]; i < t->at.v[unit + 1]; i++)
		if (&s.w.units.v[t->v.v[i].unit] == earlier)
			return true;
	return false;
}

/* Two nodes append to each block, twice: what a node did the first time has the place on its disk
 * in common, what the other one has just done has not. */
static void the_last_that_did_the_same_may_be_followed(void **state)
{
	uint64_t first[NR][2], second[NR][2];
	struct ties ties;

	(void)state;
	lines_begin(&l);
	for (int node = 0; node < 2; node++) {
		lines_file(&l, node ? "dn2.log" : "dn1.log", node ? "dn2.log" : "dn1.log");
		for (int i = 0; i < NR; i++) {
			int ms = i * 1000 + node * 20;

			first[i][node] =
				lines_add(&l, ms, "receiver 1", "append blk_%d at /disk%d/%d",
					  5000 + i, node, 7000 + i);
			second[i][node] =
				lines_add(&l, ms + 500, "receiver 2", "append blk_%d at /disk%d/%d",
					  5000 + i, node, 7000 + i);
		}
	}
	steps_begin(&s, &l);
	ties_find(&ties, &s.w, &s.owners);
	for (int i = 0; i < NR; i++) {
		const struct unit *u = steps_unit(&s, second[i][1]);

		assert_true(has_candidate(&ties, u, steps_unit(&s, first[i][1])));
		assert_true(has_candidate(&ties, u, steps_unit(&s, second[i][0])));
		assert_false(has_candidate(&ties, u, steps_unit(&s, first[i][0])));
	}
	ties_done(&ties);
	steps_end(&s);
	lines_end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_version_is_the_same_thing),
		cmocka_unit_test(one_of_many_is_no_version),
		cmocka_unit_test(the_last_that_did_the_same_may_be_followed),
	};

	return RUN(tests);
}
