#include "cli/show.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "cli/command.h"
#include "report/report.h"
#include "report/writer.h"

static unsigned terminal_columns(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	unsigned long n;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	n = columns ? strtoul(columns, NULL, 10) : 0;
	return n >= 20 && n <= 10000 ? (unsigned)n : 0;
}

static bool is_utf8(void)
{
	const char *v = getenv("LC_ALL");

	if (!v || !*v)
		v = getenv("LC_CTYPE");
	if (!v || !*v)
		v = getenv("LANG");
	/* nothing set is mostly a container or a cron job: its reader shows UTF-8 */
	return !v || !*v || strcasestr(v, "utf-8") || strcasestr(v, "utf8");
}

static struct text_style style(void)
{
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
	bool is_terminal = isatty(STDOUT_FILENO);

	return (struct text_style){
		.columns = terminal_columns(),
		.colour = is_terminal && !(no_colour && *no_colour) &&
			  !(term && !strcmp(term, "dumb")),
		.ascii = !is_utf8(),
	};
}

static int write_out(const struct buf *b, struct error *err)
{
	if (b->n && fwrite(b->p, 1, b->n, stdout) != b->n)
		return error_set(err, errno, "cannot write to standard output: %s",
				 strerror(errno));
	if (fflush(stdout))
		return error_set(err, errno, "cannot write to standard output: %s",
				 strerror(errno));
	return 0;
}

int show_to_file(const char *path, const char *bytes, unsigned long nr, struct error *err)
{
	cleanup(free) char *beside = NULL;
	FILE *f;
	bool ok;

	if (!strcmp(path, "-"))
		return write_out(&(struct buf){ (char *)bytes, nr, nr }, err);
	if (asprintf(&beside, "%s.partial-%d", path, (int)getpid()) < 0)
		return error_set(err, ENOMEM, "out of memory");
	f = fopen(beside, "we");
	if (!f)
		return error_set(err, errno, "cannot write '%s': %s", path, strerror(errno));
	ok = !nr || fwrite(bytes, 1, nr, f) == nr;
	ok = !fclose(f) && ok && !rename(beside, path);
	if (ok)
		return 0;
	error_set(err, errno, "cannot write '%s': %s", path, strerror(errno));
	unlink(beside);
	return -err->code;
}

int show_report(const struct report *r, const struct call *call, struct error *err)
{
	const char *html = call_get(call, "html");
	struct text_style s = style();
	struct buf b = { 0 };
	int got = 0;

	if (html) {
		report_write_html(r, &b);
		got = show_to_file(html, b.p, b.n, err);
		buf_clear(&b);
	}
	if (got >= 0 && !(html && !strcmp(html, "-"))) {
		if (call_has(call, "json"))
			report_write_json(r, &b);
		else
			report_write_text(r, &s, &b);
		got = write_out(&b, err);
	}
	buf_done(&b);
	return got;
}
