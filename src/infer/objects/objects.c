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
#include "infer/objects/kept.h"
#include "infer/objects/kinds.h"
#include "infer/objects/lives.h"
#include "infer/objects/merge.h"
#include "infer/objects/near.h"
#include "infer/objects/parts.h"
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
	WEIGH_EVERY = 4096, /* mentions between two times that what was told is weighed */
	INDEX_BYTES = 512,  /* of memory for each note by which equal ones are found */
	FILE_TIMES = 32,
	KEEP_SHARE = 4,
	MAX_NAMES = 1 << 30, /* of identifiers: they have numbers of 32 bits */
};

struct objects {
	struct objects_options options;
	struct shelf *shelf;
	struct told told;
	struct arena arena; /* of the graph handed out */
	struct kept kept;
	uint64_t nr_added, nr_forgotten;
	struct settled *settled; /* what is to be told; NULL: nothing */
};

struct settled {
	struct census w;
	struct relating before, r;
	struct stack s;
	struct emitting *e;
};

/* What is left of a settling, once it was told or is not wanted any more. */
static void forget_settled(struct objects *o)
{
	struct settled *d = o->settled;

	if (!d)
		return;
	emit_free(d->e);
	stack_done(&d->s);
	relate_done(&d->r);
	relate_done(&d->before);
	census_done(&d->w);
	free(d);
	o->settled = NULL;
}

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
	kept_init(&o->kept, o->shelf);
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
	forget_settled(o);
	told_done(&o->told);
	kept_done(&o->kept);
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
	census_look_at(o->shelf, o->nr_added++);
	if (o->nr_added % WEIGH_EVERY)
		return;
	if (told_bytes(&o->told) > o->options.file_bytes || o->told.ids.nr > MAX_NAMES) {
		o->nr_forgotten += told_forget(&o->told);
		kept_forget(&o->kept);
	}
}

/* Relations move one way: what lines told of kinds that are as they were is not asked again. */
static void relate_all(struct relating *r, struct census *w, const struct relating *before)
{
	census_count(w);
	relate_make(r, w, before);
	embed_make(r, w);
}

/* What is kept takes as much memory as what was told, and settling does, too: in a file it would
 * cost more time than it saves. */
static bool keeps(struct objects *o)
{
	if (!o->options.is_kept)
		return false;
	if (told_bytes(&o->told) < o->options.memory_bytes / KEEP_SHARE)
		return true;
	kept_forget(&o->kept);
	return false;
}

/* The steps up to relations between the kinds that are left. */
static void settle(struct settled *d)
{
	struct census *w = &d->w;
	struct relating first = { 0 };

	kinds_make(w);
	things_make(w);
	things_of_paths(w);
	scope_make(w);
	scope_drop_counters(w);
	relate_all(&first, w, NULL);
	merge_drop_states(w, &first);
	merge_kinds(w, &first);
	relate_all(&d->before, w, &first);
	relate_done(&first);
	combine_kinds(w, &d->before);
	parts_make(w, &d->before);
	lives_part(w, false);
	scope_drop_counters(w);
	relate_all(&d->r, w, &d->before);
	near_make(&d->r, w);
	stack_make(&d->s, w, &d->r);
	d->e = emit_new(w, &d->before, &d->r, &d->s);
}

void objects_settle(struct objects *o, struct losses *losses)
{
	struct settled *d = mem_zalloc(sizeof(*d));

	forget_settled(o);
	arena_reset(&o->arena);
	losses->count[LOSS_MENTIONS_FORGOTTEN] += o->nr_forgotten;
	losses->count[LOSS_IDS_LEFT] += o->told.nr_left;
	losses->count[LOSS_LIVES_LEFT] += o->told.turns.nr_left;
	o->nr_forgotten = o->told.nr_left = o->told.turns.nr_left = 0;
	census_init(&d->w, &o->told, &o->arena, losses);
	d->w.kept = keeps(o) ? &o->kept : NULL;
	settle(d);
	if (d->w.kept) {
		kept_settled(d->w.kept, &d->w);
		told_settled(&o->told);
	}
	o->settled = d;
}

int objects_tell(struct objects *o, const struct object_sink *sink, struct error *err)
{
	int r;

	if (!o->settled)
		return error_set(err, EINVAL, "objects are told once for each time they settle");
	r = emit_tell(o->settled->e, sink, err);
	forget_settled(o);
	return r;
}

void objects_relations(const struct objects *o, uint64_t *gone_on, uint64_t *anew)
{
	*gone_on = o->kept.nr_gone_on;
	*anew = o->kept.nr_anew;
}
