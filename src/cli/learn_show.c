#include "cli/learn_show.h"

void learn_name_method(const struct model_file *m, uint32_t method, bool is_short, struct buf *b)
{
	struct model_method x = model_method(m, method);
	size_t dot = 0;

	for (size_t i = 0; is_short && i < x.class.n; i++)
		if (x.class.p[i] == '.')
			dot = i + 1;
	buf_add(b, str_skip(x.class, dot));
	buf_char(b, '.');
	buf_add(b, x.name);
}

void learn_name_point(const struct model_file *m, uint32_t point, bool is_short, struct buf *b)
{
	struct model_point p = model_point(m, point);

	learn_name_method(m, p.method, is_short, b);
	if (p.line)
		buf_fmt(b, ":%u", p.line);
}

void learn_write_version(const struct model_file *m, uint32_t version, struct buf *b)
{
	struct model_version v = model_version(m, version);

	for (uint32_t i = 0; i < v.parts.nr; i++) {
		struct model_part p = model_part(m, v.parts.first + i);

		buf_add(b, p.kind == PART_TEXT ? p.text : STR("{}"));
	}
}

void learn_write_text(const struct model_file *m, uint32_t point, struct buf *b)
{
	struct model_point p = model_point(m, point);

	if (p.versions.nr)
		learn_write_version(m, p.versions.first, b);
}

enum { MATCH_NONE, MATCH_PART, MATCH_NAME };

static int match(const struct model_file *m, uint32_t method, struct str name, struct buf *scratch)
{
	struct str full;

	buf_clear(scratch);
	learn_name_method(m, method, false, scratch);
	full = buf_str(scratch);
	if (str_ends(full, name) && (full.n == name.n || full.p[full.n - name.n - 1] == '.' ||
				     full.p[full.n - name.n - 1] == '$'))
		return MATCH_NAME;
	return str_find(full, name) < full.n ? MATCH_PART : MATCH_NONE;
}

/* Methods of the model that are no tops are there because they log, or are ends of pairs. */
void learn_find(const struct model_file *m, struct str name, struct learn_found *found)
{
	struct buf scratch = { 0 };
	int best = MATCH_PART;

	*found = (struct learn_found){ 0 };
	for (uint32_t i = 0; i < model_nr_methods(m); i++) {
		int how = match(m, i, name, &scratch);
		uint32_t top = model_method(m, i).top;

		if (how < best)
			continue;
		if (how > best) {
			vec_clear(&found->tops);
			vec_clear(&found->methods);
			best = how;
		}
		if (top != MODEL_NO)
			vec_push(&found->tops, top);
		else
			vec_push(&found->methods, i);
	}
	buf_done(&scratch);
}

void learn_found_done(struct learn_found *found)
{
	vec_done(&found->tops);
	vec_done(&found->methods);
}
