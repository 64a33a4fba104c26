/*
 * Calls that wait for their return. The id of a call is made of the two ends and the number that
 * TCP gave to its first byte, so that every capture that saw the message, at whichever end of the
 * link, gives it the same id.
 */
#include "source/proto_talk_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/loss.h"

#define OPEN_CALLS_MAX 4096

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

static uint64_t uid_of(const struct talk *t, uint64_t match)
{
	const struct endpoint *from = &t->end[t->at], *to = &t->end[!t->at];
	uint64_t h = str_hash((struct str){ (const char *)&from->address, sizeof(from->address) });

	h = mix(h, str_hash((struct str){ (const char *)&to->address, sizeof(to->address) }));
	h = mix(mix(h, from->port), to->port);
	return mix(mix(h, t->now_seq), t->is_datagram ? match : 0);
}

static void tell(struct talk *t, struct message *m)
{
	t->nr_messages++;
	t->sink->losses->count[LOSS_MESSAGES_BY_TURN] += m->is_guess;
	t->sink->message(t->sink->to, t, m);
}

static void drop_call(struct talk *t, size_t i)
{
	free(t->calls.v[i].trace);
	memmove(&t->calls.v[i], &t->calls.v[i + 1], (t->calls.nr - i - 1) * sizeof(*t->calls.v));
	t->calls.nr--;
}

static struct trace *trace_copy(const struct trace *from)
{
	struct trace *copy;

	if (!from->kind)
		return NULL;
	copy = mem_alloc(sizeof(*copy));
	*copy = *from;
	return copy;
}

static struct message stamp(struct talk *t, const struct message *m, enum message_op op)
{
	struct message out = *m;

	out.op = op;
	out.from = t->at;
	out.ns = t->now;
	out.uid = uid_of(t, m->match);
	return out;
}

void talk_call(struct talk *t, const struct message *m)
{
	struct message out = stamp(t, m, MESSAGE_CALL);

	t->side[!t->at].has_answered = false;
	if (t->calls.nr >= OPEN_CALLS_MAX)
		drop_call(t, 0);
	vec_push(&t->calls, (struct open_call){ m->match, out.uid, t->at, trace_copy(&m->trace) });
	tell(t, &out);
}

void talk_sent(struct talk *t, const struct message *m)
{
	struct message out = stamp(t, m, MESSAGE_SENT);

	tell(t, &out);
}

/* The oldest call of the other side with this match, or calls.nr. */
static size_t find_call(const struct talk *t, uint64_t match)
{
	size_t i = 0;

	while (i < t->calls.nr && (t->calls.v[i].from == t->at || t->calls.v[i].match != match))
		i++;
	return i;
}

bool talk_has_call(const struct talk *t, uint64_t match)
{
	return find_call(t, match) < t->calls.nr;
}

bool talk_is_next(const struct talk *t, uint64_t match)
{
	size_t i = 0;

	while (i < t->calls.nr && t->calls.v[i].from == t->at)
		i++;
	return i < t->calls.nr && t->calls.v[i].match == match;
}

void talk_rematch(struct talk *t, uint64_t match)
{
	size_t i = find_call(t, 0);

	if (i < t->calls.nr)
		t->calls.v[i].match = match;
}

void talk_return(struct talk *t, const struct message *m)
{
	struct talk_side *s = &t->side[t->at];
	size_t i = find_call(t, m->match);

	if (i == t->calls.nr && s->has_answered)
		return;
	if (s->pending)
		talk_settle(t, t->at, s->last_ns);
	s->pending = mem_alloc(sizeof(*s->pending));
	*s->pending = stamp(t, m, MESSAGE_RETURN);
	/* strings would not live until it is told */
	s->pending->title = s->pending->text = (struct str){ 0 };
	s->is_by_turn = t->is_cut; /* where it ends is not known */
	if (i == t->calls.nr)
		return;
	s->pending->uid = t->calls.v[i].uid;
	if (t->calls.v[i].trace)
		s->pending->trace = *t->calls.v[i].trace;
	drop_call(t, i);
}

void talk_return_by_turn(struct talk *t, const struct message *m)
{
	talk_return(t, m);
	t->side[t->at].is_by_turn = true;
}

void talk_settle(struct talk *t, unsigned side, int64_t ns)
{
	struct message *m = t->side[side].pending;

	if (!m)
		return;
	t->side[side].pending = NULL;
	m->ns = ns;
	tell(t, m);
	free(m);
}

void talk_forget_ordered(struct talk *t)
{
	for (size_t i = t->calls.nr; i > 0; i--)
		if (!t->calls.v[i - 1].match)
			drop_call(t, i - 1);
}

void talk_calls_done(struct talk *t)
{
	while (t->calls.nr)
		drop_call(t, t->calls.nr - 1);
	vec_done(&t->calls);
}
