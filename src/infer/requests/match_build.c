#include "infer/requests/match_build.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/vec.h"
#include "infer/requests/match_where.h"

/* A dash or a colon between holes, as many factories put it, tells nothing of a thread. */
enum { THREAD_LETTERS = 3 };

struct named_item {
	sym_t name;
	struct match_item item;
};

struct building {
	struct matcher *m;
	uint32_t model;
	struct match_pattern *patterns; /* of the model, by version */
	VEC(struct named_item) by_logger, by_file;
	VEC(struct match_item) all, threads;
};

/* Layouts and readers drop blanks at both ends of a message, so they do not count. */
static struct str trimmed(struct str text, bool is_first, bool is_last)
{
	while (is_first && text.n && isspace((unsigned char)text.p[0]))
		text = str_skip(text, 1);
	while (is_last && text.n && isspace((unsigned char)text.p[text.n - 1]))
		text.n--;
	return text;
}

/* Texts are copied, so that all that is looked at for one pattern lies side by side. */
static void add_part(struct arena *a, struct match_pattern *p, struct match_part *to,
		     struct match_part part)
{
	if (part.kind == PART_TEXT && !part.text.n)
		return;
	if (part.kind == PART_TEXT) {
		p->letters += (uint32_t)part.text.n;
		if (p->literal == MODEL_NO || part.text.n > p->parts[p->literal].text.n)
			p->literal = p->nr;
	}
	p->nr_any += part.kind == PART_ANY && p->nr_any < 15;
	part.text = arena_str(a, part.text);
	to[p->nr++] = part;
}

static void note_constants(struct arena *a, struct match_pattern *p)
{
	uint16_t *constants = arena_array(a, uint16_t, p->nr + 1);

	for (uint32_t i = 0; i < p->nr; i++)
		if (p->parts[i].kind == PART_TEXT)
			constants[p->nr_constants++] = (uint16_t)i;
	p->constants = constants;
	p->begins = p->nr && p->parts[0].kind == PART_TEXT;
	p->ends = p->nr && p->parts[p->nr - 1].kind == PART_TEXT;
}

/* Whether the hole is for something else than any text. */
static bool is_strict(const struct match_part *p)
{
	return p->kind == PART_HOLE && (p->type == HOLE_INTEGER || p->type == HOLE_DECIMAL ||
					p->type == HOLE_BOOLEAN || p->type == HOLE_CHAR);
}

/* A gap with no hole in it must be empty, which it is at both ends. */
static void note_strict(struct match_pattern *p)
{
	for (uint32_t i = 0; i <= p->nr_constants; i++) {
		uint32_t first = i ? p->constants[i - 1] + 1U : 0;
		uint32_t nr = (i < p->nr_constants ? p->constants[i] : p->nr) - first;

		if (nr == 1 ? is_strict(&p->parts[first])
			    : !nr && (!p->nr || (i && i < p->nr_constants)))
			p->strict |= 1ULL << (i < 63 ? i : 63);
	}
}

static bool can_name(const struct model_part *p)
{
	return p->is_id || p->type == HOLE_TEXT || p->type == HOLE_INTEGER ||
	       p->type == HOLE_OBJECT;
}

static struct match_pattern ready(struct building *b, const struct model_file *f, uint32_t version)
{
	struct model_version v = model_version(f, version);
	/* none that is longer is ever learned */
	uint32_t nr = v.parts.nr > PARTS_MAX ? 0 : v.parts.nr;
	struct match_part *parts = arena_array(&b->m->arena, struct match_part, nr + 1);
	struct match_pattern p = { .parts = parts,
				   .literal = MODEL_NO,
				   .model = b->model,
				   .point = v.point,
				   .version = version };

	for (uint32_t i = 0; i < nr; i++) {
		struct model_part from = model_part(f, v.parts.first + i);
		struct match_part part = { .part = v.parts.first + i,
					   .kind = (uint8_t)from.kind,
					   .type = (uint8_t)from.type,
					   .can_name = can_name(&from) };

		if (from.kind == PART_TEXT)
			part.text = trimmed(from.text, !i, i + 1 == nr);
		add_part(&b->m->arena, &p, parts, part);
	}
	if (p.literal == MODEL_NO)
		p.literal = p.nr;
	note_constants(&b->m->arena, &p);
	note_strict(&p);
	return p;
}

static void add_point(struct building *b, const struct model_file *f, uint32_t point)
{
	struct model_point p = model_point(f, point);
	struct str file = model_method(f, p.method).file;

	for (uint32_t i = p.versions.first; i < p.versions.first + p.versions.nr; i++) {
		struct match_pattern *ready_one = &b->patterns[i];
		struct match_item item = { .pattern = ready_one, .logger = p.logger };

		*ready_one = ready(b, f, i);
		ready_one->point = point;
		ready_one->line = p.line;
		ready_one->level = (uint8_t)p.level;
		ready_one->is_open = !p.logger.n || p.is_below;
		if (ready_one->letters)
			vec_push(&b->all, item);
		if (file.n)
			vec_push(&b->by_file,
				 (struct named_item){ names_add(&b->m->files.names, file), item });
	}
}

static void add_logger(struct building *b, const struct model_file *f, uint32_t logger)
{
	struct model_logger l = model_logger(f, logger);
	sym_t name = names_add(&b->m->loggers.names, match_where_last(l.name));

	for (uint32_t i = 0; i < l.points.nr; i++) {
		struct model_point p = model_point(f, l.points.v[i]);

		for (uint32_t k = p.versions.first; k < p.versions.first + p.versions.nr; k++)
			if (b->patterns[k].letters || p.line)
				vec_push(&b->by_logger,
					 (struct named_item){ name,
							      { .pattern = &b->patterns[k],
								.logger = l.name } });
	}
}

static size_t longest_constant(const struct match_pattern *p)
{
	return p->literal < p->nr ? p->parts[p->literal].text.n : 0;
}

static void add_thread_name(struct building *b, const struct model_file *f, uint32_t name)
{
	struct model_thread_name n = model_thread_name(f, name);

	for (uint32_t i = n.versions.first; i < n.versions.first + n.versions.nr; i++) {
		b->patterns[i] = ready(b, f, i);
		b->patterns[i].point = name;
		if (longest_constant(&b->patterns[i]) >= THREAD_LETTERS)
			vec_push(&b->threads, (struct match_item){ .pattern = &b->patterns[i],
								   .logger = { "", 0 } });
	}
}

static void add_model(struct building *b, uint32_t model)
{
	const struct model_file *f = b->m->models[model];

	b->model = model;
	b->patterns = arena_array(&b->m->arena, struct match_pattern, model_nr_versions(f) + 1);
	for (uint32_t i = 0; i < model_nr_points(f); i++)
		add_point(b, f, i);
	for (uint32_t i = 0; i < model_nr_loggers(f); i++)
		add_logger(b, f, i);
	for (uint32_t i = 0; i < model_nr_thread_names(f); i++)
		add_thread_name(b, f, i);
}

static void count_letters(const struct match_item *items, size_t nr, uint32_t counts[256])
{
	for (size_t k = 0; k < nr; k++) {
		const struct match_pattern *p = items[k].pattern;

		for (uint32_t i = 0; i < p->nr; i++)
			for (size_t at = 0;
			     p->parts[i].kind == PART_TEXT && at < p->parts[i].text.n; at++)
				counts[(unsigned char)p->parts[i].text.p[at]]++;
	}
}

/* The beginning was compared already when an item is looked at, so its letters say nothing. */
static int16_t rarest_letter(const struct match_pattern *p, const uint32_t counts[256])
{
	int16_t rarest = -1;

	for (uint32_t i = 1; i < p->nr; i++) {
		struct str text = p->parts[i].text;

		for (size_t at = 0; p->parts[i].kind == PART_TEXT && at < text.n; at++) {
			unsigned char c = (unsigned char)text.p[at];

			if (rarest < 0 || counts[c] < counts[rarest])
				rarest = c;
		}
	}
	return rarest;
}

static int by_name(const void *a, const void *b)
{
	const struct named_item *x = a, *y = b;

	return x->name < y->name ? -1 : x->name > y->name;
}

static const struct match_set *set_of(struct matcher *m, const struct match_item *items, size_t nr)
{
	struct match_item *copy = arena_array(&m->arena, struct match_item, nr + 1);

	for (size_t i = 0; i < nr; i++) {
		const struct match_pattern *p = items[i].pattern;

		copy[i] = items[i];
		copy[i].letters = p->letters;
		copy[i].rarest = rarest_letter(p, m->counts);
		copy[i].levels = p->level == LEVEL_NONE ? MATCH_ANY_LEVEL
							: match_level_bit((enum level)p->level);
	}
	return match_set_new(&m->arena, copy, (uint32_t)nr);
}

static void add_sets(struct matcher *m, struct match_sets *sets, struct named_item *v, size_t nr)
{
	VEC(struct match_item) items = { 0 };

	sets->v = arena_array(&m->arena, const struct match_set *, (size_t)sets->names.nr + 1);
	if (nr)
		qsort(v, nr, sizeof(*v), by_name);
	for (size_t from = 0, to; from < nr; from = to) {
		vec_clear(&items);
		for (to = from; to < nr && v[to].name == v[from].name; to++)
			vec_push(&items, v[to].item);
		sets->v[v[from].name] = set_of(m, items.v, items.nr);
	}
	vec_done(&items);
}

void match_build(struct matcher *m)
{
	struct building b = { .m = m };

	m->points = arena_array(&m->arena, uint32_t, m->nr + 1);
	m->names = arena_array(&m->arena, uint32_t, m->nr + 1);
	m->points[0] = m->names[0] = 1;
	for (uint32_t i = 0; i < m->nr; i++) {
		m->points[i + 1] = m->points[i] + model_nr_points(m->models[i]);
		m->names[i + 1] = m->names[i] + model_nr_thread_names(m->models[i]);
		add_model(&b, i);
	}
	count_letters(b.all.v, b.all.nr, m->counts);
	count_letters(b.threads.v, b.threads.nr, m->counts);
	add_sets(m, &m->loggers, b.by_logger.v, b.by_logger.nr);
	add_sets(m, &m->files, b.by_file.v, b.by_file.nr);
	m->all = set_of(m, b.all.v, b.all.nr);
	m->threads = set_of(m, b.threads.v, b.threads.nr);
	vec_done(&b.by_logger);
	vec_done(&b.by_file);
	vec_done(&b.all);
	vec_done(&b.threads);
}
