/*
 * Writes events whose causality is told (JSON lines with "after"), always the same for the same
 * seed.
 *
 * usage: gen_events EVENTS SEED > file
 *
 * A request has about 100 events, from Client.request to Client.done. It goes on in up to 8
 * branches side by side: one may part in two at any event, two may join, and the last event joins
 * all that are left. 16 requests are under way at a time, and events are written in the order of
 * their times, as a collector of several hosts would. Ids are those of the request alone.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BRANCHES 8
#define UNDER_WAY 16
#define NODES 12
#define CLIENTS 5
#define START INT64_C(1700000000000000000)

static const char *const points[] = {
	"Proxy.forward", "Cart.get", "Cart.put",   "Price.ask",  "Db.read",  "Db.write",
	"Db.read",       "Log.sync", "Cache.look", "Cache.fill", "Net.send", "Net.receive",
};
#define NR_POINTS (sizeof(points) / sizeof(*points))

struct request {
	uint64_t number;
	int64_t ns;                /* of the next event */
	uint32_t nr, left;         /* events written and to be written */
	uint32_t branch[BRANCHES]; /* the last event of each */
	uint32_t nr_branches;
	uint32_t client;
};

static uint64_t dice, nr_requests;

static uint32_t roll(uint32_t sides)
{
	uint64_t z = (dice += 0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (uint32_t)((z ^ z >> 31) >> 32) % sides;
}

static void begin(struct request *r, int64_t ns)
{
	*r = (struct request){ .number = ++nr_requests,
			       .ns = ns + 1000 + roll(1000000),
			       .left = 60 + roll(81),
			       .client = roll(CLIENTS) };
}

static void write_event(const struct request *r, const char *point, uint32_t branch,
			const uint32_t *after, uint32_t nr_after)
{
	printf("{\"id\":\"e%" PRIu32 "\",\"request\":\"r%" PRIu64 "\",\"time\":%" PRId64
	       ",\"node\":\"node%02" PRIu32 "\",\"process\":\"client%" PRIu32
	       "\",\"thread\":\"worker-%" PRIu32 "\",\"point\":\"%s\",\"attrs\":{\"bytes\":%" PRIu32
	       "},\"after\":[",
	       r->nr, r->number, r->ns, (uint32_t)(r->number * 7 + branch * 5 + r->nr / 9) % NODES,
	       r->client, branch, point, 1 + roll(65536));
	for (uint32_t i = 0; i < nr_after; i++)
		printf("%s\"e%" PRIu32 "\"", i ? "," : "", after[i]);
	puts("]}");
}

/* Parts in two, joins another one, or goes on. */
static void middle(struct request *r)
{
	uint32_t at = roll(r->nr_branches), after[2] = { r->branch[at] }, nr_after = 1;
	uint32_t what = roll(12);

	if (what == 0 && r->nr_branches < BRANCHES) {
		r->branch[r->nr_branches] = r->branch[at];
		at = r->nr_branches++;
	} else if (what == 1 && r->nr_branches > 1) {
		uint32_t other = (at + 1 + roll(r->nr_branches - 1)) % r->nr_branches;

		after[nr_after++] = r->branch[other];
		r->branch[other] = r->branch[--r->nr_branches];
		at = at == r->nr_branches ? other : at;
	}
	write_event(r, points[roll(NR_POINTS)], at, after, nr_after);
	r->branch[at] = r->nr;
}

static void step(struct request *r)
{
	if (!r->nr) {
		write_event(r, "Client.request", 0, NULL, 0);
		r->nr_branches = 1;
	} else if (r->left == 1) {
		write_event(r, "Client.done", 0, r->branch, r->nr_branches);
	} else {
		middle(r);
	}
	r->nr++;
	r->left--;
	r->ns += 1000 + roll(200000);
}

int main(int argc, char **argv)
{
	struct request open[UNDER_WAY];
	uint64_t left;

	if (argc != 3) {
		fprintf(stderr, "usage: %s EVENTS SEED\n", argv[0]);
		return 2;
	}
	left = strtoull(argv[1], NULL, 10);
	dice = strtoull(argv[2], NULL, 10);
	for (size_t i = 0; i < UNDER_WAY; i++)
		begin(&open[i], START);
	for (; left; left--) {
		struct request *r = open;

		for (size_t i = 1; i < UNDER_WAY; i++)
			if (open[i].ns < r->ns)
				r = &open[i];
		step(r);
		if (!r->left)
			begin(r, r->ns);
	}
	return 0;
}
