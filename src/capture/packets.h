/* Records the messages in packets as they pass the network interfaces of this machine. */
#ifndef CULPRIT_CAPTURE_PACKETS_H
#define CULPRIT_CAPTURE_PACKETS_H

#include <stddef.h>

struct capture;
struct error;
struct packets_options;
struct pcap;
struct source_options;

#define PACKETS_BUFFER_BYTES ((size_t)32 << 20)
#define PACKETS_HAND_OVER_MS 50 /* packets wait so long at most to be handed over with others */

struct packets_options {
	const char *const *interfaces; /* by name; none, or "any": all of the machine */
	size_t nr_interfaces;
	const char *filter;  /* what tcpdump takes, or NULL for everything */
	const char *write;   /* a capture file to write as well, or NULL */
	size_t buffer_bytes; /* of the kernel; what comes when it is full is dropped */
	const struct source_options *reading; /* names and is_blind count */
};

/* As capture/capture.h says. */
int packets_record(const struct packets_options *o, const struct capture *c, struct error *err);

/* The part that needs rights: attached, filtered, not blocking. The caller closes it. */
int packets_open(const struct packets_options *o, struct pcap **p, struct error *err);

#endif
