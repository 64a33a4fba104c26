/*
 * One HTML file that shows a report and does nothing else: no script, no font, no image, nothing
 * fetched. Its own policy allows a single style, by hash, so that even text which slipped through
 * the escaping could neither run nor load anything.
 */
#include "report/writer.h"

#include "report/html_style.h"
#include "report/html_table.h"
#include "report/report.h"
#include "report/shown.h"

static void add_shown(struct buf *out, struct str text, bool keep_lines)
{
	struct buf shown = { 0 };

	shown_text(&shown, text, keep_lines);
	html_text(out, buf_str(&shown));
	buf_done(&shown);
}

static void add_evidence(struct buf *out, const struct prose *p)
{
	if (p->confidence < 0 && !p->command.n)
		return;
	buf_add(out, STR("<p class=\"evidence\">"));
	if (p->confidence >= 0)
		buf_fmt(out, "<span>confidence %.2f</span>", p->confidence);
	if (p->command.n) {
		buf_add(out, STR("<code>"));
		add_shown(out, p->command, false);
		buf_add(out, STR("</code>"));
	}
	buf_add(out, STR("</p>\n"));
}

static void add_steps(struct buf *out, const struct section *s)
{
	buf_add(out, STR("<dl>\n"));
	vec_each (&s->prose, p) {
		buf_add(out, STR("<dt>"));
		add_shown(out, p->word, false);
		buf_add(out, STR("</dt><dd>"));
		add_shown(out, p->text, true);
		add_evidence(out, p);
		buf_add(out, STR("</dd>\n"));
	}
	buf_add(out, STR("</dl>\n"));
}

static void add_prose(struct buf *out, const struct section *s)
{
	vec_each (&s->prose, p) {
		buf_add(out, STR("<p>"));
		add_shown(out, p->text, true);
		buf_add(out, STR("</p>\n"));
		add_evidence(out, p);
	}
}

static void add_rows(struct buf *out, const struct section *s)
{
	if (s->rows.nr)
		html_table(s, out);
	else
		buf_add(out, STR("<p>none</p>\n"));
	if (!s->nr_left_out)
		return;
	buf_add(out, STR("<p class=\"more\">… and "));
	shown_count(out, (int64_t)s->nr_left_out);
	buf_add(out, STR(" more</p>\n"));
}

static void add_section(struct buf *out, const struct section *s)
{
	if (s->json_only || (s->kind == SECTION_ROWS ? !s->rows.nr && !s->title.n : !s->prose.nr))
		return;
	buf_add(out, STR("<section>\n"));
	if (s->title.n) {
		buf_add(out, STR("<h2>"));
		add_shown(out, s->title, false);
		buf_add(out, STR("</h2>\n"));
	}
	if (s->kind == SECTION_ROWS)
		add_rows(out, s);
	else if (s->kind == SECTION_STEPS)
		add_steps(out, s);
	else
		add_prose(out, s);
	buf_add(out, STR("</section>\n"));
}

static void add_losses(struct buf *out, const struct losses *losses)
{
	bool any = false;

	for (int i = 0; i < LOSS_NR; i++) {
		if (!losses->count[i])
			continue;
		if (!any)
			buf_add(out, STR("<ul class=\"losses\">\n"));
		any = true;
		buf_add(out, STR("<li><b>"));
		shown_count(out, (int64_t)losses->count[i]);
		buf_add(out, STR("</b> "));
		html_text(out, str_of(loss_text((enum loss)i, losses->count[i])));
		buf_add(out, STR("</li>\n"));
	}
	if (any)
		buf_add(out, STR("</ul>\n"));
}

static void add_head(struct buf *out, struct str title)
{
	buf_fmt(out,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
		html_style_sha256);
	add_shown(out, title, false);
	buf_fmt(out, "</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n<h1>", html_style);
	add_shown(out, title, false);
	buf_add(out, STR("</h1>\n"));
}

void report_write_html(const struct report *r, struct buf *out)
{
	add_head(out, r->title.n ? r->title : STR("culprit"));
	for (size_t i = 0; i < r->sections.nr; i++)
		add_section(out, r->sections.v[i]);
	add_losses(out, &r->losses);
	buf_add(out, STR("</main>\n</body>\n</html>\n"));
}
