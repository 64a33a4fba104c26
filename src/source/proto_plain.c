/*
 * Where nothing is known of what is said, who speaks still is: the client asks until the server
 * speaks, the server answers until the client speaks again. TLS is the same for the records that
 * carry data; what the two say to set it up is left out.
 */
#include "source/packet_bytes.h"
#include "source/proto.h"
#include "source/proto_talk.h"

struct turns {
	bool is_any, is_asked;
	unsigned last; /* who spoke */
};

static void take_turn(struct talk *t, unsigned side)
{
	struct turns *turns = talk_state(t);
	struct message m = { .is_guess = true };
	bool is_new = !turns->is_any || turns->last != side;

	turns->is_any = true;
	turns->last = side;
	if (!is_new)
		return;
	if (talk_is_client(t, side)) {
		talk_call(t, &m);
		turns->is_asked = true;
	} else if (turns->is_asked) {
		talk_return_by_turn(t, &m);
		turns->is_asked = false;
	} else {
		talk_sent(t, &m);
	}
}

static int plain_looks(struct str bytes, bool from_client)
{
	(void)bytes, (void)from_client;
	return 1;
}

static int64_t plain_parse(struct talk *t, unsigned side, struct str bytes)
{
	take_turn(t, side);
	return bytes.n ? (int64_t)bytes.n : 1;
}

const struct proto proto_plain = {
	.name = "unknown",
	.state_bytes = sizeof(struct turns),
	.is_by_turn = true,
	.looks = plain_looks,
	.parse = plain_parse,
};

enum tls_record { TLS_FIRST = 20, TLS_HANDSHAKE = 22, TLS_DATA = 23, TLS_LAST = 24 };

static bool is_record(struct str s)
{
	return s.n >= 5 && byte_at(s, 0) >= TLS_FIRST && byte_at(s, 0) <= TLS_LAST &&
	       byte_at(s, 1) == 3 && byte_at(s, 2) <= 4 && bytes_be(s.p + 3, 2) <= 16384 + 2048;
}

static int tls_looks(struct str s, bool from_client)
{
	unsigned hello = from_client ? 1 : 2;

	if (!is_record(s))
		return 0;
	if (byte_at(s, 0) == TLS_HANDSHAKE && byte_at(s, 5) == hello)
		return 95;
	return byte_at(s, 0) == TLS_DATA ? 40 : 25;
}

static int64_t tls_parse(struct talk *t, unsigned side, struct str s)
{
	if (s.n < 5)
		return PROTO_MORE;
	if (!is_record(s))
		return PROTO_LOST;
	if (byte_at(s, 0) == TLS_DATA)
		take_turn(t, side);
	return 5 + (int64_t)bytes_be(s.p + 3, 2);
}

const struct proto proto_tls = {
	.name = "tls",
	.ports = { 443, 8443, 6443 },
	.state_bytes = sizeof(struct turns),
	.looks = tls_looks,
	.parse = tls_parse,
};
