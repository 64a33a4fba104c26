#include "source/proto.h"

/* Those that are surest of their own first; by turns is what is left. */
static const struct proto *const streams[] = {
	&proto_http2, &proto_http1, &proto_tls,   &proto_amqp,      &proto_dubbo,
	&proto_mongo, &proto_nats,  &proto_redis, &proto_memcached, &proto_memcached_binary,
	&proto_pgsql, &proto_mysql, &proto_kafka, &proto_mqtt,      &proto_dns_tcp,
};

static const struct proto *const datagrams[] = { &proto_dns };

static bool has_port(const struct proto *p, uint16_t port)
{
	for (size_t i = 0; i < 6 && p->ports[i]; i++)
		if (p->ports[i] == port)
			return true;
	return false;
}

/* A usual port is worth a lot, but never makes something of nothing. */
static int sure_of(const struct proto *p, struct str bytes, bool from_client, uint16_t server_port)
{
	int sure = p->looks(bytes, from_client);

	return sure > 0 && has_port(p, server_port) ? sure + 45 : sure;
}

struct proto_guess proto_guess(struct str bytes, bool is_datagram, uint16_t from, uint16_t to,
			       int is_client)
{
	const struct proto *const *table = is_datagram ? datagrams : streams;
	size_t nr = is_datagram ? sizeof(datagrams) / sizeof(*datagrams)
				: sizeof(streams) / sizeof(*streams);
	int server = proto_server_of_ports(from, to);
	struct proto_guess best = { 0 };

	for (size_t i = 0; i < nr; i++)
		for (int client = 1; client >= 0; client--) {
			int sure;

			if (is_client >= 0 && client != is_client)
				continue;
			sure = sure_of(table[i], bytes, client, client ? to : from);
			/* where both are possible the ports decide */
			if (sure > 0 && is_client < 0 && server >= 0)
				sure += client == (server == 1) ? 5 : -5;
			if (sure > best.sure)
				best = (struct proto_guess){ table[i], client, sure };
		}
	return best;
}

static bool is_known(uint16_t port)
{
	for (size_t i = 0; i < sizeof(streams) / sizeof(*streams); i++)
		if (has_port(streams[i], port))
			return true;
	return port == 53;
}

int proto_server_of_ports(uint16_t first, uint16_t second)
{
	if (is_known(first) != is_known(second))
		return is_known(second);
	if ((first < 1024) != (second < 1024))
		return second < 1024;
	if ((first < 32768) != (second < 32768))
		return second < 32768;
	return -1;
}
