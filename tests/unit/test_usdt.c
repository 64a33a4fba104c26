#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "program/functions.h"
#include "program/usdt.h"

#define POSTGRES "/usr/lib/postgresql/15/bin/postgres"

static void arguments_are_registers_memory_and_constants(void **state)
{
	struct usdt_argument a = usdt_argument(STR("-4@%r12d"));

	(void)state;
	assert_true(a.where == USDT_REGISTER && a.base == 12 && a.bytes == 4 && a.is_signed);
	a = usdt_argument(STR("8@%rax"));
	assert_true(a.where == USDT_REGISTER && a.base == 0 && a.bytes == 8 && !a.is_signed);
	a = usdt_argument(STR("1@%ah"));
	assert_true(a.where == USDT_REGISTER && a.base == 0 && a.bytes == 1 && a.is_high);
	a = usdt_argument(STR("-4@16(%rbp)"));
	assert_true(a.where == USDT_MEMORY && a.base == 6 && a.offset == 16);
	assert_int_equal(a.index, USDT_NO_REGISTER);
	a = usdt_argument(STR("2@-0x10(%rdx,%rcx,4)"));
	assert_true(a.where == USDT_MEMORY && a.base == 1 && a.index == 2 && a.scale == 4);
	assert_int_equal(a.offset, -16);
	a = usdt_argument(STR("8@(%rsp)"));
	assert_true(a.where == USDT_MEMORY && a.base == 7 && a.offset == 0);
	a = usdt_argument(STR("4@$-5"));
	assert_true(a.where == USDT_CONSTANT && a.offset == -5);
}

static void what_is_not_understood_is_unknown(void **state)
{
	static const char *const odd[] = { "",        "8@",       "3@%rax",
					   "8@%xmm0", "8@$",      "8@foo(%rip)",
					   "8@%rax)", "8@(%rax,", "8@(%rax,%rbx,3)",
					   "x@%rax",  "8@%r16",   "8@%",
					   "@",       "-@%rax" };

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		if (usdt_argument(str_of(odd[i])).where != USDT_UNKNOWN)
			fail_msg("'%s' was understood", odd[i]);
}

static void a_server_tells_its_transactions(void **state)
{
	struct functions f = { 0 };
	struct usdts u = { 0 };
	struct error err = { 0 };
	uint32_t v[8], i;

	(void)state;
	if (access(POSTGRES, R_OK))
		skip();
	assert_int_equal(functions_of_file(&f, POSTGRES, &err), 0);
	usdts_read(&u, &f);
	assert_true(usdts_find(&u, STR("postgresql"), STR("transaction__start"), v, 8) > 0);
	i = v[0];
	assert_true(u.v.v[i].semaphore && u.v.v[i].nr_arguments == 1);
	assert_int_not_equal(functions_at(&f, 0, u.v.v[i].address), UINT32_MAX);
	assert_true(usdts_find(&u, STR(""), STR("query__start"), v, 8) > 0);
	assert_int_equal(usdts_find(&u, STR("other"), STR("query__start"), v, 8), 0);
	assert_int_equal(usdts_missing(&u, STR(""), STR("transaction__comit"), &err), -ENOENT);
	assert_string_equal(err.msg, "no static probe 'postgresql:transaction__comit'; did you "
				     "mean postgresql:transaction__commit?");
	usdts_done(&u);
	functions_done(&f);
}

/* What lib/culprit/interval.h writes. */
static void marks_in_a_program_are_probes(void **state)
{
	struct functions f = { 0 };
	struct usdts u = { 0 };
	struct error err = { 0 };
	uint32_t v[8], in[2];
	const char *path = getenv("CULPRIT_SAMPLE");

	(void)state;
	if (!path)
		skip();
	assert_int_equal(functions_of_file(&f, path, &err), 0);
	usdts_read(&u, &f);
	assert_int_equal(usdts_find(&u, STR("culprit"), STR("begin"), v, 8), 2);
	assert_int_equal(usdts_find(&u, STR("culprit"), STR("end"), v, 8), 2);
	assert_int_equal(usdts_find(&u, STR("culprit"), STR("carry"), v, 8), 1);
	assert_int_equal(functions_find(&f, STR("calls_by_pointer"), in, 2), 1);
	assert_int_equal(functions_at(&f, 0, u.v.v[v[0]].address), in[0]);
	vec_each (&u.v, p)
		assert_true(p->nr_arguments == 1 && p->arguments[0].where != USDT_UNKNOWN &&
			    p->arguments[0].bytes == sizeof(void *) && !p->semaphore);
	usdts_done(&u);
	functions_done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_are_registers_memory_and_constants),
		cmocka_unit_test(what_is_not_understood_is_unknown),
		cmocka_unit_test(a_server_tells_its_transactions),
		cmocka_unit_test(marks_in_a_program_are_probes),
	};

	return RUN(tests);
}
