/* An operator at a hub: asks, waits for the answer, and hears results while it watches. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/time.h"
#include "bus/agent_own.h"
#include "bus/buslink.h"
#include "bus/message.h"
#include "model/loss_pack.h"
#include "query/partial.h"

#define ANSWER_NS (10 * NS_S)
#define BUSY_NS (30 * NS_S) /* a hub that is there may have much else to do */
#define ALIVE_NS NS_S
#define AWAY_NS (5 * NS_S)
#define STEP_MS 200

/* A query whose results it reads, or will. */
struct watching {
	uint64_t id;
	bool is_watched;
	bool has;          /* all results up to got */
	bool wants_whole;  /* instead of what is gone */
	bool has_asked;    /* to go on behind got, as one was missing */
	uint64_t got;      /* the number of the last one */
	uint64_t nr_gone;  /* that it never got */
	bool is_gathering; /* pieces of the next one */
	uint64_t seq, nr_pieces;
	struct partial seen;
};

struct bus_operator {
	struct buslink *link;
	struct bus_operator_calls calls;
	char name[BUS_NAME_MAX + 1], endpoint[256];
	uint64_t epoch;
	int64_t request; /* the last one */
	VEC(struct watching) watched;
	int64_t heard_tick, alive_tick;
	bool is_welcome;
	struct buf scratch;
	char refused[160]; /* the hub's own word for it */
	/* of the request under way */
	bool is_answered, is_lost; /* the hub began anew and has not heard it */
	int code;
	uint64_t id;
	char said[sizeof(((struct error *)NULL)->msg)];
	void (*each_query)(void *ctx, const struct bus_standing *q);
	void (*each_peer)(void *ctx, const struct bus_peer *p);
	void (*each_count)(void *ctx, struct str name, uint64_t count);
	void *each_ctx;
};

static int say(struct bus_operator *o, const struct message *m)
{
	buf_clear(&o->scratch);
	message_pack(&o->scratch, m);
	return buslink_send(o->link, (struct str){ 0 }, buf_str(&o->scratch));
}

/* --- results ------------------------------------------------------------------------------- */

static struct watching *watching_of(struct bus_operator *o, uint64_t id)
{
	vec_each (&o->watched, w)
		if (w->id == id)
			return w;
	return NULL;
}

static struct watching *watching_make(struct bus_operator *o, uint64_t id)
{
	struct watching w = { .id = id };

	if (!watching_of(o, id))
		vec_push(&o->watched, w);
	return watching_of(o, id);
}

static void forget_pieces(struct watching *w)
{
	if (w->is_gathering)
		partial_done(&w->seen);
	w->is_gathering = false;
}

static void watching_forget(struct bus_operator *o, uint64_t id)
{
	struct watching *w = watching_of(o, id);

	if (!w)
		return;
	forget_pieces(w);
	*w = o->watched.v[--o->watched.nr];
}

/* Which results it has, so that each comes once, also from a hub that began anew. */
static void watch_message(struct message *m, const struct watching *w)
{
	*m = (struct message){ .kind = MESSAGE_WATCH };
	message_n(m, 0, (int64_t)w->id, w->has ? (int64_t)w->got + 1 : 0, w->wants_whole);
}

static void say_watch(struct bus_operator *o, struct watching *w)
{
	struct message m;

	forget_pieces(w);
	watch_message(&m, w);
	say(o, &m);
}

static void say_read(struct bus_operator *o, int64_t query, int64_t seq)
{
	struct message m = { .kind = MESSAGE_READ };

	message_n(&m, query, seq);
	say(o, &m);
}

/* Whether all pieces of it are there now. */
static bool gather(struct watching *w, const struct message *m)
{
	struct partial p;
	bool is_fine;

	if (!m->n[8]) {
		forget_pieces(w);
		w->nr_pieces = 0;
		w->seq = (uint64_t)m->n[1];
	}
	if (w->seq != (uint64_t)m->n[1] || w->nr_pieces != (uint64_t)m->n[8])
		return false;
	w->nr_pieces++;
	/* what makes no sense to us is told without it */
	is_fine = partial_unpack(&p, m->t[0], NULL) == 0;
	if (is_fine && !w->is_gathering) {
		w->seen = p;
		w->seen.max_groups = SIZE_MAX;
		w->is_gathering = true;
	} else {
		if (!is_fine || partial_merge(&w->seen, &p, NULL) < 0)
			w->seen.losses.count[LOSS_REPORTS_BROKEN] += w->is_gathering;
		partial_done(&p);
	}
	return w->nr_pieces == (uint64_t)m->n[9];
}

static void hand_on(struct bus_operator *o, struct watching *w, struct bus_result *r)
{
	struct partial seen = w->seen;

	if (!w->is_gathering)
		return;
	w->is_gathering = false;
	/* those before it that are gone; the hub does not know of whom it counts them */
	seen.losses.count[LOSS_SECONDS_MISSED] += r->is_whole ? w->nr_gone : r->nr_skipped;
	r->seen = &seen;
	if (o->calls.result)
		o->calls.result(o->calls.ctx, r);
	partial_done(&seen);
}

/* One that comes twice is passed over. One that does not follow the last one, without a word of the
 * hub that those between are gone, was lost on its way: we ask for it again. */
static bool is_next(struct bus_operator *o, struct watching *w, const struct message *m)
{
	uint64_t seq = (uint64_t)m->n[1];

	if (m->n[4])
		return true;
	if (w->has && seq <= w->got)
		return false;
	if (w->has && (seq == w->got + 1 || m->n[5]))
		return true;
	if (!w->has_asked)
		say_watch(o, w);
	w->has_asked = true;
	return false;
}

static void take_result(struct bus_operator *o, const struct message *m)
{
	struct bus_result r = { .query = (uint64_t)m->n[0],
				.from_ns = m->n[2],
				.until_ns = m->n[3],
				.is_whole = m->n[4],
				.nr_agents = (uint32_t)m->n[6],
				.nr_silent = (uint32_t)m->n[7] };
	struct watching *w = watching_of(o, r.query);
	uint64_t seq = (uint64_t)m->n[1], from;

	if (!w || !is_next(o, w, m) || !gather(w, m))
		return;
	/* a whole is all up to its number, a part is the one of its number */
	from = w->got + !r.is_whole;
	r.nr_skipped = w->has && seq > from ? seq - from : 0;
	w->nr_gone += r.nr_skipped;
	w->wants_whole = !r.is_whole && (w->wants_whole || r.nr_skipped);
	w->has = true;
	w->has_asked = false;
	w->got = seq;
	hand_on(o, w, &r);
	say_read(o, m->n[0], m->n[1]);
}

/* --- what else it hears -------------------------------------------------------------------- */

static void take_item(struct bus_operator *o, const struct message *m)
{
	struct bus_standing s = {
		.query = { .id = (uint64_t)m->n[1],
			   .until_ns = m->n[2],
			   .text = m->t[0],
			   .tracepoints = m->t[1],
			   .tenant = m->t[2] },
		.operator_name = m->t[3],
		.nr_agents = (uint32_t)m->n[3],
		.nr_silent = (uint32_t)m->n[4],
		.nr_groups = (uint64_t)m->n[5],
		.nr_rows = (uint64_t)m->n[6],
	};
	struct str losses = m->t[4];

	losses_take(&losses, &s.losses);
	if (o->each_query && m->n[0] == o->request)
		o->each_query(o->each_ctx, &s);
}

static void take_peer(struct bus_operator *o, const struct message *m)
{
	const int64_t *n = m->n;
	struct bus_peer p = {
		.name = m->t[0],
		.tenant = m->t[1],
		.role = (enum bus_role)n[1],
		.since_ns = n[2],
		.heard_ns = n[3],
		.is_connected = n[4] == 1,
		.has_left = n[4] == 2,
		.nr_reports = (uint64_t)n[5],
		.nr_bytes = (uint64_t)n[6],
		.nr_twice = (uint64_t)n[7],
		.nr_late = (uint64_t)n[8],
		.nr_missing = (uint64_t)n[9],
		.health = { .nr_processes = (uint32_t)n[10],
			    .nr_tracepoints = (uint32_t)n[11],
			    .overhead_ppm = (uint64_t)n[12],
			    .resident_bytes = (uint64_t)n[13] },
		.nr_below = (uint32_t)n[14],
		.nr_silent_below = (uint32_t)n[15],
	};
	struct str losses = m->t[2];

	if (n[1] < BUS_AGENT || n[1] > BUS_HUB)
		return;
	losses_take(&losses, &p.health.losses);
	if (o->each_peer && n[0] == o->request)
		o->each_peer(o->each_ctx, &p);
}

static void take_reply(struct bus_operator *o, const struct message *m)
{
	if (!m->n[0] && m->n[1])
		snprintf(o->refused, sizeof(o->refused), STR_FMT, STR_ARG(m->t[0]));
	if (m->n[0] != o->request)
		return;
	o->is_answered = true;
	o->code = m->n[1] > 0 && m->n[1] < 4096 ? (int)m->n[1] : 0;
	o->id = (uint64_t)m->n[2];
	snprintf(o->said, sizeof(o->said), STR_FMT, STR_ARG(m->t[0]));
}

static void say_hello(struct bus_operator *o)
{
	struct message m = { .kind = MESSAGE_HELLO };

	message_n(&m, BUS_OPERATOR, (int64_t)o->epoch, 0);
	message_text(&m, str_of(o->name));
	say(o, &m);
}

static void take_gone(struct bus_operator *o, uint64_t id, struct str why)
{
	watching_forget(o, id);
	if (o->calls.removed)
		o->calls.removed(o->calls.ctx, id, why);
}

static void take_message(struct bus_operator *o, const struct message *m)
{
	switch (m->kind) {
	case MESSAGE_WHO:
		/* it began anew: what it was asked before it knows nothing of, and it is asked
		 * nothing before it lets us in */
		o->is_welcome = false;
		o->is_lost = true;
		say_hello(o);
		break;
	case MESSAGE_WELCOME:
		/* also where we had said hello several times, and were heard each time */
		o->is_welcome = true;
		vec_each (&o->watched, w)
			if (w->is_watched)
				say_watch(o, w);
		break;
	case MESSAGE_REPLY:
		take_reply(o, m);
		break;
	case MESSAGE_ITEM:
		take_item(o, m);
		break;
	case MESSAGE_PEER:
		take_peer(o, m);
		break;
	case MESSAGE_COUNT:
		if (o->each_count && m->n[0] == o->request)
			o->each_count(o->each_ctx, m->t[0], (uint64_t)m->n[1]);
		break;
	case MESSAGE_RESULT:
		take_result(o, m);
		break;
	case MESSAGE_TOLD:
		if (o->calls.told)
			o->calls.told(o->calls.ctx, (uint64_t)m->n[0], m->t[0], m->t[1]);
		break;
	case MESSAGE_GONE:
		take_gone(o, (uint64_t)m->n[0], m->t[0]);
		break;
	default:
		break;
	}
}

/* One look: what came is taken, and the hub hears that we are there. */
static size_t look(struct bus_operator *o)
{
	struct message alive = { .kind = MESSAGE_ALIVE }, m;
	struct buslink_message got;
	size_t nr = 0;

	while (buslink_take(o->link, &got) > 0) {
		nr++;
		o->heard_tick = time_tick();
		if (message_unpack(&m, got.body))
			take_message(o, &m);
	}
	if (time_tick() - o->alive_tick >= ALIVE_NS) {
		o->alive_tick = time_tick();
		if (o->is_welcome)
			say(o, &alive);
		else
			say_hello(o);
	}
	return nr;
}

int bus_operator_poll(struct bus_operator *o, int timeout_ms, struct error *err)
{
	int64_t end = time_tick() + timeout_ms * NS_MS, left;

	(void)err;
	for (;;) {
		size_t nr = look(o);

		left = (end - time_tick() + NS_MS - 1) / NS_MS;
		if (nr || left <= 0)
			return (int)nr;
		buslink_wait(&o->link, 1, left < STEP_MS ? (int)left : STEP_MS);
	}
}

int bus_operator_fd(const struct bus_operator *o)
{
	return buslink_fd(o->link);
}

/* --- what it asks -------------------------------------------------------------------------- */

static int no_answer(struct bus_operator *o, struct error *err)
{
	const char *trouble = o->refused[0] ? o->refused : buslink_trouble(o->link);

	if (trouble[0])
		return error_set(err, EACCES, "the hub at '%s' does not let us in: %s", o->endpoint,
				 trouble);
	return error_set(err, ETIMEDOUT,
			 "no hub answers at '%s': is it running, and are these keys of it?",
			 o->endpoint);
}

static bool is_late(struct bus_operator *o, int64_t since)
{
	int64_t waited = time_tick() - since;

	return waited > BUSY_NS || (waited > ANSWER_NS && !buslink_is_met(o->link));
}

/* Sends the request, its number being the first, and waits for the reply to it. */
static int request(struct bus_operator *o, struct message *m, struct error *err)
{
	int64_t since = time_tick();
	bool is_said = false;

	m->n[0] = ++o->request;
	o->is_answered = false;
	while (!o->is_answered) {
		if (is_late(o, since))
			return no_answer(o, err);
		if (o->is_welcome && (!is_said || o->is_lost)) {
			is_said = !say(o, m);
			o->is_lost = false;
		}
		if (!look(o))
			buslink_wait(&o->link, 1, 20);
	}
	return o->code ? error_set(err, o->code, "%s", o->said) : 0;
}

int bus_operator_open(struct bus_operator **to, const struct bus_operator_options *with,
		      struct error *err)
{
	struct bus_operator *o = mem_zalloc(sizeof(*o));
	int64_t since = time_tick();
	int r = buslink_dial(&o->link, NULL, with->endpoint, with->keys, err);

	if (r < 0) {
		free(o);
		return r;
	}
	o->calls = with->calls;
	o->epoch = bus_epoch_new();
	o->alive_tick = time_tick() - ALIVE_NS;
	snprintf(o->name, sizeof(o->name), "%s", with->name);
	snprintf(o->endpoint, sizeof(o->endpoint), "%s", with->endpoint);
	while (!o->is_welcome && !is_late(o, since) && !buslink_trouble(o->link)[0] &&
	       !o->refused[0]) {
		if (!look(o))
			buslink_wait(&o->link, 1, 20);
		/* nobody was connected when hello was said first */
		if (!o->is_welcome && time_tick() - o->alive_tick > ALIVE_NS / 10)
			o->alive_tick = time_tick() - ALIVE_NS;
	}
	if (!o->is_welcome) {
		r = no_answer(o, err);
		bus_operator_close(o);
		return r;
	}
	*to = o;
	return 0;
}

void bus_operator_close(struct bus_operator *o)
{
	struct message bye = { .kind = MESSAGE_BYE };

	if (!o)
		return;
	message_n(&bye, (int64_t)o->epoch);
	if (o->is_welcome && !say(o, &bye))
		buslink_wait(&o->link, 1, 50);
	buslink_close(o->link);
	vec_each (&o->watched, w)
		forget_pieces(w);
	vec_done(&o->watched);
	buf_done(&o->scratch);
	free(o);
}

int bus_operator_install(struct bus_operator *o, struct str text, struct str tracepoints,
			 int64_t for_ns, bool is_mine, uint64_t *id, struct error *err)
{
	struct message m = { .kind = MESSAGE_INSTALL };
	int r;

	if (text.n > BUS_TEXT_MAX || tracepoints.n > BUS_TEXT_MAX)
		return error_set(err, E2BIG, "a query and its tracepoints are of %d bytes at most",
				 BUS_TEXT_MAX);
	message_n(&m, 0, for_ns, is_mine);
	message_text(&m, text);
	message_text(&m, tracepoints);
	r = request(o, &m, err);
	if (r < 0)
		return r;
	*id = o->id;
	/* of one's own query one has all there is: nothing */
	watching_make(o, *id)->has = true;
	return 0;
}

int bus_operator_remove(struct bus_operator *o, uint64_t id, struct error *err)
{
	struct message m = { .kind = MESSAGE_REMOVE };

	message_n(&m, 0, (int64_t)id);
	return request(o, &m, err);
}

int bus_operator_list(struct bus_operator *o, void (*each)(void *ctx, const struct bus_standing *q),
		      void *ctx, struct error *err)
{
	struct message m = { .kind = MESSAGE_LIST };

	o->each_query = each;
	o->each_ctx = ctx;
	message_n(&m, 0);
	return request(o, &m, err);
}

int bus_operator_peers(struct bus_operator *o, void (*each)(void *ctx, const struct bus_peer *p),
		       void *ctx, struct error *err)
{
	struct message m = { .kind = MESSAGE_PEERS };
	int r;

	o->each_peer = each;
	o->each_ctx = ctx;
	message_n(&m, 0, 0);
	do {
		r = request(o, &m, err);
		m.n[1] = (int64_t)o->id;
	} while (!r && o->id);
	return r;
}

int bus_operator_counts(struct bus_operator *o,
			void (*each)(void *ctx, struct str name, uint64_t count), void *ctx,
			struct error *err)
{
	struct message m = { .kind = MESSAGE_COUNTS };

	o->each_count = each;
	o->each_ctx = ctx;
	message_n(&m, 0);
	return request(o, &m, err);
}

int bus_operator_watch(struct bus_operator *o, uint64_t id, struct error *err)
{
	struct watching *w = watching_make(o, id);
	struct message m;
	int r;

	w->is_watched = true;
	watch_message(&m, w);
	r = request(o, &m, err);
	if (r < 0)
		watching_forget(o, id);
	return r;
}
