#include "source/json_attr.h"

#define DEPTH_MAX 60 /* of 64 that the writer has */

void json_attr_write(struct jsonout *out, struct json_value v)
{
	enum json_type type = json_type(v);
	struct json_walk w;
	struct str s = { 0 };
	uint64_t u = 0;
	int64_t i = 0;
	double d = 0;
	bool b = false;

	if (type == JSON_STRING && json_str(v, &s))
		jsonout_str(out, s);
	else if (type == JSON_INT && json_int(v, &i))
		jsonout_int(out, i);
	else if (type == JSON_UINT && json_uint(v, &u))
		jsonout_uint(out, u);
	else if (type == JSON_DOUBLE && json_double(v, &d))
		jsonout_double(out, d);
	else if (type == JSON_BOOL && json_bool(v, &b))
		jsonout_bool(out, b);
	else if ((type != JSON_ARRAY && type != JSON_OBJECT) || out->depth >= DEPTH_MAX)
		jsonout_null(out);
	else {
		jsonout_open(out, type == JSON_ARRAY ? '[' : '{');
		for (w = json_walk(v); json_next(&w);) {
			if (type == JSON_OBJECT)
				jsonout_key_str(out, w.key);
			json_attr_write(out, w.value);
		}
		jsonout_close(out, type == JSON_ARRAY ? ']' : '}');
	}
}

void json_attr_add(struct buf *packed, enum attr_scope scope, struct str key, struct json_value v)
{
	struct attr a = { .scope = scope, .key = key };
	struct buf text = { 0 };
	struct jsonout out = { .out = &text };
	bool b = false;

	switch (json_type(v)) {
	case JSON_STRING:
		a.type = ATTR_STRING;
		json_str(v, &a.text);
		break;
	case JSON_INT:
		a.type = ATTR_INT;
		json_int(v, &a.i);
		break;
	case JSON_DOUBLE:
		a.type = ATTR_DOUBLE;
		json_double(v, &a.d);
		break;
	case JSON_BOOL:
		a.type = ATTR_BOOL;
		json_bool(v, &b);
		a.i = b;
		break;
	default:
		a.type = ATTR_JSON;
		json_attr_write(&out, v);
		a.text = buf_str(&text);
	}
	attr_add(packed, &a);
	buf_done(&text);
}

void json_attr_add_all(struct buf *packed, enum attr_scope scope, struct json_value object)
{
	struct json_walk w = json_walk(object);

	if (!w.is_object)
		return;
	while (json_next(&w))
		json_attr_add(packed, scope, w.key, w.value);
}
