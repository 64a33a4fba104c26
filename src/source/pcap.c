/*
 * A reader of our own over struct input, and not libpcap: libpcap takes a FILE or a file name, so
 * compressed captures would have to be unpacked to disk first; it refuses pcapng files whose
 * interfaces differ in link type, hides their names, and stops for good at the first damaged
 * record, where this one looks for the next whole one. Parsing a record header is a dozen lines.
 */
#include "source/pcap.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/time.h"
#include "model/loss.h"
#include "source/pcap_format.h"

#define FILE_HEAD 24
#define SEARCH_BYTES \
	((size_t)1 << 20) /* how far a search for the next whole record looks at once */
#define YEAR_S (365 * 86400LL)

enum { MAGIC_US = 0xa1b2c3d4, MAGIC_NS = 0xa1b23c4d, MAGIC_PATCHED = 0xa1b2cd34 };

static bool magic_of(struct str head, struct pcap *p)
{
	uint32_t be, le, m;

	if (head.n < FILE_HEAD)
		return false;
	be = (uint32_t)bytes_be(head.p, 4);
	le = (uint32_t)bytes_le(head.p, 4);
	p->is_big = be == MAGIC_US || be == MAGIC_NS || be == MAGIC_PATCHED;
	m = p->is_big ? be : le;
	p->unit_ns = m == MAGIC_NS ? 1 : NS_US;
	p->record_head = m == MAGIC_PATCHED ? 24 : 16;
	return m == MAGIC_US || m == MAGIC_NS || m == MAGIC_PATCHED;
}

bool pcap_file_is(struct str head)
{
	struct pcap p;
	uint32_t order;

	if (magic_of(head, &p))
		return true;
	if (head.n < 28 || bytes_be(head.p, 4) != PCAPNG_SECTION)
		return false;
	order = (uint32_t)bytes_be(head.p + 8, 4);
	return order == PCAPNG_ORDER || order == __builtin_bswap32(PCAPNG_ORDER);
}

int pcap_file_open(struct pcap **out, struct input *in, const struct pcap_names *names,
		   struct losses *losses, struct error *err)
{
	struct pcap *p = mem_zalloc(sizeof(*p));
	struct str head;

	window_init(&p->window, in);
	p->losses = losses;
	if (names)
		p->names = *names;
	head = window_need(&p->window, FILE_HEAD);
	if (magic_of(head, p)) {
		/* the upper half of the link type says how long the check sum is, if there is one
		 */
		p->link = (uint32_t)pcap_number(p, head.p + 20, 4) & 0xffff;
		window_pass(&p->window, FILE_HEAD);
	} else if (pcap_file_is(window_need(&p->window, 28))) {
		p->is_ng = true;
	} else {
		pcap_file_close(p);
		return error_set(err, EBADMSG, "not a packet capture: no pcap or pcapng header");
	}
	*out = p;
	return 0;
}

void pcap_file_close(struct pcap *p)
{
	if (!p)
		return;
	window_done(&p->window);
	vec_done(&p->interfaces);
	free(p);
}

struct record {
	uint64_t sec, fraction, captured, wire;
};

static struct record record_at(const struct pcap *p, const char *at)
{
	return (struct record){ pcap_number(p, at, 4), pcap_number(p, at + 4, 4),
				pcap_number(p, at + 8, 4), pcap_number(p, at + 12, 4) };
}

/* Some writers swapped the two lengths, so that only their sizes are held against a record. */
static bool is_plausible(const struct pcap *p, const struct record *r)
{
	return r->captured <= PCAP_PACKET_BYTES_MAX && r->wire <= PCAP_PACKET_BYTES_MAX &&
	       r->fraction < (uint64_t)(NS_S / p->unit_ns);
}

/* In a search nothing is known, so that more must fit: the time, and the record that follows. */
static bool is_start(const struct pcap *p, struct str s)
{
	struct record r, after;
	int64_t gap;

	if (s.n < p->record_head)
		return false;
	r = record_at(p, s.p);
	gap = (int64_t)r.sec - p->last_ns / NS_S;
	if (!is_plausible(p, &r) || !r.captured || r.captured > r.wire || gap > YEAR_S ||
	    gap < -YEAR_S)
		return false;
	s = str_skip(s, p->record_head + (size_t)r.captured);
	if (s.n < p->record_head)
		return !s.n;
	after = record_at(p, s.p);
	return is_plausible(p, &after) && after.sec - r.sec + YEAR_S < 2 * (uint64_t)YEAR_S;
}

/* Looks for the next place from which records can be read on; false when there is none. */
static bool search(struct pcap *p)
{
	p->losses->count[LOSS_PACKETS_BROKEN]++;
	window_pass(&p->window, 1);
	for (;;) {
		struct str s = window_need(&p->window, SEARCH_BYTES);
		size_t far = s.n > SEARCH_BYTES / 2 ? s.n - SEARCH_BYTES / 2 : s.n, i = 0;

		while (i < far && !is_start(p, str_skip(s, i)))
			i++;
		window_pass(&p->window, i);
		if (i < far)
			return true;
		if (s.n < SEARCH_BYTES)
			return false;
	}
}

static int end_of(struct pcap *p, size_t left)
{
	p->losses->count[LOSS_FILES_CUT] += left > 0 || p->window.is_damaged;
	return 0;
}

static int next_record(struct pcap *p, struct pcap_frame *f)
{
	struct str s = window_need(&p->window, p->record_head);
	struct record r;

	if (s.n < p->record_head)
		return end_of(p, s.n);
	r = record_at(p, s.p);
	if (!is_plausible(p, &r)) {
		if (!search(p))
			return end_of(p, 0);
		s = window_need(&p->window, p->record_head);
		r = record_at(p, s.p);
	}
	if (!r.captured && r.wire) /* nothing of it was kept */
		p->losses->count[LOSS_PACKETS_CUT]++;
	s = window_need(&p->window, p->record_head + (size_t)r.captured);
	if (s.n < p->record_head + r.captured)
		return end_of(p, s.n);
	f->bytes = (struct str){ s.p + p->record_head, (size_t)r.captured };
	f->wire_bytes = (uint32_t)(r.wire > r.captured ? r.wire : r.captured);
	f->ns = p->last_ns = (int64_t)r.sec * NS_S + (int64_t)r.fraction * p->unit_ns;
	f->link = p->link;
	p->window.at += p->record_head + (size_t)r.captured;
	return 1;
}

int pcap_file_next(struct pcap *p, struct pcap_frame *f, struct error *err)
{
	int r = p->is_ng ? pcapng_next(p, f) : next_record(p, f);

	(void)err;
	f->number = p->number += r > 0;
	return r;
}
