/* Whatever comes from the network is cut into messages that are the same however it is cut into
 * pieces, and what a hub wrote of its agents it reads again. */
#include <stdint.h>
#include <stdlib.h>

#include "hub/agents.h"
#include "hub/frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
	if (!ok)
		abort();
}

static uint64_t cut(struct str bytes, size_t step, uint64_t *nr)
{
	struct frames f = { 0 };
	struct str message;
	uint64_t sum = 0;

	*nr = 0;
	for (size_t at = 0; at < bytes.n; at += step) {
		frames_add(&f, str_head(str_skip(bytes, at), step));
		while (frames_next(&f, &message)) {
			sum = 31 * sum + str_hash(message);
			++*nr;
		}
	}
	frames_done(&f);
	return sum;
}

static void read_agents(struct str text)
{
	struct agents a = { 0 }, again = { 0 };
	struct buf b = { 0 }, c = { 0 };

	if (agents_read(&a, text)) {
		agents_write(&a, &b);
		must(agents_read(&again, buf_str(&b)));
		agents_write(&again, &c);
		must(str_eq(buf_str(&b), buf_str(&c)));
	}
	agents_done(&a);
	agents_done(&again);
	buf_done(&b);
	buf_done(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str bytes = { (const char *)data, size };
	uint64_t nr, nr_again;
	uint64_t sum = cut(bytes, size ? size : 1, &nr);

	must(sum == cut(bytes, size > 4096 ? 97 : 1, &nr_again) && nr == nr_again);
	read_agents(bytes);
	return 0;
}
