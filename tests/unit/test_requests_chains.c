#include "unit.h"

#include <stdlib.h>

#include "base/arena.h"
#include "infer/requests/fragment.h"
#include "infer/requests/merge.h"
#include "infer/requests/record.h"
#include "infer/requests/reduce.h"
#include "infer/requests/shuffle.h"
#include "request_lines.h"

enum { WORK = 3000, CHAINS_MOST = 16 };

static struct lines l;

/* Another thread answers each time; some answers take longer than a window. */
static void write_work(void)
{
	lines_begin(&l);
	l.h.window = 300;
	lines_file(&l, "a.log", "a.log");
	for (int i = 0; i < WORK; i++)
		lines_add(&l, i * 1000, "ask", "asked for blk_%d", 1000 + i);
	lines_file(&l, "b.log", "b.log");
	for (int i = 0; i < WORK; i++)
		lines_add(&l, i * 1000 + (i % 7 ? 300 : 90000), i % 7 ? "answer" : "late",
			  "looked up blk_%d", 1000 + i);
}

static int to_buf(void *to, struct str record, struct error *err)
{
	(void)err;
	buf_add(to, record);
	buf_char(to, '\n');
	return 0;
}

struct reducing {
	unsigned nr;       /* reducers, the last one first */
	struct buf chains; /* what they were given, and what they made */
	struct buf made;
};

static int reduce(void *to, const struct shuffle *sh, struct merge *m, struct error *err)
{
	struct reducing *r = to;
	const struct reducer_out out = { &r->made, to_buf };
	struct str line, rest;
	int got = shuffle_write(sh, to_buf, &r->chains, err);

	assert_in_range(sh->nr_chains, 4, CHAINS_MOST);
	for (unsigned i = r->nr; i-- > 0 && got >= 0;) {
		struct reducer *one = reducer_new(NULL, &out);

		rest = buf_str(&r->chains);
		while (got >= 0 && str_take_until(&rest, '\n', &line)) {
			struct str digits = str_head(line, 8);
			uint64_t chain;

			assert_true(str_take_hex(&digits, &chain));
			if (chain % r->nr == i)
				got = reducer_add(one, line, err);
		}
		if (got >= 0)
			got = reducer_end(one, err);
		reducer_free(one);
	}
	rest = buf_str(&r->made);
	while (got >= 0 && str_take_until(&rest, '\n', &line))
		got = merge_record(m, line, err);
	return got;
}

/* The request of each line, with that many reducers; 0: here. */
static uint64_t *requests_of(unsigned nr)
{
	struct reducing r = { .nr = nr };
	const struct reducers reducers = { &r, reduce, false };
	struct infer_options o = INFER_DEFAULTS;
	struct error err;
	uint64_t *found, events;

	write_work();
	assert_int_equal(harvest_end(&l.h, &err), 0);
	o.harvest = &l.h;
	o.reducers = nr ? &reducers : NULL;
	assert_int_equal(infer_requests.run(l.s, &o, &err), 0);
	assert_int_equal(store_finish(l.s, &err), 0);
	assert_int_equal(store_event_requests(l.s, &found, &events, &err), 0);
	assert_int_equal(events, 2 * WORK);
	lines_end(&l);
	buf_done(&r.chains);
	buf_done(&r.made);
	return found;
}

static void any_number_of_reducers_finds_what_one_machine_finds(void **state)
{
	uint64_t *here = requests_of(0);
	const unsigned nr[] = { 1, 2, 5 };

	(void)state;
	for (int i = 0; i < WORK; i++)
		assert_true(here[i] && (i % 7 == 0 || here[i] == here[WORK + i]));
	for (size_t i = 0; i < 3; i++) {
		uint64_t *there = requests_of(nr[i]);

		assert_memory_equal(here, there, 2 * WORK * sizeof(*here));
		free(there);
	}
	free(here);
}

static struct fragment make(struct span *spans, uint64_t *events, uint32_t *of_span,
			    uint32_t *operation, int64_t start)
{
	spans[0] = (struct span){ .start = start,
				  .end = start + 9,
				  .parent = SPAN_NONE,
				  .kind = SPAN_SERVER,
				  .confidence = 1,
				  .id = STR("1"),
				  .name = STR("write"),
				  .node = STR("n1") };
	for (unsigned i = 0; i < 4; i++) {
		events[i] = i;
		of_span[i] = 0;
		operation[i] = i < 2 ? 1 : i;
	}
	return (struct fragment){
		.r = { .type = STR("write"),
		       .method = STR("requests"),
		       .start = start,
		       .end = start + 9,
		       .confidence = 1,
		       .sequence = 77,
		       .incomplete = true },
		.body = { .spans = spans,
			  .events = events,
			  .event_span = of_span,
			  .nr_spans = 1,
			  .nr_events = 4 },
		.operation = operation,
	};
}

static void packed_requests_come_back_as_they_were(void **state)
{
	struct span spans[1];
	uint64_t events[4];
	uint32_t of_span[4], operation[4];
	struct fragment f = make(spans, events, of_span, operation, 1000), back;
	struct packet p = { 0 };
	struct names said = { 0 };
	struct arena arena = { 0 };
	struct str rest;

	(void)state;
	packet_add(&p, &f);
	packet_add(&p, &f);
	rest = buf_str(&p.bytes);
	for (int i = 0; i < 2; i++) {
		assert_true(packet_take(&rest, &said, &arena, &back));
		assert_str_equal(back.r.type, "write");
		assert_int_equal(back.r.start, 1000);
		assert_int_equal(back.r.end, 1009);
		assert_int_equal(back.r.sequence, 77);
		assert_true(back.r.incomplete && !back.r.error);
		assert_int_equal(back.body.nr_events, 4);
		assert_int_equal(back.body.events[3], 3);
		assert_int_equal(back.operation[3], 3);
		assert_str_equal(back.body.spans[0].node, "n1");
		assert_int_equal(back.body.spans[0].parent, SPAN_NONE);
	}
	assert_int_equal(rest.n, 0);
	names_done(&said);
	for (size_t n = 0; n < p.bytes.n / 2; n++) {
		said = (struct names){ 0 };
		rest = str_head(buf_str(&p.bytes), n);
		assert_false(packet_take(&rest, &said, &arena, &back));
		names_done(&said);
	}
	arena_done(&arena);
	packet_done(&p);
}

static struct str record_of(struct buf *b, uint32_t chain, char kind, const struct packet *p)
{
	const struct record_key key = { chain, kind == 's', 0 };

	buf_clear(b);
	record_begin(b, &key, (enum record_kind)kind);
	if (p)
		record_add_sealed(b, buf_str(&p->bytes));
	else
		buf_fmt(b, "%d\t%d\t0", chain == 1, chain == 0);
	return buf_str(b);
}

/* The end of the first chain and the second one both have the lines, and that one keeps them. */
static void what_two_chains_lay_claim_to_is_of_the_later_one(void **state)
{
	struct span spans[1];
	uint64_t events[4], nr, *found;
	uint32_t of_span[4], operation[4];
	struct fragment f = make(spans, events, of_span, operation, 1000);
	struct packet early = { 0 }, late = { 0 };
	struct buf b = { 0 };
	struct merge m;
	struct error err;

	(void)state;
	packet_add(&early, &f);
	f = make(spans, events, of_span, operation, 2000);
	f.body.nr_events = 2;
	packet_add(&late, &f);
	lines_begin(&l);
	lines_file(&l, "a.log", "a.log");
	for (int i = 0; i < 4; i++)
		lines_add(&l, i, "main", "did blk_%d", i);
	merge_init(&m, l.s, 2);
	assert_int_equal(merge_record(&m, record_of(&b, 0, 's', &early), &err), 0);
	assert_int_equal(merge_record(&m, record_of(&b, 1, 'r', &late), &err), 0);
	assert_int_equal(merge_record(&m, record_of(&b, 1, 'z', NULL), &err), 0);
	assert_true(merge_check(&m, &err) < 0);
	assert_int_equal(merge_record(&m, record_of(&b, 0, 'z', NULL), &err), 0);
	assert_int_equal(merge_check(&m, &err), 0);
	assert_true(merge_record(&m, record_of(&b, 1, 'r', &late), &err) < 0);
	assert_int_equal(merge_end(&m, &err), 0);
	merge_done(&m);
	assert_int_equal(store_finish(l.s, &err), 0);
	assert_int_equal(store_event_requests(l.s, &found, &nr, &err), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(found[i], i < 2 ? 2 : 1);
	free(found);
	lines_end(&l);
	packet_done(&early);
	packet_done(&late);
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_number_of_reducers_finds_what_one_machine_finds),
		cmocka_unit_test(packed_requests_come_back_as_they_were),
		cmocka_unit_test(what_two_chains_lay_claim_to_is_of_the_later_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
