#include "unit.h"

#include "model/loss.h"
#include "packets.h"
#include "source/packet.h"
#include "source/packet_flows.h"
#include "source/packet_fragments.h"
#include "source/pcap.h"

#define IPV4_UDP \
	"\x45\0\0\x20\0\1\0\0\x40\x11\0\0\x0a\0\0\1\x0a\0\0\2" \
	"\x13\x88\0\x35\0\x0c\0\0data"

static bool decode(uint32_t link, struct str bytes, uint32_t wire, struct packet *p,
		   struct losses *losses)
{
	struct packet_fragments *fragments = packet_fragments_new();
	const struct pcap_frame f = { .ns = 1, .link = link, .wire_bytes = wire, .bytes = bytes };
	bool good = packet_of_frame(fragments, &f, p, losses);

	packet_fragments_free(fragments, losses);
	return good;
}

static void the_same_packet_is_found_on_every_link(void **state)
{
	static const struct {
		uint32_t link;
		const char *head;
		size_t n;
	} links[] = {
		{ 1, "\0\0\0\0\0\0\0\0\0\0\0\0\x08\0", 14 },
		{ 1, "\0\0\0\0\0\0\0\0\0\0\0\0\x81\0\0\5\x08\0", 18 },
		{ 1, "\0\0\0\0\0\0\0\0\0\0\0\0\x88\xa8\0\5\x81\0\0\6\x08\0", 22 },
		{ 113, "\0\0\0\1\0\6\0\0\0\0\0\0\0\0\x08\0", 16 },
		{ 276, "\x08\0\0\0\0\0\0\1\0\1\0\6\0\0\0\0\0\0\0\0", 20 },
		{ 0, "\2\0\0\0", 4 },
		{ 108, "\0\0\0\2", 4 },
		{ 101, "", 0 },
		{ 228, "", 0 },
		{ 9, "\xff\3\0\x21", 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		struct buf b = { 0 };
		struct losses losses = { 0 };
		struct packet p;

		buf_add(&b, (struct str){ links[i].head, links[i].n });
		buf_add(&b, STR(IPV4_UDP));
		buf_add(&b, STR("padding of the link"));
		assert_true(decode(links[i].link, buf_str(&b), (uint32_t)b.n, &p, &losses));
		assert_true(p.proto == PACKET_UDP && p.from.port == 5000 && p.to.port == 53);
		assert_str_equal(p.payload, "data");
		assert_int_equal(p.missing, 0);
		buf_done(&b);
	}
}

static void ipv6_is_read_behind_its_extensions(void **state)
{
	struct buf b = { 0 }, text = { 0 };
	struct losses losses = { 0 };
	struct packet p;

	(void)state;
	put_be(&b, 0x60000000, 4);
	put_be(&b, 8 + 16 + 12, 2);
	put_be(&b, 0x0040, 2); /* hop by hop first */
	put_be(&b, 0x20010db800000000, 8);
	put_be(&b, 1, 8);
	put_be(&b, 0x20010db800000000, 8);
	put_be(&b, 2, 8);
	put_be(&b, (uint64_t)60 << 56, 8);     /* then options … */
	put_be(&b, (uint64_t)0x1101 << 48, 8); /* … of 16 bytes, then UDP */
	put_be(&b, 0, 8);
	put_be(&b, 0x13880035, 4);
	put_be(&b, 0x000c0000, 4);
	buf_add(&b, STR("data"));
	assert_true(decode(229, buf_str(&b), (uint32_t)b.n, &p, &losses));
	assert_str_equal(p.payload, "data");
	address_text(&text, &p.from.address);
	assert_str_equal(buf_str(&text), "2001:db8::1");
	buf_done(&b);
	buf_done(&text);
}

static void what_was_cut_off_is_known(void **state)
{
	struct losses losses = { 0 };
	struct packet p;

	(void)state;
	assert_true(decode(101, str_head(STR(IPV4_UDP), 30), 32, &p, &losses));
	assert_str_equal(p.payload, "da");
	assert_int_equal(p.missing, 2);
	assert_int_equal(losses.count[LOSS_PACKETS_CUT], 1);
}

static void other_packets_are_counted(void **state)
{
	struct losses losses = { 0 };
	struct packet p;

	(void)state;
	assert_false(decode(1, (struct str){ "\0\0\0\0\0\0\0\0\0\0\0\0\x08\6arp", 17 }, 17, &p,
			    &losses));
	assert_false(decode(4711, STR(IPV4_UDP), 32, &p, &losses));
	assert_int_equal(losses.count[LOSS_PACKETS_OTHER], 2);
	assert_false(decode(101, str_head(STR(IPV4_UDP), 12), 12, &p, &losses));
	assert_false(decode(101, str_head(STR(IPV4_UDP), 24), 24, &p, &losses));
	assert_int_equal(losses.count[LOSS_PACKETS_BROKEN], 2);
}

static struct fragment part(uint32_t id, uint32_t offset, bool is_last, const char *text)
{
	return (struct fragment){
		.id = id, .offset = offset, .is_last = is_last, .bytes = str_of(text)
	};
}

static void fragments_come_together_in_any_order(void **state)
{
	struct packet_fragments *t = packet_fragments_new();
	const struct fragment parts[] = { part(1, 16, true, "end"), part(1, 0, false, "01234567"),
					  part(2, 0, false, "another "),
					  part(1, 0, false, "twice..."),
					  part(1, 8, false, "89abcdef") };
	struct losses losses = { 0 };
	struct str whole;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		assert_false(packet_fragments_add(t, &parts[i], &whole, &losses));
	assert_true(packet_fragments_add(t, &parts[4], &whole, &losses));
	assert_str_equal(whole, "0123456789abcdefend");
	packet_fragments_free(t, &losses);
	assert_int_equal(losses.count[LOSS_FRAGMENTS_OPEN], 1);
}

static void too_many_fragments_push_out_the_oldest(void **state)
{
	struct packet_fragments *t = packet_fragments_new();
	struct losses losses = { 0 };
	struct str whole;

	(void)state;
	for (uint32_t id = 0; id < 1000; id++) {
		struct fragment f = part(id, 0, false, "01234567");

		assert_false(packet_fragments_add(t, &f, &whole, &losses));
	}
	packet_fragments_free(t, &losses);
	assert_int_equal(losses.count[LOSS_FRAGMENTS_OPEN], 1000);
}

static void count_forgotten(void *to, struct flow *f)
{
	(void)f;
	(*(unsigned *)to)++;
}

static void the_least_used_connection_is_forgotten(void **state)
{
	unsigned nr = 0, side;
	struct flows *t = flows_new(100, count_forgotten, &nr);
	struct packet p = { .proto = PACKET_TCP };
	struct flow *first;

	(void)state;
	p.to.port = 80;
	p.from.port = 1;
	first = flows_get(t, &p, &side);
	for (uint16_t port = 2; port < 5000; port++) {
		p.from.port = port;
		flows_get(t, &p, &side);
		p.from.port = 1;
		assert_ptr_equal(flows_get(t, &p, &side), first);
	}
	assert_int_equal(nr, 4999 - 100);
	flows_free(t);
	assert_int_equal(nr, 4999);
}

static void both_directions_are_one_connection(void **state)
{
	unsigned nr = 0, there, back;
	struct flows *t = flows_new(100, count_forgotten, &nr);
	struct packet p = { .proto = PACKET_TCP };
	struct endpoint swap;
	struct flow *f;

	(void)state;
	p.from.port = 40000;
	p.to.port = 80;
	f = flows_get(t, &p, &there);
	swap = p.from;
	p.from = p.to;
	p.to = swap;
	assert_ptr_equal(flows_get(t, &p, &back), f);
	assert_int_not_equal(there, back);
	p.proto = PACKET_UDP;
	assert_ptr_not_equal(flows_get(t, &p, &back), f);
	flows_free(t);
}

static void addresses_are_read_as_they_are_written(void **state)
{
	static const char *const texts[] = { "10.0.0.5", "255.255.255.255", "::1", "fe80::1:2" };
	struct address a;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct buf b = { 0 };

		assert_true(address_parse(str_of(texts[i]), &a));
		address_text(&b, &a);
		assert_str_equal(buf_str(&b), texts[i]);
		buf_done(&b);
	}
	assert_false(address_parse(STR("10.0.0"), &a));
	assert_false(address_parse(STR("10.0.0.5:80"), &a));
	assert_false(address_parse(STR(""), &a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_packet_is_found_on_every_link),
		cmocka_unit_test(ipv6_is_read_behind_its_extensions),
		cmocka_unit_test(what_was_cut_off_is_known),
		cmocka_unit_test(other_packets_are_counted),
		cmocka_unit_test(fragments_come_together_in_any_order),
		cmocka_unit_test(too_many_fragments_push_out_the_oldest),
		cmocka_unit_test(the_least_used_connection_is_forgotten),
		cmocka_unit_test(both_directions_are_one_connection),
		cmocka_unit_test(addresses_are_read_as_they_are_written),
	};

	return RUN(tests);
}
