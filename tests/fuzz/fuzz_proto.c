/*
 * What two ends say, of any protocol: the first byte tells who is known to be the client and at
 * which port, then each record is (who and how many bytes), with gaps in between. Every return that
 * has a call has one that came before it.
 */
#include "source/proto.h"
#include "source/proto_talk.h"
#include "fuzz_source.h"

static void take(void *to, const struct talk *t, const struct message *m)
{
	(void)to;
	must(m->from < 2 && talk_protocol(t)[0] && m->trace.key_n <= TRACE_KEY_MAX);
	must(m->op != MESSAGE_RETURN || !m->title.n);
}

static void feed(struct talk *t, unsigned what, uint32_t seq, struct str bytes, int64_t ns)
{
	unsigned side = what >> 7;

	if ((what & 0x78) == 0x78)
		talk_gap(t, side,
			 &(struct talk_missing){ seq, what & 7 ? what & 7 : 1, ns, what & 1 });
	else if (bytes.n)
		talk_bytes(t, side, seq, bytes, ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t ports[] = { 7777, 80, 3306, 5432, 6379, 11211, 9092, 53 };
	struct losses losses = { 0 };
	struct talk_sink sink = { NULL, take, &losses, false };
	struct endpoint end[2] = { { .port = 40000 }, { .port = 0 } };
	struct str s = { (const char *)data, size };
	uint32_t seq[2] = { 0, 0 };
	struct talk *t;

	if (!size)
		return 0;
	end[1].port = ports[data[0] & 7];
	t = talk_new(&sink, end, (int)(data[0] >> 3 & 3) % 3 - 1, data[0] & 0x80);
	s = str_skip(s, 1);
	for (int64_t ns = 1; s.n; ns++) {
		unsigned what = (unsigned char)s.p[0];
		/* seven bits of length, times two to reach far */
		struct str bytes = str_head(str_skip(s, 1), (size_t)(what & 0x7f) * 2);

		if (data[0] & 0x80)
			talk_datagram(t, what >> 7, bytes, ns);
		else
			feed(t, what, seq[what >> 7], bytes, ns);
		seq[what >> 7] += (uint32_t)bytes.n;
		s = str_skip(s, bytes.n + 1);
	}
	talk_free(t);
	return 0;
}
