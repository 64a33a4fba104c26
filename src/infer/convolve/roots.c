/*
 * A client that asks again after an answer makes a circle of links, and every message seems to be
 * caused by one before. A path ends where it comes back to the node that it began with (the paper's
 * suppression of cycles), so on a route that begins requests, links from what comes back to its
 * sender go.
 *
 * A route begins requests when a good part of it has no cause. Where nothing that leads to a route
 * begins anywhere, someone in the circle must: the node that is least regular in what it does, as
 * a client that thinks is less regular than a server that works.
 */
#include "infer/convolve/roots.h"

#include <stdlib.h>
#include <string.h>

#include "infer/convolve/links.h"

#define SPONTANEOUS 0.2 /* part of a route without cause that makes it one that begins requests */

struct finder {
	struct links *l;
	const struct traffic *t;
	bool *is_root, *is_reached; /* by route */
	bool *is_cut;               /* by link */
};

/* Marks what can be reached from the routes that are marked already. */
static void reach(struct finder *f)
{
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < f->l->v.nr; i++) {
			const struct link *x = &f->l->v.v[i];

			if (f->is_cut[i] || !f->is_reached[x->from] || f->is_reached[x->to])
				continue;
			f->is_reached[x->to] = more = true;
		}
	}
}

/* Takes away the links to roots of this node from what its requests lead to. */
static int cut_node(struct finder *f, sym_t node)
{
	int nr = 0;

	for (size_t r = 0; r < f->t->routes.nr; r++)
		f->is_reached[r] = f->is_root[r] && f->t->routes.v[r].from == node;
	reach(f);
	for (size_t i = 0; i < f->l->v.nr; i++) {
		const struct link *x = &f->l->v.v[i];

		if (f->is_cut[i] || !f->is_root[x->to] || f->t->routes.v[x->to].from != node ||
		    !f->is_reached[x->from])
			continue;
		f->is_cut[i] = true;
		nr++;
	}
	return nr;
}

/* How much the delays of a node vary that lead to routes which nothing begins. */
static double irregular(const struct finder *f, sym_t node)
{
	double sum = 0, weight = 0;

	for (size_t i = 0; i < f->l->v.nr; i++) {
		const struct link *x = &f->l->v.v[i];
		double nr = x->share * f->t->routes.v[x->to].nr;

		if (f->is_cut[i] || f->t->routes.v[x->to].from != node || f->is_reached[x->to])
			continue;
		sum += nr * x->spread;
		weight += nr;
	}
	return weight > 0 ? sum / weight : -1;
}

/* The node to begin with where nothing does; 0 when every route is reached. */
static sym_t least_regular(struct finder *f)
{
	double most = -1;
	sym_t best = 0;

	memcpy(f->is_reached, f->is_root, f->t->routes.nr * sizeof(bool));
	reach(f);
	for (sym_t n = 1; n <= f->t->nodes.nr; n++) {
		double here = irregular(f, n);

		if (here > most) {
			most = here;
			best = n;
		}
	}
	return best;
}

/* Nodes whose routes begin most by themselves go first: what they cut may free others. */
static int cut_spontaneous(struct finder *f)
{
	int nr = 0;

	for (int part = 9; part >= 2; part--)
		for (uint32_t r = 0; r < f->t->routes.nr; r++) {
			if (f->is_root[r] || f->l->spontaneous_part.v[r] < SPONTANEOUS ||
			    f->l->spontaneous_part.v[r] * 10 < part)
				continue;
			f->is_root[r] = true;
			nr += cut_node(f, f->t->routes.v[r].from);
		}
	return nr;
}

static int cut_circles(struct finder *f)
{
	int nr = 0;
	sym_t node;

	while ((node = least_regular(f))) {
		for (size_t r = 0; r < f->t->routes.nr; r++)
			f->is_root[r] |= f->t->routes.v[r].from == node && !f->is_reached[r];
		nr += cut_node(f, node);
	}
	return nr;
}

int roots_cut(struct links *l, const struct traffic *t)
{
	struct finder f = { .l = l, .t = t };
	size_t kept = 0;
	int nr;

	f.is_root = mem_zalloc(t->routes.nr + 1);
	f.is_reached = mem_zalloc(t->routes.nr + 1);
	f.is_cut = mem_zalloc(l->v.nr + 1);
	nr = cut_spontaneous(&f);
	nr += cut_circles(&f);
	for (size_t i = 0; i < l->v.nr; i++)
		if (!f.is_cut[i])
			l->v.v[kept++] = l->v.v[i];
	l->v.nr = kept;
	free(f.is_root);
	free(f.is_reached);
	free(f.is_cut);
	return nr;
}
