/*
 * Several queues of a network card, or several interfaces, write their packets a little out of
 * order, and an answer that stands in front of its question would be paired with the next one. So
 * frames wait, copied, until enough others have come. That costs a copy of everything, and most
 * captures are in order: after a stretch without a step back in time frames go through at once,
 * until there is one.
 */
#include "source/packet_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define WAIT 256   /* frames that are held at least, while there is disorder */
#define TRUST 4096 /* frames in order after which none are held */

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
	struct slot slots[2 * WAIT]; /* by time */
};

struct packet_order *packet_order_new(void (*take)(void *to, const struct pcap_frame *f), void *to)
{
	struct packet_order *o = mem_zalloc(sizeof(*o));

	o->take = take;
	o->to = to;
	o->last_ns = INT64_MIN;
	return o;
}

/* The oldest go out; their buffers go to the end of the line, for those to come. */
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

/* Behind all that are not younger: frames of one time stay in the order of the file. */
static void hold(struct packet_order *o, const struct pcap_frame *f)
{
	struct slot s = o->slots[o->nr];
	unsigned at = o->nr;

	if (f->bytes.n > s.room) {
		s.room = f->bytes.n;
		s.bytes = mem_realloc(s.bytes, s.room);
	}
	if (f->bytes.n)
		memcpy(s.bytes, f->bytes.p, f->bytes.n);
	s.frame = *f;
	s.frame.bytes.p = s.bytes;
	for (; at && o->slots[at - 1].frame.ns > f->ns; at--)
		o->slots[at] = o->slots[at - 1];
	o->slots[at] = s;
	o->nr++;
}

void packet_order_add(struct packet_order *o, const struct pcap_frame *f)
{
	/* a clock that was set back stays there: only the step itself is out of order */
	bool is_back = f->ns < o->last_ns;

	o->nr_in_order = is_back ? 0 : o->nr_in_order + 1;
	o->last_ns = f->ns;
	if (o->nr_in_order > TRUST) {
		hand_out(o, o->nr);
		o->nr_in_order = TRUST + 1;
		o->take(o->to, f);
		return;
	}
	hold(o, f);
	if (o->nr == 2 * WAIT)
		hand_out(o, WAIT);
}

void packet_order_free(struct packet_order *o)
{
	hand_out(o, o->nr);
	for (unsigned i = 0; i < 2 * WAIT; i++)
		free(o->slots[i].bytes);
	free(o);
}
