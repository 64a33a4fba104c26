/*
 * Zipkin's JSON: version 2 (one record a host) and version 1 (annotations cs, sr, ss, cr, and both
 * hosts in one record), as an array, an array of traces, or lines. Times are microseconds.
 *
 * Zipkin lets client and server share one span id. Where both are seen the server's span gets an
 * id of its own (the shared one and ":server"), the client's becomes its parent, and the children
 * that the server's service made move to it. They are looked for in one batch of the input, which
 * holds whole traces except at its ends; a pair that was parted keeps the shared id, and what reads
 * spans later counts it.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/time.h"
#include "model/link.h"
#include "source/chunks.h"
#include "source/formats.h"
#include "source/jaeger_time.h"
#include "source/json_attr.h"
#include "source/json_docs.h"
#include "source/title.h"
#include "source/trace_id.h"

#define SERVER_SUFFIX ":server"

struct endpoint {
	struct str service, host;
};

struct zipkin {
	struct batch *b;
	struct json_place at;
	struct buf own;
	VEC(bool) shared;      /* for each span of the batch */
	VEC(uint32_t) by_name; /* spans of the batch in the order of trace and id */
	VEC(uint32_t)
	server_of; /* where a name begins in by_name: the server's span that must
		      part from the client's, or SPAN_NONE */
};

/* What is gathered of one record. */
struct record {
	struct span span;
	struct json_value annotations, binary;
	struct endpoint local;
	int64_t duration;
	bool has_start, has_duration, is_shared;
	/* version 1: when the four moments were, and who saw them */
	int64_t cs, sr, ss, cr;
	struct endpoint client, server;
};

static struct str keep(struct zipkin *z, struct str s)
{
	return s.n ? arena_str(&z->b->arena, s) : (struct str){ 0 };
}

static struct str text_of(struct json_value v)
{
	struct str s = { 0 };

	json_str(v, &s);
	return s;
}

static struct endpoint endpoint_of(struct zipkin *z, struct json_value v)
{
	struct endpoint e = { 0 };
	struct json_walk w = json_walk(v);

	while (w.is_object && json_next(&w)) {
		if (str_eq(w.key, STR("serviceName")))
			e.service = keep(z, text_of(w.value));
		else if (str_eq(w.key, STR("ipv4")) || (str_eq(w.key, STR("ipv6")) && !e.host.n))
			e.host = keep(z, text_of(w.value));
	}
	return e;
}

static enum span_kind kind_of(struct str s)
{
	static const enum span_kind kinds[] = { SPAN_SERVER, SPAN_CLIENT, SPAN_PRODUCER,
						SPAN_CONSUMER, SPAN_INTERNAL };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (str_eq_nocase(s, str_of(span_kind_name(kinds[i]))))
			return kinds[i];
	return SPAN_UNKNOWN;
}

static void take_tags(struct zipkin *z, struct json_value v, struct span *s)
{
	struct json_walk w = json_walk(v);

	while (w.is_object && json_next(&w)) {
		json_attr_add(&z->own, ATTR_SPAN, w.key, w.value);
		if (str_eq(w.key, STR("error")) && !str_eq(text_of(w.value), STR("false")))
			s->status = STATUS_ERROR;
		else if (str_eq(w.key, STR("thread.name")) ||
			 (str_eq(w.key, STR("thread.id")) && !s->thread.n))
			s->thread = keep(z, text_of(w.value));
	}
}

/* The other side of a call, as attributes of this one. */
static void take_remote(struct zipkin *z, struct json_value v)
{
	struct json_walk w = json_walk(v);

	while (w.is_object && json_next(&w)) {
		if (str_eq(w.key, STR("serviceName")))
			json_attr_add(&z->own, ATTR_SPAN, STR("peer.service"), w.value);
		else if (str_eq(w.key, STR("ipv4")))
			json_attr_add(&z->own, ATTR_SPAN, STR("peer.ipv4"), w.value);
		else if (str_eq(w.key, STR("ipv6")))
			json_attr_add(&z->own, ATTR_SPAN, STR("peer.ipv6"), w.value);
		else if (str_eq(w.key, STR("port")))
			json_attr_add(&z->own, ATTR_SPAN, STR("peer.port"), w.value);
	}
}

static void take_member(struct zipkin *z, struct str key, struct json_value v, struct record *r)
{
	struct arena *arena = &z->b->arena;
	struct span *s = &r->span;

	if (str_eq(key, STR("traceId")))
		s->key = trace_id_of_text(arena, text_of(v));
	else if (str_eq(key, STR("id")))
		s->id = trace_id_of_text(arena, text_of(v));
	else if (str_eq(key, STR("parentId")) && !trace_id_is_none(text_of(v)))
		s->parent_id = trace_id_of_text(arena, text_of(v));
	else if (str_eq(key, STR("name")))
		s->name = keep(z, text_of(v));
	else if (str_eq(key, STR("kind")))
		s->kind = kind_of(text_of(v));
	else if (str_eq(key, STR("timestamp")))
		r->has_start = jaeger_time_point(v, NS_US, &s->start);
	else if (str_eq(key, STR("duration")))
		r->has_duration = jaeger_time_span(v, NS_US, &r->duration);
	else if (str_eq(key, STR("localEndpoint")))
		r->local = endpoint_of(z, v);
	else if (str_eq(key, STR("remoteEndpoint")))
		take_remote(z, v);
	else if (str_eq(key, STR("tags")))
		take_tags(z, v, s);
	else if (str_eq(key, STR("annotations")))
		r->annotations = v;
	else if (str_eq(key, STR("binaryAnnotations")))
		r->binary = v;
	else if (str_eq(key, STR("shared")))
		json_bool(v, &r->is_shared);
}

/* --- version 1 ------------------------------------------------------------------------------- */

static bool take_moment(struct zipkin *z, struct json_value v, struct record *r)
{
	struct str value = text_of(json_get(v, STR("value")));
	int64_t *moments[] = { &r->cs, &r->sr, &r->ss, &r->cr };
	static const char names[][3] = { "cs", "sr", "ss", "cr" };

	for (size_t i = 0; i < 4; i++) {
		if (!str_eq(value, str_of(names[i])))
			continue;
		if (jaeger_time_point(json_get(v, STR("timestamp")), NS_US, moments[i])) {
			struct endpoint e = endpoint_of(z, json_get(v, STR("endpoint")));

			*(names[i][0] == 'c' ? &r->client : &r->server) = e;
		}
		return true;
	}
	return false;
}

static void take_binary(struct zipkin *z, struct record *r)
{
	struct json_walk w = json_walk(r->binary);

	while (json_next(&w)) {
		struct str key = text_of(json_get(w.value, STR("key")));
		struct json_value value = json_get(w.value, STR("value"));
		struct endpoint e = endpoint_of(z, json_get(w.value, STR("endpoint")));

		/* "sa" and "ca" only carry the address of the other side. */
		if (str_eq(key, STR("sa")) || str_eq(key, STR("ca"))) {
			take_remote(z, json_get(w.value, STR("endpoint")));
			continue;
		}
		if (!r->local.service.n)
			r->local = e;
		if (str_eq(key, STR("lc")))
			continue;
		json_attr_add(&z->own, ATTR_SPAN, key, value);
		if (str_eq(key, STR("error")))
			r->span.status = STATUS_ERROR;
	}
}

/* --- spans ----------------------------------------------------------------------------------- */

static void take_annotation(struct zipkin *z, struct json_value v, const struct span *s)
{
	struct event ev = { .kind = EVENT_LOG,
			    .nr_lines = 1,
			    .duration = -1,
			    .key_kind = KEY_TRACE,
			    .file = z->at.file,
			    .line = z->at.line };

	if (!jaeger_time_point(json_get(v, STR("timestamp")), NS_US, &ev.ns)) {
		z->b->losses.count[LOSS_EVENTS_BROKEN]++;
		return;
	}
	ev.node = s->node;
	ev.thread = s->thread;
	ev.key = s->key;
	ev.span = s->id;
	ev.text = keep(z, text_of(json_get(v, STR("value"))));
	ev.title = title_mask(&z->b->arena, ev.text);
	if (str_eq(ev.text, STR("error")))
		ev.level = LEVEL_ERROR;
	vec_push(&z->b->events, ev);
}

static void push(struct zipkin *z, struct record *r, bool is_shared)
{
	struct losses *l = &z->b->losses;
	struct span *s = &r->span;

	if (!s->key.n || !s->id.n || !r->has_start) {
		l->count[LOSS_SPANS_BROKEN]++;
		return;
	}
	if (!r->has_duration)
		l->count[LOSS_SPANS_OPEN]++;
	if (r->duration < 0) {
		l->count[LOSS_SPANS_NEGATIVE]++;
		r->duration = 0;
	}
	if (__builtin_add_overflow(s->start, r->duration, &s->end)) {
		l->count[LOSS_SPANS_BROKEN]++;
		return;
	}
	s->node = r->local.service;
	s->host = r->local.host;
	s->attrs = keep(z, buf_str(&z->own));
	vec_push(&z->b->spans, *s);
	vec_push(&z->shared, is_shared);
}

/* A record of version 1 that both sides wrote into: a client's span and a server's. */
static void push_both(struct zipkin *z, struct record *r)
{
	struct record server = *r;

	r->local = r->client;
	r->span.kind = SPAN_CLIENT;
	r->span.start = r->cs;
	r->has_start = true;
	r->has_duration = r->cr != NS_NONE;
	r->duration = r->has_duration ? r->cr - r->cs : 0;
	push(z, r, false);
	server.local = r->server;
	server.span.kind = SPAN_SERVER;
	server.span.start = r->sr;
	server.has_start = true;
	server.has_duration = r->ss != NS_NONE;
	server.duration = server.has_duration ? r->ss - r->sr : 0;
	push(z, &server, true);
}

/* One side's moments give what the record itself left out. */
static void settle_one_side(struct record *r)
{
	bool is_client = r->cs != NS_NONE || r->cr != NS_NONE;
	int64_t from = is_client ? r->cs : r->sr, to = is_client ? r->cr : r->ss;

	if (!is_client && r->sr == NS_NONE && r->ss == NS_NONE)
		return;
	r->local = is_client ? r->client : r->server;
	if (r->span.kind == SPAN_UNKNOWN)
		r->span.kind = is_client ? SPAN_CLIENT : SPAN_SERVER;
	if (!r->has_start && from != NS_NONE) {
		r->span.start = from;
		r->has_start = true;
	}
	if (!r->has_duration && from != NS_NONE && to != NS_NONE) {
		r->duration = to - from;
		r->has_duration = true;
	}
}

static void take_span(struct zipkin *z, struct json_value v)
{
	struct record r = { .span = { .parent = SPAN_NONE, .confidence = 1 },
			    .cs = NS_NONE,
			    .sr = NS_NONE,
			    .ss = NS_NONE,
			    .cr = NS_NONE };
	struct json_walk w = json_walk(v);
	size_t before = z->b->spans.nr;

	buf_clear(&z->own);
	while (w.is_object && json_next(&w))
		take_member(z, w.key, w.value, &r);
	take_binary(z, &r);
	for (w = json_walk(r.annotations); json_next(&w);)
		take_moment(z, w.value, &r);
	if (r.cs != NS_NONE && r.sr != NS_NONE) {
		push_both(z, &r);
	} else {
		settle_one_side(&r);
		push(z, &r, r.is_shared);
	}
	if (z->b->spans.nr == before)
		return;
	for (w = json_walk(r.annotations); json_next(&w);)
		if (!take_moment(z, w.value, &r))
			take_annotation(z, w.value, &z->b->spans.v[before]);
}

static void decode(void *decoder, struct json_value v, const struct json_place *at, struct batch *b)
{
	struct zipkin *z = decoder;
	struct json_walk w = json_walk(v), inner;

	z->b = b;
	z->at = *at;
	if (json_type(v) != JSON_ARRAY) {
		take_span(z, v);
		return;
	}
	while (json_next(&w)) {
		if (json_type(w.value) != JSON_ARRAY) {
			take_span(z, w.value);
			continue;
		}
		for (inner = json_walk(w.value); json_next(&inner);)
			take_span(z, inner.value);
	}
}

/* --- shared ids ------------------------------------------------------------------------------ */

static int compare_names(const void *a, const void *b, void *spans)
{
	const struct span *x = (const struct span *)spans + *(const uint32_t *)a;
	const struct span *y = (const struct span *)spans + *(const uint32_t *)b;
	int r = str_cmp(x->key, y->key);

	if (!r)
		r = str_cmp(x->id, y->id);
	if (!r) /* the input's order, so that the result does not depend on the sort */
		r = *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
	return r;
}

/* The first place in by_name whose span has this trace and id, or the end. */
static size_t find_name(const struct zipkin *z, struct str key, struct str id)
{
	size_t low = 0, high = z->by_name.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct span *s = &z->b->spans.v[z->by_name.v[middle]];
		int r = str_cmp(s->key, key);

		if (!r)
			r = str_cmp(s->id, id);
		if (r < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Behind the last place of by_name with the same name as the one at i. */
static size_t end_of_name(const struct zipkin *z, size_t i)
{
	const struct span *first = &z->b->spans.v[z->by_name.v[i]];

	for (; i < z->by_name.nr; i++) {
		const struct span *s = &z->b->spans.v[z->by_name.v[i]];

		if (!str_eq(s->key, first->key) || !str_eq(s->id, first->id))
			break;
	}
	return i;
}

/* Tells for each name whether a server shares it with another span. */
static void find_servers(struct zipkin *z)
{
	vec_clear(&z->server_of);
	for (size_t i = 0, end; i < z->by_name.nr; i = end) {
		uint32_t server = SPAN_NONE;
		bool has_other = false;

		end = end_of_name(z, i);
		for (size_t k = i; k < end; k++) {
			bool is_shared = z->shared.v[z->by_name.v[k]];

			if (is_shared && server == SPAN_NONE)
				server = z->by_name.v[k];
			has_other |= !is_shared;
		}
		for (size_t k = i; k < end; k++)
			vec_push(&z->server_of, has_other ? server : SPAN_NONE);
	}
}

static struct str server_id(struct zipkin *z, struct str id)
{
	return arena_fmt(&z->b->arena, STR_FMT SERVER_SUFFIX, STR_ARG(id));
}

/* Children that the server's service made hang below the server's span. */
static void move_children(struct zipkin *z)
{
	for (uint32_t i = 0; i < z->b->spans.nr; i++) {
		struct span *s = &z->b->spans.v[i];
		size_t at = s->parent_id.n ? find_name(z, s->key, s->parent_id) : z->by_name.nr;
		const struct span *server;

		if (at == z->by_name.nr || z->server_of.v[at] == SPAN_NONE ||
		    z->server_of.v[at] == i)
			continue;
		server = &z->b->spans.v[z->server_of.v[at]];
		if (str_eq(server->key, s->key) && str_eq(server->id, s->parent_id) &&
		    str_eq(server->node, s->node))
			s->parent_id = server_id(z, s->parent_id);
	}
}

static void part_servers(struct zipkin *z)
{
	for (size_t i = 0; i < z->by_name.nr; i++) {
		struct span *s = &z->b->spans.v[z->by_name.v[i]];
		struct str id = s->id;

		if (z->server_of.v[i] == SPAN_NONE || !z->shared.v[z->by_name.v[i]])
			continue;
		s->id = server_id(z, id);
		s->parent_id = id;
	}
}

static void settle(void *decoder, struct batch *b)
{
	struct zipkin *z = decoder;
	bool any = false;

	for (size_t i = 0; i < z->shared.nr; i++)
		any |= z->shared.v[i];
	if (any) {
		vec_clear(&z->by_name);
		for (uint32_t i = 0; i < b->spans.nr; i++)
			vec_push(&z->by_name, i);
		qsort_r(z->by_name.v, z->by_name.nr, sizeof(*z->by_name.v), compare_names,
			b->spans.v);
		find_servers(z);
		move_children(z);
		part_servers(z);
	}
	vec_clear(&z->shared);
}

/* --- the source ------------------------------------------------------------------------------ */

static void *open_decoder(void *ctx)
{
	(void)ctx;
	return mem_zalloc(sizeof(struct zipkin));
}

static void close_decoder(void *decoder)
{
	struct zipkin *z = decoder;

	vec_done(&z->shared);
	vec_done(&z->by_name);
	vec_done(&z->server_of);
	buf_done(&z->own);
	free(z);
}

static bool has(struct str head, const char *key)
{
	return json_scan_has_key(head, str_of(key));
}

static int sniff(struct str head, bool whole)
{
	(void)whole;
	if (!json_scan_is_json(head) || !has(head, "traceId") || !has(head, "id"))
		return 0;
	if (has(head, "localEndpoint") || has(head, "binaryAnnotations"))
		return 92;
	return has(head, "timestamp") && has(head, "duration") && has(head, "name") ? 75 : 0;
}

static int read_zipkin(struct input *in, const struct source_options *options, struct sink *sink,
		       struct error *err)
{
	static const char *const members[] = { NULL };
	const struct json_docs docs = {
		.format = source_zipkin.name,
		.members = members,
		.units = { NULL, 0, true },
		.open = open_decoder,
		.close = close_decoder,
		.decode = decode,
		.settle = settle,
	};

	return json_docs_read(in, &docs, options->cores, sink, err);
}

const struct source source_zipkin = {
	.name = "zipkin",
	.summary = "Zipkin traces as JSON, versions 2 and 1",
	.sniff = sniff,
	.read = read_zipkin,
};
