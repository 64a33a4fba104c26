#include "ask/variance/suppose.h"

#include <math.h>

#include "ask/variance/inside.h"

struct supposed {
	const struct variance_tree *t;
	bool *is_part;       /* by node: of the factor */
	int64_t *own, *rest; /* by interval of the sample: the factor's time, and all else */
	int64_t *sorted;
	size_t nr;
	double mean, median; /* of the factor */
};

static void suppose_init(struct supposed *s, const struct variance_tree *t)
{
	s->t = t;
	s->nr = t->sample.v.nr;
	s->is_part = mem_zalloc(t->nodes.nr + 1);
	s->own = mem_alloc(mem_bytes(s->nr + 1, sizeof(*s->own)));
	s->rest = mem_alloc(mem_bytes(s->nr + 1, sizeof(*s->rest)));
	s->sorted = mem_alloc(mem_bytes(s->nr + 1, sizeof(*s->sorted)));
}

static void suppose_done(struct supposed *s)
{
	free(s->is_part);
	free(s->own);
	free(s->rest);
	free(s->sorted);
}

static void suppose_split(struct supposed *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		const struct sample_interval *x = &s->t->sample.v.v[i];

		s->own[i] = 0;
		for (uint32_t j = 0; j < x->nr; j++)
			if (s->is_part[tree_leaf(s->t, x->v[j].node)])
				s->own[i] += x->v[j].ns;
		s->rest[i] = x->ns - s->own[i];
		s->sorted[i] = s->own[i];
	}
	stats_sort(s->sorted, s->nr);
	s->median = (double)stats_percentile(s->sorted, s->nr, 0.5);
	s->mean = stats_mean(s->own, s->nr);
}

static double spread_of(const int64_t *v, size_t nr, double *mean)
{
	double sum = 0;

	*mean = stats_mean(v, nr);
	for (size_t i = 0; i < nr; i++)
		sum += ((double)v[i] - *mean) * ((double)v[i] - *mean);
	return nr ? sqrt(sum / (double)nr) : 0;
}

static void suppose(struct supposed *s, double kept, bool at_mean, struct variance_if *out)
{
	double middle = at_mean ? s->mean : s->median;

	for (size_t i = 0; i < s->nr; i++)
		s->sorted[i] =
			s->rest[i] + (int64_t)llround(middle + kept * ((double)s->own[i] - middle));
	out->kept = kept;
	out->sd = spread_of(s->sorted, s->nr, &out->mean);
	stats_sort(s->sorted, s->nr);
	out->p50 = stats_percentile(s->sorted, s->nr, 0.5);
	out->p99 = stats_percentile(s->sorted, s->nr, 0.99);
}

bool variance_what_if(const struct variance_tree *t, struct str name, double kept, bool at_mean,
		      struct variance_if *out)
{
	struct supposed s;
	bool any = false;

	suppose_init(&s, t);
	for (size_t i = 0; i < t->nodes.nr; i++)
		if (!t->nodes.v[i].children.nr && str_eq(t->nodes.v[i].name, name))
			any = s.is_part[i] = true;
	/* of an inner function all that is below it */
	for (size_t i = 0; i < t->nodes.nr; i++) {
		uint32_t parent = t->nodes.v[i].parent;

		if (str_eq(t->nodes.v[i].name, name) || (parent != NODE_NONE && s.is_part[parent]))
			any = s.is_part[i] = true;
	}
	if (any) {
		suppose_split(&s);
		suppose(&s, kept, at_mean, out);
	}
	suppose_done(&s);
	return any;
}

static void find_parts(struct supposed *s, const struct variance_factor *f, bool sites)
{
	const struct variance_tree *t = s->t;

	for (size_t i = 0; i < t->nodes.nr; i++)
		s->is_part[i] = sites ? i == f->node
				      : !t->nodes.v[i].children.nr &&
						str_eq(t->nodes.v[i].name, f->name[0]);
}

static void find_steps(struct supposed *s, size_t nr, struct arena *arena,
		       struct variance_factor *f)
{
	struct variance_if then;

	f->if_p99 = arena_array(arena, double, nr + 1);
	f->if_sd = arena_array(arena, double, nr + 1);
	for (size_t i = 0; i <= nr; i++) {
		suppose(s, (double)i / (double)nr, false, &then);
		f->if_p99[i] = (double)then.p99;
		f->if_sd[i] = then.sd;
	}
}

void suppose_factors(const struct variance_tree *t, const struct variance_options *o,
		     struct arena *arena, struct variance_factor *v, size_t nr)
{
	struct supposed s;
	struct variance_if now, then;
	size_t done = 0;

	suppose_init(&s, t);
	suppose_split(&s);
	suppose(&s, 1, false, &now);
	for (size_t i = 0; i < nr && done < o->nr_what_if; i++) {
		if (v[i].name[1].n)
			continue;
		find_parts(&s, &v[i], o->sites);
		suppose_split(&s);
		suppose(&s, 0, false, &then);
		v[i].has_if = true;
		v[i].sd_if = then.sd;
		v[i].variance_if = ratio(then.sd * then.sd, now.sd * now.sd);
		v[i].p99_if = then.p99;
		if (o->nr_steps)
			find_steps(&s, o->nr_steps, arena, &v[i]);
		done++;
	}
	suppose_done(&s);
}
