/* The log points of a model: their patterns, and what is known of each hole. */
#include "program/handled.h"
#include "program/model_making.h"
#include "program/scope.h"

/* Whether the method logs the value without it or what it calls changing it. */
static bool is_id(const struct making *m, const struct path *path, uint32_t method)
{
	const struct summary *s = &m->learned->identifiers.of[method];
	struct path own = *path;

	if (own.method != method) /* as the summaries have it */
		own.root = ROOT_LOCAL;
	if (own.root < 0 && !own.nr)
		return false;
	for (uint32_t i = 0; i < s->nr; i++)
		if (path_is_same(&s->ids[i].path, &own))
			return true;
	return false;
}

static uint32_t add_part(struct making *m, const struct part *p, uint32_t method)
{
	struct disk_part d = {
		.flags = (uint32_t)p->kind | (uint32_t)p->type << PART_TYPE_SHIFT,
		.text = making_string(m, p->text),
	};

	if (p->kind == PART_HOLE && p->path) {
		d.path = making_path(m, p->path);
		if (is_id(m, p->path, method))
			d.flags |= PART_IS_ID;
	}
	return making_add(m, SECTION_PARTS, &d);
}

static void add_version(struct making *m, const struct version *v, uint32_t point, uint32_t method)
{
	struct disk_version d = { .point = point,
				  .parts = { making_nr(m, SECTION_PARTS), v->nr },
				  .letters = v->letters,
				  .literal = MODEL_NONE };
	size_t longest = 0;

	for (uint32_t i = 0; i < v->nr; i++) {
		uint32_t part = add_part(m, &v->parts[i], method);

		if (v->parts[i].kind != PART_TEXT || v->parts[i].text.n <= longest)
			continue;
		longest = v->parts[i].text.n;
		d.literal = part;
	}
	making_add(m, SECTION_VERSIONS, &d);
}

struct disk_range making_text(struct making *m, const struct text *t, uint32_t point,
			      uint32_t method)
{
	struct disk_range r = { making_nr(m, SECTION_VERSIONS), t->nr };

	for (uint32_t i = 0; i < t->nr; i++)
		add_version(m, &t->versions[i], point, method);
	return r;
}

/* What there is in the first version, which is the one that the summaries look at. */
static uint8_t holes_of(const struct making *m, struct disk_range versions)
{
	const struct disk_version *v;
	const struct disk_part *parts = (const void *)m->sections[SECTION_PARTS].v;
	uint8_t flags = 0;

	if (!versions.nr)
		return 0;
	v = (const struct disk_version *)m->sections[SECTION_VERSIONS].v + versions.first;
	for (uint32_t i = 0; i < v->parts.nr; i++) {
		uint32_t part = parts[v->parts.first + i].flags;

		flags |= (part & PART_KIND_MASK) != PART_TEXT ? POINT_HAS_VALUE : 0;
		flags |= part & PART_IS_ID ? POINT_HAS_ID : 0;
	}
	return flags;
}

static uint32_t add_logger(struct making *m, struct str logger, uint8_t *flags)
{
	if (logger.n && logger.p[logger.n - 1] == '*') {
		*flags |= POINT_ANY_BELOW;
		logger.n--;
	}
	return making_string(m, logger);
}

static void add_point(struct making *m, uint32_t point)
{
	const struct log_point *p = &m->learned->points.v.v[point];
	uint8_t flags = m->flags[point];
	struct disk_point d = { .method = making_method(m, p->method),
				.line = p->line,
				.level = p->level,
				.pc = p->pc,
				.logger = add_logger(m, p->logger, &flags),
				.versions = making_text(m, &p->text, point, p->method) };

	flags |= p->has_error ? POINT_HAS_ERROR : 0;
	flags |= p->is_handed ? POINT_IS_HANDED : 0;
	flags |= holes_of(m, d.versions);
	d.flags = m->flags[point] = flags;
	making_add(m, SECTION_POINTS, &d);
	arena_reset(&m->scratch);
}

/* Those of one method, from point on; gives the first that is of another. */
static uint32_t mark_handled(struct making *m, struct scopes *scopes, uint32_t point)
{
	const struct log_points *all = &m->learned->points;
	uint32_t method = all->v.v[point].method;
	const struct values *v = scopes_values(scopes, method);
	bool *is_handled = v ? handled_blocks(&v->flow, &m->scratch) : NULL;

	for (; point < all->v.nr && all->v.v[point].method == method; point++)
		for (uint32_t b = 0; v && b < v->flow.nr; b++)
			if (v->flow.blocks[b].from <= all->v.v[point].pc &&
			    all->v.v[point].pc < v->flow.blocks[b].to && is_handled[b])
				m->flags[point] |= POINT_IS_EXCEPTIONAL;
	arena_reset(&m->scratch);
	scopes_trim(scopes);
	return point;
}

void making_points(struct making *m)
{
	uint32_t nr = (uint32_t)m->learned->points.v.nr;
	struct scopes scopes;

	scopes_init(&scopes, m->learned->program);
	for (uint32_t i = 0; i < nr;)
		i = mark_handled(m, &scopes, i);
	scopes_done(&scopes);
	for (uint32_t i = 0; i < nr; i++)
		add_point(m, i);
}

bool making_is_usual(const struct making *m, uint32_t point)
{
	enum level level = m->learned->points.v.v[point].level;

	return !(m->flags[point] & POINT_IS_EXCEPTIONAL) &&
	       (level == LEVEL_NONE || level >= LEVEL_INFO);
}
