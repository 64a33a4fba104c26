#include "unit.h"

#include "source/request_line.h"

static void check(const char *text, const char *method, const char *path, bool leads)
{
	struct str m, p;

	assert_true(request_line_find(str_of(text), &m, &p));
	assert_str_equal(m, method);
	assert_str_equal(p, path);
	assert_int_equal(request_line_leads(str_of(text), m), leads);
}

static void a_method_and_a_path_are_found_in_any_dress(void **state)
{
	check("GET /orders/7 200", "GET", "/orders/7", true);
	check("a \"POST /orders?x=1 HTTP/1.1\" 200", "POST", "/orders?x=1", true);
	check("Started PUT \"/orders/7\" for 10.0.0.1", "PUT", "/orders/7", true);
	check("| GET      \"/orders\"", "GET", "/orders", false);
	check("calling DELETE https://shop.example/orders/7, please", "DELETE",
	      "https://shop.example/orders/7", false);
	check("see /etc/x then GET /y", "GET", "/y", false);
}

static void other_slashes_are_no_request(void **state)
{
	static const char *const texts[] = { "",          "/",         "GET", "GET orders",
					     "FORGET /x", "GET \"",    "a/b", "get /orders",
					     "read /a/b", "TARGET /x", "\"/x" };
	struct str m, p;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (request_line_find(str_of(texts[i]), &m, &p))
			fail_msg("found one in '%s'", texts[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_method_and_a_path_are_found_in_any_dress),
		cmocka_unit_test(other_slashes_are_no_request),
	};

	return RUN(tests);
}
