/* The steps, in the order of the paper's section 3: mentions are gathered (told), types are tested
 * (kinds), things found behind them (things, scope), kinds related (relate, embed, near), the
 * algorithm taken in its steps (merge, combine, stack), and objects made of it (emit). Time and
 * memory go by distinct lines, of which the oldest are forgotten beyond a bound. */
#include "infer/objects/objects.h"

#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/shelf.h"
#include "infer/objects/combine.h"
#include "infer/objects/deed.h"
#include "infer/objects/embed.h"
#include "infer/objects/emit.h"
#include "infer/objects/kinds.h"
#include "infer/objects/lives.h"
#include "infer/objects/merge.h"
#include "infer/objects/near.h"
#include "infer/objects/relate.h"
#include "infer/objects/scope.h"
#include "infer/objects/stack.h"
#include "infer/objects/things.h"
#include "infer/objects/told.h"
#include "infer/objects/census.h"
#include "model/loss.h"
#include "model/mention.h"
#include "model/object.h"

enum {
	LOOK_EVERY = 4096, /* mentions between two looks at the memory */
	INDEX_BYTES = 512, /* of memory for each note by which equal ones are found */
	FILE_TIMES = 32,
	MAX_NAMES = 1 << 30, /* of identifiers: they have numbers of 32 bits */
};

struct objects {
	struct objects_options options;
	struct shelf *shelf;
	struct told told;
	struct arena arena; /* of the graph handed out */
	uint64_t nr_added, nr_forgotten;
};

struct objects *objects_new(const struct objects_options *options)
{
	struct objects *o = mem_zalloc(sizeof(*o));

	if (options)
		o->options = *options;
	if (!o->options.memory_bytes)
		o->options.memory_bytes = (size_t)512 << 20;
	if (!o->options.file_bytes)
		o->options.file_bytes = mem_bytes(o->options.memory_bytes, FILE_TIMES);
	o->shelf = shelf_new(o->options.memory_bytes, o->options.dir);
	o->arena.shelf = o->shelf;
	told_init(&o->told, o->shelf, o->options.memory_bytes / INDEX_BYTES + 1);
	return o;
}

int objects_branch(struct objects *o, struct error *err)
{
	return shelf_branch(o->shelf) ? 0
				      : error_set(err, ENOMEM,
						  "not enough memory for a second "
						  "look at the objects");
}

void objects_free(struct objects *o)
{
	if (!o)
		return;
	told_done(&o->told);
	arena_done(&o->arena);
	shelf_free(o->shelf);
	free(o);
}

bool objects_tells_turn(struct str title)
{
	enum relation_deed deed = deed_of(title);

	return deed == DEED_CREATED || deed == DEED_FINISHED;
}

bool objects_may_turn(const struct mention *m)
{
	for (size_t i = 0; i < m->nr; i++)
		if (turns_may(&m->v[i]))
			return true;
	return false;
}

void objects_add(struct objects *o, const struct mention *m)
{
	told_add(&o->told, m);
	if (++o->nr_added % LOOK_EVERY == 0 &&
	    (told_bytes(&o->told) > o->options.file_bytes || o->told.ids.nr > MAX_NAMES))
		o->nr_forgotten += told_forget(&o->told);
}

/* Relations move one way: what lines told of kinds that are as they were is not asked again. */
static void relate_all(struct relating *r, struct census *w, const struct relating *before)
{
	census_count(w);
	relate_make(r, w, before);
	embed_make(r, w);
}

int objects_settle(struct objects *o, struct object_graph *g, struct losses *losses,
		   struct error *err)
{
	struct census w;
	struct relating first = { 0 }, before = { 0 }, r = { 0 };
	struct stack s;

	(void)err;
	arena_reset(&o->arena);
	losses->count[LOSS_MENTIONS_FORGOTTEN] += o->nr_forgotten;
	losses->count[LOSS_IDS_LEFT] += o->told.nr_left;
	losses->count[LOSS_LIVES_LEFT] += o->told.turns.nr_left;
	o->nr_forgotten = o->told.nr_left = o->told.turns.nr_left = 0;
	census_init(&w, &o->told, &o->arena, losses);
	kinds_make(&w);
	things_make(&w);
	things_of_paths(&w);
	scope_make(&w);
	scope_drop_counters(&w);
	relate_all(&first, &w, NULL);
	merge_drop_states(&w, &first);
	merge_kinds(&w, &first);
	relate_all(&before, &w, &first);
	relate_done(&first);
	combine_kinds(&w, &before);
	lives_part(&w, false);
	scope_drop_counters(&w);
	relate_all(&r, &w, &before);
	near_make(&r, &w);
	stack_make(&s, &w, &r);
	emit_graph(&w, &before, &r, &s, g);
	stack_done(&s);
	relate_done(&r);
	relate_done(&before);
	census_done(&w);
	return 0;
}
