#include "infer/objects/objects.h"

#include "base/arena.h"
#include <stdlib.h>

#include "base/mem.h"
#include "model/loss.h"
#include "model/mention.h"
#include "model/object.h"

struct objects {
	struct objects_options options;
	struct arena arena;
};

struct objects *objects_new(const struct objects_options *options)
{
	struct objects *o = mem_zalloc(sizeof(*o));

	if (options)
		o->options = *options;
	return o;
}

void objects_free(struct objects *o)
{
	if (!o)
		return;
	arena_done(&o->arena);
	free(o);
}

void objects_add(struct objects *o, const struct mention *m)
{
	(void)o;
	(void)m;
}

int objects_settle(struct objects *o, struct object_graph *g, struct losses *losses,
		   struct error *err)
{
	(void)o;
	(void)losses;
	(void)err;
	*g = (struct object_graph){ 0 };
	return 0;
}
