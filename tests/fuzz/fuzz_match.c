/*
 * Any message, logger and thread name is matched or not, and what is found stands in it.
 *
 * The first byte tells the level, two lines follow (logger, thread), the rest is the message.
 */
#include <stdint.h>
#include <stdlib.h>

#include "../unit/model_writer.h"

#include "base/arena.h"
#include "base/error.h"
#include "infer/requests/match.h"
#include "infer/requests/match_pack.h"
#include "model/event.h"

static void must(bool ok)
{
	if (!ok)
		abort();
}

static const struct written_point points[] = {
	{ "a.b.Node",
	  "Node.java",
	  10,
	  LEVEL_INFO,
	  { "Receiving {}:blk_{i}_{i} src: {} dest: {}", "Receiving {} src: {} dest: {}", "{}" } },
	{ "a.b.Node",
	  "Node.java",
	  20,
	  LEVEL_INFO,
	  { "Receiving {}", "{}: {}{i}{*}, type={} done" } },
	{ "a.b.Node",
	  "Node.java",
	  30,
	  LEVEL_NONE,
	  { "{} took {i} ms for {i} ms", "{}a{}a{i}a{i}" } },
	{ "x.y.Other*", "Other.java", 5, LEVEL_WARN, { " Slow: {}, ready={b} ", "x\ny{}\nz" } },
	{ "", "Util.java", 1, LEVEL_INFO, { "{} a {} b {} c {} d {}", "aaaa{}aaaa{i}aaaa{*}" } },
};

static struct matcher *make(void)
{
	static struct buf image;
	const struct model_file *models[1];
	struct model_file *m = NULL;
	struct model_writer w = { 0 };
	struct matcher *made = NULL;
	struct error err;

	for (size_t i = 0; i < sizeof(points) / sizeof(*points); i++)
		written_point(&w, &points[i]);
	/* enough of them for the index by four letters */
	for (char c = 'a'; c <= 'z'; c++) {
		char text[] = "{} of #### and {i}";
		struct written_point p = { "a.b.Many", "Many.java", 1, LEVEL_INFO, { text } };

		text[6] = text[7] = text[8] = text[9] = c;
		written_point(&w, &p);
	}
	written_thread(&w, "Handler {i} on port {i}");
	written_thread(&w, "{}-{}");
	written_end(&w, &image);
	must(model_of_bytes(&m, buf_str(&image), &err) == 0);
	models[0] = m;
	must(matcher_new(&made, models, 1, &err) == 0);
	return made;
}

static void stands_in(struct str value, struct str text)
{
	must(value.n <= text.n);
	must(!value.n || (value.p >= text.p && value.p + value.n <= text.p + text.n));
}

static void check_packed(const struct matcher *m, struct event *ev, struct str message)
{
	struct arena arena = { 0 };
	struct match_packed p;
	struct match_value v;

	match_event(m, ev, message, &arena);
	must(ev->statement <= matcher_nr_points(m));
	must(!ev->statement || ev->values.n);
	if (match_unpack(&p, ev->values)) {
		must(p.thread <= matcher_nr_thread_names(m));
		while (match_packed_next(&p, &v))
			must(v.text.n <= (p.is_thread ? ev->thread.n : message.n));
		must(!p.rest.n);
	}
	arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct matcher *m;
	struct str text = { (const char *)data, size };
	struct event ev = { 0 };
	struct match got;

	if (!m)
		m = make();
	if (!text.n)
		return 0;
	ev.level = (enum level)(data[0] % (LEVEL_FATAL + 1));
	text = str_skip(text, 1);
	if (!str_take_line(&text, &ev.point) || !str_take_line(&text, &ev.thread))
		return 0;
	if (matcher_find(m, ev.point, ev.level, text, &got)) {
		must(got.nr <= MATCH_VALUES && got.nr_also <= MATCH_ALSO);
		must(got.sure > 0 && got.sure <= 1);
		for (unsigned i = 0; i < got.nr; i++)
			stands_in(got.values[i].text, text);
	}
	check_packed(m, &ev, text);
	return 0;
}
