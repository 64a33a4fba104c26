/*
 * Folded stacks, the input of flame graphs: "node: name;node: name 1234", the self time of a path
 * in microseconds. Self time is what no child covers. Paths are summed over the run; when very many
 * are different, what is there is written and the sums begin anew, which readers add up again.
 */
#include "export/folded.h"

#include <stdlib.h>

#include "base/time.h"
#include "export/export.h"

#define PATH_BYTES_MAX ((uint64_t)64 << 20)
#define DEPTH_MAX 256 /* deeper spans count for the frame at this depth */

void folded_done(struct folded_state *f)
{
	names_done(&f->paths);
	vec_done(&f->self_ns);
	buf_done(&f->path);
}

static void add_frame_text(struct buf *path, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (c == ';')
			c = ':';
		else if ((unsigned char)c < 0x20)
			c = ' ';
		buf_char(path, c);
	}
}

static void add_frame(struct buf *path, const struct span *s)
{
	if (path->n)
		buf_char(path, ';');
	if (s->node.n) {
		add_frame_text(path, s->node);
		buf_add(path, STR(": "));
	}
	add_frame_text(path, s->name.n ? s->name : STR("(no name)"));
}

static int by_parent_and_start(const void *a, const void *b, void *ctx)
{
	const struct span *spans = ctx;
	uint32_t l = *(const uint32_t *)a, r = *(const uint32_t *)b;

	if (spans[l].parent != spans[r].parent)
		return spans[l].parent < spans[r].parent ? -1 : 1;
	if (spans[l].start != spans[r].start)
		return spans[l].start < spans[r].start ? -1 : 1;
	return l < r ? -1 : l > r;
}

/* The time of each span that none of its children covers. */
static int64_t *self_times(const struct fed *x)
{
	const struct span *spans = x->body->spans;
	size_t nr = x->body->nr_spans;
	int64_t *self = arena_array(x->arena, int64_t, nr);
	uint32_t *order = arena_array(x->arena, uint32_t, nr);
	int64_t reached = 0;

	for (size_t i = 0; i < nr; i++) {
		self[i] = spans[i].end - spans[i].start;
		order[i] = (uint32_t)i;
	}
	qsort_r(order, nr, sizeof(*order), by_parent_and_start, x->body->spans);
	for (size_t i = 0; i < nr; i++) {
		const struct span *s = &spans[order[i]], *p;
		int64_t from, to;

		if (s->parent >= nr)
			continue;
		p = &spans[s->parent];
		if (!i || spans[order[i - 1]].parent != s->parent)
			reached = p->start;
		from = s->start > reached ? s->start : reached;
		to = s->end < p->end ? s->end : p->end;
		if (to <= from)
			continue;
		self[s->parent] -= to - from;
		reached = to;
	}
	return self;
}

static void add_time(struct folded_state *f, int64_t ns)
{
	uint32_t before = f->paths.nr;
	sym_t sym;

	sym = names_add(&f->paths, buf_str(&f->path));
	if (f->paths.nr != before)
		f->path_bytes += f->path.n + 64;
	while (f->self_ns.nr <= sym)
		vec_push(&f->self_ns, 0);
	f->self_ns.v[sym] += ns;
}

static void set_path(struct folded_state *f, const struct fed *x, uint32_t position)
{
	uint32_t chain[DEPTH_MAX];
	uint32_t at = position;
	size_t nr = 0, depth = 0;

	for (uint32_t up = position; up < x->body->nr_spans; up = x->body->spans[up].parent)
		depth++;
	for (; depth > DEPTH_MAX; depth--)
		at = x->body->spans[at].parent;
	for (; at < x->body->nr_spans; at = x->body->spans[at].parent)
		chain[nr++] = at;
	buf_clear(&f->path);
	while (nr--)
		add_frame(&f->path, &x->body->spans[chain[nr]]);
}

void folded_request(void *state, const struct fed *x, struct buf *out)
{
	struct folded_state *f = state;
	const int64_t *self = self_times(x);

	for (uint32_t i = 0; i < x->body->nr_spans; i++) {
		if (self[i] <= 0)
			continue;
		set_path(f, x, i);
		add_time(f, self[i]);
	}
	if (f->path_bytes >= PATH_BYTES_MAX)
		folded_end(f, out);
}

static int by_text(const void *a, const void *b, void *ctx)
{
	const struct names *paths = ctx;

	return str_cmp(names_str(paths, *(const sym_t *)a), names_str(paths, *(const sym_t *)b));
}

void folded_end(void *state, struct buf *out)
{
	struct folded_state *f = state;
	sym_t *order = mem_alloc(mem_bytes(f->paths.nr + 1, sizeof(*order)));
	size_t nr = 0;

	for (sym_t sym = 1; sym < f->paths.nr; sym++)
		order[nr++] = sym;
	qsort_r(order, nr, sizeof(*order), by_text, &f->paths);
	for (size_t i = 0; i < nr; i++) {
		int64_t us = (f->self_ns.v[order[i]] + NS_US / 2) / NS_US;

		if (!us)
			continue;
		buf_add(out, names_str(&f->paths, order[i]));
		buf_fmt(out, " %lld\n", (long long)us);
	}
	free(order);
	names_done(&f->paths);
	vec_clear(&f->self_ns);
	f->path_bytes = 0;
}

static int write_folded(struct store *s, FILE *to, struct error *err)
{
	const struct feed feed = { .request = folded_request, .end = folded_end };
	struct folded_state state = { 0 };
	int r = feed_run(s, &feed, &state, to, err);

	folded_done(&state);
	return r;
}

const struct exporter export_folded = {
	.name = "folded",
	.summary = "folded stacks with self time in microseconds, for flame graphs",
	.suffix = ".folded",
	.write = write_folded,
};
