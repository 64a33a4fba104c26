#include "store/publish.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "base/time.h"
#include "base/vec.h"
#include "store/db.h"
#include "store/pg.h"
#include "store/pg_address.h"
#include "store/run.h"
#include "store/schema.h"
#include "store/store.h"
#include "store/tuple.h"

/*
 * All of a run is stored in one transaction: until it is committed nobody sees any of it, and
 * whatever ends us or the server before leaves what was there. The blocks are sent as they stand in
 * the run file; the tables for people are made from its requests.
 */

#define ROWS_BYTES ((size_t)256 << 10)
#define NAME "run" /* of a run that nobody named, as run.culprit is that of a file */

int publish_begin(struct publish *p, const char *copy)
{
	int r = pg_copy_begin(p->pg, copy, p->err);

	buf_clear(&p->rows);
	tuple_head(&p->rows);
	return r;
}

static int send_rows(struct publish *p)
{
	int r = pg_copy_rows(p->pg, buf_str(&p->rows), p->err);

	buf_clear(&p->rows);
	return r;
}

int publish_row(struct publish *p)
{
	return p->rows.n < ROWS_BYTES ? 0 : send_rows(p);
}

int publish_end(struct publish *p)
{
	int r;

	tuple_tail(&p->rows);
	r = send_rows(p);
	return r ? r : pg_copy_end(p->pg, p->err);
}

/* --- the run itself -------------------------------------------------------------------------- */

struct blocks {
	struct publish *p;
	enum db_table table;
};

static int one_block(void *ctx, uint64_t number, struct str packed)
{
	struct blocks *b = ctx;
	struct buf *rows = &b->p->rows;

	tuple_begin(rows, 4);
	tuple_int8(rows, b->p->run);
	tuple_int2(rows, (int16_t)b->table);
	tuple_int8(rows, (int64_t)number);
	tuple_bytes(rows, packed);
	return publish_row(b->p);
}

static int publish_blocks(struct publish *p)
{
	int r = publish_begin(p, "COPY @.blocks FROM STDIN (FORMAT binary)");

	for (int i = 0; i < DB_TABLES && !r; i++) {
		struct blocks b = { p, (enum db_table)i };

		r = db_each_packed(p->store->db, b.table, one_block, &b, p->err);
	}
	return r ? r : publish_end(p);
}

/* --- files, losses --------------------------------------------------------------------------- */

static int one_file(void *ctx, const struct stored_file *f)
{
	struct publish *p = ctx;

	tuple_begin(&p->rows, 8);
	tuple_int8(&p->rows, p->run);
	tuple_int4(&p->rows, (int32_t)f->number);
	tuple_text(&p->rows, f->seen.path);
	tuple_text(&p->rows, f->seen.format);
	tuple_text(&p->rows, f->seen.layout);
	tuple_int8(&p->rows, (int64_t)f->seen.bytes);
	tuple_int8(&p->rows, (int64_t)f->nr_lines);
	tuple_int8(&p->rows, (int64_t)f->nr_events);
	return publish_row(p);
}

static int publish_files(struct publish *p)
{
	int r = publish_begin(p, "COPY @.files FROM STDIN (FORMAT binary)");

	if (!r)
		r = store_each_file(p->store, one_file, p, p->err);
	return r ? r : publish_end(p);
}

static int publish_losses(struct publish *p)
{
	const struct losses *l = store_losses(p->store);
	int r = publish_begin(p, "COPY @.losses FROM STDIN (FORMAT binary)");

	for (int i = 0; i < LOSS_NR && !r; i++) {
		if (!l->count[i])
			continue;
		tuple_begin(&p->rows, 3);
		tuple_int8(&p->rows, p->run);
		tuple_text(&p->rows, str_of(loss_name(i)));
		tuple_int8(&p->rows, (int64_t)l->count[i]);
		r = publish_row(p);
	}
	return r ? r : publish_end(p);
}

/* --- requests and their nodes ---------------------------------------------------------------- */

struct on_node {
	struct str node;
	int64_t first, last;
	int32_t nr_spans;
};

struct requests {
	struct publish *p;
	VEC(struct on_node) nodes; /* of the request at hand, as its spans name them first */
	VEC(struct str) names;
};

static struct on_node *node_of(struct requests *q, struct str node)
{
	/* neighbours are mostly of the same node, and a request has few */
	for (size_t i = q->nodes.nr; i > 0; i--)
		if (str_eq(q->nodes.v[i - 1].node, node))
			return &q->nodes.v[i - 1];
	vec_push(&q->nodes, (struct on_node){ node, INT64_MAX, INT64_MIN, 0 });
	return &q->nodes.v[q->nodes.nr - 1];
}

static void gather_nodes(struct requests *q, const struct request_body *body)
{
	vec_clear(&q->nodes);
	for (size_t i = 0; i < body->nr_spans; i++) {
		const struct span *s = &body->spans[i];
		struct on_node *n;

		if (!s->node.n)
			continue;
		n = node_of(q, s->node);
		n->first = s->start < n->first ? s->start : n->first;
		n->last = s->end > n->last ? s->end : n->last;
		n->nr_spans++;
	}
}

static void add_times(struct buf *rows, const struct request *r)
{
	tuple_time(rows, r->start);
	tuple_time(rows, r->end);
	if (r->start == NS_NONE || r->end == NS_NONE)
		tuple_null(rows);
	else
		tuple_float8(rows,
			     (double)(int64_t)((uint64_t)r->end - (uint64_t)r->start) / NS_MS);
}

static int one_request(void *ctx, const struct request *r, const struct request_body *body)
{
	struct requests *q = ctx;
	struct buf *rows = &q->p->rows;
	char sequence[20];

	gather_nodes(q, body);
	vec_clear(&q->names);
	vec_each (&q->nodes, n)
		vec_push(&q->names, n->node);
	tuple_begin(rows, 17);
	tuple_int8(rows, q->p->run);
	tuple_int8(rows, (int64_t)r->id);
	tuple_text(rows, r->type);
	add_times(rows, r);
	tuple_texts(rows, q->names.v, q->names.nr);
	snprintf(sequence, sizeof(sequence), "%016llx", (unsigned long long)r->sequence);
	tuple_text(rows, str_of(sequence));
	tuple_float4(rows, r->confidence);
	tuple_bool(rows, r->incomplete);
	tuple_bool(rows, r->error);
	tuple_text(rows, r->key);
	tuple_text(rows, r->method);
	tuple_int4(rows, (int32_t)r->nr_spans);
	tuple_int4(rows, (int32_t)r->nr_events);
	tuple_int8(rows, r->start);
	tuple_int8(rows, r->end);
	return publish_row(q->p);
}

static int nodes_of_one(void *ctx, const struct request *r, const struct request_body *body)
{
	struct requests *q = ctx;
	struct buf *rows = &q->p->rows;
	int result = 0;

	gather_nodes(q, body);
	for (size_t i = 0; i < q->nodes.nr && !result; i++) {
		const struct on_node *n = &q->nodes.v[i];

		tuple_begin(rows, 6);
		tuple_int8(rows, q->p->run);
		tuple_int8(rows, (int64_t)r->id);
		tuple_text(rows, n->node);
		tuple_time(rows, n->first);
		tuple_time(rows, n->last);
		tuple_int4(rows, n->nr_spans);
		result = publish_row(q->p);
	}
	return result;
}

typedef int body_fn(void *ctx, const struct request *r, const struct request_body *body);

static int publish_bodies(struct publish *p, const char *copy, body_fn *each)
{
	struct requests q = { .p = p };
	int r = publish_begin(p, copy);

	if (!r)
		r = store_each_body(p->store, NULL, each, &q, p->err);
	vec_done(&q.nodes);
	vec_done(&q.names);
	return r ? r : publish_end(p);
}

/* --- the transaction ------------------------------------------------------------------------- */

static int begin(struct pg *pg, struct error *err)
{
	pg->is_writing = true;
	return pg_run(pg,
		      "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL search_path = pg_catalog; "
		      "SET LOCAL statement_timeout = 0;"
		      "SET LOCAL idle_in_transaction_session_timeout = 0",
		      err);
}

/* In a transaction of its own: whoever makes the tables holds others up. */
static int make_schema(struct pg *pg, struct error *err)
{
	int r = begin(pg, err);

	if (!r)
		r = schema_make(pg, err);
	return r ? r : pg_run(pg, "COMMIT", err);
}

/* Two that store under the same name come one after the other; readers see the old run so long. */
static int replace_run(struct publish *p, const char *name, struct error *err)
{
	const char *values[] = { p->pg->address->schema, name };
	int r = pg_tell(p->pg, "SELECT pg_advisory_xact_lock(hashtext($1), hashtext($2))", values,
			2, err);

	return r ? r : pg_tell(p->pg, "DELETE FROM @.runs WHERE name = $1", values + 1, 1, err);
}

static struct str shown_time(struct buf *b, int64_t ns)
{
	struct civil c;

	if (ns == NS_NONE)
		return (struct str){ 0 };
	time_to_civil(ns, &c);
	buf_fmt(b, "%04d-%02d-%02d %02d:%02d:%02d.%06d+00", c.year, c.month, c.day, c.hour, c.min,
		c.sec, c.ns / 1000);
	return (struct str){ b->p, b->n };
}

static int add_run(struct publish *p, const char *name, struct error *err)
{
	static const char sql[] =
		"INSERT INTO @.runs (name, version, format, first, last, requests, spans,"
		" log_lines, events, files, input_bytes) VALUES ($1, $2, $3::integer,"
		" $4::timestamptz, $5::timestamptz, $6::bigint, $7::bigint, $8::bigint, $9::bigint,"
		" $10::bigint, $11::bigint) RETURNING run";
	const struct store_totals *t = &p->store->catalog.totals;
	const uint64_t numbers[] = { t->nr_requests, t->nr_spans, t->nr_log_lines,
				     t->nr_events,   t->nr_files, t->bytes };
	struct buf first = { 0 }, last = { 0 };
	struct arena arena = { 0 };
	const char *values[11] = { name, arena_z(&arena, store_fact(p->store, "version")) };
	PGresult *got;
	int r;

	values[2] = arena_z(&arena, arena_fmt(&arena, "%d", DB_VERSION));
	values[3] = shown_time(&first, t->first_ns).p;
	values[4] = shown_time(&last, t->last_ns).p;
	for (int i = 0; i < 6; i++)
		values[5 + i] =
			arena_z(&arena, arena_fmt(&arena, "%llu", (unsigned long long)numbers[i]));
	r = pg_ask(p->pg, sql, values, 11, &got, err);
	if (!r) {
		p->run = pg_int(got, 0, 0);
		PQclear(got);
	}
	arena_done(&arena);
	buf_done(&first);
	buf_done(&last);
	return r;
}

static int fill_tables(struct publish *p)
{
	int r = publish_blocks(p);

	if (!r)
		r = publish_files(p);
	if (!r)
		r = publish_losses(p);
	if (!r)
		r = publish_bodies(p, "COPY @.requests FROM STDIN (FORMAT binary)", one_request);
	if (!r)
		r = publish_bodies(p, "COPY @.nodes FROM STDIN (FORMAT binary)", nodes_of_one);
	return r ? r : publish_sequences(p);
}

static int commit(struct publish *p, const char *name, struct error *err)
{
	char run[24];
	const char *values[] = { run };
	int r;

	snprintf(run, sizeof(run), "%lld", (long long)p->run);
	r = pg_tell(p->pg, "UPDATE @.runs SET stored = clock_timestamp() WHERE run = $1::bigint",
		    values, 1, err);
	if (r)
		return r;
	r = pg_run(p->pg, "COMMIT", err);
	if (r == -ECONNRESET)
		return error_set(
			err, ECONNRESET,
			"lost the connection to '%s' while run '%s' was being committed, so "
			"that it may be there or not: store it again, which replaces it",
			p->pg->address->shown, name);
	return r;
}

static int publish_all(struct publish *p, const char *name, struct error *err)
{
	int r = make_schema(p->pg, err);

	if (!r)
		r = begin(p->pg, err);
	if (!r)
		r = replace_run(p, name, err);
	if (!r)
		r = add_run(p, name, err);
	if (!r)
		r = fill_tables(p);
	return r ? r : commit(p, name, err);
}

int store_publish(struct store *s, const char *where, struct error *err)
{
	struct pg_address address = { 0 };
	struct pg pg = { 0 };
	struct publish p = { .store = s, .pg = &pg, .err = err };
	int r = s->writing ? error_set(err, EINVAL, "the run is not finished yet")
			   : pg_address_parse(&address, where, NULL, err);

	if (!r)
		r = pg_open(&pg, &address, err);
	if (!r)
		r = publish_all(&p, address.run ? address.run : NAME, err);
	pg_close(&pg);
	pg_address_done(&address);
	buf_done(&p.rows);
	return r;
}

int store_publish_check(const char *where, struct error *err)
{
	struct pg_address address = { 0 };
	struct pg pg = { 0 };
	int r = pg_address_parse(&address, where, NULL, err);

	if (!r)
		r = pg_open(&pg, &address, err);
	if (!r)
		r = make_schema(&pg, err);
	pg_close(&pg);
	pg_address_done(&address);
	return r;
}
