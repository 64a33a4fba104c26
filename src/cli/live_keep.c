#include "cli/live_keep.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "model/attr.h"
#include "model/live.h"
#include "store/store.h"

struct live_keep {
	struct store *store;
	struct sink sink;
	uint32_t file;
	uint64_t nr; /* rows so far, by which each has an id */
	struct str name;
	struct arena names, arena; /* for all the time; of the second at hand */
};

int live_keep_open(struct live_keep **made, const char *path, struct str name, struct str text,
		   struct error *err)
{
	const struct file_seen file = { .path = STR("live"),
					.name = STR("live"),
					.format = STR("query") };
	struct live_keep *k = mem_zalloc(sizeof(*k));
	int got = store_create(&k->store, path, err);

	if (got >= 0) {
		k->sink = store_sink(k->store);
		got = k->sink.file(k->sink.to, &file, &k->file, err);
	}
	if (got >= 0)
		got = store_set_fact(k->store, "query", text, err);
	if (got < 0) {
		if (k->store)
			store_close(k->store);
		free(k);
		return got;
	}
	k->name = arena_str(&k->names, name.n ? name : STR("query"));
	*made = k;
	return 0;
}

/* A run's events carry single values: each bucket is one, under the name of the column and what it
 * begins with. */
static void add_buckets(struct buf *attrs, struct str name, const struct live_value *v)
{
	struct buf key = { 0 };

	for (size_t i = 0; i < v->buckets.nr; i++) {
		struct attr a = { .type = ATTR_INT, .i = (int64_t)v->buckets.v[i].nr };

		buf_clear(&key);
		buf_fmt(&key, STR_FMT ".%.17g", STR_ARG(name), v->buckets.v[i].from);
		a.key = buf_str(&key);
		attr_add(attrs, &a);
	}
	buf_done(&key);
}

static void add_attr(struct buf *attrs, struct str name, const struct live_value *v)
{
	struct attr a = { .key = name };

	switch (v->type) {
	case LIVE_TEXT:
		a.type = ATTR_STRING;
		a.text = v->text;
		break;
	case LIVE_INT:
		a.type = ATTR_INT;
		a.i = v->i;
		break;
	case LIVE_DOUBLE:
		a.type = ATTR_DOUBLE;
		a.d = v->d;
		break;
	case LIVE_BOOL:
		a.type = ATTR_BOOL;
		a.i = v->i;
		break;
	case LIVE_BUCKETS:
		add_buckets(attrs, name, v);
		return;
	case LIVE_NONE:
		return;
	}
	attr_add(attrs, &a);
}

/* "e.host" is of the host where it happened; others have no place. */
static struct str node_of(const struct live_answer *a, const struct live_row *row)
{
	for (size_t i = 0; i < a->nr_columns; i++)
		if (row->values[i].type == LIVE_TEXT && str_ends(a->columns[i].name, STR(".host")))
			return row->values[i].text;
	return STR("");
}

int live_keep_add(struct live_keep *k, const struct live_answer *a, struct error *err)
{
	VEC(struct event) events = { 0 };
	struct buf attrs = { 0 };
	int got = 0;

	for (size_t i = 0; i < a->nr_rows; i++) {
		struct event ev = { .kind = EVENT_POINT,
				    .ns = a->first_ns,
				    .nr_lines = 1,
				    .duration = -1,
				    .file = k->file,
				    .line = ++k->nr };

		buf_clear(&attrs);
		for (size_t c = 0; c < a->nr_columns; c++)
			add_attr(&attrs, a->columns[c].name, &a->rows[i].values[c]);
		ev.attrs = arena_str(&k->arena, buf_str(&attrs));
		ev.id = arena_fmt(&k->arena, "%llu", (unsigned long long)k->nr);
		ev.point = ev.title = k->name;
		ev.node = node_of(a, &a->rows[i]);
		vec_push(&events, ev);
	}
	if (events.nr)
		got = k->sink.events(k->sink.to, events.v, events.nr, err);
	vec_done(&events);
	buf_done(&attrs);
	arena_reset(&k->arena);
	return got;
}

int live_keep_close(struct live_keep *k, const struct losses *losses, bool is_whole,
		    struct error *err)
{
	int got = 0;

	if (!k)
		return 0;
	if (is_whole) {
		losses_add(store_losses(k->store), losses);
		got = store_set_fact(k->store, "version", STR(CULPRIT_VERSION), err);
		if (got >= 0)
			got = store_finish(k->store, err);
	}
	store_close(k->store);
	arena_done(&k->arena);
	arena_done(&k->names);
	free(k);
	return got;
}
