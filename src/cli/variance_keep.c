#include "cli/variance_keep.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ask/variance/tree.h"
#include "base/error.h"
#include "base/time.h"
#include "base/vec.h"
#include "cli/branch.h"
#include "infer/intervals/intervals.h"
#include "model/attr.h"
#include "model/parts.h"
#include "store/store.h"

/* Spans that a run of intervals has before only some of them keep theirs. */
#define SPANS_MANY (2u << 20)
/* With more spans, a run in between would take longer than records of calls can wait. */
#define SPANS_SHOWN 50000

int keep_open(struct keep *k, const char *path, const char *type, struct error *err)
{
	int got = store_create(&k->store, path, err);

	if (got < 0)
		return got;
	k->type = type;
	k->wall_ns = time_now() - time_tick();
	return store_set_fact(k->store, "variance", str_of(type), err);
}

/* That it could not be shown is told in the end, where it matters. */
static bool has_shown(struct keep *k, bool waits)
{
	struct error ignored = { 0 };
	int got;

	return branch_ended(&k->showing, waits, &got, &ignored);
}

void keep_wait(struct keep *k)
{
	has_shown(k, true);
}

bool keep_is_busy(struct keep *k)
{
	return !has_shown(k, false);
}

void keep_done(struct keep *k)
{
	keep_wait(k);
	if (k->store)
		store_close(k->store);
	map_done(&k->node_of);
	arena_done(&k->arena);
	buf_done(&k->packed);
	buf_done(&k->attrs);
	k->store = NULL;
}

/* A threshold that one in a hundred is above: up much when one is, down a little when none is. */
static bool is_slow(struct keep *k, int64_t ns)
{
	bool is = ns > k->slow_ns;
	int64_t step = k->slow_ns / 1000 + 1;

	k->slow_ns += is ? 99 * step : -step;
	return is;
}

static bool is_drawn(const struct keep *k, const struct interval *v)
{
	return !(v->id & ((1u << k->thin) - 1));
}

bool keep_wants(struct keep *k, const struct interval *v)
{
	bool slow = is_slow(k, v->end - v->start);

	if (!k->store)
		return false;
	if (k->nr_spans > (uint64_t)SPANS_MANY << k->thin)
		k->thin++;
	return slow || is_drawn(k, v);
}

/* What the process calls itself. */
static struct str node_of(struct keep *k, uint32_t process)
{
	uint64_t *at = map_at(&k->node_of, process + 1u);
	char path[64], name[64];
	ssize_t n = -1;
	int fd;

	if (*at)
		return str_of((const char *)(uintptr_t)*at);
	snprintf(path, sizeof(path), "/proc/%u/comm", process);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, name, sizeof(name) - 1);
		close(fd);
	}
	while (n > 0 && name[n - 1] == '\n')
		n--;
	if (n <= 0)
		n = snprintf(name, sizeof(name), "process %u", process);
	*at = (uintptr_t)arena_z(&k->arena, (struct str){ name, (size_t)n });
	return str_of((const char *)(uintptr_t)*at);
}

static void to_wall(struct keep *k, const struct interval *v)
{
	struct request_body *b = (struct request_body *)v->body;
	uint64_t process = 0;
	struct str node;

	for (size_t i = 0; i < b->nr_spans; i++) {
		b->spans[i].start += k->wall_ns;
		b->spans[i].end += k->wall_ns;
		/* a process is told by the name of its program: what one of several does, all do */
		node = b->spans[i].node;
		b->spans[i].node =
			node_of(k, str_take_uint(&node, &process) && !node.n ? (uint32_t)process
									     : v->process);
	}
}

static void add_works(struct part_of *to, const struct variance_part *p)
{
	for (size_t i = 0; i < p->nr_works && to->nr_works < PART_WORKS; i++)
		to->works[to->nr_works++] =
			(struct part_work){ p->works[i].name, p->works[i].amount };
}

/* What the root span carries besides: the path as it was measured, and whom it is of. */
static void add_attrs(struct keep *k, const struct interval *v, unsigned round,
		      const struct variance_part *parts, size_t nr)
{
	struct span *root = &((struct request_body *)v->body)->spans[0];

	buf_clear(&k->packed);
	for (size_t i = 0; i < nr; i++) {
		struct part_of p = { .parent = parts[i].parent,
				     .name = i ? parts[i].name : STR(""),
				     .ns = parts[i].ns,
				     .nr_calls = parts[i].nr_calls,
				     .site = parts[i].site };

		memcpy(p.wait_ns, parts[i].wait_ns, sizeof(p.wait_ns));
		add_works(&p, &parts[i]);
		parts_add(&k->packed, &p);
	}
	buf_clear(&k->attrs);
	buf_add(&k->attrs, root->attrs);
	/* told as ours, so that nobody takes them for what the program says of itself */
	attr_add(&k->attrs, &(struct attr){ ATTR_LIBRARY, ATTR_INT, PARTS_ROUND, .i = round });
	if (!is_drawn(k, v))
		attr_add(&k->attrs, &(struct attr){ ATTR_LIBRARY, ATTR_INT, PARTS_EXTRA, .i = 1 });
	attr_add(&k->attrs,
		 &(struct attr){ ATTR_LIBRARY, ATTR_BYTES, PARTS_KEY, buf_str(&k->packed) });
	root->attrs = buf_str(&k->attrs);
}

int keep_add(struct keep *k, const struct interval *v, unsigned round,
	     const struct variance_part *parts, size_t nr, struct error *err)
{
	struct request r = { .type = str_of(k->type),
			     .method = STR("intervals"),
			     .start = v->start + k->wall_ns,
			     .end = v->end + k->wall_ns,
			     .confidence = 1 };

	if (!k->store || !v->body)
		return 0;
	to_wall(k, v);
	if (v->body->nr_spans)
		add_attrs(k, v, round, parts, nr);
	k->nr++;
	k->nr_spans += v->body->nr_spans;
	return store_add_request(k->store, &r, v->body, err);
}

int keep_finish(struct keep *k, unsigned round, const struct losses *losses, struct error *err)
{
	char number[16];
	int got;

	if (!k->store)
		return 0;
	keep_wait(k);
	for (int i = 0; i < LOSS_NR; i++)
		store_losses(k->store)->count[i] += losses->count[i];
	snprintf(number, sizeof(number), "%u", round);
	got = store_set_fact(k->store, PARTS_FACT, str_of(number), err);
	return got < 0 ? got : store_finish(k->store, err);
}

struct showing {
	struct keep *k;
	unsigned round;
	const struct losses *losses;
};

static int show_in_child(void *to, void *out, struct error *err)
{
	const struct showing *s = to;
	int got = store_branch(s->k->store, err);

	(void)out;
	s->k->showing = (struct branch){ 0 };
	return got < 0 ? got : keep_finish(s->k, s->round, s->losses, err);
}

int keep_show(struct keep *k, unsigned round, const struct losses *losses, struct error *err)
{
	struct showing s = { k, round, losses };
	int got;

	if (!k->store || !k->nr || k->nr_spans > SPANS_SHOWN || keep_is_busy(k))
		return 0;
	got = store_pause(k->store, err);
	return got < 0 ? got : branch_begin(&k->showing, show_in_child, &s, err);
}
