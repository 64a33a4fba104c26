#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "capture/jvm/arguments.h"
#include "capture/jvm/as_user.h"
#include "capture/jvm/attach.h"
#include "capture/jvm/library.h"
#include "capture/jvm/message.h"
#include "capture/jvm/name.h"
#include "capture/jvm/status.h"
#include "capture/jvm/target.h"

static void a_message_has_a_version_a_name_and_three_arguments(void **state)
{
	static const char want[] = "1\0load\0/a/b.so\0true\0some options";
	const char *const arguments[] = { "/a/b.so", "true", "some options" };
	const char *const none[] = { NULL, NULL, NULL };
	struct error err = { 0 };
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(jvm_message(&b, "load", arguments, &err), 0);
	assert_int_equal(b.n, sizeof(want));
	assert_memory_equal(b.p, want, sizeof(want));
	buf_clear(&b);
	assert_int_equal(jvm_message(&b, "properties", none, &err), 0);
	assert_int_equal(b.n, sizeof("1\0properties\0\0\0"));
	assert_memory_equal(b.p, "1\0properties\0\0\0", b.n);
	buf_done(&b);
}

static void an_argument_of_more_than_1024_bytes_is_refused(void **state)
{
	char text[1026];
	const char *const arguments[] = { "/a/b.so", "true", text };
	struct error err = { 0 };
	struct buf b = { 0 };

	(void)state;
	memset(text, 'x', sizeof(text));
	text[1024] = '\0';
	assert_int_equal(jvm_message(&b, "load", arguments, &err), 0);
	buf_clear(&b);
	text[1024] = 'x';
	text[1025] = '\0';
	assert_int_equal(jvm_message(&b, "load", arguments, &err), -E2BIG);
	assert_non_null(strstr(err.msg, "1025"));
	assert_int_equal(b.n, 0);
	buf_done(&b);
}

static int load_answer(const char *reply, int64_t *returned, struct error *err)
{
	*returned = 99;
	return jvm_answer_load(str_of(reply), returned, err);
}

static void what_the_agent_returned_is_read_as_old_and_new_jdks_say_it(void **state)
{
	struct error err = { 0 };
	int64_t returned;

	(void)state;
	assert_int_equal(load_answer("0\n0\n", &returned, &err), 0);
	assert_int_equal(returned, 0);
	assert_int_equal(load_answer("0\nreturn code: 0\n", &returned, &err), 0);
	assert_int_equal(returned, 0);
	assert_int_equal(load_answer("0\nreturn code: -7\n", &returned, &err), 0);
	assert_int_equal(returned, -7);
	assert_int_equal(load_answer("0\n7\n", &returned, &err), 0);
	assert_int_equal(returned, 7);
}

static void answers_that_are_failures_say_why(void **state)
{
	struct error err = { 0 };
	int64_t returned;

	(void)state;
	assert_int_equal(load_answer("-1\n/a.so was not loaded.\nno such file\n", &returned, &err),
			 -EIO);
	assert_string_equal(err.msg,
			    "the JVM refused (status -1): /a.so was not loaded. no such file");
	assert_int_equal(load_answer("-1\n", &returned, &err), -EIO);
	assert_string_equal(err.msg,
			    "the library was not loaded: the JVM cannot open it, or finds no "
			    "Agent_OnAttach in it; this JVM does not say which");
	assert_int_equal(load_answer("0\n/a.so was not loaded.\n", &returned, &err), -ENOEXEC);
	assert_string_equal(err.msg, "the JVM did not load the library: /a.so was not loaded.");
	assert_int_equal(
		load_answer("0\nDynamic agent loading is only permitted in the live phase\n",
			    &returned, &err),
		-EAGAIN);
	assert_int_equal(load_answer("101\n", &returned, &err), -EPROTO);
	assert_int_equal(load_answer("0\n", &returned, &err), -ENOEXEC);
	assert_int_equal(load_answer("", &returned, &err), -EBADMSG);
	assert_int_equal(load_answer("0", &returned, &err), -EBADMSG);
	assert_int_equal(load_answer("hello\n", &returned, &err), -EBADMSG);
	assert_int_equal(returned, 99);
}

static void status_tells_the_innermost_pid_and_the_effective_user(void **state)
{
	struct jvm_target t = { 0 };

	(void)state;
	assert_true(jvm_target_parse(STR("Name:\tjava\nState:\tS (sleeping)\nPid:\t4711\n"
					 "Uid:\t1000\t1001\t1002\t1003\n"
					 "Gid:\t2000\t2001\t2002\t2003\n"
					 "NSpid:\t4711\t31\t7\nSigQ:\t0/1\n"
					 "SigIgn:\t0000000000000001\n"
					 "SigCgt:\t2000000181005ccf\n"),
				     &t));
	assert_int_equal(t.own_pid, 7);
	assert_int_equal(t.uid, 1001);
	assert_int_equal(t.gid, 2001);
	assert_false(t.is_stopped);
	assert_true(t.takes_quit);
}

static void status_tells_who_stands_still_and_who_would_be_ended(void **state)
{
	struct jvm_target t = { 0 };

	(void)state;
	assert_true(jvm_target_parse(STR("State:\tT (stopped)\nPid:\t12\nUid:\t0\t0\t0\t0\n"
					 "Gid:\t0\t0\t0\t0\nSigCgt:\t0000000000000002\n"),
				     &t));
	assert_int_equal(t.own_pid, 12);
	assert_true(t.is_stopped);
	assert_false(t.takes_quit);
	assert_true(jvm_target_parse(STR("State:\tt (tracing stop)\nPid:\t12\nUid:\t0\t0\n"
					 "Gid:\t0\t0\nSigCgt:\t0000000000000004\n"),
				     &t));
	assert_true(t.is_stopped);
	assert_true(t.takes_quit);
	assert_false(jvm_target_parse(STR("State:\tS\nPid:\t12\n"), &t));
	assert_false(jvm_target_parse(
		STR("State:\tS\nPid:\tx\nUid:\t0\t0\nGid:\t0\t0\nSigCgt:\t4\n"), &t));
	assert_false(jvm_target_parse(STR(""), &t));
}

static void a_jvm_is_known_by_what_it_has_mapped(void **state)
{
	(void)state;
	assert_int_equal(jvm_kind_of(STR("7f00-7f01 r-xp 0 08:01 5   /j/lib/server/libjvm.so\n")),
			 JVM_HOTSPOT);
	assert_int_equal(jvm_kind_of(STR("7f00-7f01 r-xp 0 08:01 5 /j/libjvm.so (deleted)\n")),
			 JVM_HOTSPOT);
	assert_int_equal(jvm_kind_of(STR("7f00-7f01 r-xp 0 08:01 5   /j/libjvm.so\n"
					 "7f02-7f03 r-xp 0 08:01 5   /j/default/libj9vm29.so\n")),
			 JVM_OPENJ9);
	assert_int_equal(jvm_kind_of(STR("7f00-7f01 r-xp 0 08:01 5   /j/mylibjvm.so\n"
					 "7f00-7f01 r-xp 0 08:01 5   /j/libjvm.so.bak\n")),
			 JVM_NONE);
	assert_int_equal(jvm_is(getpid()), 0);
	assert_int_equal(jvm_is(1 << 30), 0);
}

/* Files of arguments by name. */
static int some_file(void *to, const char *path, struct buf *text)
{
	(void)to;
	if (!strcmp(path, "options"))
		buf_add(text, STR("# how it runs\n-Xmx1g  -cp \"a dir/x.jar:\\\n    y.jar\"\n"
				  "-Dx='a # b' # not this: Wrong\n"));
	else if (!strcmp(path, "/etc/all"))
		buf_add(text, STR("--add-opens java.base/java.lang=ALL-UNNAMED\n@options\n"));
	else if (!strcmp(path, "main"))
		buf_add(text, STR("-Dculprit.name=\"told \\\"so\\\"\" com.shop.Main arg"));
	else
		return -ENOENT;
	return 0;
}

static struct str with_zeros(const char *words, char *bytes, size_t room)
{
	size_t n = (size_t)snprintf(bytes, room, "%s|", words);

	for (size_t i = 0; i < n; i++)
		bytes[i] = bytes[i] == '|' ? '\0' : bytes[i];
	return (struct str){ bytes, n };
}

/* The name of a JVM whose words stand with | between them. */
static const char *name_with(const char *words, const char *variables)
{
	static char name[64];
	char bytes[1024], more[1024];
	struct jvm_arguments a = { 0 };
	struct jvm_started s = { .file = some_file };

	s.cmdline = with_zeros(words, bytes, sizeof(bytes));
	s.environ = with_zeros(variables, more, sizeof(more));
	jvm_arguments_parse(&a, &s);
	jvm_name_of(&a, name, sizeof(name));
	jvm_arguments_done(&a);
	return name;
}

static const char *name_of(const char *words)
{
	return name_with(words, "");
}

static void the_name_is_that_of_the_main_class(void **state)
{
	(void)state;
	assert_string_equal(name_of("java|org.apache.hadoop.hdfs.server.datanode.DataNode"),
			    "DataNode");
	assert_string_equal(name_of("/usr/bin/java|-Xmx1g|-cp|a.jar:b.jar|Main|x.y.Other"), "Main");
	assert_string_equal(name_of("java|-classpath|x|--class-path|y|-XX:+UseG1GC|a.B$C|-cp"),
			    "B$C");
	assert_string_equal(name_of("java|org/apache/Main"), "Main");
	assert_string_equal(name_of("java|-Dproc_namenode|-server|a.NameNode|-jar|x.jar"),
			    "NameNode");
	assert_string_equal(name_of("java|--source|21|dir/Shop.java|x"), "Shop");
	assert_string_equal(name_of("java"), "");
	assert_string_equal(name_of(""), "");
	assert_string_equal(name_of("java|-version"), "");
}

static void the_name_is_that_of_the_jar(void **state)
{
	(void)state;
	assert_string_equal(name_of("java|-jar|x/y.jar|--server"), "y");
	assert_string_equal(name_of("java|-jar|-Dx=y|-Xmx1g|shop-1.2.jar"), "shop-1.2");
	assert_string_equal(name_of("java|-jar|/opt/tool"), "tool");
	assert_string_equal(name_of("java|-jar|.jar"), ".jar");
}

static void the_name_is_that_of_the_modules_class(void **state)
{
	(void)state;
	assert_string_equal(name_of("java|-p|mods|-m|com.shop/com.shop.web.Server|x"), "Server");
	assert_string_equal(name_of("java|--module-path=mods|--module|com.shop/a.Main"), "Main");
	assert_string_equal(name_of("java|--module=com.shop/a.Main|b.C"), "Main");
	assert_string_equal(name_of("java|-m|com.shop"), "com.shop");
	assert_string_equal(name_of("java|--add-opens|java.base/java.lang=ALL-UNNAMED|"
				    "--add-exports|a/b=c|--add-modules|ALL-SYSTEM|--add-reads|"
				    "a=b|--patch-module|a=b|--limit-modules|a|"
				    "--enable-native-access|a|--upgrade-module-path|p|a.Main"),
			    "Main");
	assert_string_equal(name_of("java|--add-opens=java.base/java.lang=ALL-UNNAMED|a.Main"),
			    "Main");
}

static void files_of_arguments_are_looked_into(void **state)
{
	(void)state;
	assert_string_equal(name_of("java|@options|a.Main"), "Main");
	assert_string_equal(name_of("java|@main|a.Other"), "told \"so\"");
	assert_string_equal(name_of("java|@missing|a.Main|@main"), "Main");
	assert_string_equal(name_of("java|--disable-@files|@main"), "@main");
	assert_string_equal(name_of("java|@@main"), "@main");
	/* what is in a file is not looked into again */
	assert_string_equal(name_of("java|@/etc/all|a.Main"), "@options");
}

static void a_name_that_was_told_wins_and_the_last_one_counts(void **state)
{
	(void)state;
	assert_string_equal(name_of("java|-Dculprit.name=cart|-jar|x.jar"), "cart");
	assert_string_equal(name_of("java|-Dculprit.name=a|-Dculprit.name=b|a.Main"), "b");
	assert_string_equal(name_of("java|-Dculprit.name=|a.Main"), "Main");
	/* behind the main class it is an argument of the program */
	assert_string_equal(name_of("java|a.Main|-Dculprit.name=b"), "Main");
	assert_string_equal(name_with("java|a.Main", "X=1|JAVA_TOOL_OPTIONS=-Xmx1g "
						     "'-Dculprit.name=the cart' -Xint|Y=2"),
			    "the cart");
	assert_string_equal(
		name_with("java|-Dculprit.name=b|a.Main", "JDK_JAVA_OPTIONS=-Dculprit.name=a"),
		"b");
	assert_string_equal(
		name_with("java|-Dculprit.name=b|a.Main", "_JAVA_OPTIONS=-Dculprit.name=a"), "a");
	assert_string_equal(name_with("java|a.Main", "MY_JAVA_OPTIONS=-Dculprit.name=a"), "Main");
}

static void jsvc_has_options_of_its_own(void **state)
{
	(void)state;
	assert_string_equal(name_of("/x/jsvc.exec|-outfile|o|-errfile|e|-pidfile|p|-nodetach|-user|"
				    "hdfs|-cp|c|a.b.SecureDataNodeStarter"),
			    "SecureDataNodeStarter");
}

static void a_long_name_is_cut(void **state)
{
	struct jvm_arguments a = { .kind = JVM_MAIN_CLASS, .main = STR("a.LongName") };
	char name[5];

	(void)state;
	jvm_name_of(&a, name, sizeof(name));
	assert_string_equal(name, "Long");
	jvm_arguments_done(&a);
}

static bool is_disabled(struct str cmdline, struct str variables)
{
	struct jvm_arguments a = { 0 };
	struct jvm_started s = { .cmdline = cmdline, .environ = variables };
	bool is;

	jvm_arguments_parse(&a, &s);
	is = jvm_arguments_disable_attach(&a);
	jvm_arguments_done(&a);
	return is;
}

static void disabled_attaching_is_seen(void **state)
{
	(void)state;
	assert_true(is_disabled(STR("java\0-XX:+DisableAttachMechanism\0Main\0"), STR("")));
	assert_false(is_disabled(STR("java\0Main\0-XX:+DisableAttachMechanism\0"), STR("")));
	assert_false(is_disabled(
		STR("java\0-XX:+DisableAttachMechanism\0-XX:-DisableAttachMechanism\0Main\0"),
		STR("")));
	assert_true(is_disabled(STR("java\0Main\0"),
				STR("JAVA_TOOL_OPTIONS=-XX:+DisableAttachMechanism\0")));
}

static void our_library_is_known_by_its_name_or_as_a_copy(void **state)
{
	(void)state;
	assert_true(jvm_library_is(STR("/usr/lib/culprit/libculprit-jvm.so")));
	assert_true(jvm_library_is(STR("/tmp/.culprit-jvm-0123456789abcdef-0.so")));
	assert_false(jvm_library_is(STR("/usr/lib/libculprit-jvm.so.1")));
	assert_false(jvm_library_is(STR("/libculprit-jvm.so/other.so")));
	assert_false(jvm_library_is(STR("")));
}

static void what_the_library_tells_is_read_line_by_line(void **state)
{
	struct str told = STR("woven\t12\nodd\nlast\ta\tb"), name, value;

	(void)state;
	assert_true(jvm_status_take(&told, &name, &value));
	assert_str_equal(name, "woven");
	assert_str_equal(value, "12");
	assert_true(jvm_status_take(&told, &name, &value));
	assert_str_equal(name, "odd");
	assert_int_equal(value.n, 0);
	assert_true(jvm_status_take(&told, &name, &value));
	assert_str_equal(value, "a\tb");
	assert_false(jvm_status_take(&told, &name, &value));
	assert_true(jvm_property(STR("#now\njava.version.date=x\njava.version=17.0.1\n"),
				 STR("java.version"), &value));
	assert_str_equal(value, "17.0.1");
	assert_false(jvm_property(STR("java.version=1"), STR("java"), &value));
}

static int give_pipe(const void *how)
{
	int ends[2];

	if (pipe(ends) < 0 || write(ends[1], how, 5) != 5)
		return -EIO;
	return ends[0];
}

static int give_failure(const void *how)
{
	(void)how;
	return -EXDEV;
}

static int die(const void *how)
{
	(void)how;
	_exit(1);
}

static void what_a_child_opened_is_ours(void **state)
{
	char bytes[8] = "";
	int fd = as_user(geteuid(), getegid(), give_pipe, "hello");

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(read(fd, bytes, sizeof(bytes)), 5);
	assert_string_equal(bytes, "hello");
	close(fd);
	assert_int_equal(as_user(geteuid(), getegid(), give_failure, NULL), -EXDEV);
	assert_int_equal(as_user(geteuid(), getegid(), die, NULL), -EIO);
}

static int make_nameless(const void *how)
{
	int fd = open(how, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

static void what_a_child_does_as_another_user_is_that_users(void **state)
{
	struct stat s;
	int fd;

	(void)state;
	if (geteuid()) {
		print_message("only root can be somebody else\n");
		skip();
	}
	fd = as_user(65534, 65533, make_nameless, "/tmp");
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &s), 0);
	assert_int_equal(s.st_uid, 65534);
	assert_int_equal(s.st_gid, 65533);
	close(fd);
	assert_int_equal(geteuid(), 0);
	assert_int_equal(as_user(65534, 65534, make_nameless, "/root"), -EACCES);
}

static void who_is_no_jvm_is_told_so(void **state)
{
	struct error err = { 0 };

	(void)state;
	assert_int_equal(jvm_attach_load(getpid(), "/x.so", "", &err), -EINVAL);
	assert_non_null(strstr(err.msg, "is no JVM"));
	assert_int_equal(jvm_attach_load(1 << 30, "/x.so", "", &err), -ESRCH);
	assert_int_equal(jvm_attach_load(getpid(), "x.so", "", &err), -EINVAL);
	assert_non_null(strstr(err.msg, "absolute"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_has_a_version_a_name_and_three_arguments),
		cmocka_unit_test(an_argument_of_more_than_1024_bytes_is_refused),
		cmocka_unit_test(what_the_agent_returned_is_read_as_old_and_new_jdks_say_it),
		cmocka_unit_test(answers_that_are_failures_say_why),
		cmocka_unit_test(status_tells_the_innermost_pid_and_the_effective_user),
		cmocka_unit_test(status_tells_who_stands_still_and_who_would_be_ended),
		cmocka_unit_test(a_jvm_is_known_by_what_it_has_mapped),
		cmocka_unit_test(the_name_is_that_of_the_main_class),
		cmocka_unit_test(the_name_is_that_of_the_jar),
		cmocka_unit_test(the_name_is_that_of_the_modules_class),
		cmocka_unit_test(files_of_arguments_are_looked_into),
		cmocka_unit_test(a_name_that_was_told_wins_and_the_last_one_counts),
		cmocka_unit_test(jsvc_has_options_of_its_own),
		cmocka_unit_test(a_long_name_is_cut),
		cmocka_unit_test(disabled_attaching_is_seen),
		cmocka_unit_test(our_library_is_known_by_its_name_or_as_a_copy),
		cmocka_unit_test(what_the_library_tells_is_read_line_by_line),
		cmocka_unit_test(what_a_child_opened_is_ours),
		cmocka_unit_test(what_a_child_does_as_another_user_is_that_users),
		cmocka_unit_test(who_is_no_jvm_is_told_so),
	};

	return RUN(tests);
}
