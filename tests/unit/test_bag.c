/* Bags by themselves, what reads them when they are damaged or full, real numbers without the
 * processor's own. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lib/advice/real.h"
#include "lib/advice/vm.h"
#include "query/advice_verify.h"

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 11 ^ *seed << 33;
}

/* --- real numbers ----------------------------------------------------------------------------- */

static double as_double(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

static uint64_t as_bits(double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	return bits;
}

/* Of all kinds: any bits, near each other, whole, tiny, huge, none. */
static uint64_t random_real(uint64_t *seed)
{
	static const double odd[] = { 0.0,
				      -0.0,
				      1.0,
				      0.1,
				      5e-324,
				      2.2250738585072014e-308,
				      1e308,
				      INFINITY,
				      -INFINITY,
				      NAN,
				      9007199254740993.0 };
	uint64_t r = next(seed);

	switch (r % 5) {
	case 0:
		return next(seed) ^ next(seed) << 20;
	case 1:
		return as_bits(1.0 + (double)(next(seed) % 1000) * 0x1p-52);
	case 2:
		return as_bits((double)(int64_t)(next(seed) % 2000) - 1000);
	case 3:
		return next(seed) % 0x0020000000000000u;
	default:
		return as_bits(odd[next(seed) % (sizeof(odd) / sizeof(*odd))]);
	}
}

static void same_real(const char *op, uint64_t a, uint64_t b, uint64_t got, double want)
{
	if (isnan(want) ? !isnan(as_double(got)) : got != as_bits(want))
		fail_msg("%a %s %a is %a, not %a", as_double(a), op, as_double(b), as_double(got),
			 want);
}

static void reals_are_reckoned_as_the_processor_does(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (int i = 0; i < 400000; i++) {
		uint64_t a = random_real(&seed), b = random_real(&seed);
		double x = as_double(a), y = as_double(b);
		int64_t whole = (int64_t)(next(&seed) << (next(&seed) % 40));

		same_real("+", a, b, real_add(a, b), x + y);
		same_real("*", a, b, real_mul(a, b), x * y);
		same_real("/", a, b, real_div(a, b), x / y);
		same_real("%", a, b, real_mod(a, b), fmod(x, y));
		same_real("of", 0, 0, real_of(whole), (double)whole);
		assert_int_equal(real_cmp(a, b), (x > y) - (x < y));
	}
}

static void ranks_are_those_over_runs(void **state)
{
	static const double whole[] = { 0, 1, 50, 90, 99, 99.9, 100 };
	uint64_t seed = 7;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		double percent =
			i % 2 ? whole[next(&seed) % 7] : (double)(next(&seed) % 100001) / 1000;
		uint64_t nr = 1 + (next(&seed) >> (24 + next(&seed) % 40));
		double want = ceil(percent / 100 * (double)nr);

		assert_int_equal(advice_rank(as_bits(percent / 100), nr),
				 want < 1 ? 1 : (uint64_t)want);
	}
}

/* --- bags ------------------------------------------------------------------------------------- */

/* A program that packs its first input: take and at_most, or a group with its sum. */
static struct advice_program packer(uint32_t slot, uint8_t take, uint16_t at_most, bool is_grouped)
{
	struct advice_program p = { .magic = ADVICE_MAGIC,
				    .slot = slot,
				    .inputs = 3,
				    .take = take,
				    .at_most = at_most,
				    .flags = is_grouped ? ADVICE_GROUPED : 0,
				    .nr_ops = 3,
				    .nr_columns = 1 };

	p.ops[0] = (struct advice_operation){ ADVICE_OBSERVE, 0, 0, 0, 0 };
	p.ops[1] = (struct advice_operation){ ADVICE_OBSERVE, 1, 0, 0, 1 };
	p.ops[2] = (struct advice_operation){ .op = ADVICE_PACK };
	if (is_grouped) {
		p.nr_totals = 1;
		p.totals[0] = (struct advice_part){ ADVICE_SUM, 1, ADVICE_NO_CHILD, 0 };
	}
	return p;
}

/* One that emits all that is in a slot. */
static struct advice_program emitter(uint32_t slot, bool is_grouped)
{
	struct advice_program p = { .magic = ADVICE_MAGIC,
				    .slot = slot + 1000,
				    .flags = ADVICE_EMITS | ADVICE_GROUPED,
				    .nr_ops = 2,
				    .nr_children = 1,
				    .nr_columns = 1 };

	p.children[0] = (struct advice_child){ .slot = slot, .nr_columns = 1 };
	p.ops[0] = (struct advice_operation){ .op = ADVICE_UNPACK };
	p.ops[1] = (struct advice_operation){ .op = ADVICE_EMIT };
	if (is_grouped) {
		p.children[0].nr_totals = p.nr_totals = 1;
		p.children[0].functions[0] = ADVICE_SUM;
		p.totals[0] = (struct advice_part){ ADVICE_SUM, 0, 0, 0 };
	}
	return p;
}

struct seen {
	uint64_t sum, times, nr, flags;
	int64_t total;
};

static void take(void *to, const struct advice_row *row)
{
	struct seen *s = to;

	s->nr++;
	s->flags |= row->flags;
	s->times += row->times;
	if (row->columns[0].type == ADVICE_INT)
		s->sum += (uint64_t)row->columns[0].i;
	if (row->program->nr_totals)
		s->total += row->totals[0].value.i;
}

static void pack_into(struct bag *b, struct bag_writer *w, const struct advice_program *p,
		      int64_t v, uint64_t time, struct advice_out *out)
{
	struct advice_value inputs[2] = { { .type = ADVICE_INT, .i = v },
					  { .type = ADVICE_INT, .i = 1 } };

	advice_run(p, inputs, b, w, time, out);
}

static struct seen look(struct bag *b, const struct advice_program *p)
{
	struct seen s = { 0 };
	struct advice_out out = { .to = &s, .emit = take };
	struct bag_writer w;

	bag_writer_begin(&w, 1);
	advice_run(p, NULL, b, &w, 1, &out);
	return s;
}

static void a_join_is_idempotent_commutative_and_associative(void **state)
{
	const struct advice_program packs[] = { packer(1, ADVICE_ALL, 0, false),
						packer(2, ADVICE_FIRST, 2, false),
						packer(3, ADVICE_RECENT, 3, false),
						packer(4, ADVICE_ALL, 0, true) };
	const struct advice_program emits[] = { emitter(1, false), emitter(2, false),
						emitter(3, false), emitter(4, true) };
	uint64_t seed = 9;

	(void)state;
	for (int round = 0; round < 500; round++) {
		struct bag_writer w[3];
		struct advice_out out = { 0 };
		static struct bag b[3], ab, ba, left, right;

		for (uint32_t i = 0; i < 3; i++) {
			bag_begin(&b[i]);
			bag_writer_begin(&w[i], (uint64_t)(i + 1) << 30);
		}
		for (int step = 0; step < 30; step++) {
			uint64_t i = next(&seed) % 3, k = next(&seed) % 3;

			pack_into(&b[i], &w[i], &packs[next(&seed) % 4], (int64_t)(next(&seed) % 5),
				  next(&seed) % 50, &out);
			if (next(&seed) % 6 == 0)
				bag_join(&b[k], &b[i]);
		}
		ab = b[0], ba = b[1], left = b[0], right = b[1];
		bag_join(&ab, &b[1]);
		bag_join(&ba, &b[0]);
		bag_join(&left, &b[1]);
		bag_join(&left, &b[2]);
		bag_join(&right, &b[2]);
		bag_join(&right, &b[0]);
		for (int i = 0; i < 4; i++) {
			struct seen x = look(&ab, &emits[i]), y = look(&ba, &emits[i]);

			assert_memory_equal(&x, &y, sizeof(x));
			x = look(&left, &emits[i]);
			y = look(&right, &emits[i]);
			assert_memory_equal(&x, &y, sizeof(x));
			bag_join(&left, &b[1]);
			y = look(&left, &emits[i]);
			assert_memory_equal(&x, &y, sizeof(x));
		}
		assert_int_equal(out.nr_lost, 0);
	}
}

static void a_full_bag_says_so_wherever_it_goes(void **state)
{
	struct advice_program packs = packer(1, ADVICE_ALL, 0, false), emits = emitter(1, false);
	struct advice_program other = packer(2, ADVICE_RECENT, 1, false);
	struct advice_out out = { 0 };
	struct bag_writer w;
	static struct bag b, c;
	struct seen s;

	(void)state;
	bag_begin(&b);
	bag_begin(&c);
	bag_writer_begin(&w, (uint64_t)1 << 40);
	for (int i = 0; i < 600; i++)
		pack_into(&b, &w, &packs, 1, (uint64_t)i, &out);
	assert_true(out.nr_lost > 0 && out.nr_lost < 600);
	assert_true(bag_has_lost(&b, 1));
	assert_false(bag_has_lost(&b, 2));
	pack_into(&c, &w, &packs, 1, 1000, &out);
	bag_join(&c, &b);
	s = look(&c, &emits);
	assert_int_equal(s.flags, ADVICE_ROW_INCOMPLETE);
	assert_true(s.nr > 100);
	for (uint32_t slot = 10; slot < 30; slot++)
		bag_lose(&c, slot);
	assert_true(bag_has_lost(&c, 4711)); /* more than can be told apart */
	pack_into(&b, &w, &other, 1, 5000, &out);
	assert_true(bag_bytes(&b) <= BAG_BYTES);
}

static void a_thread_that_gets_back_all_it_wrote_keeps_its_name(void **state)
{
	struct advice_program packs = packer(1, ADVICE_ALL, 0, true);
	struct advice_out out = { 0 };
	struct bag_writer server, client;
	static struct bag at_client, at_server, other;
	uint64_t id;

	(void)state;
	bag_begin(&at_client);
	bag_begin(&other);
	bag_writer_begin(&server, (uint64_t)1 << 40);
	bag_writer_begin(&client, (uint64_t)2 << 40);
	for (int i = 0; i < 1000; i++) {
		bag_adopt(&at_server, &at_client, &server);
		pack_into(&at_server, &server, &packs, 5, (uint64_t)i, &out);
		bag_join(&at_client, &at_server);
	}
	assert_int_equal(bag_count(&at_client, 1), 1);
	id = server.id;
	bag_adopt(&at_server, &other, &server); /* another request */
	assert_int_not_equal(server.id, id);
	assert_int_equal(out.nr_lost, 0);
}

/* Sixty tuples of one thread take two heads for each slot; a branch that has some of them only may
 * come back at any time. */
static void tuples_of_one_thread_share_heads(void **state)
{
	const struct advice_program packs[] = { packer(1, ADVICE_ALL, 0, false),
						packer(2, ADVICE_ALL, 0, false) };
	const struct advice_program emits[] = { emitter(1, false), emitter(2, false) };
	struct advice_out out = { 0 };
	struct bag_writer w, other;
	static struct bag b, branch, late;

	(void)state;
	bag_begin(&b);
	bag_writer_begin(&w, (uint64_t)1 << 40);
	bag_writer_begin(&other, (uint64_t)2 << 40);
	for (int i = 0; i < 60; i++) {
		if (i == 20)
			bag_adopt(&branch, &b, &other);
		if (i == 40)
			late = b;
		pack_into(&b, &w, &packs[0], 1, (uint64_t)i, &out);
		pack_into(&b, &w, &packs[1], 100, (uint64_t)i, &out);
	}
	assert_int_equal(b.words, 2 * (2 * BAG_HEAD_WORDS + 60 * 3));
	pack_into(&branch, &other, &packs[0], 1000, 5, &out);
	bag_join(&branch, &late);
	bag_join(&b, &branch);
	bag_join(&branch, &b);
	for (int i = 0; i < 2; i++) {
		struct bag *at = i ? &branch : &b;

		assert_int_equal(look(at, &emits[0]).sum, 60 + 1000);
		assert_int_equal(look(at, &emits[0]).nr, 61);
		assert_int_equal(look(at, &emits[1]).sum, 60 * 100);
	}
	assert_int_equal(out.nr_lost, 0);
}

static void bytes_say_all_and_nothing_is_none(void **state)
{
	struct advice_program packs = packer(1, ADVICE_ALL, 0, false);
	struct advice_out out = { 0 };
	struct bag_writer w;
	static struct bag b, c;
	char bytes[BAG_BYTES];
	long nr;

	(void)state;
	bag_begin(&b);
	bag_writer_begin(&w, (uint64_t)1 << 40);
	assert_int_equal(bag_serialize(&b, bytes, 0), 0);
	assert_true(bag_deserialize(&c, bytes, 0) && bag_is_empty(&c));
	pack_into(&b, &w, &packs, 1, 1, &out);
	assert_int_equal(bag_serialize(&b, bytes, 20), -1);
	nr = bag_serialize(&b, bytes, sizeof(bytes));
	assert_true(nr > 0 && bag_deserialize(&c, bytes, (size_t)nr));
	assert_memory_equal(&b, &c, (size_t)nr);
	for (size_t i = 0; i < (size_t)nr; i++)
		assert_false(bag_deserialize(&c, bytes, i ? i : 1));
	bytes[0] ^= 1;
	assert_false(bag_deserialize(&c, bytes, (size_t)nr));
	assert_true(bag_is_empty(&c));
}

/* --- proofs ----------------------------------------------------------------------------------- */

static void programs_that_are_not_sound_are_refused(void **state)
{
	const struct advice_program good = packer(1, ADVICE_FIRST, 1, false);
	struct advice_program p = good;
	struct advice_bounds bounds;
	struct error err;

	(void)state;
	assert_int_equal(advice_verify(&p, &bounds, &err), 0);
	assert_int_equal(bounds.nr_kept, 1);
	assert_true(bounds.nr_fitting > 50);
#define REFUSED(change) \
	p = good; \
	change; \
	assert_int_equal(advice_verify(&p, NULL, &err), -22)
	REFUSED(p.magic = 1);
	REFUSED(p.nr_ops = 0);
	REFUSED(p.nr_ops = ADVICE_OPS + 1);
	REFUSED(p.nr_ops = 2);
	REFUSED(p.at_most = 0);
	REFUSED(p.flags = ADVICE_GROUPED);
	REFUSED(p.flags = ADVICE_EMITS);
	REFUSED(p.columns[0] = 9);
	REFUSED(p.columns[0] = 200);
	REFUSED(p.ops[0].op = ADVICE_NR_OPS);
	REFUSED(p.ops[0].to = 64);
	REFUSED(p.ops[0].n = 2);
	REFUSED(p.ops[0].op = ADVICE_ADD);
	REFUSED(p.ops[0] = ((struct advice_operation){ .op = ADVICE_CONST }));
	REFUSED(p.ops[0] = ((struct advice_operation){ .op = ADVICE_UNPACK }));
	REFUSED(p.ops[1].op = ADVICE_PACK);
	REFUSED((p.nr_children = 1, p.children[0].slot = p.slot));
	REFUSED((p.nr_totals = 1, p.totals[0].function = ADVICE_AVERAGE + 1));
	REFUSED((p.nr_totals = 1, p.totals[0].child = 0));
	REFUSED((p.nr_totals = 1, p.totals[0] = (struct advice_part){ ADVICE_SUM, 255, 255, 0 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reals_are_reckoned_as_the_processor_does),
		cmocka_unit_test(ranks_are_those_over_runs),
		cmocka_unit_test(a_join_is_idempotent_commutative_and_associative),
		cmocka_unit_test(a_full_bag_says_so_wherever_it_goes),
		cmocka_unit_test(a_thread_that_gets_back_all_it_wrote_keeps_its_name),
		cmocka_unit_test(tuples_of_one_thread_share_heads),
		cmocka_unit_test(bytes_say_all_and_nothing_is_none),
		cmocka_unit_test(programs_that_are_not_sound_are_refused),
	};

	return RUN(tests);
}
