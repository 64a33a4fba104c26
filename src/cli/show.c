#include "cli/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/beside.h"
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

struct text_style show_style(void)
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

static int write_to(const char *path, const struct buf *b, struct error *err)
{
	struct beside out;
	int got = beside_open(&out, path, err);

	if (got < 0)
		return got;
	if (b->n)
		fwrite(b->p, 1, b->n, out.file);
	return beside_close(&out, 0, err);
}

/* Failures (a full disk, a closed pipe) stay in the stream and are told at the end. */
static void spill(void *to, const struct report *r)
{
	struct buf b = { 0 };

	report_write_json_piece(r, &b);
	if (b.n && !ferror(to))
		fwrite(b.p, 1, b.n, to);
	buf_done(&b);
}

void show_begin(struct report *r, const struct call *call)
{
	/* tables are aligned over all their rows, and a page is written whole */
	if (!call_has(call, "json") || call_has(call, "html"))
		return;
	r->spill = spill;
	r->spill_to = stdout;
}

int show_report(const struct report *r, const struct call *call, struct error *err)
{
	const char *html = call_get(call, "html");
	struct text_style s = show_style();
	struct buf b = { 0 };
	int got = 0;

	if (html) {
		report_write_html(r, &b);
		got = write_to(html, &b, err);
		buf_clear(&b);
	}
	if (got >= 0 && !(html && !strcmp(html, "-"))) {
		if (call_has(call, "json"))
			report_write_json(r, &b);
		else
			report_write_text(r, &s, &b);
		got = write_to("-", &b, err);
	}
	buf_done(&b);
	return got;
}
