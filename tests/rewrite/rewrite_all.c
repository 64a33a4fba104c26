/*
 * Puts something into every method of every class, wherever something can be put, and writes the
 * classes to a folder: a JVM that verifies them says whether they are right (tests/rewrite/check).
 *
 * usage: rewrite_all [--wrong] FOLDER JAR...
 *
 * --wrong: something is put in that no JVM may take, to see that it does look.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/vec.h"
#include "model/loss.h"
#include "program/class.h"
#include "program/container.h"
#include "program/insn.h"
#include "program/rewrite/rewrite.h"

/* Of lengths that no switch stays aligned by. */
static char entry_code[] = { OP_ICONST_5, OP_POP };
static const char exit_code[] = { OP_BIPUSH, 42, OP_POP };
static const char throw_code[] = { OP_DUP, OP_POP };
static const char line_code[] = { 0 };

#define PUT(n, w, l, c, s) \
	((struct rewrite_put){ .method = (n), \
			       .where = (w), \
			       .line = (l), \
			       .code = { c, sizeof(c) }, \
			       .stack = (s) })

static uint64_t nr_classes, nr_puts, nr_refused, nr_damaged;

/* Of some lines, so that not all methods have become too large. */
static void add_lines(struct rewrite_put **v, size_t *nr, uint16_t method, const struct code *code)
{
	for (uint32_t i = 0; i < code->nr_lines && i < 64; i += 3)
		(*v)[(*nr)++] = PUT(method, REWRITE_LINE, code->lines[i].line, line_code, 0);
}

static bool write_file(const char *folder, struct str name, struct str bytes)
{
	char path[4096];
	FILE *f;
	int n = snprintf(path, sizeof(path), "%s/" STR_FMT ".class", folder, STR_ARG(name));

	if (n < 0 || (size_t)n >= sizeof(path))
		return false;
	for (char *p = path + strlen(folder) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = 0;
		mkdir(path, 0755);
	}
	f = fopen(path, "w");
	if (!f)
		return false;
	fwrite(bytes.p, 1, bytes.n, f);
	return fclose(f) == 0;
}

static bool rewrite_one(const char *folder, struct str bytes, struct arena *a)
{
	struct error err = { 0 };
	struct class c;
	struct rewrite r = { .class = &c };
	struct rewrite_put *puts;
	struct buf out = { 0 };
	size_t nr = 0;
	bool is;

	if (class_read(&c, bytes, a, &err) < 0) {
		nr_damaged++;
		return true;
	}
	puts = arena_array(a, struct rewrite_put, (size_t)c.nr_methods * 70 + 1);
	for (uint16_t i = 0; i < c.nr_methods; i++) {
		puts[nr++] = PUT(i, REWRITE_ENTRY, 0, entry_code, 1);
		puts[nr++] = PUT(i, REWRITE_EXIT, 0, exit_code, 1);
		puts[nr++] = PUT(i, REWRITE_THROW, 0, throw_code, 1);
		if (c.methods[i].code)
			add_lines(&puts, &nr, i, c.methods[i].code);
	}
	is = rewrite_write(&r, puts, nr, &out, &err) >= 0;
	for (size_t i = 0; i < nr; i++) {
		nr_puts += !puts[i].refused;
		nr_refused += puts[i].refused && c.methods[puts[i].method].code &&
			      puts[i].where == REWRITE_ENTRY;
		if (puts[i].refused && c.methods[puts[i].method].code &&
		    puts[i].where == REWRITE_ENTRY)
			fprintf(stderr, STR_FMT "." STR_FMT ": %s\n", STR_ARG(c.name),
				STR_ARG(c.methods[puts[i].method].name), puts[i].refused);
	}
	is = is && write_file(folder, c.name, buf_str(&out));
	if (!is)
		fprintf(stderr, STR_FMT ": %s\n", STR_ARG(c.name), err.msg);
	nr_classes++;
	rewrite_done(&r);
	buf_done(&out);
	return is;
}

int main(int argc, char **argv)
{
	struct losses losses = { 0 };
	struct error err = { 0 };
	struct container *c;
	struct packed p;
	bool is = true;

	if (argc > 1 && strcmp(argv[1], "--wrong") == 0) {
		entry_code[0] = OP_POP;
		argc--;
		argv++;
	}
	if (argc < 3)
		return 2;
	if (container_open(&c, (const char *const *)argv + 2, (size_t)argc - 2, &losses, &err) <
	    0) {
		fprintf(stderr, "%s\n", err.msg);
		return 2;
	}
	while (is && container_next(c, &p, &err) > 0) {
		struct arena a = { 0 };
		struct str bytes;

		/* what is for another Java stands in another place */
		if (!p.release && packed_unpack(&p, &a, &bytes))
			is = rewrite_one(argv[1], bytes, &a);
		arena_done(&a);
		packed_done(&p);
	}
	container_close(c);
	printf("%llu classes, %llu places, %llu methods left alone, %llu damaged\n",
	       (unsigned long long)nr_classes, (unsigned long long)nr_puts,
	       (unsigned long long)nr_refused, (unsigned long long)nr_damaged);
	return is ? 0 : 1;
}
