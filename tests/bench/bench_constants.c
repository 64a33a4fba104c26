/*
 * Reads the constant strings of programs, makes the automaton, and covers the lines of a log.
 *
 *   bench_constants [-l LOG] [-s] [-v] PROGRAM…      -s lists the strings, -v shows each line
 *                                                    with what varies in «»
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "ident/constants.h"
#include "model/loss.h"
#include "program/strings.h"

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void list_string(void *ctx, struct str s)
{
	(void)ctx;
	for (size_t i = 0; i < s.n; i++) {
		if (string_is_hole(s.p[i]))
			printf("<%d>", s.p[i]);
		else
			putchar(s.p[i]);
	}
	putchar('\n');
}

static void show_line(struct str line, const struct cover *v)
{
	size_t at = 0;

	printf("%c ", v->is_pattern ? 'p' : ' ');
	vec_each (&v->constant, s) {
		if (s->from > at)
			printf("\xc2\xab%.*s\xc2\xbb", (int)(s->from - at), line.p + at);
		printf("%.*s", (int)(s->to - s->from), line.p + s->from);
		at = s->to;
	}
	if (at < line.n)
		printf("\xc2\xab%.*s\xc2\xbb", (int)(line.n - at), line.p + at);
	putchar('\n');
}

static void cover_log(const struct constants *c, const char *path, bool is_shown)
{
	struct buf b = { 0 };
	struct cover v = { 0 };
	FILE *f = fopen(path, "re");
	uint64_t lines = 0, bytes = 0, constant = 0, patterns = 0;
	double start;
	struct str rest, line;
	size_t n;

	if (!f)
		return;
	do {
		n = fread(buf_room(&b, 1 << 20), 1, 1 << 20, f);
		b.n += n;
	} while (n == 1 << 20);
	fclose(f);
	rest = buf_str(&b);
	start = seconds();
	while (str_take_line(&rest, &line)) {
		constants_cover(c, line, &v);
		lines++;
		bytes += line.n;
		constant += v.nr_bytes;
		patterns += v.is_pattern;
		if (is_shown)
			show_line(line, &v);
	}
	fprintf(stderr, "%lu lines in %.3f s, %.1f %% of the bytes constant, %.1f %% by patterns\n",
		lines, seconds() - start, bytes ? 100.0 * (double)constant / (double)bytes : 0,
		lines ? 100.0 * (double)patterns / (double)lines : 0);
	cover_done(&v);
	buf_done(&b);
}

static void tell_losses(const struct losses *l)
{
	for (int i = 0; i < LOSS_NR; i++)
		if (l->count[i])
			fprintf(stderr, "%lu %s\n", l->count[i],
				loss_text((enum loss)i, l->count[i]));
}

int main(int argc, char **argv)
{
	struct constants *c = constants_new(0);
	struct strings_sink list = { list_string, NULL };
	struct losses losses = { 0 };
	const char *log = NULL;
	bool is_shown = false, is_listed = false;
	double start, read;
	int o;

	while ((o = getopt(argc, argv, "l:sv")) > 0) {
		if (o == 'l')
			log = optarg;
		is_listed |= o == 's';
		is_shown |= o == 'v';
	}
	for (int i = optind; is_listed && i < argc; i++)
		strings_read(argv[i], &list, &losses, NULL);
	start = seconds();
	constants_load(c, (const char *const *)argv + optind, (size_t)(argc - optind), &losses);
	read = seconds();
	constants_settle(c, &losses);
	fprintf(stderr, "%zu constants, %zu patterns: read in %.3f s, settled in %.3f s, %.1f MB\n",
		constants_nr(c), constants_nr_patterns(c), read - start, seconds() - read,
		(double)constants_bytes(c) / 1e6);
	if (log)
		cover_log(c, log, is_shown);
	tell_losses(&losses);
	constants_free(c);
	return 0;
}
