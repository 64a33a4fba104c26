#include "source/jaeger_tag.h"

#include "base/jsonout.h"
#include "source/json_attr.h"
#include "source/trace_id.h"

/* One tag as it stands: which value member it has, and what it says of its type. */
struct raw_tag {
	struct str key, type;
	struct json_value value;
	enum attr_type wants;
	bool has_key;
};

static bool wanted_type(struct str name, enum attr_type *type)
{
	static const struct {
		const char *name;
		enum attr_type type;
	} types[] = {
		{ "string", ATTR_STRING },   { "bool", ATTR_BOOL },
		{ "int64", ATTR_INT },       { "float64", ATTR_DOUBLE },
		{ "binary", ATTR_BYTES },    { "long", ATTR_INT },
		{ "double", ATTR_DOUBLE },   { "vStr", ATTR_STRING },
		{ "vBool", ATTR_BOOL },      { "vInt64", ATTR_INT },
		{ "vFloat64", ATTR_DOUBLE }, { "vBinary", ATTR_BYTES },
		{ "v_str", ATTR_STRING },    { "v_bool", ATTR_BOOL },
		{ "v_int64", ATTR_INT },     { "v_float64", ATTR_DOUBLE },
		{ "v_binary", ATTR_BYTES },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (!str_eq_nocase(name, str_of(types[i].name)))
			continue;
		*type = types[i].type;
		return true;
	}
	return false;
}

static bool raw_tag_of(struct json_value v, struct raw_tag *raw)
{
	struct json_walk w = json_walk(v);
	enum attr_type type;
	bool has_type = false;

	*raw = (struct raw_tag){ 0 };
	while (w.is_object && json_next(&w)) {
		if (str_eq(w.key, STR("key"))) {
			raw->has_key = json_str(w.value, &raw->key);
		} else if (str_eq(w.key, STR("value"))) {
			raw->value = w.value;
		} else if (str_eq(w.key, STR("type")) || str_eq(w.key, STR("vType")) ||
			   str_eq(w.key, STR("v_type"))) {
			has_type = json_str(w.value, &raw->type) &&
				   wanted_type(raw->type, &raw->wants);
		} else if (wanted_type(w.key, &type)) {
			raw->value = w.value;
			raw->wants = type;
			has_type = true;
		}
	}
	/* Without a type the value tells. */
	if (!has_type)
		raw->wants = ATTR_JSON;
	return raw->has_key;
}

static bool as_bool(struct json_value v, int64_t *i)
{
	struct str s;
	bool b;

	if (json_bool(v, &b)) {
		*i = b;
		return true;
	}
	if (!json_str(v, &s) || (!str_eq(s, STR("true")) && !str_eq(s, STR("false"))))
		return false;
	*i = s.p[0] == 't';
	return true;
}

static bool as_bytes(struct jaeger_tags *t, struct json_value v, struct str *bytes)
{
	struct str s;

	buf_clear(t->room);
	if (!json_str(v, &s) ||
	    !(t->binary_is_hex ? trace_id_take_hex(t->room, s) : trace_id_take_base64(t->room, s)))
		return false;
	*bytes = buf_str(t->room);
	return true;
}

/* The value in the type that the tag claims; false when it does not fit. */
static bool as_wanted(struct jaeger_tags *t, const struct raw_tag *raw, struct attr *a)
{
	/* A zero is left out in JSON that was made from protobuf. */
	bool is_absent = json_type(raw->value) == JSON_NONE;

	a->type = raw->wants;
	switch (raw->wants) {
	case ATTR_STRING:
		a->text = (struct str){ "", 0 };
		return is_absent || json_str(raw->value, &a->text);
	case ATTR_INT:
		return is_absent || json_int(raw->value, &a->i);
	case ATTR_BOOL:
		return is_absent || as_bool(raw->value, &a->i);
	case ATTR_DOUBLE:
		return is_absent || json_double(raw->value, &a->d);
	case ATTR_BYTES:
		return is_absent || as_bytes(t, raw->value, &a->text);
	default:
		return false;
	}
}

/* The value in the type that it has in JSON. */
static void as_found(struct jaeger_tags *t, struct json_value v, struct attr *a)
{
	struct str packed, key = a->key;

	buf_clear(t->room);
	json_attr_add(t->room, ATTR_SPAN, key, v);
	packed = buf_str(t->room);
	attr_take(&packed, a);
}

/* Dots in keys are written as '@' where they would make fields of fields. */
static struct str with_dots(struct jaeger_tags *t, struct str key)
{
	char *p;

	if (!memchr(key.p, '@', key.n))
		return key;
	p = arena_alloc(t->arena, key.n);
	for (size_t i = 0; i < key.n; i++)
		p[i] = key.p[i] == '@' ? '.' : key.p[i];
	return (struct str){ p, key.n };
}

bool jaeger_tags_next(struct jaeger_tags *t, struct attr *a)
{
	struct raw_tag raw;

	while (json_next(&t->walk)) {
		*a = (struct attr){ 0 };
		if (t->walk.is_object) {
			a->key = with_dots(t, t->walk.key);
			as_found(t, t->walk.value, a);
			return true;
		}
		if (!raw_tag_of(t->walk.value, &raw))
			continue;
		a->key = raw.key;
		if (!as_wanted(t, &raw, a))
			as_found(t, raw.value, a);
		return true;
	}
	return false;
}
