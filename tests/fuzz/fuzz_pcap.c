/* Capture files: packets that lie within what was read, or a count of what was wrong. */
#include "source/pcap.h"
#include "fuzz_source.h"

static void take_name(void *to, struct str address, struct str name)
{
	(void)to;
	must((address.n == 4 || address.n == 16) && name.n > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pcap_names names = { NULL, take_name };
	struct losses losses = { 0 };
	struct error err = { 0 };
	struct pcap_frame f;
	struct input *in;
	struct pcap *p;
	uint64_t nr = 0, sum = 0;

	must(input_of_bytes(&in, "fuzz", (struct str){ (const char *)data, size }, &err) >= 0);
	if (pcap_file_open(&p, in, &names, &losses, &err) < 0) {
		must(err.msg[0]);
	} else {
		while (pcap_file_next(p, &f, &err) > 0) {
			must(f.number == ++nr && f.wire_bytes >= f.bytes.n);
			for (size_t i = 0; i < f.bytes.n; i++)
				sum += (unsigned char)f.bytes.p[i];
		}
		pcap_file_close(p);
	}
	must(sum < UINT64_MAX);
	input_close(in);
	return 0;
}
