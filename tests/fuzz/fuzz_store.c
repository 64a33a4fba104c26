/*
 * A run file of any bytes opens or is explained, and so is everything that is asked of it.
 *
 * The first byte chooses: the whole file, or one of the decoders that a checksum otherwise hides
 * (column blocks, requests with bodies, objects, requests in brief and their levels).
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "store/block.h"
#include "store/brief.h"
#include "store/body.h"
#include "store/code.h"
#include "store/db.h"
#include "store/levels.h"
#include "store/levels_made.h"
#include "store/object_page.h"
#include "store/objects.h"
#include "store/pack.h"
#include "store/run.h"
#include "store/store.h"
#include "store/sym.h"

static void must(bool ok)
{
	if (!ok)
		abort();
}

static int see_event(void *ctx, uint64_t number, const struct event *ev)
{
	must(ev->level <= LEVEL_FATAL && ev->kind <= EVENT_POINT && ev->key_kind <= KEY_TRACE);
	return number - *(uint64_t *)ctx > 100000; /* enough of a walk */
}

static void check_body(const struct request *r, const struct request_body *b)
{
	must(b->nr_spans == r->nr_spans && b->nr_events == r->nr_events);
	for (size_t i = 0; i < b->nr_spans; i++)
		must(b->spans[i].parent == SPAN_NONE || b->spans[i].parent < i);
	for (size_t i = 0; i < b->nr_edges; i++)
		must(b->edges[i].from < b->nr_spans && b->edges[i].to < b->nr_spans);
	for (size_t i = 0; i < b->nr_events; i++)
		must(b->event_span[i] == SPAN_NONE || b->event_span[i] < b->nr_spans);
}

static int see_body(void *ctx, const struct request *r, const struct request_body *b)
{
	(void)ctx;
	check_body(r, b);
	return 0;
}

static void check_objects(const struct object_graph *g, const struct object *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		must(v[i].type < g->nr_types && v[i].last_ns >= v[i].first_ns);
		for (size_t p = 0; p < v[i].nr_parents; p++)
			must(v[i].parents[p] < g->nr_objects);
		for (size_t e = 0; v[i].events && e < v[i].nr_parts; e++)
			must(v[i].events[e]
				     .template <g->nr_templates &&v[i].events[e].log < g->nr_logs);
	}
}

/* Types, then a page of objects, its events and links, each with its length in front. */
static void fuzz_objects(struct str raw)
{
	struct arena arena = { 0 };
	struct object_graph g = { 0 };
	struct object objects[64];
	struct object_link links[64];
	struct str types, page, events, pairs;
	size_t nr;

	if (str_take_bytes(&raw, &types) && str_take_bytes(&raw, &page) &&
	    str_take_bytes(&raw, &events) && str_take_bytes(&raw, &pairs) &&
	    object_types_take(&types, &g, &arena)) {
		nr = object_page_count(page);
		if (nr && nr <= 64 && object_page_take(page, &g, 0, objects, nr, &arena)) {
			check_objects(&g, objects, nr);
			if (object_events_take(events, &g, objects, nr, &arena))
				check_objects(&g, objects, nr);
		}
		nr = object_page_count(pairs);
		if (nr <= 64 && object_links_take(pairs, &g, links, nr))
			for (size_t i = 0; i < nr; i++)
				must(links[i].a < g.nr_objects && links[i].b < g.nr_objects);
	}
	arena_done(&arena);
}

static void fuzz_file(struct str s)
{
	char path[] = "/tmp/culprit-fuzz-XXXXXX";
	struct error err = { 0 };
	struct store *run = NULL;
	struct object_graph g = { 0 };
	struct arena arena = { 0 };
	uint64_t first = 0;
	int fd = mkstemp(path), r;

	must(fd >= 0 && write(fd, s.p, s.n) == (ssize_t)s.n);
	close(fd);
	r = store_open(&run, path, &err);
	must(!r || err.msg[0]);
	if (!r) {
		r = store_each_event(run, 0, UINT64_MAX, see_event, &first, &err);
		must(r >= 0 || err.msg[0]);
		r = store_each_body(run, NULL, see_body, NULL, &err);
		must(r >= 0 || err.msg[0]);
		r = store_objects(run, &arena, &g, &err);
		must(r >= 0 || err.msg[0]);
		if (r > 0)
			check_objects(&g, g.objects, g.nr_objects);
		arena_done(&arena);
		store_close(run);
	}
	unlink(path);
}

/* What decodes also encodes, and decodes to the same again. */
static void fuzz_block(struct str raw, struct syms *t)
{
	uint32_t nr = block_count(raw);
	struct event *once = calloc(nr + 1, sizeof(*once)), *again = calloc(nr + 1, sizeof(*again));
	struct block_writer *w = block_new();
	struct buf coded = { 0 };

	if (block_decode(raw, t, once)) {
		for (uint32_t i = 0; i < nr; i++) {
			struct event_syms syms;

			syms_of_event(t, &once[i], &syms);
			block_add(w, &syms, &once[i]);
		}
		block_close(w, &coded);
		must(block_decode(buf_str(&coded), t, again));
		for (uint32_t i = 0; i < nr; i++)
			must(once[i].ns == again[i].ns && once[i].offset == again[i].offset &&
			     once[i].line == again[i].line && str_eq(once[i].node, again[i].node) &&
			     str_eq(once[i].text, again[i].text));
	}
	block_free(w);
	buf_done(&coded);
	free(once);
	free(again);
}

static void fuzz_request(struct str raw, struct syms *t)
{
	struct arena arena = { 0 };
	struct request_body body;
	struct request r = { 0 };

	if (code_take_request(&raw, t, &r) && body_take(&raw, t, &r, &arena, &body))
		check_body(&r, &body);
	arena_done(&arena);
}

/* --- requests in brief ----------------------------------------------------------------------- */

enum { BLOBS = 5 };

/* Their table, number and bytes: what numbers mean, a block, levels, one of their blocks, points.
 */
struct blobs {
	struct pack *pack;
	struct buf packed;
	struct str raw[BLOBS];
};

static const struct {
	enum db_table table;
	uint64_t number;
} blob_places[BLOBS] = { { DB_BRIEFS, 0 },
			 { DB_BRIEFS, 1 },
			 { DB_LEVELS, 0 },
			 { DB_LEVELS, (uint64_t)1 << LEVEL_PLACE },
			 { DB_LEVELS, LEVEL_POINTS } };

static int get_blob(void *to, enum db_table table, uint64_t at, uint64_t *number,
		    struct str *packed, struct error *err)
{
	struct blobs *b = to;

	(void)err;
	for (int i = BLOBS; i-- > 0;) {
		if (blob_places[i].table != table || blob_places[i].number > at)
			continue;
		*number = blob_places[i].number;
		/* every block of briefs is the same one: levels are for more than one holds */
		if (*number == 1)
			*number += (at - 1) / BRIEF_ROWS * BRIEF_ROWS;
		buf_clear(&b->packed);
		pack_close(b->pack, 1, (uint64_t)(table + 1) << 56 ^ *number, b->raw[i],
			   &b->packed);
		*packed = buf_str(&b->packed);
		return 1;
	}
	return 0;
}

static void close_blobs(void *to)
{
	struct blobs *b = to;

	pack_free(b->pack);
	buf_done(&b->packed);
}

static int see_brief(void *ctx, const struct brief *b)
{
	(void)ctx;
	must(b->id && b->type <= 3);
	return 0;
}

static int see_cell(void *ctx, const struct level_cell *c)
{
	(void)ctx;
	must(c->bin < LEVEL_BINS);
	return 0;
}

static void fuzz_briefs(struct str raw)
{
	struct blobs b = { .pack = pack_new() };
	struct store s = { .catalog.totals.nr_requests = 500000 };
	struct request_filter all = { 0 },
			      some = { .node = STR("n"), .from_ns = 5, .until_ns = 99 };
	struct error err = { 0 };

	for (int i = 0; i < BLOBS; i++)
		str_take_bytes(&raw, &b.raw[i]);
	s.db = db_of_far(&(struct db_far){ &b, get_blob, close_blobs }, "fuzz");
	for (int i = 0; i < 3; i++)
		vec_push(&s.catalog.types, (struct catalog_type){ STR("t"), 1 });
	store_each_brief(&s, &all, see_brief, NULL, &err);
	store_each_cell(&s, &all, 63, see_cell, NULL, &err);
	store_each_point(&s, &all, 1, see_brief, NULL, &err);
	s.catalog.totals.nr_requests = 2100000;
	store_each_point(&s, &all, 1, see_brief, NULL, &err);
	store_narrow(&s, &some, &err);
	narrow_done(&s.narrow);
	brief_names_done(&s.brief_names);
	vec_done(&s.catalog.types);
	db_close(s.db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str s = str_skip((struct str){ (const char *)data, size }, 1);
	struct syms t = { 0 };

	sym_of(&t, SYM_NODE, STR("node"));
	sym_of(&t, SYM_THREAD, STR("thread"));
	if (size && data[0] == 'b')
		fuzz_block(s, &t);
	else if (size && data[0] == 'r')
		fuzz_request(s, &t);
	else if (size && data[0] == 'i')
		fuzz_briefs(s);
	else if (size && data[0] == 'o')
		fuzz_objects(s);
	else if (size)
		fuzz_file(s);
	syms_done(&t);
	return 0;
}
