/*
 * A thin C face of simdjson's DOM (Debian has no equally fast JSON library in C). A value is a
 * position on simdjson's tape, so it is plain data and costs nothing to pass around.
 */
#include "base/json.h"

#include <cerrno>
#include <cmath>
#include <simdjson.h>

extern "C" {
#include "base/error.h"
}

struct json {
	simdjson::dom::parser parser;
};

using simdjson::internal::tape_ref;

static tape_ref ref_of(struct json_value v)
{
	return tape_ref(static_cast<const simdjson::dom::document *>(v.doc), v.at);
}

struct json *json_new(void)
{
	return new struct json;
}

void json_free(struct json *j)
{
	delete j;
}

size_t json_padding(void)
{
	return simdjson::SIMDJSON_PADDING;
}

int json_parse(struct json *j, struct str text, bool padded, struct json_value *root,
	       struct error *err)
{
	simdjson::dom::element element;
	/* Without bytes behind the text simdjson copies it once into a padded buffer of its own. */
	auto result = j->parser.parse(reinterpret_cast<const uint8_t *>(text.p ? text.p : ""),
				      text.n, !padded);
	auto code = result.get(element);

	if (code)
		return error_set(err, EBADMSG, "not valid JSON: %s", simdjson::error_message(code));
	/* Slot 0 of the tape is the root word; the document's value follows it. */
	*root = { &j->parser.doc, 1 };
	return 0;
}

enum json_type json_type(struct json_value v)
{
	using simdjson::internal::tape_type;

	if (!v.doc)
		return JSON_NONE;
	switch (ref_of(v).tape_ref_type()) {
	case tape_type::START_ARRAY:
		return JSON_ARRAY;
	case tape_type::START_OBJECT:
		return JSON_OBJECT;
	case tape_type::STRING:
		return JSON_STRING;
	case tape_type::INT64:
		return JSON_INT;
	case tape_type::UINT64:
		return JSON_UINT;
	case tape_type::DOUBLE:
		return JSON_DOUBLE;
	case tape_type::TRUE_VALUE:
	case tape_type::FALSE_VALUE:
		return JSON_BOOL;
	case tape_type::NULL_VALUE:
		return JSON_NULL;
	default:
		return JSON_NONE;
	}
}

struct json_walk json_walk(struct json_value v)
{
	enum json_type type = json_type(v);
	struct json_walk w = {};

	if (type != JSON_ARRAY && type != JSON_OBJECT)
		return w;
	w.doc = v.doc;
	w.at = v.at + 1;
	w.end = ref_of(v).matching_brace_index() - 1; /* of the word behind the closing bracket */
	w.is_object = type == JSON_OBJECT;
	return w;
}

static struct str string_at(const void *doc, uint64_t at)
{
	tape_ref ref(static_cast<const simdjson::dom::document *>(doc), at);

	return { ref.get_c_str(), ref.get_string_length() };
}

bool json_next(struct json_walk *w)
{
	if (w->at >= w->end)
		return false;
	if (w->is_object)
		w->key = string_at(w->doc, w->at++);
	w->value = { w->doc, w->at };
	w->at = ref_of(w->value).after_element();
	return true;
}

struct json_value json_get(struct json_value v, struct str key)
{
	struct json_walk w = json_walk(v);

	if (!w.is_object)
		return {};
	while (json_next(&w))
		if (str_eq(w.key, key))
			return w.value;
	return {};
}

size_t json_count(struct json_value v)
{
	struct json_walk w = json_walk(v);
	size_t nr = 0;

	while (json_next(&w))
		nr++;
	return nr;
}

bool json_str(struct json_value v, struct str *s)
{
	if (json_type(v) != JSON_STRING)
		return false;
	*s = string_at(v.doc, v.at);
	return true;
}

bool json_double(struct json_value v, double *d)
{
	struct str s;

	switch (json_type(v)) {
	case JSON_DOUBLE:
		*d = ref_of(v).next_tape_value<double>();
		return true;
	case JSON_INT:
		*d = static_cast<double>(ref_of(v).next_tape_value<int64_t>());
		return true;
	case JSON_UINT:
		*d = static_cast<double>(ref_of(v).next_tape_value<uint64_t>());
		return true;
	case JSON_STRING:
		s = string_at(v.doc, v.at);
		return str_take_double(&s, d) && !s.n;
	default:
		return false;
	}
}

bool json_int(struct json_value v, int64_t *n)
{
	struct str s;
	double d;

	switch (json_type(v)) {
	case JSON_INT:
		*n = ref_of(v).next_tape_value<int64_t>();
		return true;
	case JSON_DOUBLE:
		d = ref_of(v).next_tape_value<double>();
		if (!(d >= -9.2e18 && d <= 9.2e18) || d != std::floor(d))
			return false;
		*n = static_cast<int64_t>(d);
		return true;
	case JSON_STRING:
		s = string_at(v.doc, v.at);
		return str_take_int(&s, n) && !s.n;
	default:
		return false;
	}
}

bool json_uint(struct json_value v, uint64_t *n)
{
	struct str s;
	int64_t i;

	if (json_type(v) == JSON_UINT) {
		*n = ref_of(v).next_tape_value<uint64_t>();
		return true;
	}
	if (json_type(v) == JSON_STRING) {
		s = string_at(v.doc, v.at);
		return str_take_uint(&s, n) && !s.n;
	}
	if (!json_int(v, &i) || i < 0)
		return false;
	*n = static_cast<uint64_t>(i);
	return true;
}

bool json_bool(struct json_value v, bool *b)
{
	if (json_type(v) != JSON_BOOL)
		return false;
	*b = ref_of(v).is_true();
	return true;
}
