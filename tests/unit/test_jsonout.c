#include "unit.h"

#include <math.h>

#include "base/error.h"
#include "base/json.h"
#include "base/jsonout.h"

static void nesting_gets_its_commas(void **state)
{
	struct buf b = { 0 };
	struct jsonout j = { .out = &b };

	(void)state;
	jsonout_open(&j, '{');
	jsonout_key(&j, "a");
	jsonout_open(&j, '[');
	jsonout_int(&j, -1);
	jsonout_uint(&j, UINT64_MAX);
	jsonout_open(&j, '{');
	jsonout_close(&j, '}');
	jsonout_close(&j, ']');
	jsonout_key(&j, "b");
	jsonout_bool(&j, true);
	jsonout_key(&j, "c");
	jsonout_double(&j, NAN);
	jsonout_key(&j, "d");
	jsonout_double(&j, 0.1);
	jsonout_close(&j, '}');
	assert_str_equal(buf_str(&b),
			 "{\"a\":[-1,18446744073709551615,{}],\"b\":true,\"c\":null,\"d\":0.1}");
	buf_done(&b);
}

static void any_bytes_come_out_as_valid_json(void **state)
{
	struct json *parser = json_new();
	struct buf b = { 0 };
	struct error err;
	char bytes[512];

	(void)state;
	for (int i = 0; i < 512; i++)
		bytes[i] = (char)(i * 7 + i / 256);
	for (size_t n = 0; n < sizeof(bytes); n++) {
		struct jsonout j = { .out = &b };
		struct json_value v;

		buf_clear(&b);
		jsonout_str(&j, (struct str){ bytes, n });
		assert_int_equal(json_parse(parser, buf_str(&b), false, &v, &err), 0);
		assert_int_equal(json_type(v), JSON_STRING);
	}
	buf_done(&b);
	json_free(parser);
}

static void a_document_can_be_walked(void **state)
{
	struct json *parser = json_new();
	struct error err;
	struct json_value v;
	struct json_walk w;
	int64_t i;
	uint64_t u;
	double d;
	bool yes;
	struct str s;

	(void)state;
	assert_int_equal(json_parse(parser,
				    STR("{\"a\":[1,\"2\",3.0],\"b\":{\"c\":true},\"u\":"
					"18446744073709551615,\"z\":null}"),
				    false, &v, &err),
			 0);
	assert_int_equal(json_count(v), 4);
	w = json_walk(json_get(v, STR("a")));
	for (int64_t want = 1; want <= 3; want++) {
		assert_true(json_next(&w));
		assert_true(json_int(w.value, &i) && i == want);
	}
	assert_false(json_next(&w));
	assert_true(json_bool(json_get(json_get(v, STR("b")), STR("c")), &yes) && yes);
	assert_true(json_uint(json_get(v, STR("u")), &u) && u == UINT64_MAX);
	assert_false(json_int(json_get(v, STR("u")), &i));
	assert_true(json_double(json_get(v, STR("u")), &d));
	assert_int_equal(json_type(json_get(v, STR("z"))), JSON_NULL);
	assert_int_equal(json_type(json_get(v, STR("none"))), JSON_NONE);
	assert_false(json_str(json_get(v, STR("none")), &s));
	assert_int_equal(json_count(json_get(v, STR("none"))), 0);
	json_free(parser);
}

static void broken_documents_are_explained(void **state)
{
	struct json *parser = json_new();
	struct error err = { 0 };
	struct json_value v = { 0 };

	(void)state;
	assert_true(json_parse(parser, STR("{\"a\":"), false, &v, &err) < 0);
	assert_non_null(strstr(err.msg, "not valid JSON"));
	assert_true(json_parse(parser, STR(""), false, &v, &err) < 0);
	assert_true(json_parse(parser, STR("\"\xff\""), false, &v, &err) < 0);
	assert_null(v.doc);
	json_free(parser);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nesting_gets_its_commas),
		cmocka_unit_test(any_bytes_come_out_as_valid_json),
		cmocka_unit_test(a_document_can_be_walked),
		cmocka_unit_test(broken_documents_are_explained),
	};

	return RUN(tests);
}
