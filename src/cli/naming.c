#include "cli/naming.h"

#include "cli/command.h"
#include "ident/namer.h"
#include "infer/objects/objects.h"
#include "model/event.h"
#include "model/mention.h"
#include "store/objects.h"

static void *open_namer(void *ctx)
{
	struct naming *n = ctx;
	struct namer *namer = NULL;

	pthread_mutex_lock(&n->lock);
	if (n->idle.nr)
		namer = n->idle.v[--n->idle.nr];
	pthread_mutex_unlock(&n->lock);
	return namer ? namer : namer_new();
}

static void close_namer(void *ctx, void *namer)
{
	struct naming *n = ctx;

	pthread_mutex_lock(&n->lock);
	vec_push(&n->idle, namer);
	pthread_mutex_unlock(&n->lock);
}

static void begin_round(void *namer)
{
	namer_begin(namer);
}

static void name_event(void *namer, struct event *ev, struct str message, struct arena *arena,
		       struct losses *losses)
{
	const struct namer_where at = { ev->node, ev->thread, ev->level };

	ev->mention = namer_line(namer, message, &at, arena, losses);
}

int naming_init(struct naming *n, const struct call *call, struct error *err)
{
	const struct question *q = call->command->question;

	(void)err;
	*n = (struct naming){ .is_on = !q || q->is_of_objects || call_has(call, "level"),
			      .is_alone = q && q->is_of_objects };
	pthread_mutex_init(&n->lock, NULL);
	if (!n->is_on)
		return 0;
	n->namers = (struct namers){ n, open_namer, close_namer, begin_round, name_event };
	n->objects = objects_new(NULL);
	return 0;
}

void naming_file(struct naming *n, struct str log)
{
	n->file = log;
}

void naming_events(struct naming *n, const struct event *ev, size_t nr)
{
	vec_clear(&n->round);
	for (size_t i = 0; i < nr; i++) {
		struct mention *m = ev[i].mention;

		if (!m)
			continue;
		if (!m->count)
			vec_push(&n->round, m);
		mention_count(m, ev[i].ns);
	}
	vec_each (&n->round, i) {
		(*i)->file = n->file;
		objects_add(n->objects, *i);
	}
}

static void *settle(void *to)
{
	struct naming *n = to;

	n->got = objects_settle(n->objects, &n->graph, &n->losses, &n->err);
	return NULL;
}

void naming_settle(struct naming *n)
{
	if (!n->is_on)
		return;
	n->is_settling = !pthread_create(&n->settler, NULL, settle, n);
	if (!n->is_settling)
		settle(n);
}

static void wait_settled(struct naming *n)
{
	if (n->is_settling)
		pthread_join(n->settler, NULL);
	n->is_settling = false;
}

int naming_end(struct naming *n, struct store *s, struct losses *losses, struct error *err)
{
	if (!n->is_on)
		return 0;
	wait_settled(n);
	losses_add(losses, &n->losses);
	if (n->got < 0)
		*err = n->err;
	return n->got < 0 ? n->got : store_set_objects(s, &n->graph, err);
}

void naming_done(struct naming *n)
{
	wait_settled(n);
	vec_each (&n->idle, i)
		namer_free(*i);
	vec_done(&n->idle);
	vec_done(&n->round);
	if (n->objects)
		objects_free(n->objects);
	pthread_mutex_destroy(&n->lock);
}
