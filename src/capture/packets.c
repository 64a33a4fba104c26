/*
 * Live packets. The kernel writes them into a ring that is shared with us (libpcap, TPACKET_V3);
 * that ring is the bounded queue: while we decode and store, it fills, and what does not fit any
 * more is dropped and counted by the kernel. So one thread is enough, and nothing else grows.
 */
#include "capture/packets.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "capture/capture.h"
#include "model/sink.h"
#include "source/capture_packets.h"
#include "source/pcap.h"

#define BATCH 256 /* packets between two looks at the limits */
#define LATE_NS \
	(2 * PACKETS_HAND_OVER_MS * \
	 NS_MS)                    /* of the end: packets that the kernel still holds back */
#define LATE_NS_MAX (60 * NS_S) /* … also when a clock that was set back never gets there */

struct recording {
	const struct capture *capture;
	struct capture_state state;
	pcap_t *pcap;
	pcap_dumper_t *dumper; /* NULL when no file is written */
	struct capture_packets *packets;
	uint32_t link;
	bool is_nano;
	int64_t until; /* what is stamped later came behind the end */
	bool is_past;  /* … and was seen */
	int failure;
};

static int64_t stamp(const struct recording *r, const struct pcap_pkthdr *head)
{
	/* where libpcap gives nanoseconds, it gives them in the field for microseconds */
	return head->ts.tv_sec * NS_S + head->ts.tv_usec * (r->is_nano ? 1 : NS_US);
}

static void take_packet(unsigned char *to, const struct pcap_pkthdr *head,
			const unsigned char *bytes)
{
	struct recording *r = (struct recording *)to;
	struct pcap_frame frame = { .ns = stamp(r, head),
				    .link = r->link,
				    .wire_bytes = head->len,
				    .bytes = { (const char *)bytes, head->caplen } };

	if (r->failure)
		return;
	if (frame.ns > r->until) {
		r->is_past = true;
		return;
	}
	frame.number = ++r->state.seen.nr_seen;
	if (r->dumper)
		pcap_dump((unsigned char *)r->dumper, head, bytes);
	r->failure = capture_packets_add(r->packets, &frame);
}

static int batch(const struct recording *r)
{
	uint64_t max = r->capture->limits.nr_max, seen = r->state.seen.nr_seen;

	return max && max - seen < BATCH ? (int)(max - seen) : BATCH;
}

/* What came: the number of packets, or negative when the interface is gone. */
static int take_some(struct recording *r)
{
	int nr = pcap_dispatch(r->pcap, batch(r), take_packet, (unsigned char *)r);

	if (nr >= 0)
		return nr;
	/* what was recorded so far is worth keeping */
	r->capture->sink->losses->count[LOSS_CAPTURES_ENDED]++;
	return -EIO;
}

static void wait_for_more(const struct recording *r, int64_t ns)
{
	struct pollfd fd = { .fd = pcap_get_selectable_fd(r->pcap), .events = POLLIN };

	/* a signal cuts it short, which is what we want */
	poll(&fd, 1, (int)((ns + NS_MS - 1) / NS_MS));
}

static void look(struct recording *r)
{
	struct pcap_stat stat = { 0 };

	if (!pcap_stats(r->pcap, &stat))
		r->state.seen.nr_dropped = stat.ps_drop;
	capture_tell(r->capture, &r->state);
}

/* Until the end, whatever makes it. Negative when there is no more to come. */
static int take_until_over(struct recording *r)
{
	int64_t looked = 0;
	int nr = 0;

	while (nr >= 0 && !r->failure && !capture_is_over(r->capture, &r->state)) {
		nr = take_some(r);
		if (!nr)
			wait_for_more(r, capture_wait_ns(r->capture, &r->state));
		if (time_tick() - looked >= CAPTURE_LOOK_NS) {
			looked = time_tick();
			look(r);
		}
	}
	return nr;
}

/* The kernel hands packets over in blocks: those from before the end may still be on their way. */
static void take_late(struct recording *r)
{
	int64_t began = time_tick(), last = began, now = began;
	uint64_t max = r->capture->limits.nr_max;
	int nr;

	r->until = time_now();
	while (!r->is_past && !r->failure && now - began < LATE_NS_MAX) {
		if (max && r->state.seen.nr_seen >= max)
			return;
		nr = take_some(r);
		if (nr < 0)
			return;
		now = time_tick();
		/* one look more when the time is over: this machine may have stood still, too */
		if (nr)
			last = now;
		else if (now - last >= LATE_NS)
			return;
		else
			wait_for_more(r, last + LATE_NS - now);
		now = time_tick();
	}
}

static void count_drops(struct recording *r)
{
	uint64_t *count = r->capture->sink->losses->count;
	struct pcap_stat stat = { 0 };

	if (pcap_stats(r->pcap, &stat))
		return;
	count[LOSS_PACKETS_DROPPED] += stat.ps_drop;
	count[LOSS_PACKETS_DROPPED_BELOW] += stat.ps_ifdrop;
}

/* libpcap puts the name of the file in front of what it says. */
static int open_dumper(struct recording *r, const char *path, struct error *err)
{
	if (!path)
		return 0;
	r->dumper = pcap_dump_open(r->pcap, path);
	return r->dumper ? 0 : error_set(err, EIO, "cannot write %s", pcap_geterr(r->pcap));
}

/* A file that cannot be written to its end is told, but costs nothing that was recorded. */
static void close_dumper(struct recording *r)
{
	if (!r->dumper)
		return;
	if (pcap_dump_flush(r->dumper))
		r->capture->sink->losses->count[LOSS_FILES_CUT]++;
	pcap_dump_close(r->dumper);
}

/* "any", "eth0, lo": what the events come from. */
static int tell_file(const struct packets_options *o, struct sink *sink, uint32_t *file,
		     struct error *err)
{
	struct buf name = { 0 };
	struct file_seen seen = { .format = STR("live packets") };
	int r;

	for (size_t i = 0; i < o->nr_interfaces; i++)
		buf_fmt(&name, "%s%s", i ? "," : "", o->interfaces[i]);
	if (!name.n)
		buf_add(&name, STR("any"));
	seen.path = seen.name = buf_str(&name);
	r = sink->file(sink->to, &seen, file, err);
	buf_done(&name);
	return r;
}

static int record(struct recording *r, struct error *err)
{
	int got = capture_ready(r->capture, &r->state, err);

	if (got < 0)
		return got;
	r->until = INT64_MAX;
	if (take_until_over(r) >= 0)
		take_late(r);
	look(r);
	count_drops(r);
	return 0;
}

int packets_record(const struct packets_options *o, const struct capture *c, struct error *err)
{
	struct recording r = { .capture = c };
	uint32_t file;
	int got = packets_open(o, &r.pcap, err), late;

	if (got < 0)
		return got;
	r.link = (uint32_t)pcap_datalink(r.pcap);
	r.is_nano = pcap_get_tstamp_precision(r.pcap) == PCAP_TSTAMP_PRECISION_NANO;
	got = open_dumper(&r, o->write, err);
	if (got >= 0)
		got = tell_file(o, c->sink, &file, err);
	if (got >= 0)
		got = capture_packets_new(&r.packets, o->reading, file, c->sink, err);
	if (got >= 0) {
		got = record(&r, err);
		late = capture_packets_end(r.packets);
		got = got < 0 ? got : late;
	}
	close_dumper(&r);
	pcap_close(r.pcap);
	return got;
}
