/*
 * opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest: one resource (the query)
 * for each answer, one metric for each column that is measured, one data point for each row.
 */
#include "export/otlp_metrics.h"

#include <math.h>
#include <stdio.h>

#include "base/jsonout.h"
#include "export/otlp_histogram.h"
#include "export/proto.h"
#include "model/live.h"

#define SCOPE STR("culprit")
#define CUMULATIVE 2

/* What one row tells of one column. */
struct point {
	const struct live_answer *a;
	const struct live_row *row;
	bool is_int;
	int64_t i;
	double d;
	const struct live_value *buckets; /* of a histogram, otherwise NULL */
	uint64_t since_ns, ns;
};

/* False where there is nothing to tell. */
static bool take_point(const struct live_answer *a, size_t column, const struct live_row *row,
		       struct point *p)
{
	const struct live_value *v = &row->values[column];

	*p = (struct point){ .a = a, .row = row, .since_ns = (uint64_t)a->since_ns };
	p->ns = (uint64_t)(a->first_ns + (int64_t)a->nr_steps * a->step_ns);
	if (!row->series)
		return false;
	if (v->type == LIVE_BUCKETS) {
		p->buckets = v;
		return true;
	}
	if (!a->columns[column].adds_up) {
		p->d = live_latest(a, row, column);
		return !isnan(p->d);
	}
	p->is_int = v->type == LIVE_INT;
	p->i = v->type == LIVE_INT ? v->i : 0;
	p->d = v->type == LIVE_DOUBLE ? v->d : 0;
	return v->type == LIVE_INT || v->type == LIVE_DOUBLE;
}

static bool has_points(const struct live_answer *a, size_t column)
{
	struct point p;

	for (size_t i = 0; i < a->nr_rows && !a->columns[column].is_key; i++)
		if (take_point(a, column, &a->rows[i], &p))
			return true;
	return false;
}

/* What a column's points are of: one kind for all of them. */
struct kind {
	const char *name;     /* in JSON */
	unsigned field;       /* of a metric, in protobuf */
	unsigned attrs_field; /* of a point */
};
static const struct kind gauge = { "gauge", 5, 7 }, sum = { "sum", 7, 7 },
			 histogram = { "histogram", 9, 9 };

static const struct kind *kind_of(const struct live_answer *a, size_t column)
{
	for (size_t i = 0; i < a->nr_rows; i++)
		if (a->rows[i].values[column].type == LIVE_BUCKETS)
			return &histogram;
	return a->columns[column].adds_up ? &sum : &gauge;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void key_text(struct jsonout *j, const char *key, struct str text)
{
	jsonout_key(j, key);
	jsonout_str(j, text);
}

/* 64-bit numbers are strings in the JSON form of protobuf. */
static void key_long(struct jsonout *j, const char *key, int64_t v)
{
	char text[24];

	jsonout_key(j, key);
	snprintf(text, sizeof(text), "%lld", (long long)v);
	jsonout_str(j, str_of(text));
}

static void json_value(struct jsonout *j, const struct live_value *v)
{
	jsonout_key(j, "value");
	jsonout_open(j, '{');
	if (v->type == LIVE_TEXT) {
		key_text(j, "stringValue", v->text);
	} else if (v->type == LIVE_INT) {
		key_long(j, "intValue", v->i);
	} else if (v->type == LIVE_DOUBLE) {
		jsonout_key(j, "doubleValue");
		jsonout_double(j, v->d);
	} else if (v->type == LIVE_BOOL) {
		jsonout_key(j, "boolValue");
		jsonout_bool(j, v->i != 0);
	}
	jsonout_close(j, '}');
}

static void json_attr(struct jsonout *j, struct str key, const struct live_value *v)
{
	jsonout_open(j, '{');
	key_text(j, "key", key);
	json_value(j, v);
	jsonout_close(j, '}');
}

static void json_point(struct jsonout *j, const struct point *p)
{
	jsonout_open(j, '{');
	jsonout_key(j, "attributes");
	jsonout_open(j, '[');
	for (size_t i = 0; i < p->a->nr_columns; i++)
		if (p->a->columns[i].is_key)
			json_attr(j, p->a->columns[i].name, &p->row->values[i]);
	jsonout_close(j, ']');
	key_long(j, "startTimeUnixNano", (int64_t)p->since_ns);
	key_long(j, "timeUnixNano", (int64_t)p->ns);
	if (p->buckets) {
		otlp_histogram_json(j, p->buckets);
	} else if (p->is_int) {
		key_long(j, "asInt", p->i);
	} else {
		jsonout_key(j, "asDouble");
		jsonout_double(j, p->d);
	}
	jsonout_close(j, '}');
}

static void json_metric(struct jsonout *j, const struct live_answer *a, size_t column)
{
	const struct live_column *c = &a->columns[column];
	const struct kind *kind = kind_of(a, column);
	struct point p;

	jsonout_open(j, '{');
	key_text(j, "name", c->name);
	jsonout_key(j, kind->name);
	jsonout_open(j, '{');
	if (kind != &gauge) {
		jsonout_key(j, "aggregationTemporality");
		jsonout_uint(j, CUMULATIVE);
	}
	if (kind == &sum) {
		jsonout_key(j, "isMonotonic");
		jsonout_bool(j, c->is_count);
	}
	jsonout_key(j, "dataPoints");
	jsonout_open(j, '[');
	for (size_t i = 0; i < a->nr_rows; i++)
		if (take_point(a, column, &a->rows[i], &p))
			json_point(j, &p);
	jsonout_close(j, ']');
	jsonout_close(j, '}');
	jsonout_close(j, '}');
}

static void json_resource(struct jsonout *j, const struct live_answer *a)
{
	const struct live_value id = { LIVE_TEXT, { .text = a->id } };
	const struct live_value text = { LIVE_TEXT, { .text = a->text } };

	jsonout_key(j, "resource");
	jsonout_open(j, '{');
	jsonout_key(j, "attributes");
	jsonout_open(j, '[');
	json_attr(j, STR("service.name"), &(struct live_value){ LIVE_TEXT, { .text = SCOPE } });
	json_attr(j, STR("culprit.query.id"), &id);
	json_attr(j, STR("culprit.query.text"), &text);
	jsonout_close(j, ']');
	jsonout_close(j, '}');
}

static void json_answer(struct jsonout *j, const struct live_answer *a)
{
	jsonout_open(j, '{');
	json_resource(j, a);
	jsonout_key(j, "scopeMetrics");
	jsonout_open(j, '[');
	jsonout_open(j, '{');
	jsonout_key(j, "scope");
	jsonout_open(j, '{');
	key_text(j, "name", SCOPE);
	jsonout_close(j, '}');
	jsonout_key(j, "metrics");
	jsonout_open(j, '[');
	for (size_t i = 0; i < a->nr_columns; i++)
		if (has_points(a, i))
			json_metric(j, a, i);
	jsonout_close(j, ']');
	jsonout_close(j, '}');
	jsonout_close(j, ']');
	jsonout_close(j, '}');
}

void otlp_metrics_json(const struct live_answer *const *answers, size_t nr, struct buf *out)
{
	struct jsonout j = { .out = out };

	jsonout_open(&j, '{');
	jsonout_key(&j, "resourceMetrics");
	jsonout_open(&j, '[');
	for (size_t i = 0; i < nr; i++)
		json_answer(&j, answers[i]);
	jsonout_close(&j, ']');
	jsonout_close(&j, '}');
	buf_char(out, '\n');
}

/* --- protobuf --------------------------------------------------------------------------------- */

static void proto_value(struct buf *b, const struct live_value *v)
{
	if (v->type == LIVE_TEXT)
		proto_text(b, 1, v->text);
	else if (v->type == LIVE_BOOL)
		proto_uint(b, 2, v->i != 0);
	else if (v->type == LIVE_INT)
		proto_uint(b, 3, (uint64_t)v->i);
	else if (v->type == LIVE_DOUBLE)
		proto_double(b, 4, v->d);
}

/* One KeyValue as this field. */
static void proto_attr(struct buf *b, unsigned field, struct str key, const struct live_value *v)
{
	struct buf pair = { 0 }, value = { 0 };

	proto_value(&value, v);
	proto_text(&pair, 1, key);
	proto_bytes(&pair, 2, buf_str(&value));
	proto_bytes(b, field, buf_str(&pair));
	buf_done(&pair);
	buf_done(&value);
}

static void proto_point(struct buf *b, const struct kind *kind, const struct point *p)
{
	struct buf point = { 0 };

	proto_fixed64(&point, 2, p->since_ns);
	proto_fixed64(&point, 3, p->ns);
	if (p->buckets)
		otlp_histogram_proto(&point, p->buckets);
	else if (p->is_int)
		proto_fixed64(&point, 6, (uint64_t)p->i);
	else
		proto_double(&point, 4, p->d);
	for (size_t i = 0; i < p->a->nr_columns; i++)
		if (p->a->columns[i].is_key)
			proto_attr(&point, kind->attrs_field, p->a->columns[i].name,
				   &p->row->values[i]);
	proto_bytes(b, 1, buf_str(&point));
	buf_done(&point);
}

static void proto_metric(struct buf *b, const struct live_answer *a, size_t column)
{
	const struct live_column *c = &a->columns[column];
	const struct kind *kind = kind_of(a, column);
	struct buf metric = { 0 }, data = { 0 };
	struct point p;

	for (size_t i = 0; i < a->nr_rows; i++)
		if (take_point(a, column, &a->rows[i], &p))
			proto_point(&data, kind, &p);
	if (kind != &gauge)
		proto_uint(&data, 2, CUMULATIVE);
	if (kind == &sum)
		proto_uint(&data, 3, c->is_count);
	proto_text(&metric, 1, c->name);
	proto_bytes(&metric, kind->field, buf_str(&data));
	proto_bytes(b, 2, buf_str(&metric));
	buf_done(&metric);
	buf_done(&data);
}

static void proto_answer(struct buf *b, const struct live_answer *a)
{
	const struct live_value service = { LIVE_TEXT, { .text = SCOPE } };
	const struct live_value id = { LIVE_TEXT, { .text = a->id } };
	const struct live_value text = { LIVE_TEXT, { .text = a->text } };
	struct buf resource = { 0 }, scope = { 0 }, metrics = { 0 }, all = { 0 };

	proto_attr(&resource, 1, STR("service.name"), &service);
	proto_attr(&resource, 1, STR("culprit.query.id"), &id);
	proto_attr(&resource, 1, STR("culprit.query.text"), &text);
	proto_text(&scope, 1, SCOPE);
	proto_bytes(&metrics, 1, buf_str(&scope));
	for (size_t i = 0; i < a->nr_columns; i++)
		if (has_points(a, i))
			proto_metric(&metrics, a, i);
	proto_bytes(&all, 1, buf_str(&resource));
	proto_bytes(&all, 2, buf_str(&metrics));
	proto_bytes(b, 1, buf_str(&all));
	buf_done(&resource);
	buf_done(&scope);
	buf_done(&metrics);
	buf_done(&all);
}

void otlp_metrics_proto(const struct live_answer *const *answers, size_t nr, struct buf *out)
{
	for (size_t i = 0; i < nr; i++)
		proto_answer(out, answers[i]);
}
