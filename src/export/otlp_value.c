#include "export/otlp_value.h"

#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "export/base64.h"
#include "model/attr.h"

/* Each level of a list takes three of the writer's 64, and some are open already. */
#define DEPTH_MAX 16

static void key_text(struct jsonout *j, const char *key, struct str text)
{
	jsonout_key(j, key);
	jsonout_str(j, text);
}

/* 64-bit numbers are strings in protobuf's JSON. */
static void key_int(struct jsonout *j, const char *key, int64_t v)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%lld", (long long)v);

	key_text(j, key, (struct str){ text, (size_t)n });
}

static void key_double(struct jsonout *j, double v)
{
	jsonout_key(j, "doubleValue");
	if (isfinite(v))
		jsonout_double(j, v);
	else
		jsonout_str(j, isnan(v) ? STR("NaN") : v > 0 ? STR("Infinity") : STR("-Infinity"));
}

static void any_value(struct jsonout *j, struct json_value v, unsigned depth);

static void list_value(struct jsonout *j, struct json_value v, unsigned depth)
{
	struct json_walk w = json_walk(v);

	jsonout_key(j, w.is_object ? "kvlistValue" : "arrayValue");
	jsonout_open(j, '{');
	jsonout_key(j, "values");
	jsonout_open(j, '[');
	while (json_next(&w)) {
		if (!w.is_object) {
			any_value(j, w.value, depth + 1);
			continue;
		}
		jsonout_open(j, '{');
		jsonout_key(j, "key");
		jsonout_str(j, w.key);
		jsonout_key(j, "value");
		any_value(j, w.value, depth + 1);
		jsonout_close(j, '}');
	}
	jsonout_close(j, ']');
	jsonout_close(j, '}');
}

static void any_value(struct jsonout *j, struct json_value v, unsigned depth)
{
	enum json_type type = json_type(v);
	struct str s;
	int64_t i;
	double d;
	bool b;

	jsonout_open(j, '{');
	if (type == JSON_STRING && json_str(v, &s)) {
		key_text(j, "stringValue", s);
	} else if (type == JSON_INT && json_int(v, &i)) {
		key_int(j, "intValue", i);
	} else if (type == JSON_BOOL && json_bool(v, &b)) {
		jsonout_key(j, "boolValue");
		jsonout_bool(j, b);
	} else if ((type == JSON_ARRAY || type == JSON_OBJECT) && depth < DEPTH_MAX) {
		list_value(j, v, depth);
	} else if (json_double(v, &d)) {
		key_double(j, d);
	}
	jsonout_close(j, '}'); /* {} is OTLP's null */
}

static unsigned depth_of(struct str json)
{
	unsigned depth = 0, most = 0;
	bool quoted = false;

	for (size_t i = 0; i < json.n; i++) {
		char c = json.p[i];

		if (quoted && c == '\\')
			i++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && (c == '[' || c == '{'))
			most = ++depth > most ? depth : most;
		else if (!quoted && (c == ']' || c == '}'))
			depth--;
	}
	return most;
}

static void json_value_of(struct jsonout *j, struct json *parser, struct str text)
{
	struct json_value v;

	/* what is not JSON, or too deep to be put into OTLP's form, goes out as its text */
	if (depth_of(text) < DEPTH_MAX && !json_parse(parser, text, false, &v, NULL)) {
		any_value(j, v, 0);
		return;
	}
	jsonout_open(j, '{');
	key_text(j, "stringValue", text);
	jsonout_close(j, '}');
}

static void typed_value(struct jsonout *j, const struct attr *a)
{
	struct buf base64 = { 0 };

	jsonout_open(j, '{');
	switch (a->type) {
	case ATTR_INT:
		key_int(j, "intValue", a->i);
		break;
	case ATTR_DOUBLE:
		key_double(j, a->d);
		break;
	case ATTR_BOOL:
		jsonout_key(j, "boolValue");
		jsonout_bool(j, a->i != 0);
		break;
	case ATTR_BYTES:
		base64_add(&base64, a->text);
		key_text(j, "bytesValue", buf_str(&base64));
		buf_done(&base64);
		break;
	case ATTR_STRING:
	case ATTR_JSON:
		key_text(j, "stringValue", a->text);
		break;
	}
	jsonout_close(j, '}');
}

void otlp_attr(struct jsonout *j, struct json *parser, const struct attr *a)
{
	jsonout_open(j, '{');
	jsonout_key(j, "key");
	jsonout_str(j, a->key);
	jsonout_key(j, "value");
	if (a->type == ATTR_JSON)
		json_value_of(j, parser, a->text);
	else
		typed_value(j, a);
	jsonout_close(j, '}');
}
