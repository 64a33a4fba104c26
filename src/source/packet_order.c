/*
 * Several queues of a network card, or several interfaces, write their packets a little out of
 * order, and an answer that stands in front of its question would be paired with the next one. So
 * frames wait, copied, until enough others have come. That costs a copy of everything, and most
 * captures are in order: after a stretch without a step back in time frames go through at once,
 * until there is one.
 *
 * A clock that was set back looks alike at first, but there the times do not come back to where
 * they were: what follows such a step is not sorted in between what stood before it.
 */
#include "source/packet_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/time.h"

#define WAIT 256              /* frames that are held at least, while there is disorder */
#define TRUST 4096            /* frames in order after which none are held */
#define STEP_NS (100 * NS_MS) /* less is taken for disorder in any case */

struct slot {
	struct pcap_frame frame;
	char *bytes;
	size_t room;
};

struct packet_order {
	void (*take)(void *to, const struct pcap_frame *f);
	void *to;
	int64_t last_ns;
	unsigned nr_in_order, nr;
	struct slot slots[2 * WAIT]; /* in the order of the file, or sorted already */
};

struct packet_order *packet_order_new(void (*take)(void *to, const struct pcap_frame *f), void *to)
{
	struct packet_order *o = mem_zalloc(sizeof(*o));

	o->take = take;
	o->to = to;
	o->last_ns = INT64_MIN;
	return o;
}

/* The first go out; their buffers go to the end of the line, for those to come. */
static void hand_out(struct packet_order *o, unsigned nr)
{
	struct slot used[2 * WAIT];

	for (unsigned i = 0; i < nr; i++)
		o->take(o->to, &o->slots[i].frame);
	memcpy(used, o->slots, nr * sizeof(*used));
	memmove(o->slots, o->slots + nr, (o->nr - nr) * sizeof(*used));
	memcpy(o->slots + o->nr - nr, used, nr * sizeof(*used));
	o->nr -= nr;
}

/* The first frame behind which no time comes near to those before it again, or nr. */
static unsigned find_step(const struct packet_order *o)
{
	int64_t newest, later[2 * WAIT + 1];

	later[o->nr] = INT64_MIN;
	for (unsigned i = o->nr; i > 0; i--) {
		int64_t ns = o->slots[i - 1].frame.ns;

		later[i - 1] = ns > later[i] ? ns : later[i];
	}
	newest = o->nr ? o->slots[0].frame.ns : 0;
	for (unsigned i = 1; i < o->nr; i++) {
		if (newest > STEP_NS && later[i] < newest - STEP_NS)
			return i;
		if (o->slots[i].frame.ns > newest)
			newest = o->slots[i].frame.ns;
	}
	return o->nr;
}

/* By time; frames of one time stay in the order of the file. */
static void sort(struct packet_order *o, unsigned nr)
{
	for (unsigned i = 1; i < nr; i++) {
		struct slot s = o->slots[i];
		unsigned at = i;

		for (; at && o->slots[at - 1].frame.ns > s.frame.ns; at--)
			o->slots[at] = o->slots[at - 1];
		o->slots[at] = s;
	}
}

/* Makes room. A step near the end may turn out to be none: no more than half go out at once. */
static void hand_out_some(struct packet_order *o)
{
	unsigned step = find_step(o);

	sort(o, step);
	hand_out(o, step < WAIT ? step : WAIT);
}

static void hand_out_all(struct packet_order *o)
{
	while (o->nr) {
		unsigned step = find_step(o);

		sort(o, step);
		hand_out(o, step);
	}
}

static void hold(struct packet_order *o, const struct pcap_frame *f)
{
	struct slot *s = &o->slots[o->nr++];

	if (f->bytes.n > s->room) {
		s->room = f->bytes.n;
		s->bytes = mem_realloc(s->bytes, s->room);
	}
	if (f->bytes.n)
		memcpy(s->bytes, f->bytes.p, f->bytes.n);
	s->frame = *f;
	s->frame.bytes.p = s->bytes;
}

void packet_order_add(struct packet_order *o, const struct pcap_frame *f)
{
	bool is_back = f->ns < o->last_ns;

	o->nr_in_order = is_back ? 0 : o->nr_in_order + 1;
	o->last_ns = f->ns;
	if (o->nr_in_order > TRUST) {
		hand_out_all(o);
		o->nr_in_order = TRUST + 1;
		o->take(o->to, f);
		return;
	}
	hold(o, f);
	if (o->nr == 2 * WAIT)
		hand_out_some(o);
}

void packet_order_free(struct packet_order *o)
{
	hand_out_all(o);
	for (unsigned i = 0; i < 2 * WAIT; i++)
		free(o->slots[i].bytes);
	free(o);
}
