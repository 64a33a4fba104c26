/*
 * A fixed number of packets is put together at once; a new one takes the place of the oldest, which
 * is counted. Of overlapping fragments the first bytes stay. Which bytes are there is kept as a bit
 * for every eight, the unit in which fragments are placed.
 */
#include "source/packet_fragments.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/loss.h"

#define NR_SLOTS 64
#define UNITS (65536 / 8)

struct slot {
	bool is_used;
	uint64_t since;
	struct address from, to;
	uint32_t id;
	uint8_t proto;
	uint32_t end; /* bytes in all; 0 until the last fragment came */
	uint32_t nr;  /* units that are there */
	char *bytes;  /* kept by the slot for the next packet */
	uint8_t there[UNITS / 8];
};

struct packet_fragments {
	uint64_t clock;
	struct slot slots[NR_SLOTS];
};

struct packet_fragments *packet_fragments_new(void)
{
	return mem_zalloc(sizeof(struct packet_fragments));
}

void packet_fragments_free(struct packet_fragments *t, struct losses *losses)
{
	for (size_t i = 0; i < NR_SLOTS; i++) {
		losses->count[LOSS_FRAGMENTS_OPEN] += t->slots[i].is_used;
		free(t->slots[i].bytes);
	}
	free(t);
}

static bool is_of(const struct slot *s, const struct fragment *f)
{
	return s->is_used && s->id == f->id && s->proto == f->proto &&
	       !memcmp(&s->from, &f->from, sizeof(s->from)) &&
	       !memcmp(&s->to, &f->to, sizeof(s->to));
}

static struct slot *slot_of(struct packet_fragments *t, const struct fragment *f,
			    struct losses *losses)
{
	struct slot *oldest = &t->slots[0];
	char *bytes;

	for (struct slot *s = t->slots; s != t->slots + NR_SLOTS; s++) {
		if (is_of(s, f))
			return s;
		if (oldest->is_used && (!s->is_used || s->since < oldest->since))
			oldest = s;
	}
	losses->count[LOSS_FRAGMENTS_OPEN] += oldest->is_used;
	bytes = oldest->bytes ? oldest->bytes : mem_alloc(65536);
	memset(oldest, 0, sizeof(*oldest));
	oldest->is_used = true;
	oldest->since = ++t->clock;
	oldest->from = f->from;
	oldest->to = f->to;
	oldest->id = f->id;
	oldest->proto = f->proto;
	oldest->bytes = bytes;
	return oldest;
}

static void place(struct slot *s, const struct fragment *f)
{
	for (uint32_t at = 0; at < f->bytes.n; at += 8) {
		uint32_t unit = (f->offset + at) / 8;
		size_t n = f->bytes.n - at < 8 ? f->bytes.n - at : 8;

		if (s->there[unit / 8] >> unit % 8 & 1)
			continue;
		s->there[unit / 8] |= (uint8_t)(1u << unit % 8);
		s->nr++;
		memcpy(s->bytes + f->offset + at, f->bytes.p + at, n);
	}
}

bool packet_fragments_add(struct packet_fragments *t, const struct fragment *f, struct str *whole,
			  struct losses *losses)
{
	struct slot *s;

	if (f->offset % 8 || !f->bytes.n || f->offset + f->bytes.n > 65535 ||
	    (!f->is_last && f->bytes.n % 8)) {
		losses->count[LOSS_PACKETS_BROKEN]++;
		return false;
	}
	s = slot_of(t, f, losses);
	place(s, f);
	if (f->is_last && !s->end)
		s->end = f->offset + (uint32_t)f->bytes.n;
	if (!s->end || s->nr < (s->end + 7) / 8)
		return false;
	s->is_used = false;
	*whole = (struct str){ s->bytes, s->end };
	return true;
}
