#include "report/writer.h"

#include "base/utf8.h"
#include "report/report.h"
#include "report/shown.h"
#include "report/text_paint.h"
#include "report/text_table.h"

#define PROSE_COLUMNS_MAX 110 /* longer lines are hard to read, however wide the terminal is */
#define STEP_WORD_MIN 6
#define COMMAND_GAP 6

struct text {
	const struct text_style *style;
	struct buf *out;
	struct buf shown;
};

static bool is_unit(struct str word)
{
	static const char *const units[] = { "ns", "us", "ms", "s", "min", "h", "%", "MB", "GB" };

	while (word.n && strchr(".,;:)", word.p[word.n - 1]))
		word.n--;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (str_eq(word, str_of(units[i])))
			return true;
	return false;
}

/* The next word; a number is not parted from its unit. */
static bool take_word(struct str *line, struct str *word)
{
	struct str rest, next;

	if (!str_take_word(line, word))
		return false;
	rest = *line;
	if (word->p[0] >= '0' && word->p[0] <= '9' && str_take_char(&rest, ' ') &&
	    str_take_word(&rest, &next) && is_unit(next)) {
		word->n = (size_t)(next.p + next.n - word->p);
		*line = rest;
	}
	return true;
}

/* One line of text in so many columns; lines that follow the first stand under its first word. */
static void wrap_line(struct text *t, struct str line, size_t indent, size_t columns)
{
	size_t own = str_trim(line).n ? str_take_spaces(&line) : 0, at = indent + own;
	struct str word;
	bool first = true;

	text_spaces(t->out, own);
	if (!columns || at + utf8_width(line) <= columns) {
		buf_add(t->out, str_trim(line).n ? line : STR(""));
		line = STR("");
	}
	indent = at;
	while (take_word(&line, &word)) {
		size_t wide = utf8_width(word);

		if (!first && at + 1 + wide > columns) {
			buf_char(t->out, '\n');
			text_spaces(t->out, indent);
			at = indent;
		} else if (!first) {
			buf_char(t->out, ' ');
			at++;
		}
		buf_add(t->out, word);
		at += wide;
		first = false;
	}
	buf_char(t->out, '\n');
}

/* The cursor already stands at indent. */
static void wrap(struct text *t, struct str text, size_t indent)
{
	size_t columns = t->style->columns;
	bool first = true;
	struct str line;

	if (columns > PROSE_COLUMNS_MAX)
		columns = PROSE_COLUMNS_MAX;
	buf_clear(&t->shown);
	shown_text(&t->shown, text, true);
	text = buf_str(&t->shown);
	while (str_take_line(&text, &line)) {
		if (!first && str_trim(line).n)
			text_spaces(t->out, indent);
		wrap_line(t, line, indent, columns);
		first = false;
	}
	if (first)
		buf_char(t->out, '\n');
}

/* "confidence 0.97      culprit requests …"; the command is never cut: it is there to be copied. */
static void add_evidence(struct text *t, const struct prose *p, size_t indent)
{
	if (p->confidence < 0 && !p->command.n)
		return;
	text_spaces(t->out, indent);
	if (p->confidence >= 0)
		buf_fmt(t->out, "confidence %.2f", p->confidence);
	if (p->command.n) {
		if (p->confidence >= 0)
			text_spaces(t->out, COMMAND_GAP);
		text_paint(t->style, t->out, PAINT_COMMAND);
		shown_text(t->out, p->command, false);
		text_paint(t->style, t->out, PAINT_OFF);
	}
	buf_char(t->out, '\n');
}

static void add_prose(struct text *t, const struct section *s)
{
	size_t indent = TEXT_MARGIN + (s->title.n ? 2 : 0);

	vec_each (&s->prose, p) {
		if (p != s->prose.v && s->prose.nr > 1)
			buf_char(t->out, '\n');
		text_spaces(t->out, indent);
		wrap(t, p->text, indent);
		add_evidence(t, p, indent);
	}
}

static void add_steps(struct text *t, const struct section *s)
{
	size_t wide = STEP_WORD_MIN;

	vec_each (&s->prose, p) {
		if (utf8_width(p->word) > wide)
			wide = utf8_width(p->word);
	}
	vec_each (&s->prose, p) {
		text_spaces(t->out, TEXT_MARGIN);
		text_paint(t->style, t->out, PAINT_FAINT);
		shown_text(t->out, p->word, false);
		text_paint(t->style, t->out, PAINT_OFF);
		text_spaces(t->out, wide - utf8_width(p->word) + 2);
		wrap(t, p->text, TEXT_MARGIN + wide + 2);
		add_evidence(t, p, TEXT_MARGIN + wide + 2);
	}
}

static void add_title(struct text *t, struct str title)
{
	if (!title.n)
		return;
	text_spaces(t->out, TEXT_MARGIN);
	text_paint(t->style, t->out, PAINT_STRONG);
	shown_text(t->out, title, false);
	text_paint(t->style, t->out, PAINT_OFF);
	buf_char(t->out, '\n');
}

static void add_rows(struct text *t, const struct section *s)
{
	text_table(s, t->style, t->out);
	if (!s->rows.nr) {
		text_spaces(t->out, TEXT_MARGIN);
		buf_add(t->out, STR("none\n"));
	}
	if (!s->nr_left_out)
		return;
	text_spaces(t->out, TEXT_MARGIN);
	buf_add(t->out, t->style->ascii ? STR("... and ") : STR("… and "));
	shown_count(t->out, (int64_t)s->nr_left_out);
	buf_add(t->out, STR(" more\n"));
}

static bool is_shown(const struct section *s)
{
	if (s->json_only)
		return false;
	return s->kind == SECTION_ROWS ? s->rows.nr || s->title.n : s->prose.nr > 0;
}

static void add_section(struct text *t, const struct section *s)
{
	add_title(t, s->title);
	switch (s->kind) {
	case SECTION_ROWS:
		add_rows(t, s);
		break;
	case SECTION_PROSE:
		add_prose(t, s);
		break;
	case SECTION_STEPS:
		add_steps(t, s);
		break;
	}
}

static size_t count_width(struct text *t, uint64_t v)
{
	buf_clear(&t->shown);
	shown_count(&t->shown, (int64_t)v);
	return t->shown.n;
}

static void add_losses(struct text *t, const struct losses *losses)
{
	size_t wide = 0;

	for (int i = 0; i < LOSS_NR; i++)
		if (losses->count[i] && count_width(t, losses->count[i]) > wide)
			wide = t->shown.n;
	if (!wide)
		return;
	if (t->out->n)
		buf_char(t->out, '\n');
	for (int i = 0; i < LOSS_NR; i++) {
		if (!losses->count[i])
			continue;
		text_spaces(t->out, TEXT_MARGIN + wide - count_width(t, losses->count[i]));
		text_paint(t->style, t->out, PAINT_WARNING);
		buf_add(t->out, buf_str(&t->shown));
		text_paint(t->style, t->out, PAINT_OFF);
		buf_char(t->out, ' ');
		wrap(t, str_of(loss_text((enum loss)i, losses->count[i])), TEXT_MARGIN + wide + 1);
	}
}

void report_write_text(const struct report *r, const struct text_style *style, struct buf *out)
{
	struct text t = { .style = style, .out = out };
	size_t begin = out->n;

	add_title(&t, r->title);
	for (size_t i = 0; i < r->sections.nr; i++) {
		if (!is_shown(r->sections.v[i]))
			continue;
		if (out->n > begin)
			buf_char(out, '\n');
		add_section(&t, r->sections.v[i]);
	}
	add_losses(&t, &r->losses);
	buf_done(&t.shown);
}
