/* JSON lines: members named as usual, nested or not; also journald's JSON and MongoDB's log. */
#include "base/decimal.h"
#include "base/error.h"
#include "model/event.h"
#include "model/loss.h"
#include "source/layout_kind.h"
#include "source/layout_names.h"
#include "source/layout_said.h"

#define DEPTH_MAX 5
#define OTHERS_PERCENT 5 /* of lines that are no JSON: then another program writes them */
#define PATH_BYTES 120
#define NESTED_RANK 20 /* what is deeper is less sure */

/* Where in the line a walk is. */
struct path {
	struct layout_worker *worker;
	struct str within; /* the member that the object is of */
	char text[PATH_BYTES];
	size_t n;
};

/* No more digits than the number holds: moments are large. */
static struct str real_text(double d, struct arena *arena)
{
	unsigned places = d > 1e12 ? 3 : d > 1e9 ? 6 : 9;
	char digits[DECIMAL_BYTES];
	struct str s = decimal_fixed(digits, d, places);

	return s.n ? arena_str(arena, s) : arena_fmt(arena, "%.*f", (int)places, d);
}

static struct str value_text(struct json_value v, struct arena *arena)
{
	char digits[DECIMAL_BYTES];
	struct str s = { 0 };
	int64_t i;
	uint64_t u;
	double d;

	switch (json_type(v)) {
	case JSON_STRING:
		json_str(v, &s);
		return arena_str(arena, s);
	case JSON_INT:
		json_int(v, &i);
		return arena_str(arena, decimal_int(digits, i));
	case JSON_UINT:
		json_uint(v, &u);
		return arena_str(arena, decimal_uint(digits, u));
	case JSON_DOUBLE:
		json_double(v, &d);
		return real_text(d, arena);
	default:
		return s;
	}
}

/* "order_id" of {"order":{"id":7}}: inner names are short because of what is around them. */
static struct str path_key(const struct path *path, struct str key, struct arena *arena)
{
	return path->within.n
		       ? arena_fmt(arena, STR_FMT "_" STR_FMT, STR_ARG(path->within), STR_ARG(key))
		       : key;
}

static void say_member(struct layout_said *said, const struct path *path, struct str key,
		       unsigned depth, struct json_value v, struct arena *arena)
{
	struct str value = value_text(v, arena);
	uint8_t rank;
	enum layout_meaning means =
		layout_names_find(&path->worker->names, (struct str){ path->text, path->n }, &rank);

	if (means == MEANS_NOTHING && depth) {
		means = layout_names_find(&path->worker->names, key, &rank);
		rank = (uint8_t)(rank + NESTED_RANK * depth);
		/* the name of any inner thing is not that of a logger */
		if (rank % NESTED_RANK >= 5)
			means = MEANS_NOTHING;
	}
	layout_pair(path->worker, means, path_key(path, key, arena), value);
	if (means != MEANS_NOTHING && (!said->value[means].p || said->rank[means] > rank))
		layout_say(said, means, rank, value);
}

static void say_object(struct layout_said *said, struct json_value object, struct path *path,
		       unsigned depth, struct arena *arena)
{
	struct json_walk w = json_walk(object);
	size_t n = path->n;

	while (json_next(&w)) {
		if (w.key.n > PATH_BYTES - n)
			continue;
		memcpy(path->text + n, w.key.p, w.key.n);
		path->n = n + w.key.n;
		if (json_type(w.value) == JSON_OBJECT && depth < DEPTH_MAX) {
			struct str within = path->within;

			path->within = w.key;
			say_object(said, w.value, path, depth + 1, arena);
			path->within = within;
		} else {
			say_member(said, path, w.key, depth, w.value, arena);
		}
	}
	path->n = n;
}

/* The object of a line of "[{…},", "{…}," and "{…}]". */
static struct str array_member(struct str text)
{
	str_take_spaces(&text);
	if (text.n && (text.p[0] == '[' || text.p[0] == ',')) {
		struct str rest = str_skip(text, 1);

		str_take_spaces(&rest);
		if (rest.n && rest.p[0] == '{')
			text = rest;
	}
	text = str_trim(text);
	while (text.n && text.p[0] == '{' &&
	       (text.p[text.n - 1] == ',' || text.p[text.n - 1] == ']'))
		text = str_trim(str_head(text, text.n - 1));
	return text;
}

/* A line of another program that writes to the same file. */
static int other_parse(const struct layout *layout, struct layout_worker *worker, struct str line,
		       struct arena *arena, struct event *ev, struct losses *losses)
{
	const struct layout *other = layout->own;

	return other ? layout_parse(other, layout_worker_inner(worker, 0, other), line, arena, ev,
				    losses)
		     : 0;
}

static int json_line_parse(const struct layout *layout, struct layout_worker *worker,
			   struct str line, struct arena *arena, struct event *ev,
			   struct losses *losses)
{
	struct layout_said said = { 0 };
	struct path path;
	struct json_value root;
	struct str text = line;

	text = array_member(text);
	if (!text.n || text.p[0] != '{')
		return other_parse(layout, worker, line, arena, ev, losses);
	if (json_parse(worker->json, text, false, &root, NULL) < 0) {
		losses->count[LOSS_JSON_BROKEN]++;
		return 0;
	}
	path.worker = worker;
	path.within = (struct str){ 0 };
	path.n = 0;
	buf_clear(&worker->pairs);
	say_object(&said, root, &path, 0, arena);
	if (!layout_said_event(&said, layout, worker, arena, ev, losses))
		return 0;
	layout_pairs_end(worker, arena);
	return 1;
}

static bool json_learn(struct layout *layout, const struct layout_sample *sample)
{
	struct layout_worker *worker = layout_worker_new(layout);
	struct layout_sample others = { .depth = sample->depth + 1 };
	struct losses losses = { 0 };
	struct arena arena = { 0 };
	struct event ev;
	size_t hits = 0;
	bool is_json;

	others.lines = arena_array(&arena, struct str, sample->nr + 1);
	for (size_t i = 0; i < sample->nr; i++) {
		struct str line = sample->lines[i];

		if (json_line_parse(layout, worker, line, &arena, &ev, &losses) == 1)
			hits++;
		else if (array_member(line).n && array_member(line).p[0] != '{')
			others.lines[others.nr++] = line;
	}
	is_json = layout_most(hits, sample->nr, 30);
	if (is_json && layout_most(others.nr, sample->nr, OTHERS_PERCENT))
		layout->own = layout_learn_inner(layout, &others);
	arena_done(&arena);
	layout_worker_free(worker);
	return is_json;
}

static void json_done(struct layout *layout)
{
	layout_free(layout->own);
}

const struct layout_kind layout_json = {
	.name = "json",
	.learn = json_learn,
	.parse = json_line_parse,
	.done = json_done,
};
