/* An agent of a hub: says who it is, gets queries, reports. Whatever happens to the hub, what the
 * agent has seen stays in its outbox until the hub has it safe. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"
#include "base/time.h"
#include "bus/agent_own.h"
#include "model/loss_pack.h"
#include "query/partial.h"

#define PING_NS NS_S
#define AWAY_NS (5 * NS_S)  /* without a word of the hub: it is away */
#define AGAIN_NS (8 * NS_S) /* without an acknowledgement: sent again */
#define KEEP_BYTES ((size_t)64 << 20)
#define STEP_MS 200 /* how long a wait goes on without a look at the clock */
#define PASS_BYTES ((size_t)64 << 10)
#define TOLD_MAX 1024

uint64_t bus_epoch_new(void)
{
	uint64_t random = 0;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = (uint64_t)time_now();
	return (random >> 2) | 1; /* fits a signed number */
}

static char *copied(struct str text)
{
	char *z = mem_alloc(text.n + 1);

	memcpy(z, text.p, text.n);
	z[text.n] = 0;
	return z;
}

int bus_agent_say(struct bus_agent *a, const struct message *m)
{
	buf_clear(&a->scratch);
	message_pack(&a->scratch, m);
	return buslink_send(a->link, (struct str){ 0 }, buf_str(&a->scratch));
}

/* --- opening and closing ------------------------------------------------------------------- */

int bus_agent_open_as(struct bus_agent **to, const struct bus_agent_options *o, enum bus_role role,
		      uint64_t epoch, struct error *err)
{
	struct bus_agent *a;
	struct buslink *link;
	int r;

	if (!bus_name_is_fine(str_of(o->name)))
		return error_set(err, EINVAL,
				 "'%s' is no name of an agent: %d letters, digits "
				 "and .-_ at most",
				 o->name, BUS_NAME_MAX);
	r = buslink_dial(&link, o->context, o->endpoint, o->keys, err);
	if (r < 0)
		return r;
	a = mem_zalloc(sizeof(*a));
	a->link = link;
	a->role = role;
	a->calls = o->calls;
	a->name = copied(str_of(o->name));
	for (size_t i = 0; o->also && o->also[i] && i < ALSO_MAX; i++)
		a->also[a->nr_also++] = copied(str_of(o->also[i]));
	outbox_init(&a->outbox, epoch, o->keep_bytes ? o->keep_bytes : KEEP_BYTES);
	a->ping_tick = time_tick() - PING_NS;
	a->heard_tick = INT64_MIN / 2;
	*to = a;
	return 0;
}

int bus_agent_open(struct bus_agent **to, const struct bus_agent_options *o, struct error *err)
{
	return bus_agent_open_as(to, o, BUS_AGENT, bus_epoch_new(), err);
}

static void forget_told(struct agent_told *t)
{
	free(t->agent);
	free(t->sentence);
}

size_t bus_agent_close(struct bus_agent *a, int timeout_ms)
{
	int64_t end = time_tick() + timeout_ms * NS_MS;
	struct message bye = { .kind = MESSAGE_BYE };
	size_t left;

	while (a->outbox.v.nr && time_tick() < end)
		bus_agent_poll(a, 20, NULL);
	left = a->outbox.v.nr;
	message_n(&bye, (int64_t)a->outbox.epoch);
	if (a->is_welcome && !bus_agent_say(a, &bye) && timeout_ms)
		buslink_wait(&a->link, 1, 50); /* until it is on its way */
	buslink_close(a->link);
	outbox_done(&a->outbox);
	vec_each (&a->told, t)
		forget_told(t);
	vec_done(&a->told);
	vec_done(&a->queries);
	vec_done(&a->ended);
	for (size_t i = 0; i < a->nr_also; i++)
		free(a->also[i]);
	free(a->name);
	buf_done(&a->scratch);
	free(a);
	return left;
}

/* --- what it says -------------------------------------------------------------------------- */

static void say_hello(struct bus_agent *a)
{
	struct message m = { .kind = MESSAGE_HELLO };

	message_n(&m, a->role, (int64_t)a->outbox.epoch, 0);
	message_text(&m, str_of(a->name));
	for (size_t i = 0; i < a->nr_also; i++)
		message_text(&m, str_of(a->also[i]));
	bus_agent_say(a, &m);
}

static void say_ping(struct bus_agent *a)
{
	const struct bus_health *h = &a->health;
	struct message m = { .kind = MESSAGE_PING };
	struct losses losses = h->losses;
	struct buf packed = { 0 };

	losses.count[LOSS_REPORTS_JOINED] += a->outbox.nr_joined;
	losses_pack(&packed, &losses);
	message_n(&m, (int64_t)a->outbox.epoch, h->nr_processes, h->nr_tracepoints,
		  (int64_t)h->overhead_ppm, (int64_t)h->resident_bytes, a->nr_below, a->nr_silent);
	message_text(&m, buf_str(&packed));
	bus_agent_say(a, &m);
	buf_done(&packed);
}

static int say_report(struct bus_agent *a, const struct outgoing *one)
{
	struct message m = { .kind = MESSAGE_REPORT };

	message_n(&m, (int64_t)one->query, (int64_t)a->outbox.epoch, (int64_t)one->seq,
		  one->from_ns, one->until_ns);
	message_text(&m, buf_str(&one->bytes));
	return bus_agent_say(a, &m);
}

static void say_told(struct bus_agent *a, const struct agent_told *t)
{
	struct message m = { .kind = MESSAGE_TELL };

	message_n(&m, (int64_t)t->query);
	message_text(&m, str_of(t->agent));
	message_text(&m, str_of(t->sentence));
	bus_agent_say(a, &m);
}

/* Behind the last report of each. */
static void say_ended(struct bus_agent *a)
{
	for (size_t i = 0; i < a->ended.nr;) {
		struct message m = { .kind = MESSAGE_ENDED };

		message_n(&m, (int64_t)a->ended.v[i]);
		if (outbox_has(&a->outbox, a->ended.v[i]) || bus_agent_say(a, &m) < 0)
			i++;
		else
			a->ended.v[i] = a->ended.v[--a->ended.nr];
	}
}

static void say_due(struct bus_agent *a)
{
	int64_t now = time_tick();
	struct outgoing *one;

	if (a->is_welcome && now - a->heard_tick > AWAY_NS)
		a->is_welcome = false;
	if (now - a->ping_tick >= PING_NS) {
		a->ping_tick = now;
		if (a->is_welcome)
			say_ping(a);
		else
			say_hello(a);
	}
	if (!a->is_welcome)
		return;
	if (outbox_oldest(&a->outbox) < now - AGAIN_NS)
		outbox_again(&a->outbox);
	while ((one = outbox_next(&a->outbox))) {
		if (say_report(a, one) < 0)
			break;
		outbox_sent(one, now);
	}
	say_ended(a);
}

/* --- what it hears ------------------------------------------------------------------------- */

static bool has_query(const struct bus_agent *a, uint64_t id)
{
	vec_each (&a->queries, q)
		if (*q == id)
			return true;
	return false;
}

static void take_query(struct bus_agent *a, const struct message *m)
{
	struct bus_query q = { .id = (uint64_t)m->n[0],
			       .until_ns = m->n[1],
			       .text = m->t[0],
			       .tracepoints = m->t[1],
			       .tenant = m->t[2] };

	if (has_query(a, q.id))
		return;
	vec_push(&a->queries, q.id);
	if (a->calls.installed)
		a->calls.installed(a->calls.ctx, &q);
}

static void remove_query(struct bus_agent *a, size_t i)
{
	uint64_t id = a->queries.v[i];

	a->queries.v[i] = a->queries.v[--a->queries.nr];
	for (size_t k = 0; k < a->told.nr;) {
		if (a->told.v[k].query == id) {
			forget_told(&a->told.v[k]);
			a->told.v[k] = a->told.v[--a->told.nr];
		} else {
			k++;
		}
	}
	if (a->calls.removed)
		a->calls.removed(a->calls.ctx, id);
	if (!a->calls.says_ended)
		bus_agent_ended(a, id);
}

static bool stands(struct str ids, uint64_t id)
{
	uint64_t one;

	while (str_take_varint(&ids, &one))
		if (one == id)
			return true;
	return false;
}

static void take_standing(struct bus_agent *a, struct str ids)
{
	for (size_t i = 0; i < a->queries.nr;) {
		if (stands(ids, a->queries.v[i]))
			i++;
		else
			remove_query(a, i);
	}
}

static void take_gone(struct bus_agent *a, uint64_t id)
{
	for (size_t i = 0; i < a->queries.nr; i++)
		if (a->queries.v[i] == id) {
			remove_query(a, i);
			return;
		}
	bus_agent_ended(a, id);
}

static void take_message(struct bus_agent *a, const struct message *m)
{
	switch (m->kind) {
	case MESSAGE_WHO:
		a->is_welcome = false;
		say_hello(a);
		break;
	case MESSAGE_WELCOME:
		a->is_welcome = true;
		a->nr_welcomes++;
		outbox_again(&a->outbox);
		vec_each (&a->told, t)
			say_told(a, t);
		break;
	case MESSAGE_ACK:
		outbox_ack(&a->outbox, (uint64_t)m->n[0], (uint64_t)m->n[1]);
		break;
	case MESSAGE_QUERY:
		take_query(a, m);
		break;
	case MESSAGE_STANDING:
		take_standing(a, m->t[0]);
		break;
	case MESSAGE_GONE:
		take_gone(a, (uint64_t)m->n[0]);
		break;
	case MESSAGE_PASS:
		if (a->hub)
			hub_pass(a->hub, m);
		else if (a->calls.received)
			a->calls.received(a->calls.ctx, m->t[1], m->t[2]);
		break;
	default:
		break; /* of a newer hub */
	}
}

static size_t take_all(struct bus_agent *a)
{
	struct buslink_message got;
	struct message m;
	size_t nr = 0;

	while (buslink_take(a->link, &got) > 0) {
		nr++;
		a->heard_tick = time_tick();
		if (message_unpack(&m, got.body))
			take_message(a, &m);
	}
	return nr;
}

int bus_agent_poll(struct bus_agent *a, int timeout_ms, struct error *err)
{
	int64_t end = time_tick() + timeout_ms * NS_MS;

	(void)err;
	for (;;) {
		int64_t left;
		size_t nr = take_all(a);

		say_due(a);
		left = (end - time_tick() + NS_MS - 1) / NS_MS;
		if (nr || left <= 0)
			return (int)nr;
		buslink_wait(&a->link, 1, left < STEP_MS ? (int)left : STEP_MS);
	}
}

int bus_agent_fd(const struct bus_agent *a)
{
	return buslink_fd(a->link);
}

/* --- what it is told to say ---------------------------------------------------------------- */

void bus_agent_report(struct bus_agent *a, uint64_t query, int64_t from_ns, int64_t until_ns,
		      struct partial *seen)
{
	if (!partial_is_empty(seen))
		outbox_add(&a->outbox, query, from_ns, until_ns, seen);
}

void bus_agent_ended(struct bus_agent *a, uint64_t query)
{
	vec_push(&a->ended, query);
}

void bus_agent_health(struct bus_agent *a, const struct bus_health *h)
{
	a->health = *h;
}

void bus_agent_tell_of(struct bus_agent *a, uint64_t query, struct str agent, struct str sentence)
{
	struct agent_told t = { .query = query };

	for (size_t i = 0; i < a->told.nr; i++)
		if (a->told.v[i].query == query && str_eq(str_of(a->told.v[i].agent), agent)) {
			if (str_eq(str_of(a->told.v[i].sentence), sentence))
				return;
			forget_told(&a->told.v[i]);
			a->told.v[i] = a->told.v[--a->told.nr];
			break;
		}
	t.agent = copied(str_head(agent, BUS_NAME_MAX));
	t.sentence = copied(str_head(sentence, 4096));
	if (a->is_welcome)
		say_told(a, &t);
	if (a->told.nr < TOLD_MAX)
		vec_push(&a->told, t);
	else
		forget_told(&t);
}

void bus_agent_tell(struct bus_agent *a, uint64_t query, struct str sentence)
{
	bus_agent_tell_of(a, query, str_of(a->name), sentence);
}

int bus_agent_send(struct bus_agent *a, struct str to, struct str bytes)
{
	struct message m = { .kind = MESSAGE_PASS };

	if (bytes.n > PASS_BYTES || to.n > BUS_NAME_MAX)
		return -EMSGSIZE;
	if (!a->is_welcome)
		return -EAGAIN;
	message_n(&m, 0);
	message_text(&m, to);
	message_text(&m, str_of(a->name));
	message_text(&m, bytes);
	return bus_agent_say(a, &m);
}

void bus_agent_known_as(struct bus_agent *a, const char *const *also, size_t nr)
{
	while (a->nr_also)
		free(a->also[--a->nr_also]);
	for (size_t i = 0; i < nr && i < ALSO_MAX; i++)
		a->also[a->nr_also++] = copied(str_of(also[i]));
	if (a->is_welcome)
		say_hello(a);
}

size_t bus_agent_pending(const struct bus_agent *a)
{
	return a->outbox.v.nr;
}

bool bus_agent_is_connected(const struct bus_agent *a)
{
	return a->is_welcome;
}
