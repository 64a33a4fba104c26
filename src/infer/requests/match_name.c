#include "infer/requests/match_name.h"

#include "infer/requests/match.h"
#include "infer/requests/match_build.h"

static struct str name_of(struct arena *a, const struct model_file *m, struct model_point p)
{
	struct model_method method = model_method(m, p.method);

	if (!p.line)
		return arena_fmt(a, STR_FMT "." STR_FMT, STR_ARG(method.class),
				 STR_ARG(method.name));
	return arena_fmt(a, STR_FMT "." STR_FMT ":%u", STR_ARG(method.class), STR_ARG(method.name),
			 p.line);
}

/* Ahead of the lines, for any thread may ask: a line then costs no more than a look. */
void match_name_points(struct matcher *m)
{
	struct str *v = arena_array(&m->arena, struct str, matcher_nr_points(m) + 1);

	for (unsigned i = 0; i < m->nr; i++)
		for (uint32_t k = 0; k < model_nr_points(m->models[i]); k++)
			v[matcher_number(m, i, k)] =
				name_of(&m->arena, m->models[i], model_point(m->models[i], k));
	m->point_names = v;
}

struct str matcher_point_name(const struct matcher *m, uint32_t number)
{
	return number <= matcher_nr_points(m) ? m->point_names[number] : (struct str){ 0 };
}
