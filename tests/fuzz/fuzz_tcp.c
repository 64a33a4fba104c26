/* Segments in any order: every number is handed out once and in order, as bytes or as a gap. */
#include "source/tcp.h"
#include "fuzz_source.h"

struct reader {
	uint32_t next;
	bool is_any;
};

static void pass(struct reader *r, uint32_t seq, size_t nr)
{
	must(nr > 0 && (!r->is_any || seq == r->next));
	r->is_any = true;
	r->next = seq + (uint32_t)nr;
}

static void take_bytes(void *to, uint32_t seq, struct str bytes, int64_t ns)
{
	(void)ns;
	pass(to, seq, bytes.n);
}

static void take_gap(void *to, uint32_t seq, uint32_t nr, int64_t ns, bool is_cut)
{
	(void)ns, (void)is_cut;
	pass(to, seq, nr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct losses losses = { 0 };
	struct tcp_side side = { 0 };
	struct reader reader = { 0 };
	const struct tcp_reader r = { &reader, take_bytes, take_gap };
	struct str s = { (const char *)data, size };

	for (int64_t ns = 0; s.n >= 4;
	     ns += (unsigned char)s.p[3] * 1000000LL, s = str_skip(s, 4)) {
		uint32_t seq = (uint32_t)(unsigned char)s.p[0] * 3 - 300;
		struct tcp_segment seg = { seq, str_head(s, (unsigned char)s.p[1] % 64), 0, ns };

		seg.missing = (unsigned char)s.p[2] % 4 ? 0 : (unsigned char)s.p[2];
		if ((unsigned char)s.p[2] % 5 == 1)
			tcp_ack(&side, &(struct tcp_receipt){ seq, seq & 1, ns }, &r, &losses);
		else
			tcp_add(&side, &seg, &r, &losses);
		must(side.nr_held < 1024);
	}
	tcp_flush(&side, &r, &losses);
	must(!side.held && !side.nr_held && !side.held_bytes);
	tcp_done(&side);
	return 0;
}
