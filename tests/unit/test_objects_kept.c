/* What is kept from settling to settling changes nothing: however lines are cut into rounds, the
 * graph is that of one settling of all of them, to the byte. */
#include "unit.h"

#include <stdarg.h>

#include "base/buf.h"
#include "mentions.h"

enum { NR_LINES = 2400, NR_SEEDS = 12 };

/* --- a graph as text, all of it ------------------------------------------------------------- */

static void put(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct buf *b, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	buf_add(b, str_of(text));
}

static void put_names(struct buf *b, const struct str *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		put(b, " " STR_FMT, STR_ARG(v[i]));
}

static void put_object(struct buf *b, const struct object_graph *g, const struct object *o)
{
	put(b, "object %u", o->type);
	put_names(b, o->ids, g->types[o->type].nr_signature);
	put(b, " |");
	put_names(b, o->aliases, o->nr_aliases);
	put(b, " %lld %lld %llu %llu <", (long long)o->first_ns, (long long)o->last_ns,
	    (unsigned long long)o->nr_events, (unsigned long long)o->nr_errors);
	for (size_t i = 0; i < o->nr_parents; i++)
		put(b, " %u", o->parents[i]);
	for (size_t i = 0; i < o->nr_parts; i++)
		put(b, " %u/%u %llu %lld", o->events[i].template, o->events[i].log,
		    (unsigned long long)o->events[i].count, (long long)o->events[i].first_ns);
	put(b, "\n");
}

static char *graph_text(const struct object_graph *g)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < g->nr_types; i++) {
		put(&b, "type " STR_FMT " %llu %d", STR_ARG(g->types[i].name),
		    (unsigned long long)g->types[i].nr_objects, g->types[i].is_in_graph);
		put_names(&b, g->types[i].aliases, g->types[i].nr_aliases);
		put(&b, "\n");
	}
	for (size_t i = 0; i < g->nr_relations; i++) {
		const struct object_relation *r = &g->relations[i];

		put(&b, "relation %u %u %d %d %llu %llu %d%d%d %.9g\n", r->from, r->to, r->relation,
		    r->deed, (unsigned long long)r->support, (unsigned long long)r->exceptions,
		    r->is_in_graph, r->is_reduced, r->is_inferred, (double)r->confidence);
	}
	for (size_t i = 0; i < g->nr_objects; i++)
		put_object(&b, g, &g->objects[i]);
	for (size_t i = 0; i < g->nr_links; i++)
		put(&b, "link %u %u %llu %lld\n", g->links[i].a, g->links[i].b,
		    (unsigned long long)g->links[i].count, (long long)g->links[i].last_ns);
	buf_add(&b, (struct str){ "", 1 });
	return b.p;
}

/* --- lines as systems write them ------------------------------------------------------------ */

static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33);
}

/* Jobs with attempts and small numbers within them, blocks that have a file, connections that come
 * and go, sessions whose numbers are given out again, users, and a line that contradicts now and
 * then. */
static void tell_any(struct told_graph *t, uint64_t *seed, unsigned at)
{
	unsigned r = next_random(seed), job = 4000 + at / 90 + r % 3, task = next_random(seed) % 6;
	unsigned block = 100000 + at / 4 + r / 8 % 3, host = r / 64 % 3;
	unsigned port = 40000 + at / 7 % 37 + r % 2, session = at / 30 % 9;

	switch (r / 7 % 13) {
	case 0:
		tellf(t, "rm.log||submitted <*> by <*>|job_#_#=job_1700_%u user=u%c", job,
		      'a' + job % 4);
		break;
	case 1:
		tellf(t, "job_1700_%u/c%u.log||started task <*>|task=%u", job, host, task);
		break;
	case 2:
		tellf(t, "job_1700_%u/c%u.log||task <*> reads <*>|task=%u blk_#=blk_%u", job, host,
		      task, block);
		break;
	case 3:
		tellf(t, "nn.log||allocate <*> for <*>|blk_#=blk_%u path/data=/data/f%u", block,
		      block / 5);
		break;
	case 4:
		tellf(t,
		      "dn%u.log||Receiving <*> from <*> to <*>|blk_#=blk_%u ip:port=10.0.0.9:%u "
		      "ip:port=10.0.0.%u:9866",
		      host, block, port, host);
		break;
	case 5:
		tellf(t, "dn%u.log||Received <*>|blk_#=blk_%u ip:port=10.0.0.%u:9866", host, block,
		      host);
		break;
	case 6:
		tellf(t, "gw.log||session <*> opened for <*>|session!=%u user=u%c", session,
		      'a' + at % 5);
		break;
	case 7:
		tellf(t, "gw.log||session <*> closed|session!=%u", session);
		break;
	case 8:
		tellf(t, "gw.log||query <*> of session <*>|query!=%u session!=%u", at / 3, session);
		break;
	case 9:
		tellf(t,
		      "rm.log||attempt <*> of <*> on <*>|attempt_#_#_#=attempt_1700_%u_%u "
		      "job_#_#=job_1700_%u ip=10.0.0.%u",
		      job, task, r % 40 ? job : job - 1, host);
		break;
	case 10:
		tellf(t, "rm.log||lease <*> is <*>|hex=%08x%08x lease!=%u", at / 6 * 2654435761u,
		      at / 6 * 40503u, at / 6);
		break;
	case 11:
		tellf(t, "nn.log||<*> renamed to <*>|path/data=/data/f%u path/data=/data/g%u",
		      block / 5, block / 5);
		break;
	default:
		tellf(t,
		      "nn.log||replicas of <*>: <*>|blk_#=blk_%u blk_#=blk_%u "
		      "ip:port=10.0.0.%u:9866 ip:port=10.0.0.%u:9866",
		      block, block + 1, host, (host + 1) % 3);
	}
	if (r % 97 == 0)
		t->now_ns += (int64_t)(r % 5) * NS_S;
	if (r % 193 == 0)
		t->now_ns -= NS_S / 2; /* another host's clock */
}

static void tell_until(struct told_graph *t, uint64_t *seed, unsigned *at, unsigned end)
{
	for (; *at < end; ++*at)
		tell_any(t, seed, *at);
}

static void assert_same(const struct told_graph *a, const struct told_graph *b)
{
	char *x = graph_text(&a->g), *y = graph_text(&b->g);

	assert_string_equal(x, y);
	free(x);
	free(y);
}

static void settle_from_scratch(struct told_graph *t, uint64_t seed, unsigned end)
{
	unsigned at = 0;

	told_graph_init(t, 0);
	tell_until(t, &seed, &at, end);
	settle(t);
}

/* Settles in as many rounds, cut at random; each time a settling from scratch says the same. */
static void settle_in_rounds(uint64_t seed, unsigned nr_rounds)
{
	const struct objects_options keeps = { .is_kept = true };
	struct told_graph kept, scratch;
	uint64_t lines = seed, gone_on, anew;
	unsigned at = 0;

	told_graph_with(&kept, &keeps);
	for (unsigned round = 1; round <= nr_rounds; round++) {
		unsigned step = 2 * (NR_LINES - at) / (nr_rounds - round + 1);
		uint64_t cut = seed + round;
		unsigned end = at + next_random(&cut) % (step + 1);

		tell_until(&kept, &lines, &at, round < nr_rounds ? end : NR_LINES);
		settle(&kept);
		settle_from_scratch(&scratch, seed, at);
		assert_same(&kept, &scratch);
		told_graph_done(&scratch);
	}
	objects_relations(kept.o, &gone_on, &anew);
	assert_true(anew > 0);
	if (nr_rounds > 10)
		assert_true(gone_on > anew);
	told_graph_done(&kept);
}

static void rounds_give_the_graph_of_one_settling(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NR_SEEDS; i++)
		settle_in_rounds(1000 + i, 1 + i * 19 / (NR_SEEDS - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds_give_the_graph_of_one_settling),
	};

	return RUN(tests);
}
