#include "unit.h"

#include <ftw.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/sockets_listen.h"
#include "capture/sockets_who.h"

#define HEAD \
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  " \
	"timeout " \
	"inode\n"
#define LINE(port, state, inode) \
	"   0: 0100007F:" port " 00000000:0000 " state \
	" 00000000:00000000 00:00000000 00000000  1000        0 " inode " 1 0 100 0 0 10 0\n"

/* A folder that looks like /proc. */
static char root[64];

static void write_file(const char *path, const char *text)
{
	char whole[PATH_MAX];
	FILE *f;

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	for (char *p = whole + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(whole, 0700);
		*p = '/';
	}
	f = fopen(whole, "w");
	if (!f)
		fail_msg("cannot write %s", whole);
	else if (fputs(text, f) < 0 || fclose(f))
		fail_msg("cannot write to %s", whole);
}

static void link_file(const char *path, const char *to)
{
	char whole[PATH_MAX];

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	mkdir(dirname(strdupa(whole)), 0700);
	assert_int_equal(symlink(to, whole), 0);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(root, "/tmp/sockets-listen-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int drop(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static int tear_down(void **state)
{
	(void)state;
	return nftw(root, drop, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_two_servers(void)
{
	write_file("10/comm", "web server\n");
	write_file("10/ns/net", "");
	write_file("10/net/tcp", HEAD LINE("1F90", "0A", "501") LINE("0050", "0A", "502")
					 LINE("0051", "01", "503"));
	write_file("10/net/tcp6", HEAD LINE("1538", "0A", "504") "nonsense\n");
	link_file("10/fd/3", "socket:[501]");
	link_file("10/fd/4", "socket:[502]");
	link_file("10/fd/5", "/dev/null");
	write_file("20/comm", "postgres\n");
	link_file("20/ns/net", "../../10/ns/net");
	link_file("20/fd/9", "socket:[504]");
	link_file("20/fd/10", "socket:[503]");
	write_file("self/comm", "not a number\n");
}

static void a_process_has_its_lowest_port(void **state)
{
	struct sockets_listen *l;
	struct sockets_listeners ask;

	(void)state;
	make_two_servers();
	l = sockets_listen_new(root);
	ask = sockets_listen_ask(l);
	assert_int_equal(ask.port_of(ask.to, 10), 80);
	assert_int_equal(ask.port_of(ask.to, 20), 5432);
	assert_int_equal(ask.port_of(ask.to, 30), 0);
	sockets_listen_free(l);
}

static void a_port_has_its_process_in_its_namespace_only(void **state)
{
	struct sockets_listen *l;
	struct sockets_listeners ask;
	char name[16] = "";
	uint32_t netns;

	(void)state;
	make_two_servers();
	l = sockets_listen_new(root);
	ask = sockets_listen_ask(l);
	netns = sockets_listen_netns(l, 10);
	assert_int_not_equal(netns, 0);
	assert_int_equal(ask.at(ask.to, netns, 8080, name), 10);
	assert_string_equal(name, "web server");
	assert_int_equal(ask.at(ask.to, netns, 5432, name), 20);
	assert_string_equal(name, "postgres");
	assert_int_equal(ask.at(ask.to, netns, 81, name), 0);
	assert_int_equal(ask.at(ask.to, netns + 1, 8080, name), 0);
	sockets_listen_free(l);
}

static void of_processes_that_share_a_port_the_first_counts(void **state)
{
	struct sockets_listen *l;
	struct sockets_listeners ask;
	char name[16] = "";

	(void)state;
	make_two_servers();
	write_file("15/comm", "worker\n");
	link_file("15/ns/net", "../../10/ns/net");
	link_file("15/fd/3", "socket:[501]");
	l = sockets_listen_new(root);
	ask = sockets_listen_ask(l);
	assert_int_equal(ask.at(ask.to, sockets_listen_netns(l, 10), 8080, name), 10);
	assert_int_equal(ask.port_of(ask.to, 15), 8080);
	sockets_listen_free(l);
}

static void where_nothing_can_be_read_nobody_listens(void **state)
{
	struct sockets_listen *l = sockets_listen_new("/nowhere/at/all");
	struct sockets_listeners ask = sockets_listen_ask(l);
	char name[16];

	(void)state;
	assert_int_equal(ask.port_of(ask.to, 1), 0);
	assert_int_equal(ask.at(ask.to, 1, 80, name), 0);
	assert_int_equal(sockets_listen_netns(l, 1), 0);
	sockets_listen_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_process_has_its_lowest_port, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_port_has_its_process_in_its_namespace_only,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(of_processes_that_share_a_port_the_first_counts,
						set_up, tear_down),
		cmocka_unit_test(where_nothing_can_be_read_nobody_listens),
	};

	return RUN(tests);
}
