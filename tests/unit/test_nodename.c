#include "unit.h"

#include "base/arena.h"
#include "source/nodename.h"

static void check(const char *path, const char *want)
{
	struct arena a = { 0 };

	assert_str_equal(nodename_of_path(&a, str_of(path)), want);
	arena_done(&a);
}

static void endings_of_rotation_and_compression_are_taken_off(void **state)
{
	(void)state;
	check("dn1.log", "dn1");
	check("logs/dn1.log.2.gz", "dn1");
	check("/x/dn1.log-20240101.xz", "dn1");
	check("dn1.2024-01-01.log", "dn1");
	check("dn1-2024-01-01T10.log.zst", "dn1");
	check("dn1.log-20240101-1704067200.gz", "dn1");
	check("hadoop-hdfs-datanode-host7.out.1", "hadoop-hdfs-datanode-host7");
	check("ts-order-service.txt", "ts-order-service");
}

static void numbers_that_belong_to_the_name_stay(void **state)
{
	(void)state;
	check("web-1", "web-1");
	check("node3.log", "node3");
	check("api.v2", "api.v2");
	check("host-10-0-0-7.log", "host-10-0-0-7");
}

static void a_name_that_says_nothing_takes_its_directory_along(void **state)
{
	(void)state;
	check("nm1/syslog", "nm1/syslog");
	check("/var/log/web7/access.log.1", "web7/access");
	check("container_01_000002/stdout", "container_01_000002/stdout");
	check("pods/shop_web/app/0.log", "shop_web/0");
	check("syslog", "syslog");
	check("./messages", "messages");
	check("../stderr", "stderr");
}

static void odd_paths_still_have_a_name(void **state)
{
	(void)state;
	check("-", "stdin");
	check(".log", ".log");
	check("/", "");
	check("20240101.log", "20240101");
	check("a/.gz", ".gz");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(endings_of_rotation_and_compression_are_taken_off),
		cmocka_unit_test(numbers_that_belong_to_the_name_stay),
		cmocka_unit_test(a_name_that_says_nothing_takes_its_directory_along),
		cmocka_unit_test(odd_paths_still_have_a_name),
	};

	return RUN(tests);
}
