#include "web/live.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/jsonout.h"
#include "base/vec.h"
#include "export/prometheus.h"
#include "model/live.h"
#include "web/api.h"
#include "web/asked.h"
#include "web/reply.h"

#define LINES "application/x-ndjson"
#define ROWS_MAX 2000 /* of one answer for the page, which draws each */
#define VIEWS_MAX 8   /* sets of keys in one question */
#define QUERY_BYTES_MAX (64 << 10)

/* False: said why. */
static bool begin(const struct api *api, struct reply *r)
{
	r->status = 200;
	r->type = LINES;
	if (api->live)
		return true;
	reply_error(r, 404, "no hub is known: begin with culprit serve --hub ENDPOINT");
	return false;
}

static void key_text(struct jsonout *j, const char *key, struct str text)
{
	jsonout_key(j, key);
	jsonout_str(j, text);
}

static void key_uint(struct jsonout *j, const char *key, uint64_t v)
{
	jsonout_key(j, key);
	jsonout_uint(j, v);
}

static void key_int(struct jsonout *j, const char *key, int64_t v)
{
	jsonout_key(j, key);
	jsonout_int(j, v);
}

static void key_bool(struct jsonout *j, const char *key, bool v)
{
	jsonout_key(j, key);
	jsonout_bool(j, v);
}

/* What is not known is left out. */
static void key_share(struct jsonout *j, const char *key, double v)
{
	if (v < 0)
		return;
	jsonout_key(j, key);
	jsonout_double(j, v);
}

static void begin_line(struct jsonout *j, const char *section)
{
	jsonout_open(j, '{');
	key_text(j, "section", str_of(section));
}

static void end_line(struct jsonout *j)
{
	jsonout_close(j, '}');
	buf_char(j->out, '\n');
}

/* --- the hub, what stands there, who works for it ----------------------------------------------
 */

static void tell_standing(void *to, const struct live_standing *q)
{
	struct jsonout *j = to;

	begin_line(j, "query");
	key_text(j, "id", q->id);
	key_text(j, "name", q->name);
	key_text(j, "text", q->text);
	key_text(j, "who", q->who);
	key_int(j, "since", q->since_ns);
	key_uint(j, "agents", q->nr_agents);
	key_uint(j, "agents_failed", q->nr_agents_failed);
	if (q->why.n)
		key_text(j, "why", q->why);
	key_uint(j, "reports", q->nr_reports);
	key_uint(j, "rows", q->nr_rows);
	end_line(j);
}

static void tell_peer(void *to, const struct live_peer *p)
{
	struct jsonout *j = to;

	begin_line(j, "peer");
	key_text(j, "name", p->name);
	key_text(j, "kind", p->is_hub ? STR("hub") : STR("agent"));
	key_text(j, "host", p->host);
	if (p->is_hub) {
		key_uint(j, "below", p->nr_below);
		key_uint(j, "silent_below", p->nr_silent_below);
	}
	key_bool(j, "silent", p->is_silent);
	key_int(j, "seen", p->seen_ns);
	key_uint(j, "processes", p->nr_processes);
	key_uint(j, "reports", p->nr_reports);
	key_uint(j, "dropped", p->nr_dropped);
	key_uint(j, "late", p->nr_late);
	key_uint(j, "twice", p->nr_twice);
	key_share(j, "overhead", p->overhead);
	end_line(j);
}

void live_state(const struct api *api, const struct asked *a, struct reply *r)
{
	struct jsonout j = { .out = &r->body };
	char why[512] = "";

	(void)a;
	/* that there is no hub is no failure: it is not told as one */
	r->status = 200;
	r->type = LINES;
	if (!api->live)
		return;
	api->live->state(api->live->ctx, why, sizeof(why));
	begin_line(&j, "hub");
	key_text(&j, "endpoint", api->live->endpoint);
	if (why[0])
		key_text(&j, "why", str_of(why));
	end_line(&j);
	api->live->standing(api->live->ctx, tell_standing, &j);
	api->live->peers(api->live->ctx, tell_peer, &j);
}

/* --- answers ---------------------------------------------------------------------------------- */

static void add_buckets(struct jsonout *j, const struct live_value *v)
{
	jsonout_open(j, '[');
	for (size_t i = 0; i < v->buckets.nr; i++) {
		jsonout_open(j, '{');
		jsonout_key(j, "from");
		jsonout_double(j, v->buckets.v[i].from);
		jsonout_key(j, "to");
		jsonout_double(j, v->buckets.v[i].to);
		key_uint(j, "count", v->buckets.v[i].nr);
		jsonout_close(j, '}');
	}
	jsonout_close(j, ']');
}

static void add_value(struct jsonout *j, const struct live_value *v)
{
	switch (v->type) {
	case LIVE_TEXT:
		jsonout_str(j, v->text);
		break;
	case LIVE_INT:
		jsonout_int(j, v->i);
		break;
	case LIVE_DOUBLE:
		jsonout_double(j, v->d);
		break;
	case LIVE_BOOL:
		jsonout_bool(j, v->i != 0);
		break;
	case LIVE_BUCKETS:
		add_buckets(j, v);
		break;
	case LIVE_NONE:
		jsonout_null(j);
	}
}

/* One list for each column that is measured, in their order. */
static void add_series(struct jsonout *j, const struct live_answer *a, const struct live_row *row)
{
	jsonout_key(j, "series");
	jsonout_open(j, '[');
	for (size_t i = 0; i < a->nr_columns; i++) {
		if (a->columns[i].is_key)
			continue;
		jsonout_open(j, '[');
		for (size_t k = 0; k < a->nr_steps; k++)
			jsonout_double(j, row->series[i * a->nr_steps + k]);
		jsonout_close(j, ']');
	}
	jsonout_close(j, ']');
}

static void tell_columns(struct jsonout *j, const struct live_answer *a)
{
	begin_line(j, "answer");
	key_text(j, "id", a->id);
	key_text(j, "text", a->text);
	key_int(j, "since", a->since_ns);
	key_int(j, "first", a->first_ns);
	key_int(j, "step", a->step_ns);
	key_uint(j, "steps", a->nr_steps);
	key_uint(j, "not_over_time", a->nr_not_over_time);
	jsonout_key(j, "columns");
	jsonout_open(j, '[');
	for (size_t i = 0; i < a->nr_columns; i++) {
		jsonout_open(j, '{');
		key_text(j, "name", a->columns[i].name);
		key_bool(j, "key", a->columns[i].is_key);
		key_bool(j, "adds_up", a->columns[i].adds_up);
		jsonout_close(j, '}');
	}
	jsonout_close(j, ']');
	end_line(j);
}

static void tell_rows(struct jsonout *j, const struct live_answer *a, uint64_t keep)
{
	size_t nr = a->nr_rows < ROWS_MAX ? a->nr_rows : ROWS_MAX;

	for (size_t k = 0; k < nr; k++) {
		begin_line(j, "row");
		key_uint(j, "keep", keep);
		jsonout_key(j, "values");
		jsonout_open(j, '[');
		for (size_t i = 0; i < a->nr_columns; i++)
			add_value(j, &a->rows[k].values[i]);
		jsonout_close(j, ']');
		if (a->rows[k].series)
			add_series(j, a, &a->rows[k]);
		end_line(j);
	}
	if (a->nr_left_out + a->nr_rows > nr) {
		begin_line(j, "more");
		key_uint(j, "keep", keep);
		key_uint(j, "rows", a->nr_left_out + a->nr_rows - nr);
		end_line(j);
	}
}

static void tell_losses(struct jsonout *j, const struct losses *losses)
{
	jsonout_open(j, '{');
	jsonout_key(j, "losses");
	jsonout_open(j, '{');
	for (int i = 0; i < LOSS_NR; i++)
		if (losses->count[i])
			key_uint(j, loss_name((enum loss)i), losses->count[i]);
	jsonout_close(j, '}');
	end_line(j);
}

/* "3,1,2,0": the sets of keys, as bits of their columns; all keys where there is none. */
static bool take_views(const char *text, uint64_t *keep, size_t *nr)
{
	struct str rest = str_of(text ? text : "");

	*nr = 0;
	if (!rest.n)
		keep[(*nr)++] = UINT64_MAX;
	while (rest.n && *nr < VIEWS_MAX) {
		if (!str_take_uint(&rest, &keep[(*nr)++]) ||
		    (rest.n && (!str_take_char(&rest, ',') || !rest.n)))
			return false;
	}
	return !rest.n;
}

void live_rows(const struct api *api, const struct asked *a, struct reply *r)
{
	const char *id = asked_param(a, "id");
	struct jsonout j = { .out = &r->body };
	uint64_t keep[VIEWS_MAX];
	struct live_answer answers[VIEWS_MAX] = { 0 };
	struct arena arena = { 0 };
	struct error err = { 0 };
	size_t nr = 0;
	int got;

	if (!begin(api, r))
		return;
	if (!id || !take_views(asked_param(a, "keep"), keep, &nr)) {
		reply_error(r, 400, "give the id of a query, and keep as 3,1,2,0 if at all");
		return;
	}
	got = api->live->answer(api->live->ctx, str_of(id), keep, nr, &arena, answers, &err);
	if (got < 0) {
		reply_error(r, api_status(got), "%s", err.msg);
	} else {
		tell_columns(&j, &answers[0]);
		for (size_t i = 0; i < nr; i++)
			tell_rows(&j, &answers[i], keep[i]);
		tell_losses(&j, &answers[0].losses);
	}
	arena_done(&arena);
}

/* --- writing a query -------------------------------------------------------------------------- */

static void add_list(struct jsonout *j, const char *key, const struct str *v, size_t nr)
{
	jsonout_key(j, key);
	jsonout_open(j, '[');
	for (size_t i = 0; i < nr; i++)
		jsonout_str(j, v[i]);
	jsonout_close(j, ']');
}

static void tell_word(void *to, const struct live_word *w)
{
	struct jsonout *j = to;

	begin_line(j, "tracepoint");
	key_text(j, "name", w->name);
	key_text(j, "where", w->where);
	add_list(j, "fields", w->fields, w->nr_fields);
	end_line(j);
}

void live_words(const struct api *api, const struct asked *a, struct reply *r)
{
	struct jsonout j = { .out = &r->body };

	(void)a;
	if (begin(api, r))
		api->live->words(api->live->ctx, tell_word, &j);
}

static void tell_advice(void *to, const struct live_advice *a)
{
	struct jsonout *j = to;

	begin_line(j, "advice");
	key_text(j, "advice", a->name);
	add_list(j, "at", a->at, a->nr_at);
	add_list(j, "operations", a->operations, a->nr_operations);
	if (a->rule.n)
		key_text(j, "rule", a->rule);
	if (a->warning.n)
		key_text(j, "warning", a->warning);
	key_share(j, "tuples", a->tuples);
	key_share(j, "bytes", a->bytes);
	key_share(j, "per_second", a->per_second);
	end_line(j);
}

/* The query that was written, or NULL: said why. */
static const char *take_query(const struct asked *a, struct reply *r)
{
	const char *text = asked_param(a, "query");

	if (text && *text && strlen(text) <= QUERY_BYTES_MAX)
		return text;
	reply_error(r, 400, "what is asked? give query");
	return NULL;
}

static void explain(const struct api *api, const struct asked *a, bool is_measured, struct reply *r)
{
	struct jsonout j = { .out = &r->body };
	struct error err = { 0 };
	const char *text;
	int got;

	if (!begin(api, r))
		return;
	text = take_query(a, r);
	if (!text)
		return;
	got = api->live->explain(api->live->ctx, str_of(text), is_measured, tell_advice, &j, &err);
	if (got < 0)
		reply_error(r, api_status(got), "%s", err.msg);
}

void live_explain(const struct api *api, const struct asked *a, struct reply *r)
{
	explain(api, a, false, r);
}

/* Counting takes queries of its own, for a while. */
void live_measure(const struct api *api, const struct asked *a, struct reply *r)
{
	explain(api, a, true, r);
}

void live_install(const struct api *api, const struct asked *a, struct reply *r)
{
	struct jsonout j = { .out = &r->body };
	struct error err = { 0 };
	char id[LIVE_ID_MAX] = "";
	const char *text;
	int got;

	if (!begin(api, r))
		return;
	text = take_query(a, r);
	if (!text)
		return;
	got = api->live->install(api->live->ctx, str_of(text), id, &err);
	if (got < 0) {
		reply_error(r, api_status(got), "%s", err.msg);
		return;
	}
	begin_line(&j, "installed");
	key_text(&j, "id", str_of(id));
	end_line(&j);
}

void live_remove(const struct api *api, const struct asked *a, struct reply *r)
{
	const char *id = asked_param(a, "id");
	struct error err = { 0 };
	int got;

	if (!begin(api, r))
		return;
	if (!id) {
		reply_error(r, 400, "give the id of a query");
		return;
	}
	got = api->live->remove(api->live->ctx, str_of(id), &err);
	if (got < 0)
		reply_error(r, api_status(got), "%s", err.msg);
}

/* --- for Prometheus ----------------------------------------------------------------------------
 */

struct gathering {
	struct arena arena;
	VEC(struct str) ids;
	VEC(struct live_peer) peers;
	VEC(const struct live_answer *) answers;
};

static void gather_id(void *to, const struct live_standing *q)
{
	struct gathering *g = to;

	vec_push(&g->ids, arena_str(&g->arena, q->id));
}

static void gather_peer(void *to, const struct live_peer *p)
{
	struct gathering *g = to;
	struct live_peer copy = *p;

	copy.name = arena_str(&g->arena, p->name);
	copy.host = arena_str(&g->arena, p->host);
	vec_push(&g->peers, copy);
}

void live_metrics(const struct api *api, const struct asked *a, struct reply *r)
{
	struct gathering g = { 0 };
	struct error err = { 0 };

	(void)a;
	if (!begin(api, r))
		return;
	r->type = PROMETHEUS_TYPE;
	api->live->standing(api->live->ctx, gather_id, &g);
	api->live->peers(api->live->ctx, gather_peer, &g);
	vec_each (&g.ids, id) {
		struct live_answer *one = arena_new(&g.arena, struct live_answer);
		const uint64_t all = UINT64_MAX;

		/* one that ended meanwhile is told no more */
		if (api->live->answer(api->live->ctx, *id, &all, 1, &g.arena, one, &err) >= 0)
			vec_push(&g.answers, one);
	}
	prometheus_write(g.answers.v, g.answers.nr, g.peers.v, g.peers.nr, &r->body);
	vec_done(&g.ids);
	vec_done(&g.peers);
	vec_done(&g.answers);
	arena_done(&g.arena);
}
