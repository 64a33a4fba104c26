/* culprit hub: takes what agents send, and keeps a run of the objects up to date. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/time.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/hub_queries.h"
#include "cli/say.h"
#include "cli/size.h"
#include "hub/hub.h"
#include "hub/listen.h"
#include "infer/objects/objects.h"
#include "model/loss.h"
#include "model/mention_pack.h"
#include "model/object.h"
#include "store/objects.h"
#include "store/store.h"

#define EVERY_NS (5 * NS_S)
#define KEEP_BYTES ((size_t)512 << 20)
#define KEEP_TIMES 4 /* of its memory, in a file */
#define EVERY_MIN_NS (100 * NS_MS)
#define STEP_NS (100 * NS_MS) /* how long a signal may wait */
#define SHARE 2               /* of the time that making a run took is left between two of them */
#define JOURNAL_BYTES ((uint64_t)4 << 30)

static volatile sig_atomic_t is_told_to_stop;

static void stop(int signal)
{
	(void)signal;
	is_told_to_stop = 1;
}

struct station {
	const struct call *call;
	const char *path; /* of the run */
	char state[PATH_MAX];
	struct hub *hub;
	VEC(struct listener *) listeners;
	struct objects_options inferring;
	struct objects *objects;
	struct journal_place at;
	struct losses told; /* by the agents */
	uint64_t nr_unread; /* messages whose body makes no sense */
	uint64_t nr_lines;
	int64_t every_ns, due, end;
	bool has_new, has_run;
	struct hub_state before; /* when the run was made */
	char said[512];
};

/* --- what agents sent ---------------------------------------------------------------------- */

/* Lines of this host happened there, and its files are told from those of others. */
static void place(struct mention *m, const struct hub_message *from, struct arena *arena)
{
	struct str name = str_of(from->name);

	if (!m->node.n || str_eq(m->node, from->host))
		m->node = name;
	m->file = arena_fmt(arena, STR_FMT "%s" STR_FMT, STR_ARG(name),
			    m->file.n && m->file.p[0] == '/' ? "" : "/", STR_ARG(m->file));
}

static void take_message(struct station *s, const struct hub_message *from)
{
	struct mention_taker t;
	struct mention m;
	int r;

	mention_taker_init(&t, from->body);
	while ((r = mention_take(&t, &m)) > 0) {
		place(&m, from, &t.arena);
		s->nr_lines += m.count;
		objects_add(s->objects, &m);
	}
	s->nr_unread += r < 0;
	losses_add(&s->told, &t.losses);
	mention_taker_done(&t);
}

static int take_all(struct station *s, struct error *err)
{
	struct hub_message m;
	int r;

	while ((r = hub_next(s->hub, &s->at, &m, err)) > 0) {
		take_message(s, &m);
		s->has_new = true;
	}
	return r;
}

/* --- the run ------------------------------------------------------------------------------- */

static void count_losses(struct station *s, const struct hub_state *state, struct losses *losses)
{
	losses_add(losses, &s->told);
	losses->count[LOSS_EPOCHS_MISSING] += state->nr_missing;
	losses->count[LOSS_EPOCHS_DAMAGED] += state->nr_damaged + s->nr_unread;
	losses->count[LOSS_JOURNALS_GONE] += state->nr_gone;
}

static int fill(struct station *s, struct store *run, struct error *err)
{
	struct hub_state state;
	struct object_sink sink = store_object_sink(run);
	int r;

	objects_settle(s->objects, store_losses(run));
	hub_state(s->hub, &state);
	count_losses(s, &state, store_losses(run));
	r = store_set_fact(run, "version", STR(CULPRIT_VERSION), err);
	if (r >= 0)
		r = objects_tell(s->objects, &sink, err);
	if (r >= 0)
		r = store_finish(run, err);
	if (r >= 0)
		s->before = state;
	return r;
}

static bool is_stale(struct station *s)
{
	struct hub_state now;

	hub_state(s->hub, &now);
	return !s->has_run || s->has_new || now.nr_damaged != s->before.nr_damaged ||
	       now.nr_missing != s->before.nr_missing;
}

/* A run beside the old one, which it replaces when it is whole. */
static int make_run(struct station *s, struct error *err)
{
	struct store *run = NULL;
	int r = store_create(&run, s->path, err);

	if (r >= 0)
		r = fill(s, run, err);
	if (run)
		store_close(run);
	if (r >= 0) {
		s->has_new = false;
		s->has_run = true;
	}
	return r;
}

static void refresh(struct station *s)
{
	int64_t began = time_tick(), took;
	struct error err;
	int r = take_all(s, &err);

	if (r >= 0 && is_stale(s))
		r = make_run(s, &err);
	took = time_tick() - began;
	s->due = began + took + (SHARE * took > s->every_ns ? SHARE * took : s->every_ns);
	if (r >= 0) {
		s->said[0] = 0;
	} else if (strcmp(s->said, err.msg) != 0) {
		say_error("%s (tried again later)", err.msg);
		snprintf(s->said, sizeof(s->said), "%s", err.msg);
	}
}

static void wait_a_while(const struct station *s)
{
	const struct timespec step = { .tv_nsec = STEP_NS };

	while (!is_told_to_stop && time_tick() < s->due && time_tick() < s->end)
		nanosleep(&step, NULL);
}

static void tell(struct station *s)
{
	struct hub_state t;
	uint64_t gone_on, anew;

	hub_state(s->hub, &t);
	objects_relations(s->objects, &gone_on, &anew);
	printf("%zu %s  %llu messages  %llu lines  %llu twice  %llu damaged  %llu missing\n",
	       t.nr_agents, t.nr_agents == 1 ? "agent" : "agents",
	       (unsigned long long)t.nr_messages, (unsigned long long)s->nr_lines,
	       (unsigned long long)t.nr_twice, (unsigned long long)t.nr_damaged + s->nr_unread,
	       (unsigned long long)t.nr_missing);
	printf("relations between types: %llu went on from what was kept, %llu were made anew\n",
	       (unsigned long long)gone_on, (unsigned long long)anew);
}

/* --- options ------------------------------------------------------------------------------- */

static int take_time(const struct call *call, const char *name, int64_t *ns, struct error *err)
{
	const char *text = call_get(call, name);

	if (text && (!time_parse_span(str_of(text), ns) || *ns < EVERY_MIN_NS))
		return error_set(err, EINVAL,
				 "--%s '%s' is no time of 100ms or more; write it like 5s", name,
				 text);
	return 0;
}

static int listen_at_all(struct station *s, struct error *err)
{
	const struct listen_tls tls = { call_get(s->call, "tls-ca"), call_get(s->call, "tls-cert"),
					call_get(s->call, "tls-key") };
	struct str all = str_of(call_get(s->call, "listen"));
	struct arena arena = { 0 };
	int r = !tls.cert == !tls.key
			? 0
			: error_set(err, EINVAL, "TLS needs both: --tls-cert and --tls-key");

	while (r >= 0 && all.n) {
		size_t comma = str_find_char(all, ',');
		const char *address = arena_z(&arena, str_head(all, comma));
		struct listener *l;

		r = listener_start(&l, s->hub, address, &tls, err);
		if (r >= 0)
			vec_push(&s->listeners, l);
		all = str_skip(all, comma + 1);
	}
	arena_done(&arena);
	return r;
}

static int open_all(struct station *s, struct error *err)
{
	const char *state = call_get(s->call, "state"), *path = call_get(s->call, "output");
	struct hub_options o = { .max_bytes = JOURNAL_BYTES };
	int64_t for_ns = INT64_MAX;
	uint64_t memory = 0;
	int r = 0;

	if (!call_has(s->call, "listen"))
		return error_set(err, EINVAL, "where shall the hub listen? --listen HOST:PORT");
	s->path = path ? path : "run.culprit";
	if (state)
		snprintf(s->state, sizeof(s->state), "%s", state);
	else
		snprintf(s->state, sizeof(s->state), "%s.hub", s->path);
	o.state = s->state;
	r = take_time(s->call, "every", &s->every_ns, err);
	if (r >= 0)
		r = take_time(s->call, "for", &for_ns, err);
	if (r >= 0)
		r = size_option(s->call, "journal", &o.max_bytes, err);
	if (r >= 0)
		r = size_option(s->call, "memory", &memory, err);
	/* what a hub keeps ends with its oldest, or it would take ever longer */
	s->inferring.memory_bytes = memory;
	s->inferring.is_kept = true;
	s->inferring.file_bytes = mem_bytes(memory ? memory : KEEP_BYTES, KEEP_TIMES);
	s->end = time_tick();
	s->end = for_ns > INT64_MAX - s->end ? INT64_MAX : s->end + for_ns;
	if (r >= 0)
		r = hub_open(&s->hub, &o, err);
	if (r >= 0)
		r = listen_at_all(s, err);
	return r;
}

static void close_all(struct station *s)
{
	vec_each (&s->listeners, l)
		listener_stop(*l);
	vec_done(&s->listeners);
	if (s->hub)
		hub_close(s->hub);
	if (s->objects)
		objects_free(s->objects);
}

static int hub_of_logs(const struct call *call)
{
	struct station s = { .call = call, .every_ns = EVERY_NS };
	const struct sigaction act = { .sa_handler = stop };
	struct error err = { 0 };
	int r = open_all(&s, &err);

	if (r < 0) {
		say_error("%s", err.msg);
	} else {
		sigaction(SIGINT, &act, NULL);
		sigaction(SIGTERM, &act, NULL);
		sigaction(SIGHUP, &act, NULL);
		s.objects = objects_new(&s.inferring);
		while (!is_told_to_stop && time_tick() < s.end) {
			refresh(&s);
			wait_a_while(&s);
		}
		refresh(&s);
		tell(&s);
	}
	close_all(&s);
	return r < 0 ? EXIT_CANNOT : EXIT_ANSWERED;
}

int cmd_hub(const struct call *call)
{
	if (call_has(call, "status"))
		return hub_status(call);
	if (call_has(call, "queries"))
		return hub_queries(call);
	return call_has(call, "keys") ? hub_keys(call) : hub_of_logs(call);
}
