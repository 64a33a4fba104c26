/* Records of sockets, one after the other, each behind a byte that says how long it is. */
#include "capture/sockets_decode.h"
#include "fuzz_source.h"
#include "wire/socket_record.h"

/* So that the fuzzer need not find out the sizes: the byte is the length of the payload. */
static void add(struct sockets_decode *d, struct str *s)
{
	size_t payload = (unsigned char)s->p[0] % 128;
	struct str one = str_head(str_skip(*s, 1), sizeof(struct socket_record) + payload);

	sockets_decode_add(d, one);
	*s = str_skip(*s, 1 + one.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct source_options options = { .cores = 1 };
	const struct sockets_setting setting = { .source = &options, .file = 1, .own_netns = 7 };
	struct losses losses = { 0 };
	struct sink sink = { NULL, fuzz_file, fuzz_events, fuzz_spans, NULL, &losses };
	struct str s = { (const char *)data, size };
	struct sockets_decode *d;
	struct error err = { 0 };

	must(sockets_decode_new(&d, &setting, &sink, &err) == 0);
	for (unsigned nr = 1; s.n; nr++) {
		add(d, &s);
		if (nr % 8 == 0)
			must(sockets_decode_until(d, nr * 1000) == 0);
	}
	must(sockets_decode_end(d) == 0);
	return 0;
}
