/*
 * Writes a packet capture of HTTP over TCP, always the same for the same arguments.
 *
 * usage: gen_pcap bulk|small|short|open NUMBER > file
 *
 *   bulk   NUMBER MiB of downloads over 16 connections at once, in segments of 1448 bytes
 *   small  NUMBER requests with short answers over 64 connections that stay open
 *   short  NUMBER connections with one request each, 256 at once, all closed
 *   open   NUMBER connections of which only the first packet was seen
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SEGMENT = 1448,
	NR_BULK = 16,
	NR_SMALL = 64,
	NR_SHORT = 256,
	FIN = 1,
	SYN = 2,
	PUSH = 8,
	ACK = 16,
};

struct connection {
	uint32_t client, server; /* addresses */
	uint16_t port;
	uint32_t seq[2];
	uint64_t left; /* bytes of the answer */
};

struct gen {
	uint64_t ns;
	uint64_t nr_connections;
	struct connection at[NR_SHORT];
};

static char payload[SEGMENT];

static void put(unsigned char *at, uint64_t v, unsigned n)
{
	for (unsigned i = n; i > 0; i--, v >>= 8)
		at[i - 1] = (unsigned char)v;
}

static void put_record_head(unsigned char *at, uint64_t ns, uint32_t bytes)
{
	const uint32_t head[4] = { (uint32_t)(ns / 1000000000), (uint32_t)(ns % 1000000000), bytes,
				   bytes };

	memcpy(at, head, sizeof(head));
}

static void segment(struct gen *g, struct connection *c, unsigned from, unsigned flags,
		    const char *bytes, size_t n)
{
	unsigned char b[16 + 14 + 20 + 32] = { 0 }, *ip = b + 16 + 14, *tcp = ip + 20;

	g->ns += 2000;
	put_record_head(b, g->ns, (uint32_t)(sizeof(b) - 16 + n));
	put(b + 16 + 12, 0x0800, 2);
	put(ip, 0x4500, 2);
	put(ip + 2, 20 + 32 + n, 2);
	put(ip + 6, 0x4000, 2);
	put(ip + 8, 0x4006, 2);
	put(ip + 12, from ? c->server : c->client, 4);
	put(ip + 16, from ? c->client : c->server, 4);
	put(tcp, from ? 80 : c->port, 2);
	put(tcp + 2, from ? c->port : 80, 2);
	put(tcp + 4, c->seq[from], 4);
	put(tcp + 8, flags & ACK ? c->seq[!from] : 0, 4);
	put(tcp + 12, 0x8000 | flags, 2);
	put(tcp + 14, 0xffff, 2);
	put(tcp + 20, 0x0101080a, 4);
	c->seq[from] += (uint32_t)n + !!(flags & (SYN | FIN));
	if (fwrite(b, sizeof(b), 1, stdout) != 1 || (n && fwrite(bytes, n, 1, stdout) != 1)) {
		fprintf(stderr, "gen_pcap: cannot write: %s\n", strerror(errno));
		exit(1);
	}
}

/* 65,000 ports of as many clients as are needed, so that no two connections have one name. */
static void connect_to(struct gen *g, struct connection *c)
{
	uint64_t i = g->nr_connections++;

	*c = (struct connection){ .client = 0x0a010001 + (uint32_t)(i % 1000),
				  .server = 0x0a000001 + (uint32_t)(i % 7),
				  .port = (uint16_t)(1024 + i / 1000 % 64000),
				  .seq = { (uint32_t)i * 7919, (uint32_t)i * 104729 } };
	segment(g, c, 0, SYN, NULL, 0);
}

static void accept_from(struct gen *g, struct connection *c)
{
	segment(g, c, 1, SYN | ACK, NULL, 0);
	segment(g, c, 0, ACK, NULL, 0);
}

static void ask(struct gen *g, struct connection *c, uint64_t nr, const char *trailer)
{
	char text[512];
	int n = snprintf(text, sizeof(text),
			 "GET /cart/%llu/items?page=2 HTTP/1.1\r\nHost: shop.example\r\n"
			 "User-Agent: gen/1.0\r\nAccept: */*\r\n%s\r\n",
			 (unsigned long long)nr, trailer);

	segment(g, c, 0, PUSH | ACK, text, (size_t)n);
}

static void answer(struct gen *g, struct connection *c, uint64_t bytes)
{
	char text[512 + 200];
	int n = snprintf(text, 512,
			 "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nServer: gen\r\n"
			 "Content-Length: %llu\r\n\r\n",
			 (unsigned long long)bytes);

	if (bytes <= 200) {
		memcpy(text + n, payload, bytes);
		n += (int)bytes;
		bytes = 0;
	}
	segment(g, c, 1, PUSH | ACK, text, (size_t)n);
	c->left = bytes;
}

static void gen_bulk(struct gen *g, uint64_t mib)
{
	const uint64_t nr =
		mib << 20 >> 10; /* nearly: heads and acknowledgements are not counted */
	uint64_t sent = 0;

	for (unsigned i = 0; i < NR_BULK; i++) {
		connect_to(g, &g->at[i]);
		accept_from(g, &g->at[i]);
	}
	for (uint64_t i = 0; sent >> 10 < nr; i++) {
		struct connection *c = &g->at[i / 4 % NR_BULK];
		size_t n = c->left < SEGMENT ? (size_t)c->left : SEGMENT;

		if (!c->left) {
			ask(g, c, i, "");
			answer(g, c, (uint64_t)1 << 20);
			continue;
		}
		segment(g, c, 1, ACK, payload, n);
		c->left -= n;
		sent += n;
		if (i % 4 == 3)
			segment(g, c, 0, ACK, NULL, 0);
	}
}

static void gen_small(struct gen *g, uint64_t nr)
{
	for (unsigned i = 0; i < NR_SMALL; i++) {
		connect_to(g, &g->at[i]);
		accept_from(g, &g->at[i]);
	}
	for (uint64_t i = 0; i < nr; i += NR_SMALL) {
		for (unsigned k = 0; k < NR_SMALL; k++)
			ask(g, &g->at[k], i + k, "");
		for (unsigned k = 0; k < NR_SMALL; k++)
			answer(g, &g->at[k], 120);
	}
}

static void gen_short(struct gen *g, uint64_t nr)
{
	for (uint64_t i = 0; i < nr + NR_SHORT; i++) {
		struct connection *c = &g->at[i % NR_SHORT];

		if (i >= NR_SHORT) {
			answer(g, c, 120);
			segment(g, c, 1, FIN | ACK, NULL, 0);
			segment(g, c, 0, FIN | ACK, NULL, 0);
			segment(g, c, 1, ACK, NULL, 0);
		}
		if (i >= nr)
			continue;
		connect_to(g, c);
		accept_from(g, c);
		ask(g, c, i, "Connection: close\r\n");
	}
}

static void gen_open(struct gen *g, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		connect_to(g, &g->at[0]);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(struct gen *g, uint64_t nr);
	} kinds[] = { { "bulk", gen_bulk },
		      { "small", gen_small },
		      { "short", gen_short },
		      { "open", gen_open } };
	const uint32_t head[6] = { 0xa1b23c4d, 0x00040002, 0, 0, 262144, 1 };
	struct gen g = { .ns = 1700000000ull * 1000000000 };

	memset(payload, 'x', sizeof(payload));
	for (unsigned i = 0; argc == 3 && i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(argv[1], kinds[i].name))
			continue;
		fwrite(head, sizeof(head), 1, stdout);
		kinds[i].run(&g, strtoull(argv[2], NULL, 10));
		return fflush(stdout) ? 1 : 0;
	}
	fprintf(stderr, "usage: gen_pcap bulk|small|short|open NUMBER > file\n");
	return 2;
}
