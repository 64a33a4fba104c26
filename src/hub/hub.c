#include "hub/hub.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"
#include "hub/agents.h"
#include "model/mention_wire.h"

#define SEGMENT_BYTES ((uint64_t)64 << 20)

struct hub {
	pthread_mutex_t lock; /* of everything but what hub_next alone uses */
	struct journal *journal;
	struct agents agents;
	struct hub_state counts;
	struct buf summary;
	struct agents given; /* of hub_next, as the rest: what it has told */
	struct buf record;
	struct arena arena;
};

/* What the journal holds, as far as is needed to know what was here before. */
static int recall(struct hub *h, struct error *err)
{
	struct journal_place at = { 0 };
	struct buf record = { 0 };
	struct arena arena = { 0 };
	char kind;
	int r;

	while ((r = journal_next(h->journal, &at, &kind, &record, err)) > 0) {
		struct wire_head head;
		struct str body;
		struct agents_one *one;

		if (kind == JOURNAL_SUMMARY)
			agents_read(&h->agents, buf_str(&record));
		if (kind != JOURNAL_MESSAGE ||
		    wire_read(buf_str(&record), &arena, &head, &body) != 1)
			continue;
		one = agents_at(&h->agents, head.agent, head.host);
		h->counts.nr_messages += one && agents_add(one, head.seq);
		arena_reset(&arena);
	}
	buf_done(&record);
	arena_done(&arena);
	return r;
}

/* A file of the journal begins with what may go with older ones. */
static int summarise(struct hub *h, struct error *err)
{
	if (!journal_wants_summary(h->journal))
		return 0;
	buf_clear(&h->summary);
	agents_write(&h->agents, &h->summary);
	return journal_append(h->journal, JOURNAL_SUMMARY, buf_str(&h->summary), false, err);
}

int hub_open(struct hub **out, const struct hub_options *o, struct error *err)
{
	const struct journal_options journal = { o->state, SEGMENT_BYTES, o->max_bytes };
	struct hub *h = mem_zalloc(sizeof(*h));
	int r;

	pthread_mutex_init(&h->lock, NULL);
	r = journal_open(&h->journal, &journal, err);
	if (r >= 0)
		r = recall(h, err);
	if (r >= 0)
		r = summarise(h, err);
	if (r < 0)
		hub_close(h);
	else
		*out = h;
	return r;
}

void hub_close(struct hub *h)
{
	if (h->journal)
		journal_close(h->journal);
	agents_done(&h->agents);
	agents_done(&h->given);
	buf_done(&h->summary);
	buf_done(&h->record);
	arena_done(&h->arena);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

static int keep(struct hub *h, const struct wire_head *head, struct str message, bool is_acked,
		struct error *err)
{
	struct agents_one *one = agents_at(&h->agents, head->agent, head->host);
	int r;

	if (!one) {
		h->counts.nr_damaged++;
		return 0;
	}
	if (agents_has(one, head->seq)) {
		h->counts.nr_twice++;
		return 0;
	}
	r = summarise(h, err);
	if (r >= 0)
		r = journal_append(h->journal, JOURNAL_MESSAGE, message, is_acked, err);
	if (r < 0)
		return r;
	agents_add(one, head->seq);
	if (head->epoch_ns > one->last_ns)
		one->last_ns = head->epoch_ns;
	h->counts.nr_messages++;
	return 1;
}

int hub_accept(struct hub *h, struct str message, bool is_acked, struct error *err)
{
	struct arena arena = { 0 };
	struct wire_head head;
	struct str body;
	int r = wire_read(message, &arena, &head, &body);

	pthread_mutex_lock(&h->lock);
	if (r == 1)
		r = keep(h, &head, message, is_acked, err);
	else if (r == 0)
		h->counts.nr_foreign++;
	else
		h->counts.nr_damaged++;
	pthread_mutex_unlock(&h->lock);
	arena_done(&arena);
	return r == -EBADMSG ? 0 : r;
}

void hub_refuse(struct hub *h, uint64_t nr)
{
	pthread_mutex_lock(&h->lock);
	h->counts.nr_damaged += nr;
	pthread_mutex_unlock(&h->lock);
}

static int next_message(struct hub *h, struct journal_place *at, struct hub_message *m,
			struct error *err)
{
	struct agents_one *one;
	char kind;
	int r;

	while ((r = journal_next(h->journal, at, &kind, &h->record, err)) > 0) {
		struct wire_head head;

		arena_reset(&h->arena);
		if (kind != JOURNAL_MESSAGE ||
		    wire_read(buf_str(&h->record), &h->arena, &head, &m->body) != 1)
			continue;
		one = agents_at(&h->given, head.agent, head.host);
		if (!one || !agents_add(one, head.seq))
			continue;
		m->agent = head.agent;
		m->host = head.host;
		m->epoch_ns = head.epoch_ns;
		m->name = one->name;
		return 1;
	}
	return r;
}

int hub_next(struct hub *h, struct journal_place *at, struct hub_message *m, struct error *err)
{
	int r;

	pthread_mutex_lock(&h->lock);
	r = next_message(h, at, m, err);
	pthread_mutex_unlock(&h->lock);
	return r;
}

void hub_state(struct hub *h, struct hub_state *s)
{
	pthread_mutex_lock(&h->lock);
	*s = h->counts;
	s->nr_agents = h->agents.v.nr ? h->agents.v.nr - 1 : 0;
	s->nr_missing = agents_nr_missing(&h->agents);
	s->nr_gone = journal_nr_gone(h->journal);
	pthread_mutex_unlock(&h->lock);
}
