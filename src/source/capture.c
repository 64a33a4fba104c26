/* Capture files as a source: frames are read one after the other and handed to capture_packets. */
#include "base/error.h"
#include "model/sink.h"
#include "source/capture_packets.h"
#include "source/formats.h"
#include "source/input.h"
#include "source/pcap.h"

#define PROGRESS_PACKETS 4096

static void take_name(void *to, struct str address, struct str name)
{
	capture_packets_name(to, address, name);
}

static void tell_progress(struct sink *sink, struct input *in, uint64_t *told)
{
	uint64_t at = input_position(in);

	if (sink->progress && at > *told)
		sink->progress(sink->to, at - *told);
	*told = at;
}

static int read_frames(struct capture_packets *c, struct input *in, struct sink *sink,
		       struct error *err)
{
	const struct pcap_names names = { c, take_name };
	struct pcap_frame frame;
	struct pcap *p;
	uint64_t told = 0;
	int r = pcap_file_open(&p, in, &names, sink->losses, err);

	if (r < 0)
		return r;
	while ((r = pcap_file_next(p, &frame, err)) > 0) {
		r = capture_packets_add(c, &frame);
		if (r < 0)
			break;
		if (frame.number % PROGRESS_PACKETS == 0)
			tell_progress(sink, in, &told);
	}
	pcap_file_close(p);
	tell_progress(sink, in, &told);
	return r;
}

static int read_capture(struct input *in, const struct source_options *o, struct sink *sink,
			struct error *err)
{
	const struct file_seen seen = { .path = str_of(input_path(in)),
					.format = str_of(source_capture.name),
					.bytes = input_bytes(in),
					.mtime_ns = input_mtime(in) };
	struct capture_packets *c;
	uint32_t file;
	int r = sink->file(sink->to, &seen, &file, err), late;

	if (r < 0)
		return r;
	r = capture_packets_new(&c, o, file, sink, err);
	if (r < 0)
		return r;
	r = read_frames(c, in, sink, err);
	late = capture_packets_end(c);
	return r < 0 ? r : late;
}

static int sniff(struct str head, bool whole)
{
	(void)whole;
	return pcap_file_is(head) ? 100 : 0;
}

const struct source source_capture = {
	.name = "capture",
	.summary = "packet capture, pcap or pcapng: the messages of TCP and UDP in it",
	.sniff = sniff,
	.read = read_capture,
};
