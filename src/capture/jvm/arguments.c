#include "capture/jvm/arguments.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "capture/jvm/target.h"
#include "capture/jvm/words.h"

#define FILE_MAX_BYTES (1 << 20)

/* Options whose value is the next word; those that end in "=value" need no line here. */
static const char *const java_pairs[] = {
	"-cp",
	"-classpath",
	"--class-path",
	"-p",
	"--module-path",
	"--add-modules",
	"--upgrade-module-path",
	"--limit-modules",
	"--add-reads",
	"--add-exports",
	"--add-opens",
	"--patch-module",
	"--source",
	"-d",
	"--enable-native-access",
	"--describe-module",
	NULL,
};
/* Those of jsvc, which starts a JVM as root. */
static const char *const jsvc_pairs[] = {
	"-user",    "-home",     "-java-home", "-jvm",   "-pidfile", "-outfile",
	"-errfile", "-procname", "-cwd",       "-umask", "-wait",    NULL,
};

struct reading {
	struct jvm_arguments *a;
	const struct jvm_started *s;
	bool is_jsvc, is_jar;
	bool is_value, is_module; /* the next word is one */
	bool has_no_files;        /* --disable-@files */
};

static bool is_one_of(struct str word, const char *const *words)
{
	for (; *words; words++)
		if (str_eq(word, str_of(*words)))
			return true;
	return false;
}

static void found_main(struct reading *r, enum jvm_main kind, struct str what)
{
	r->a->kind = kind;
	r->a->main = arena_str(&r->a->arena, what);
}

static void take_option(struct reading *r, struct str word)
{
	struct str rest = word;

	if (str_eq(word, STR("-jar")))
		r->is_jar = true;
	else if (str_eq(word, STR("-m")) || str_eq(word, STR("--module")))
		r->is_module = true;
	else if (str_take(&rest, STR("--module=")))
		found_main(r, JVM_MAIN_MODULE, rest);
	else if (is_one_of(word, java_pairs) || (r->is_jsvc && is_one_of(word, jsvc_pairs)))
		r->is_value = true;
	else if (str_eq(word, STR("--disable-@files")))
		r->has_no_files = true;
	else
		vec_push(&r->a->options, arena_str(&r->a->arena, word));
}

static void take_plain(struct reading *r, struct str word)
{
	if (r->a->kind != JVM_MAIN_NONE)
		return; /* arguments of the program */
	if (r->is_value)
		r->is_value = false;
	else if (r->is_module)
		found_main(r, JVM_MAIN_MODULE, word);
	else if (word.n && word.p[0] == '-')
		take_option(r, word);
	else
		found_main(r, r->is_jar ? JVM_MAIN_JAR : JVM_MAIN_CLASS, word);
}

static void take_file(struct reading *r, struct str path)
{
	struct arena scratch = { 0 };
	struct buf text = { 0 };
	struct str rest, word;

	if (r->s->file && r->s->file(r->s->to, arena_z(&scratch, path), &text) >= 0) {
		rest = buf_str(&text);
		while (words_take_file(&rest, &scratch, &word))
			take_plain(r, word);
	}
	buf_done(&text);
	arena_done(&scratch);
}

/* A word of the command line: @FILE stands for what is in the file, @@word for @word. */
static void take_word(struct reading *r, struct str word)
{
	struct str rest = word;

	if (r->a->kind != JVM_MAIN_NONE || r->has_no_files || !str_take_char(&rest, '@') || !rest.n)
		take_plain(r, word);
	else if (rest.p[0] == '@')
		take_plain(r, rest);
	else
		take_file(r, rest);
}

static bool take_zero_ended(struct str *s, struct str *word)
{
	if (str_take_until(s, '\0', word))
		return true;
	*word = *s;
	*s = str_skip(*s, s->n);
	return word->n > 0;
}

/* Nobody can name a main class there; values of options that are words of their own do no harm. */
static void take_variable(struct reading *r, struct str name)
{
	struct str rest = r->s->environ, word;

	while (take_zero_ended(&rest, &word)) {
		struct str value = word;

		if (!str_take(&value, name) || !str_take_char(&value, '='))
			continue;
		while (words_take_variable(&value, &r->a->arena, &word))
			vec_push(&r->a->options, word);
		return;
	}
}

static bool is_jsvc(struct str launcher)
{
	while (str_find_char(launcher, '/') < launcher.n)
		launcher = str_skip(launcher, str_find_char(launcher, '/') + 1);
	return str_starts(launcher, STR("jsvc"));
}

void jvm_arguments_parse(struct jvm_arguments *a, const struct jvm_started *s)
{
	struct reading r = { .a = a, .s = s };
	struct str rest = s->cmdline, word;

	take_variable(&r, STR("JAVA_TOOL_OPTIONS"));
	take_variable(&r, STR("JDK_JAVA_OPTIONS"));
	if (take_zero_ended(&rest, &word))
		r.is_jsvc = is_jsvc(word);
	while (take_zero_ended(&rest, &word))
		take_word(&r, word);
	take_variable(&r, STR("_JAVA_OPTIONS"));
}

/* Relative to where the JVM stands. */
static int read_argument_file(void *to, const char *path, struct buf *text)
{
	int pid = *(const int *)to;
	cleanup(close_fd) int fd = -1, dir = -1;
	struct stat s;
	char cwd[32];
	ssize_t n;

	snprintf(cwd, sizeof(cwd), "/proc/%d/cwd", pid);
	if (*path == '/') {
		fd = jvm_open_inside(pid, path, O_RDONLY | O_NONBLOCK);
	} else {
		dir = open(cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
		fd = openat(dir, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	}
	if (fd < 0 || fstat(fd, &s) < 0 || !S_ISREG(s.st_mode))
		return -ENOENT;
	n = read(fd, buf_room(text, FILE_MAX_BYTES), FILE_MAX_BYTES);
	if (n < 0)
		return -errno;
	text->n += (size_t)n;
	return 0;
}

void jvm_arguments_read(struct jvm_arguments *a, int pid)
{
	struct buf cmdline = { 0 }, variables = { 0 };
	struct jvm_started s = { .file = read_argument_file, .to = &pid };

	(void)!jvm_proc_read(pid, "cmdline", &cmdline);
	(void)!jvm_proc_read(pid, "environ", &variables);
	s.cmdline = buf_str(&cmdline);
	s.environ = buf_str(&variables);
	jvm_arguments_parse(a, &s);
	buf_done(&cmdline);
	buf_done(&variables);
}

void jvm_arguments_done(struct jvm_arguments *a)
{
	vec_done(&a->options);
	arena_done(&a->arena);
}

bool jvm_arguments_find(const struct jvm_arguments *a, struct str begins, struct str *rest)
{
	for (size_t i = a->options.nr; i-- > 0;) {
		*rest = a->options.v[i];
		if (str_take(rest, begins))
			return true;
	}
	return false;
}

bool jvm_arguments_disable_attach(const struct jvm_arguments *a)
{
	for (size_t i = a->options.nr; i-- > 0;) {
		if (str_eq(a->options.v[i], STR("-XX:+DisableAttachMechanism")))
			return true;
		if (str_eq(a->options.v[i], STR("-XX:-DisableAttachMechanism")))
			return false;
	}
	return false;
}

bool jvm_attach_is_disabled(int pid)
{
	struct jvm_arguments a = { 0 };
	bool is_disabled;

	jvm_arguments_read(&a, pid);
	is_disabled = jvm_arguments_disable_attach(&a);
	jvm_arguments_done(&a);
	return is_disabled;
}
