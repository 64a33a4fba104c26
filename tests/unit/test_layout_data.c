/* The public log files under CULPRIT_DATA: how many events, and when first. The numbers are what
 * the code gave, reviewed by eye against the files: they hold what works, and prove less than a
 * truth written beforehand. */
#include "unit.h"

#include <stdio.h>

#include "base/buf.h"
#include "layout_case.h"

static const struct {
	const char *file, *kind;
	size_t nr;
	const char *first;
} files[] = {
	{ "logfile_access_log.1", "access", 1, "2013-02-15 06:00:31.000000000" },
	{ "logfile_ansi.0", "text", 1, "2022-06-22 10:20:33.000000000" },
	{ "logfile_bad_access_log.0", "access", 3, "2009-07-20 22:59:26.000000000" },
	{ "logfile_block.1", "text", 2, "2021-05-19 13:00:01.000000000" },
	{ "logfile_blued.0", "text", 6, "2024-04-04 20:02:32.000000000" },
	{ "logfile_bro_http.log.0", "table", 197, "2011-11-03 00:19:26.452687000" },
	{ "logfile_caddy_log.0", "compose", 39, NULL },
	{ "logfile_cloudflare.1", "json", 15, "2024-04-10 23:00:00.123000000" },
	{ "logfile_crlf.0", "text", 2, "2012-07-02 10:22:40.672000000" },
	{ "logfile_docker_compose.0", "compose", 11, "2024-04-25 05:32:35.018000000" },
	{ "logfile_docker_compose_with_ts.0", "compose", 22, "2024-04-25 05:32:35.584725130" },
	{ "logfile_ecs_log.json", "json", 5, "2025-01-13 09:58:13.631000000" },
	{ "logfile_epoch.0", "text", 2, "2015-04-10 02:58:07.123000000" },
	{ "logfile_filter.0", "text", 13, "2023-12-06 13:01:34.000000000" },
	{ "logfile_generic.1", "text", 2, "2015-04-24 21:09:29.296000000" },
	{ "logfile_generic.3", "text", 2, "2012-07-02 10:22:40.672000000" },
	{ "logfile_generic_with_header.0", "text", 2, "2012-07-02 10:22:40.672000000" },
	{ "logfile_grafana.0", "logfmt", 5, "2025-04-24 19:51:48.520963849" },
	{ "logfile_invalid_json.json", "json", 4, "2013-09-06 20:00:48.124817000" },
	{ "logfile_invalid_tz.0", "text", 2, "2015-04-24 21:08:10.313913000" },
	{ "logfile_java.0", "text", 20, "2025-01-24 07:00:30.139000000" },
	{ "logfile_journald.json", "json", 2, "2018-08-21 14:04:21.221373000" },
	{ "logfile_laravel.1", "text", 4, "2025-01-02 11:19:06.000000000" },
	{ "logfile_logfmt.0", "logfmt", 5, "2021-09-15 21:17:10.220731000" },
	{ "logfile_mongodb.0", "json", 3, "2026-03-10 20:58:09.401000000" },
	{ "logfile_mysql_error.0", "text", 4, "2020-08-06 14:25:02.835618000" },
	{ "logfile_mysql_slow.0", "mysql-slow", 6, "2021-01-26 23:45:57.678222000" },
	{ "logfile_nextcloud.0", "json", 5, "2023-10-01 02:39:09.000000000" },
	{ "logfile_pino.0", "json", 1, "2025-04-24 22:08:37.537000000" },
	{ "logfile_postgres.0", "text", 21, "2025-08-13 08:45:01.123000000" },
	{ "logfile_postgres.2", "text", 8, "2025-08-16 11:02:58.095000000" },
	{ "logfile_procstate.0", "text", 3, "2022-06-02 00:01:01.000000000" },
	{ "logfile_rollover.0", "text", 6, "2024-05-31 00:00:00.000000000" },
	{ "logfile_shop_access_log.0", "access", 1000, "2019-01-22 00:26:14.000000000" },
	{ "logfile_spark_dupe.0", "text", 399, "2017-06-09 20:10:40.000000000" },
	{ "logfile_strace_log.1", "text", 66, "2023-10-11 18:19:11.000422000" },
	{ "logfile_syslog.0", "text", 4, "2023-11-03 09:23:38.000000000" },
	{ "logfile_syslog_fr.0", "text", 1, "2023-08-19 11:08:37.000000000" },
	{ "logfile_syslog_with_header.0", "text", 4, "2023-11-03 09:23:38.000000000" },
	{ "logfile_tai64n.0", "text", 10, "2005-09-22 03:31:05.997071500" },
	{ "logfile_ts_value.0", "text", 2, "2024-01-01 15:00:00.000000000" },
	{ "logfile_vami.0", "text", 1, "2015-03-12 23:16:52.071000000" },
	{ "logfile_vmw_log.0", "text", 3, "2022-06-02 11:58:12.193000000" },
	{ "logfile_w3c.0", "table", 1, "2002-05-02 17:42:15.000000000" },
	{ "logfile_w3c.2", "table", 14, "2000-10-09 16:44:49.000000000" },
	{ "logfile_w3c.4", "table", 2, "2017-06-28 07:26:35.000000000" },
	{ "logfile_w3c.6", "table", 1, "2015-01-13 00:32:17.000000000" },
	{ "logfile_xml_msg.0", "text", 3, "2020-12-10 06:56:41.061000000" },
	{ "logfile_zap_console.0", "text", 3, "2025-04-24 22:09:20.854000000" },
};

static bool load(const char *file, struct buf *b)
{
	const char *data = getenv("CULPRIT_DATA");
	char path[4096];
	size_t n;
	FILE *f;

	/* by default beside the project: three folders above this file, as the build names it */
	if (data)
		snprintf(path, sizeof(path), "%s/layouts/%s", data, file);
	else
		snprintf(path, sizeof(path), "%.*s/../../../shared/data/layouts/%s",
			 (int)(strrchr(__FILE__, '/') - __FILE__), __FILE__, file);
	f = fopen(path, "rb");
	if (!f)
		return false;
	while ((n = fread(buf_room(b, 1 << 16), 1, 1 << 16, f)) > 0)
		b->n += n;
	fclose(f);
	return true;
}

static unsigned check(size_t i, struct str text)
{
	struct layout_case c = case_learn(text, "UTC");
	unsigned nr_wrong = 1;
	char time[40] = "";

	if (c.r < 0) {
		print_error("%s: %s\n", files[i].file, c.err.msg);
		return 1;
	}
	if (c.nr_events)
		case_time_text(c.events[0].ns, time);
	if (c.nr_events != files[i].nr || strcmp(layout_name(c.layout), files[i].kind) ||
	    (files[i].first && strcmp(time, files[i].first)))
		print_error("%s: %s, %zu events from %s; not %s, %zu, %s\n", files[i].file,
			    layout_name(c.layout), c.nr_events, time, files[i].kind, files[i].nr,
			    files[i].first ? files[i].first : "any time");
	else
		nr_wrong = 0;
	case_done(&c);
	return nr_wrong;
}

static void every_public_log_gives_its_events(void **state)
{
	unsigned nr_wrong = 0, nr_seen = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct buf b = { 0 };

		if (load(files[i].file, &b)) {
			nr_seen++;
			nr_wrong += check(i, buf_str(&b));
		}
		buf_done(&b);
	}
	if (!nr_seen) {
		print_message("skipped: no folder layouts under CULPRIT_DATA\n");
		skip();
	}
	assert_int_equal(nr_wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_public_log_gives_its_events),
	};

	return RUN(tests);
}
