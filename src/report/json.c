#include "report/writer.h"

#include <string.h>

#include "base/jsonout.h"
#include "report/report.h"

static void add_rows(struct jsonout *j, const struct section *s);
static void add_object(struct jsonout *j, const struct section *s);

static void add_cell(struct jsonout *j, const struct cell *c)
{
	switch (c->type) {
	case CELL_NONE:
		jsonout_null(j);
		break;
	case CELL_TEXT:
		jsonout_str(j, c->text);
		break;
	case CELL_COUNT:
	case CELL_DURATION:
	case CELL_TIME:
		jsonout_int(j, c->i);
		break;
	case CELL_NUMBER:
	case CELL_SHARE:
		jsonout_double(j, c->d);
		break;
	case CELL_BOOL:
		jsonout_bool(j, c->i != 0);
		break;
	case CELL_SPARK:
		jsonout_open(j, '[');
		for (size_t i = 0; i < c->list.nr; i++)
			jsonout_double(j, c->list.v[i]);
		jsonout_close(j, ']');
		break;
	case CELL_BAR:
		jsonout_open(j, '[');
		jsonout_double(j, c->bar.from);
		jsonout_double(j, c->bar.to);
		jsonout_close(j, ']');
		break;
	case CELL_ROWS:
		add_rows(j, c->rows);
		break;
	}
}

static void add_fields(struct jsonout *j, const struct section *s, const struct row *row)
{
	for (size_t i = 0; i < s->nr_columns; i++) {
		const struct column *c = &s->columns[i];

		if (!c->key || (c->flags & COLUMN_TEXT_ONLY) ||
		    ((c->flags & COLUMN_OPTIONAL) && row->cells[i].type == CELL_NONE))
			continue;
		jsonout_key(j, c->key);
		if ((c->flags & COLUMN_OBJECT) && row->cells[i].type == CELL_ROWS)
			add_object(j, row->cells[i].rows);
		else
			add_cell(j, &row->cells[i]);
	}
}

static void add_object(struct jsonout *j, const struct section *s)
{
	jsonout_open(j, '{');
	if (s->rows.nr)
		add_fields(j, s, &s->rows.v[0]);
	jsonout_close(j, '}');
}

/* Rows inside a cell: objects, or bare values when the one column has no name. */
static void add_rows(struct jsonout *j, const struct section *s)
{
	bool bare = s->nr_columns == 1 && !s->columns[0].key;

	jsonout_open(j, '[');
	vec_each (&s->rows, row) {
		if (bare) {
			add_cell(j, &row->cells[0]);
			continue;
		}
		jsonout_open(j, '{');
		add_fields(j, s, row);
		jsonout_close(j, '}');
	}
	jsonout_close(j, ']');
}

static bool has_depth(const struct section *s)
{
	bool tree = false;

	for (size_t i = 0; i < s->nr_columns; i++) {
		tree |= (s->columns[i].flags & COLUMN_INDENT) != 0;
		if (s->columns[i].key && !strcmp(s->columns[i].key, "depth"))
			return false;
	}
	return tree;
}

static void add_table(struct buf *out, const struct section *s)
{
	bool depth = has_depth(s);

	vec_each (&s->rows, row) {
		struct jsonout j = { .out = out };

		jsonout_open(&j, '{');
		if (s->tagged && s->name) {
			jsonout_key(&j, "section");
			jsonout_str(&j, str_of(s->name));
		}
		add_fields(&j, s, row);
		if (depth) {
			jsonout_key(&j, "depth");
			jsonout_int(&j, row->depth);
		}
		jsonout_close(&j, '}');
		buf_char(out, '\n');
	}
}

/* Whether the numbers of a sentence tell how sure it is: it is not said twice. */
static bool has_confidence(const struct section *facts)
{
	for (size_t i = 0; facts && facts->rows.nr && i < facts->nr_columns; i++)
		if (facts->columns[i].key && !strcmp(facts->columns[i].key, "confidence"))
			return true;
	return false;
}

static void add_prose(struct buf *out, const struct section *s, const struct prose *p)
{
	struct jsonout j = { .out = out };

	jsonout_open(&j, '{');
	if (s->name) {
		jsonout_key(&j, "section");
		jsonout_str(&j, str_of(s->name));
	}
	if (p->word.n) {
		jsonout_key(&j, "step");
		jsonout_str(&j, p->word);
	}
	jsonout_key(&j, "text");
	jsonout_str(&j, p->text);
	if (p->confidence >= 0 && !has_confidence(p->facts)) {
		jsonout_key(&j, "confidence");
		jsonout_double(&j, p->confidence);
	}
	if (p->command.n) {
		jsonout_key(&j, "command");
		jsonout_str(&j, p->command);
	}
	if (p->facts && p->facts->rows.nr)
		add_fields(&j, p->facts, &p->facts->rows.v[0]);
	jsonout_close(&j, '}');
	buf_char(out, '\n');
}

static void add_losses(struct buf *out, const struct losses *losses)
{
	struct jsonout j = { .out = out };
	bool any = false;

	for (int i = 0; i < LOSS_NR; i++)
		any |= losses->count[i] != 0;
	if (!any)
		return;
	jsonout_open(&j, '{');
	jsonout_key(&j, "losses");
	jsonout_open(&j, '{');
	for (int i = 0; i < LOSS_NR; i++) {
		if (!losses->count[i])
			continue;
		jsonout_key(&j, loss_name((enum loss)i));
		jsonout_uint(&j, losses->count[i]);
	}
	jsonout_close(&j, '}');
	jsonout_close(&j, '}');
	buf_char(out, '\n');
}

void report_write_json_piece(const struct report *r, struct buf *out)
{
	for (size_t i = 0; i < r->sections.nr; i++) {
		const struct section *s = r->sections.v[i];

		if (s->text_only)
			continue;
		if (s->kind == SECTION_ROWS)
			add_table(out, s);
		vec_each (&s->prose, p)
			add_prose(out, s, p);
	}
}

void report_write_json(const struct report *r, struct buf *out)
{
	report_write_json_piece(r, out);
	add_losses(out, &r->losses);
}
