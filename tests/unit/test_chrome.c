#include "unit.h"

#include "collected.h"
#include "source/formats.h"

#define EV(ph, ts, more) "{\"ph\":\"" ph "\",\"ts\":" ts ",\"pid\":1,\"tid\":2" more "}"
#define X(name, ts, dur) EV("X", ts, ",\"dur\":" dur ",\"name\":\"" name "\"")
#define B(name, ts) EV("B", ts, ",\"name\":\"" name "\"")
#define E(ts) EV("E", ts, "")

static struct collected read_text(struct str text)
{
	assert_true(source_chrome.sniff(text, true) > 80);
	return collect(&source_chrome, text);
}

static struct span find(const struct collected *c, const char *name)
{
	vec_each (&c->spans, s)
		if (str_eq(s->name, str_of(name)))
			return *s;
	fail_msg("there is no span '%s'", name);
	return (struct span){ 0 };
}

static void slices_nest_whatever_their_order(void **state)
{
	static const char *const texts[] = {
		"[" X("b", "11", "2") "," X("a", "10", "5") "," X("c", "13.5", "1") "," X("d", "20",
											  "1") "]",
		"{\"traceEvents\":[" B("a", "10") "," B("b", "11") "," E("13") "," B(
			"c", "13.5") "," E("14.5") "," E("15") "," B("d", "20") "," E("21") "]}",
		"[\n" X("a", "10", "5") ",\n" B("b", "11") ",\n" E("13") ",\n" X(
			"c", "13.5", "1") ",\n" X("d", "20", "1") ",\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct collected c = read_text(str_of(texts[i]));
		struct span a = find(&c, "a"), b = find(&c, "b"), s = find(&c, "c"),
			    d = find(&c, "d");

		assert_int_equal(c.spans.nr, 4);
		assert_true(a.start == 10000 && a.end == 15000 && s.start == 13500 &&
			    s.end == 14500);
		assert_true(str_eq(b.parent_id, a.id) && str_eq(s.parent_id, a.id));
		assert_true(str_eq(a.key, b.key) && str_eq(a.key, s.key));
		assert_true(!a.parent_id.n && !d.parent_id.n && !str_eq(a.key, d.key));
		for (size_t k = 0; k < LOSS_NR; k++)
			assert_int_equal(c.losses.count[k], 0);
		collected_done(&c);
	}
}

static void names_may_come_last(void **state)
{
	struct collected c = read_text(STR(
		"[" X("a", "1",
		      "2") ",{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":"
			   "\"Browser\"}},{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_"
			   "name\",\"args\":{\"name\":"
			   "\"IO\"}},{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"pid\":7,\"tid\":8,\"name\":"
			   "\"b\"}]"));

	(void)state;
	assert_str_equal(find(&c, "a").node, "Browser");
	assert_str_equal(find(&c, "a").thread, "IO");
	assert_str_equal(find(&c, "b").node, "pid 7");
	collected_done(&c);
}

static void asynchronous_slices_nest_by_their_id(void **state)
{
	struct collected c = read_text(STR(
		"[" EV("b", "1", ",\"cat\":\"c\",\"id\":\"0x1\",\"name\":\"outer\"") "," EV("b", "2", ",\"cat\":\"c\",\"id\":\"0x2\",\"name\":\"other\"") "," EV("b", "3", ",\"cat\":\"c\",\"id\":\"0x1\",\"name\":\"inner\"") "," EV(
			"n", "4",
			",\"cat\":\"c\",\"id\":"
			"\"0x1\",\"name\":"
			"\"tick\"") "," EV("e", "5",
					   ",\"c"
					   "at\""
					   ":\"c"
					   "\","
					   "\"id"
					   "\":"
					   "\"0x"
					   "1\","
					   "\"ar"
					   "gs\""
					   ":{"
					   "\"ok"
					   "\":"
					   "true"
					   "}") "," EV("e", "6",
						       ",\"cat\":\"c\",\"id\":\"0x2\"") "," EV("e",
											       "7",
											       ",\""
											       "cat"
											       "\":"
											       "\"c"
											       "\","
											       "\"i"
											       "d\""
											       ":\""
											       "0x1"
											       "\"") "]"));
	struct span outer = find(&c, "outer"), inner = find(&c, "inner"), other = find(&c, "other");

	(void)state;
	assert_true(str_eq(inner.parent_id, outer.id) && str_eq(inner.key, outer.key));
	assert_true(inner.end == 5000 && outer.end == 7000 && other.end == 6000);
	assert_true(!other.parent_id.n && !str_eq(other.key, outer.key));
	assert_int_equal(collected_attr(inner.attrs, "ok").i, 1);
	assert_int_equal(c.events.nr, 1);
	assert_str_equal(c.events.v[0].text, "tick");
	assert_true(str_eq(c.events.v[0].span, inner.id) && str_eq(c.events.v[0].key, inner.key));
	collected_done(&c);
}

static void flows_link_the_slices_that_they_join(void **state)
{
	struct collected c = read_text(STR("[" X("from", "10", "5") "," EV(
		"s", "12",
		",\"id\":9,\"cat\":\"f\",\"name\":\"go\"") ","
							   "{\"ph\":\"X\",\"ts\":20,\"dur\":5,"
							   "\"pid\":3,\"tid\":4,\"name\":\"to\"},"
							   "{\"ph\":\"f\",\"bp\":\"e\",\"ts\":21,"
							   "\"pid\":3,\"tid\":4,\"id\":9,\"cat\":"
							   "\"f\"},"
							   "{\"ph\":\"X\",\"ts\":40,\"dur\":5,"
							   "\"pid\":3,\"tid\":4,\"name\":\"next\"},"
							   "{\"ph\":\"f\",\"ts\":35,\"pid\":3,"
							   "\"tid\":4,\"id\":9,\"cat\":\"f\"}]"));
	struct span from = find(&c, "from"), to = find(&c, "to"), next = find(&c, "next");
	struct link l;

	(void)state;
	assert_int_equal(from.links.n, 0);
	assert_true(link_take(&to.links, &l));
	assert_int_equal(l.kind, LINK_FOLLOWS_FROM);
	assert_true(str_eq(l.span, from.id) && str_eq(l.trace, from.key));
	assert_true(link_take(&next.links, &l) && str_eq(l.span, to.id));
	collected_done(&c);
}

static void what_is_open_or_wrong_is_counted(void **state)
{
	struct collected c =
		read_text(STR("[" B("open", "1") "," E("2") "," E("3") "," B("last", "4") "," EV(
			"C", "5",
			",\"args\":{\"n\":1}") "," EV("i", "9",
						      ",\"name\":\"mark\"") ",{\"ph\":\"X\"},{},"
									    "7," X("back", "20",
										   "-4") "]"));

	(void)state;
	assert_int_equal(c.spans.nr, 3);
	assert_int_equal(find(&c, "last").end, 20000);
	assert_int_equal(c.losses.count[LOSS_SPANS_OPEN], 1);
	assert_int_equal(c.losses.count[LOSS_SPANS_BROKEN], 1);
	assert_int_equal(c.losses.count[LOSS_METRICS_SKIPPED], 1);
	assert_int_equal(c.losses.count[LOSS_EVENTS_BROKEN], 3);
	assert_int_equal(c.losses.count[LOSS_SPANS_NEGATIVE], 1);
	assert_str_equal(c.events.v[0].text, "mark");
	collected_done(&c);
}

/* More events than the window holds; the slice around all of them stays open across windows. */
static void large_files_are_read_window_by_window(void **state)
{
	struct buf text = { 0 };
	struct collected c;
	struct span all;

	(void)state;
	buf_add(&text, STR("{\"traceEvents\":[\n" B("all", "0")));
	for (int i = 0; i < 600000; i++)
		buf_fmt(&text,
			",\n{\"ph\":\"X\",\"ts\":%d,\"dur\":1,\"pid\":1,\"tid\":2,\"name\":\"x\"}",
			1 + 2 * i);
	buf_add(&text, STR(",\n" E("9000000") "]}"));
	c = read_text(buf_str(&text));
	assert_int_equal(c.spans.nr, 600001);
	all = find(&c, "all");
	assert_true(all.end == 9000000000);
	vec_each (&c.spans, s)
		assert_true(str_eq(s->key, all.key));
	collected_done(&c);
	buf_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_nest_whatever_their_order),
		cmocka_unit_test(names_may_come_last),
		cmocka_unit_test(asynchronous_slices_nest_by_their_id),
		cmocka_unit_test(flows_link_the_slices_that_they_join),
		cmocka_unit_test(what_is_open_or_wrong_is_counted),
		cmocka_unit_test(large_files_are_read_window_by_window),
	};

	return RUN(tests);
}
