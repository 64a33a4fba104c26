#include "capture/jvm/name.h"

#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "capture/jvm/arguments.h"
#include "capture/jvm/target.h"

static struct str behind_last(struct str s, char c)
{
	for (size_t i = s.n; i-- > 0;)
		if (s.p[i] == c)
			return str_skip(s, i + 1);
	return s;
}

static struct str without(struct str s, struct str end)
{
	return s.n > end.n && str_ends(s, end) ? str_head(s, s.n - end.n) : s;
}

static struct str simple_name(enum jvm_main kind, struct str what)
{
	struct str class;

	if (kind == JVM_MAIN_JAR)
		return without(behind_last(what, '/'), STR(".jar"));
	if (kind == JVM_MAIN_MODULE) {
		class = behind_last(what, '/');
		/* a module alone names its main class nowhere that we look */
		return class.n == what.n ? what : behind_last(class, '.');
	}
	class = behind_last(what, '/');
	if (str_ends(class, STR(".java"))) /* a source file that is run as it is */
		return without(class, STR(".java"));
	return behind_last(class, '.');
}

static void put(struct str s, char *name, size_t room)
{
	if (s.n >= room)
		s.n = room - 1;
	memcpy(name, s.p, s.n);
	name[s.n] = '\0';
}

void jvm_name_of(const struct jvm_arguments *a, char *name, size_t room)
{
	struct str told;

	if (jvm_arguments_find(a, STR("-Dculprit.name="), &told) && told.n)
		put(told, name, room);
	else if (a->kind != JVM_MAIN_NONE)
		put(simple_name(a->kind, a->main), name, room);
	else
		put(STR(""), name, room);
}

int jvm_name(int pid, char *name, size_t room)
{
	struct jvm_arguments a = { 0 };
	struct buf comm = { 0 };
	int got = jvm_proc_read(pid, "comm", &comm);

	if (got >= 0) {
		jvm_arguments_read(&a, pid);
		jvm_name_of(&a, name, room);
		if (!*name)
			put(str_trim(buf_str(&comm)), name, room);
	}
	buf_done(&comm);
	jvm_arguments_done(&a);
	return got;
}
