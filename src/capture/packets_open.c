/*
 * Opens a live capture. Several interfaces are one capture of all of them with a filter on their
 * numbers, not several captures: their packets then stand in one buffer of the kernel in the order
 * in which they came, and need not be merged by times that are handed over late.
 */
#include <errno.h>
#include <net/if.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "capture/packets.h"

#define ANY "any"
#define LOOPBACK "lo"
#define SNAP_BYTES 262144 /* larger than any packet that an interface hands over in one piece */

static bool is_any(const char *name)
{
	return !strcmp(name, ANY);
}

/* One interface is captured on its own, which also lets it take what is not meant for us. */
static const char *device(const struct packets_options *o)
{
	return o->nr_interfaces == 1 ? o->interfaces[0] : ANY;
}

static int no_such_interface(const char *name, struct error *err)
{
	struct if_nameindex *all = if_nameindex();
	struct buf names = { 0 };

	for (struct if_nameindex *i = all; i && i->if_index; i++)
		buf_fmt(&names, "%s%s", names.n ? ", " : "", i->if_name);
	error_set(err, ENODEV, "there is no network interface '%s'; there is: " ANY "%s" STR_FMT,
		  name, names.n ? ", " : "", STR_ARG(buf_str(&names)));
	if_freenameindex(all);
	buf_done(&names);
	return -ENODEV;
}

/* What libpcap says when it cannot, as a sentence that helps. */
static int cannot_capture(pcap_t *p, const char *name, int why, struct error *err)
{
	const char *said = pcap_geterr(p);

	switch (why) {
	case PCAP_ERROR_PERM_DENIED:
	case PCAP_ERROR_PROMISC_PERM_DENIED:
		return error_set(err, EPERM,
				 "capturing packets needs root: run it with sudo, or give the "
				 "program the right once: setcap cap_net_raw+ep PROGRAM");
	case PCAP_ERROR_NO_SUCH_DEVICE:
		return no_such_interface(name, err);
	case PCAP_ERROR_IFACE_NOT_UP:
		return error_set(err, ENETDOWN,
				 "the network interface '%s' is down: ip link set %s up", name,
				 name);
	default:
		return error_set(err, EIO, "cannot capture on '%s': %s", name,
				 *said ? said : pcap_statustostr(why));
	}
}

static int activate(pcap_t *p, const struct packets_options *o, struct error *err)
{
	const char *name = device(o);
	size_t bytes = o->buffer_bytes ? o->buffer_bytes : PACKETS_BUFFER_BYTES;
	int r;

	pcap_set_snaplen(p, SNAP_BYTES);
	pcap_set_promisc(p, !is_any(name));
	pcap_set_timeout(p, PACKETS_HAND_OVER_MS);
	pcap_set_buffer_size(p, (int)bytes);
	/* where the clock is coarser this is refused, and the times are asked for below */
	pcap_set_tstamp_precision(p, PCAP_TSTAMP_PRECISION_NANO);
	r = pcap_activate(p);
	if (r < 0)
		return cannot_capture(p, name, r, err);
	/* the newer cooked header tells the interface; an old libpcap has the older one only */
	if (is_any(name))
		pcap_set_datalink(p, DLT_LINUX_SLL2);
	return 0;
}

static int compile(pcap_t *p, const char *text, struct bpf_program *program, struct error *err)
{
	if (pcap_compile(p, program, text, 1, PCAP_NETMASK_UNKNOWN))
		return error_set(err, EINVAL, "the filter '%s' is not understood: %s", text,
				 pcap_geterr(p));
	return 0;
}

/* " and (…)", without the word in front where it is the first. */
static void add_clause(struct buf *b, struct str clause)
{
	if (clause.n)
		buf_fmt(b, "%s(" STR_FMT ")", b->n ? " and " : "", STR_ARG(clause));
}

/* "ifindex 2 or ifindex 3"; nothing when all are wanted, or one that is captured on its own. */
static void add_interfaces(const struct packets_options *o, struct buf *b)
{
	struct buf some = { 0 };

	for (size_t i = 0; o->nr_interfaces > 1 && i < o->nr_interfaces; i++) {
		if (is_any(o->interfaces[i])) {
			buf_clear(&some);
			break;
		}
		buf_fmt(&some, "%sifindex %u", i ? " or " : "", if_nametoindex(o->interfaces[i]));
	}
	add_clause(b, buf_str(&some));
	buf_done(&some);
}

/*
 * The loopback hands every packet over twice, on its way out and on its way in. libpcap leaves one
 * of them out, but only after both took room in the buffer; here the kernel does so before. Not for
 * the loopback alone: libpcap 1.10 also runs filters itself on the first blocks, and knows the way
 * of a packet there only by the cooked header.
 */
static void add_loopback(pcap_t *p, const struct packets_options *o, struct buf *b)
{
	struct bpf_program program;
	char once[64];

	if (!is_any(device(o)))
		return;
	snprintf(once, sizeof(once), "not (ifindex %u and outbound)", if_nametoindex(LOOPBACK));
	/* an old libpcap does not know the words, and then it costs room */
	if (pcap_compile(p, &program, once, 1, PCAP_NETMASK_UNKNOWN))
		return;
	pcap_freecode(&program);
	add_clause(b, str_of(once));
}

static int install(pcap_t *p, const char *text, struct error *err)
{
	struct bpf_program program;
	int r = compile(p, text, &program, err);

	if (r < 0)
		return r;
	if (pcap_setfilter(p, &program))
		r = error_set(err, EIO, "cannot set the filter '%s': %s", text, pcap_geterr(p));
	pcap_freecode(&program);
	return r;
}

static int set_filter(pcap_t *p, const struct packets_options *o, struct error *err)
{
	const char *own = o->filter ? o->filter : "";
	struct bpf_program program;
	struct buf text = { 0 };
	int r;

	/* the user's own part first, alone, so that the complaint is about what he wrote */
	r = compile(p, own, &program, err);
	if (r < 0)
		return r;
	pcap_freecode(&program);
	add_interfaces(o, &text);
	add_loopback(p, o, &text);
	add_clause(&text, str_of(own));
	buf_char(&text, 0);
	r = install(p, text.p, err);
	buf_done(&text);
	return r;
}

/* Looked at first, because without the right to capture nobody would be told. */
static int check_interfaces(const struct packets_options *o, struct error *err)
{
	for (size_t i = 0; i < o->nr_interfaces; i++)
		if (!is_any(o->interfaces[i]) && !if_nametoindex(o->interfaces[i]))
			return no_such_interface(o->interfaces[i], err);
	return 0;
}

int packets_open(const struct packets_options *o, struct pcap **out, struct error *err)
{
	char said[PCAP_ERRBUF_SIZE] = "";
	int r = check_interfaces(o, err);
	pcap_t *p;

	if (r < 0)
		return r;
	p = pcap_create(device(o), said);
	if (!p)
		return error_set(err, EIO, "cannot capture on '%s': %s", device(o), said);
	r = activate(p, o, err);
	if (r >= 0)
		r = set_filter(p, o, err);
	if (r >= 0 && pcap_setnonblock(p, 1, said) < 0)
		r = error_set(err, EIO, "cannot capture on '%s': %s", device(o), said);
	if (r < 0) {
		pcap_close(p);
		return r;
	}
	*out = p;
	return 0;
}
