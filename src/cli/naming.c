#include "cli/naming.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/time.h"
#include "cli/command.h"
#include "cli/models.h"
#include "cli/say.h"
#include "ident/constants.h"
#include "ident/namer.h"
#include "ident/overrides.h"
#include "infer/objects/objects.h"
#include "model/event.h"
#include "model/loss.h"
#include "model/mention.h"
#include "program/model_file.h"
#include "store/objects.h"
#include "store/store.h"

static void *open_namer(void *ctx)
{
	struct naming *n = ctx;
	struct namer *namer = NULL;

	pthread_mutex_lock(&n->lock);
	if (n->idle.nr)
		namer = n->idle.v[--n->idle.nr];
	pthread_mutex_unlock(&n->lock);
	return namer ? namer : namer_new(&n->options);
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

/* 512M, 2G: a number and a unit. */
static int take_memory(const char *text, size_t *bytes, struct error *err)
{
	static const char units[] = "KMGT";
	struct str s = str_of(text);
	const char *unit;
	uint64_t n;

	if (!str_take_uint(&s, &n))
		n = 0;
	unit = s.n ? strchr(units, toupper((unsigned char)s.p[0])) : NULL;
	if (unit && *unit)
		s = str_skip(s, 1);
	if (!n || s.n || n > SIZE_MAX >> 41)
		return error_set(err, EINVAL, "--memory '%s' is no size; write it like 512M or 2G",
				 text);
	*bytes = unit ? n << 10 * (unit - units + 1) : n;
	return 0;
}

/* The constants of the programs that are named, or stand among the inputs. */
static void load_programs(struct naming *n, const struct call *call)
{
	const char *named = call_get(call, "program");
	struct str list = str_of(named ? named : "");
	struct arena arena = { 0 };
	VEC(const char *) paths = { 0 };

	while (list.n) {
		size_t end = str_find_char(list, ',');

		vec_push(&paths, arena_z(&arena, str_head(list, end)));
		list = str_skip(list, end + 1);
	}
	for (size_t i = 0; i < call->nr_inputs; i++)
		if (models_is_program(call->inputs[i]) && !model_is_model(call->inputs[i]))
			vec_push(&paths, call->inputs[i]);
	if (paths.nr) {
		n->constants = constants_new(0);
		constants_load(n->constants, paths.v, paths.nr, &n->losses);
		constants_settle(n->constants, &n->losses);
	}
	vec_done(&paths);
	arena_done(&arena);
}

/* What memory cannot hold lies beside the run, if that is a file. */
static const char *dir_of_run(const char *path, struct arena *arena)
{
	struct str s = str_of(path ? path : "");

	if (!s.n || store_is_remote(path))
		return NULL;
	while (s.n && s.p[s.n - 1] != '/')
		s.n--;
	return arena_z(arena, s.n ? s : STR("."));
}

int naming_init(struct naming *n, const struct call *call, const char *path, struct error *err)
{
	const struct question *q = call->command->question;
	const char *types = call_get(call, "types"), *memory = call_get(call, "memory");
	struct objects_options options = { 0 };
	struct arena arena = { 0 };
	int got = 0;

	*n = (struct naming){ .is_on = !q || q->is_of_objects || call_has(call, "level"),
			      .is_alone = q && q->is_of_objects };
	pthread_mutex_init(&n->lock, NULL);
	if (!n->is_on)
		return 0;
	/* a question may have a switch of that name */
	if (types && *types)
		got = overrides_read(&n->overrides, types, err);
	if (got >= 0 && memory)
		got = take_memory(memory, &options.memory_bytes, err);
	if (got < 0)
		return got;
	load_programs(n, call);
	n->options = (struct namer_options){ n->overrides, n->constants };
	n->namers = (struct namers){ n, open_namer, close_namer, begin_round, name_event };
	options.dir = dir_of_run(path, &arena);
	n->objects = objects_new(&options);
	arena_done(&arena);
	return 0;
}

int naming_branch(struct naming *n, struct error *err)
{
	n->is_branch = true;
	return n->is_on ? objects_branch(n->objects, err) : 0;
}

void naming_file(struct naming *n, struct str log)
{
	n->file = log;
}

static void hand_on(struct naming *n, struct mention *m)
{
	m->file = n->file;
	objects_add(n->objects, m);
	m->count = 0;
	m->first_ns = m->last_ns = NS_NONE;
}

static void hand_round_on(struct naming *n)
{
	vec_each (&n->round, m)
		hand_on(n, *m);
	vec_clear(&n->round);
}

/* Lines after which a number may be another's are handed on one by one, after all before them. */
static bool is_turn(struct naming *n, const struct mention *m)
{
	uint64_t *at = map_at(&n->turns, m->template);

	if (!*at)
		*at = objects_tells_turn(m->title) ? 2 : 1;
	return *at == 2 && objects_may_turn(m);
}

static bool is_silent(const struct mention *m, int64_t ns)
{
	return ns != NS_NONE && m->last_ns != NS_NONE && ns > m->last_ns &&
	       (uint64_t)ns - (uint64_t)m->last_ns >= NS_S;
}

void naming_events(struct naming *n, const struct event *ev, size_t nr)
{
	vec_clear(&n->round);
	for (size_t i = 0; i < nr; i++) {
		struct mention *m = ev[i].mention;

		if (!m)
			continue;
		if (!m->count && is_turn(n, m)) {
			hand_round_on(n);
			mention_count(m, ev[i].ns);
			hand_on(n, m);
			continue;
		}
		if (!m->count)
			vec_push(&n->round, m);
		else if (is_silent(m, ev[i].ns) && objects_may_turn(m))
			hand_on(n, m);
		mention_count(m, ev[i].ns);
	}
	hand_round_on(n);
}

static void *settle(void *to)
{
	struct naming *n = to;

	objects_settle(n->objects, &n->losses);
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

/* A type that is misspelt would change nothing, silently. */
static void tell_idle(struct naming *n)
{
	struct str v[3];
	size_t nr = overrides_idle(n->overrides, v, 3);

	n->losses.count[LOSS_TYPES_IDLE] += nr;
	for (size_t i = 0; i < nr && i < 3 && !n->is_branch; i++)
		say_error("--types: nothing in these logs is shown as '" STR_FMT "'%s",
			  STR_ARG(v[i]), i == 2 && nr > 3 ? ", nor as others of the file" : "");
}

int naming_end(struct naming *n, struct store *s, struct losses *losses, struct error *err)
{
	struct object_sink sink = store_object_sink(s);

	if (!n->is_on)
		return 0;
	wait_settled(n);
	if (n->overrides)
		tell_idle(n);
	losses_add(losses, &n->losses);
	return objects_tell(n->objects, &sink, err);
}

void naming_done(struct naming *n)
{
	wait_settled(n);
	vec_each (&n->idle, i)
		namer_free(*i);
	vec_done(&n->idle);
	vec_done(&n->round);
	map_done(&n->turns);
	if (n->objects)
		objects_free(n->objects);
	overrides_free(n->overrides);
	if (n->constants)
		constants_free(n->constants);
	pthread_mutex_destroy(&n->lock);
}
