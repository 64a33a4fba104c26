/*
 * OTLP as protobuf: TracesData, LogsData and the export requests of both (they are the same bytes),
 * one message or many with lengths in front, as the collector's file exporter writes them.
 *
 * Read field by field off the wire (otlp_wire.h) and not through protobuf-c: that gives all of a
 * message or nothing, and of a damaged one we want what stands in front of the damage; it also
 * allocates each string, which costs more than the hundred lines of a wire reader. The numbers are
 * those of opentelemetry-proto 1.x. Traces, logs and metrics have the same outer fields; which one
 * it is shows at the innermost items.
 */
#include <errno.h>

#include "base/error.h"
#include "base/jsonout.h"
#include "model/link.h"
#include "model/sink.h"
#include "source/chunks.h"
#include "source/formats.h"
#include "source/input.h"
#include "source/otlp.h"
#include "source/otlp_wire.h"
#include "source/trace_id.h"

#define VALUE_DEPTH_MAX 32
#define BATCH_ITEMS 4096

/* Walks over fields: for (…; next(o, &s, &f);). Bytes that are no field are counted once. */
static bool next(struct otlp *o, struct str *s, struct wire_field *f)
{
	if (otlp_wire_take(s, f))
		return true;
	if (s->n)
		o->b->losses.count[LOSS_PROTO_BROKEN]++;
	return false;
}

static bool is_bytes(const struct wire_field *f, uint32_t number)
{
	return f->number == number && f->type == WIRE_BYTES;
}

/* --- values ---------------------------------------------------------------------------------- */

static void write_value(struct otlp *o, struct jsonout *out, struct str any, unsigned depth);

static void write_list(struct otlp *o, struct jsonout *out, struct str list, bool is_map,
		       unsigned depth)
{
	struct wire_field f, kv;

	jsonout_open(out, is_map ? '{' : '[');
	while (next(o, &list, &f)) {
		struct str pair = f.bytes, key = { 0 }, value = { 0 };

		if (!is_bytes(&f, 1))
			continue;
		if (!is_map) {
			write_value(o, out, f.bytes, depth + 1);
			continue;
		}
		while (next(o, &pair, &kv)) {
			if (is_bytes(&kv, 1))
				key = kv.bytes;
			else if (is_bytes(&kv, 2))
				value = kv.bytes;
		}
		jsonout_key_str(out, key);
		write_value(o, out, value, depth + 1);
	}
	jsonout_close(out, is_map ? '}' : ']');
}

static void write_bytes(struct jsonout *out, struct str bytes)
{
	struct arena a = { 0 };

	jsonout_str(out, trace_id_of_bytes(&a, bytes));
	arena_done(&a);
}

static void write_value(struct otlp *o, struct jsonout *out, struct str any, unsigned depth)
{
	struct wire_field f = { 0 };

	if (!any.n || depth > VALUE_DEPTH_MAX || !next(o, &any, &f))
		jsonout_null(out);
	else if (is_bytes(&f, 1))
		jsonout_str(out, f.bytes);
	else if (f.number == 2 && f.type == WIRE_VARINT)
		jsonout_bool(out, f.value);
	else if (f.number == 3 && f.type == WIRE_VARINT)
		jsonout_int(out, (int64_t)f.value);
	else if (f.number == 4 && f.type == WIRE_FIXED64)
		jsonout_double(out, otlp_wire_double(&f));
	else if (is_bytes(&f, 5) || is_bytes(&f, 6))
		write_list(o, out, f.bytes, f.number == 6, depth);
	else if (is_bytes(&f, 7))
		write_bytes(out, f.bytes);
	else
		jsonout_null(out);
}

/* An AnyValue; text may stand in o->text until the next call. */
static void take_value(struct otlp *o, struct str any, struct attr *a)
{
	struct jsonout out = { .out = &o->text };
	struct str rest = any;
	struct wire_field f;

	a->type = ATTR_STRING;
	a->text = (struct str){ "", 0 };
	if (!next(o, &rest, &f))
		return;
	if (is_bytes(&f, 1)) {
		a->text = f.bytes;
	} else if (f.number == 2 && f.type == WIRE_VARINT) {
		a->type = ATTR_BOOL;
		a->i = f.value != 0;
	} else if (f.number == 3 && f.type == WIRE_VARINT) {
		a->type = ATTR_INT;
		a->i = (int64_t)f.value;
	} else if (f.number == 4 && f.type == WIRE_FIXED64) {
		a->type = ATTR_DOUBLE;
		a->d = otlp_wire_double(&f);
	} else if (is_bytes(&f, 7)) {
		a->type = ATTR_BYTES;
		a->text = f.bytes;
	} else {
		buf_clear(&o->text);
		write_value(o, &out, any, 0);
		a->type = ATTR_JSON;
		a->text = buf_str(&o->text);
	}
}

static bool take_attr(struct otlp *o, struct str kv, struct attr *a)
{
	struct str value = { 0 };
	struct wire_field f;
	bool has_key = false;

	*a = (struct attr){ 0 };
	while (next(o, &kv, &f)) {
		if (is_bytes(&f, 1)) {
			a->key = f.bytes;
			has_key = true;
		} else if (is_bytes(&f, 2)) {
			value = f.bytes;
		}
	}
	if (has_key)
		take_value(o, value, a);
	return has_key;
}

static void take_event_attr(struct otlp *o, struct str kv)
{
	struct attr a;

	if (take_attr(o, kv, &a))
		attr_add(&o->event, &a);
}

static void take_own_attr(struct otlp *o, struct str kv)
{
	struct attr a;

	if (take_attr(o, kv, &a))
		otlp_add_own_attr(o, &a);
}

/* --- spans ----------------------------------------------------------------------------------- */

static struct str id_of(struct otlp *o, const struct wire_field *f)
{
	return trace_id_of_bytes(&o->b->arena, str_head(f->bytes, 16));
}

static void take_link(struct otlp *o, struct str s)
{
	struct link l = { .kind = LINK_OTHER };
	struct wire_field f;

	buf_clear(&o->event);
	while (next(o, &s, &f)) {
		if (is_bytes(&f, 1))
			l.trace = id_of(o, &f);
		else if (is_bytes(&f, 2))
			l.span = id_of(o, &f);
		else if (is_bytes(&f, 3) && f.bytes.n)
			attr_add_str(&o->event, STR("w3c.tracestate"), f.bytes);
		else if (is_bytes(&f, 4))
			take_event_attr(o, f.bytes);
	}
	l.attrs = buf_str(&o->event);
	link_add(&o->links, &l);
}

static void take_status(struct otlp *o, struct str s, struct otlp_span *span)
{
	struct wire_field f;

	while (next(o, &s, &f)) {
		if (is_bytes(&f, 2))
			span->status_message = f.bytes;
		else if (f.number == 3 && f.type == WIRE_VARINT)
			span->status = f.value;
	}
}

static void take_span_bytes(struct otlp *o, const struct wire_field *f, struct otlp_span *s)
{
	switch (f->number) {
	case 1:
		s->trace = id_of(o, f);
		break;
	case 2:
		s->id = id_of(o, f);
		break;
	case 3:
		s->trace_state = f->bytes;
		break;
	case 4:
		s->parent = id_of(o, f);
		break;
	case 5:
		s->name = f->bytes;
		break;
	case 9:
		take_own_attr(o, f->bytes);
		break;
	case 13:
		take_link(o, f->bytes);
		break;
	case 15:
		take_status(o, f->bytes, s);
		break;
	}
}

static void take_span_number(const struct wire_field *f, struct otlp_span *s)
{
	uint64_t *const to[] = {
		[6] = &s->kind,           [7] = &s->start,           [8] = &s->end,
		[10] = &s->dropped_attrs, [12] = &s->dropped_events, [14] = &s->dropped_links,
		[16] = &s->flags
	};

	if (f->number < sizeof(to) / sizeof(*to) && to[f->number])
		*to[f->number] = f->value;
}

static void take_span_event(struct otlp *o, struct str s, const struct otlp_span *span)
{
	struct otlp_record r = { .trace = span->trace, .span = span->id };
	struct wire_field f;

	buf_clear(&o->event);
	while (next(o, &s, &f)) {
		if (f.number == 1 && f.type == WIRE_FIXED64)
			r.ns = f.value;
		else if (is_bytes(&f, 2))
			r.name = f.bytes;
		else if (is_bytes(&f, 3))
			take_event_attr(o, f.bytes);
		else if (f.number == 4 && f.type == WIRE_VARINT)
			r.dropped_attrs = f.value;
	}
	otlp_add_span_event(o, &r);
}

static void take_span(struct otlp *o, struct str bytes)
{
	struct otlp_span span = { 0 };
	struct str s = bytes;
	struct wire_field f;

	otlp_begin_item(o);
	while (next(o, &s, &f)) {
		if (f.type == WIRE_BYTES)
			take_span_bytes(o, &f, &span);
		else
			take_span_number(&f, &span);
	}
	if (!otlp_add_span(o, &span))
		return;
	for (s = bytes; otlp_wire_take(&s, &f);)
		if (is_bytes(&f, 11))
			take_span_event(o, f.bytes, &span);
}

/* --- logs ------------------------------------------------------------------------------------ */

static void take_log_bytes(struct otlp *o, const struct wire_field *f, struct otlp_record *r,
			   struct str *body)
{
	if (f->number == 3)
		r->severity = f->bytes;
	else if (f->number == 5)
		*body = f->bytes;
	else if (f->number == 6)
		take_own_attr(o, f->bytes);
	else if (f->number == 9)
		r->trace = id_of(o, f);
	else if (f->number == 10)
		r->span = id_of(o, f);
	else if (f->number == 12)
		r->name = f->bytes;
}

static void take_log(struct otlp *o, struct str s)
{
	struct otlp_record r = { 0 };
	struct str body = { 0 };
	struct buf text = { 0 };
	struct wire_field f;
	struct attr a = { 0 };

	otlp_begin_item(o);
	while (next(o, &s, &f)) {
		if (f.type == WIRE_BYTES)
			take_log_bytes(o, &f, &r, &body);
		else if (f.number == 1)
			r.ns = f.value;
		else if (f.number == 11)
			r.observed_ns = f.value;
		else if (f.number == 2)
			r.severity_number = f.value;
		else if (f.number == 7)
			r.dropped_attrs = f.value;
		else if (f.number == 8)
			r.flags = f.value;
	}
	if (body.n) {
		take_value(o, body, &a);
		attr_text(&text, &a);
		r.text = buf_str(&text);
	}
	otlp_add_log(o, &r);
	buf_done(&text);
}

/* --- what is around them --------------------------------------------------------------------- */

enum item { ITEM_SPAN, ITEM_LOG, ITEM_METRIC };

/* Only spans have a fixed field 7, only log records a fixed field 1 or 11 or a number in 2. */
static enum item item_of(struct str s)
{
	struct wire_field f;

	while (otlp_wire_take(&s, &f)) {
		if (f.type == WIRE_FIXED64 && (f.number == 7 || f.number == 8))
			return ITEM_SPAN;
		if ((f.type == WIRE_FIXED64 && (f.number == 1 || f.number == 11)) ||
		    (f.type == WIRE_VARINT && f.number == 2))
			return ITEM_LOG;
		if (f.type == WIRE_BYTES && f.number == 4)
			return ITEM_SPAN;
	}
	return ITEM_METRIC;
}

static void take_item(struct otlp *o, const struct wire_field *f)
{
	if (f->is_cut) /* half a span would be a wrong one */
		return;
	switch (item_of(f->bytes)) {
	case ITEM_SPAN:
		take_span(o, f->bytes);
		break;
	case ITEM_LOG:
		take_log(o, f->bytes);
		break;
	case ITEM_METRIC:
		o->b->losses.count[LOSS_METRICS_SKIPPED]++;
	}
}

static void begin_scope(struct otlp *o, struct str s)
{
	struct str name = { 0 }, version = { 0 }, rest = s;
	struct wire_field f;
	struct attr a;

	while (next(o, &rest, &f)) {
		if (is_bytes(&f, 1))
			name = f.bytes;
		else if (is_bytes(&f, 2))
			version = f.bytes;
	}
	otlp_begin_scope(o, name, version);
	while (otlp_wire_take(&s, &f))
		if (is_bytes(&f, 3) && take_attr(o, f.bytes, &a))
			otlp_add_scope_attr(o, &a);
}

static void take_scope(struct otlp *o, struct str bytes)
{
	struct str s = bytes;
	struct wire_field f;

	otlp_begin_scope(o, (struct str){ 0 }, (struct str){ 0 });
	while (otlp_wire_take(&s, &f))
		if (is_bytes(&f, 1))
			begin_scope(o, f.bytes);
	for (s = bytes; next(o, &s, &f);)
		if (is_bytes(&f, 2))
			take_item(o, &f);
}

static void take_resource(struct otlp *o, struct str bytes)
{
	struct str s = bytes, inner;
	struct wire_field f, kv;
	struct attr a;

	otlp_begin_resource(o);
	while (otlp_wire_take(&s, &f))
		for (inner = f.bytes; is_bytes(&f, 1) && next(o, &inner, &kv);)
			if (is_bytes(&kv, 1) && take_attr(o, kv.bytes, &a))
				otlp_add_resource_attr(o, &a);
	otlp_end_resource(o);
	/* 1000 was the number of scopes when they were called instrumentation libraries. */
	for (s = bytes; next(o, &s, &f);)
		if (is_bytes(&f, 2) || is_bytes(&f, 1000))
			take_scope(o, f.bytes);
}

static void take_message(struct otlp *o, struct str s)
{
	struct wire_field f;

	while (next(o, &s, &f))
		if (is_bytes(&f, 1))
			take_resource(o, f.bytes);
}

/* --- the source ------------------------------------------------------------------------------ */

static int deliver(struct batch *b, struct sink *sink, struct error *err)
{
	int r = 0;

	if (b->spans.nr)
		r = sink->spans(sink->to, b->spans.v, b->spans.nr, err);
	if (r >= 0 && b->events.nr)
		r = sink->events(sink->to, b->events.v, b->events.nr, err);
	losses_add(sink->losses, &b->losses);
	b->losses = (struct losses){ 0 };
	vec_clear(&b->spans);
	vec_clear(&b->events);
	arena_reset(&b->arena);
	return r < 0 ? r : 0;
}

static int read_messages(struct otlp *o, struct otlp_feed *feed, struct sink *sink,
			 struct error *err)
{
	uint64_t position = 0;
	struct str message;
	int r;

	while ((r = otlp_feed_next(feed, &message, err)) > 0) {
		uint64_t now = input_position(feed->in);

		take_message(o, message);
		if (sink->progress && now > position)
			sink->progress(sink->to, now - position);
		position = now;
		if (o->b->spans.nr + o->b->events.nr < BATCH_ITEMS)
			continue;
		r = deliver(o->b, sink, err);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	sink->losses->count[LOSS_FILES_CUT] += feed->is_cut;
	return deliver(o->b, sink, err);
}

static int read_otlp(struct input *in, const struct source_options *options, struct sink *sink,
		     struct error *err)
{
	const struct file_seen seen = { .path = str_of(input_path(in)),
					.format = str_of(source_otlp_protobuf.name),
					.bytes = input_bytes(in),
					.mtime_ns = input_mtime(in) };
	struct otlp_feed feed = { .in = in };
	struct batch b = { 0 };
	struct otlp o = { .b = &b };
	int r = sink->file(sink->to, &seen, &o.file, err);

	(void)options;
	if (r < 0)
		return r;
	feed.framing = otlp_wire_framing(input_head(in, NULL));
	if (feed.framing == WIRE_NONE)
		return error_set(err, EBADMSG, "'%s' is no OTLP in protobuf", input_path(in));
	r = read_messages(&o, &feed, sink, err);
	otlp_feed_done(&feed);
	otlp_done(&o);
	vec_done(&b.spans);
	vec_done(&b.events);
	arena_done(&b.arena);
	return r;
}

static int sniff(struct str head, bool whole)
{
	(void)whole;
	/* blank lines read as empty messages in each other */
	if (!str_trim(head).n)
		return 0;
	return otlp_wire_framing(head) == WIRE_NONE ? 0 : 90;
}

const struct source source_otlp_protobuf = {
	.name = "otlp-protobuf",
	.summary = "OpenTelemetry traces and logs as protobuf, one message or many",
	.sniff = sniff,
	.read = read_otlp,
};
