#include "program/learn.h"

#include <errno.h>

#include "base/error.h"

static void step(const struct learn_options *o, const char *what)
{
	if (o->step)
		o->step(o->ctx, what);
}

static int no_class(const struct learned *l, const char *const *paths, size_t nr, struct error *err)
{
	const char *and_others = nr > 1 ? " and the others" : "";

	if (l->losses.count[LOSS_JARS_BROKEN] || l->losses.count[LOSS_CLASSES_BROKEN])
		return error_set(err, EBADMSG,
				 "no class in '%s'%s could be read: damaged, or no jar at all; "
				 "give the jars of the program, or folders with them",
				 paths[0], and_others);
	return error_set(err, ENOENT,
			 "there is no class in '%s'%s; give the jars of the program, or folders "
			 "with jars or class files",
			 paths[0], and_others);
}

int learn(struct learned *l, const char *const *paths, size_t nr, const struct learn_options *o,
	  struct error *err)
{
	int got;

	*l = (struct learned){ 0 };
	step(o, "classes");
	got = program_load(&l->program, paths, nr, o->threads, &l->losses, err);
	if (got >= 0 && !l->program->classes.nr) {
		got = no_class(l, paths, nr, err);
		program_free(l->program);
	}
	if (got < 0) {
		*l = (struct learned){ 0 };
		return got;
	}
	step(o, "log points");
	log_points_find(&l->points, l->program, &l->losses);
	step(o, "calls");
	callgraph_init(&l->graph, l->program, &l->losses);
	step(o, "identifiers");
	identifiers_find(&l->identifiers, &l->graph, &l->points);
	step(o, "order");
	orders_find(&l->orders, &l->graph, &l->points, &l->identifiers);
	step(o, "pairs");
	pairs_find(&l->pairs, &l->graph, &l->identifiers, &l->losses);
	step(o, "names of threads");
	thread_names_find(&l->thread_names, l->program);
	return 0;
}

void learned_done(struct learned *l)
{
	if (!l->program)
		return;
	thread_names_done(&l->thread_names);
	pairs_done(&l->pairs);
	orders_done(&l->orders);
	identifiers_done(&l->identifiers);
	callgraph_done(&l->graph);
	log_points_done(&l->points);
	program_free(l->program);
	*l = (struct learned){ 0 };
}
