/* Bytes that come to a hub from the network or from its state: answered, refused or counted. */
#include <stdlib.h>

#include "base/error.h"
#include "bus/hub_own.h"
#include "bus/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* What was read is written as it was. */
static void check_message(struct str bytes)
{
	struct buf again = { 0 };
	struct message m, n;

	if (!message_unpack(&m, bytes))
		return;
	message_pack(&again, &m);
	must(message_unpack(&n, buf_str(&again)));
	must(m.kind == n.kind && m.nr_numbers == n.nr_numbers && m.nr_texts == n.nr_texts);
	buf_done(&again);
}

/* A hub that nobody is connected to takes the messages of an agent and of an operator. */
static void check_hub(struct str bytes, bool is_state)
{
	const struct bus_limits limits = { .queries = 4, .advice = 64, .rows = 1000 };
	struct bus_hub *h = bus_hub_new("fuzz", &limits);
	struct error err = { 0 };
	struct hub_peer *agent, *boss;
	struct str one;
	struct message m;

	h->tick = NS_S;
	if (is_state && hub_state_read(h, bytes, &err) < 0)
		must(err.msg[0]);
	agent = hub_peer_make(h, BUS_AGENT, STR("agent"), 1);
	boss = hub_peer_make(h, BUS_OPERATOR, STR("boss"), 1);
	while (!is_state && str_take_bytes(&bytes, &one))
		if (message_unpack(&m, one)) {
			if (message_is_allowed(m.kind, BUS_OPERATOR) && m.kind > MESSAGE_PASS)
				hub_take_operator(h, boss, &m);
			else if (message_is_allowed(m.kind, BUS_HUB))
				hub_take_agent(h, agent, &m);
		}
	for (size_t i = 0; i < h->queries.nr; i++)
		hubquery_tick(h, h->queries.v[i]);
	bus_hub_close(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str bytes = { (const char *)data, size };

	check_message(bytes);
	if (size)
		check_hub(str_skip(bytes, 1), data[0] & 1);
	return 0;
}
