/*
 * What it costs to settle objects again and again while lines come in:
 *
 *      bench_settle DIR...
 *
 * Each directory is what was new in a round; files of the same name go on. For each round: lines,
 * processor time of taking them and of settling, and a hash of the graph. ANEW=1 in the environment
 * keeps nothing from one settling to the next, MB=4000 sets the bound of the memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time.h"
#include "ident/namer.h"
#include "infer/objects/objects.h"
#include "model/event.h"
#include "model/loss.h"
#include "model/mention.h"
#include "model/object.h"
#include "model/sink.h"
#include "source/source.h"
#include "../unit/gathered.h"

struct bench {
	struct objects *objects;
	struct str file;
	uint64_t nr;
};

static void *open_namer(void *ctx)
{
	(void)ctx;
	return namer_new(NULL);
}

static void close_namer(void *ctx, void *namer)
{
	(void)ctx;
	namer_free(namer);
}

static void begin_round(void *namer)
{
	namer_begin(namer);
}

static void name_event(void *namer, struct event *ev, struct str message, struct arena *arena,
		       struct losses *losses)
{
	const struct namer_where at = { ev->node, ev->thread, ev->level };

	ev->mention = namer_line(namer, message, &at, arena, losses);
}

static int take_file(void *to, const struct file_seen *f, uint32_t *number, struct error *err)
{
	struct bench *b = to;
	size_t begin = f->path.n;

	(void)err;
	while (begin && f->path.p[begin - 1] != '/')
		begin--;
	b->file = str_skip(f->path, begin);
	*number = 1;
	return 0;
}

static int take_events(void *to, const struct event *ev, size_t nr, struct error *err)
{
	struct bench *b = to;

	(void)err;
	for (size_t i = 0; i < nr; i++) {
		struct mention m;

		if (!ev[i].mention)
			continue;
		m = *ev[i].mention;
		m.file = b->file;
		m.count = 0;
		m.first_ns = m.last_ns = NS_NONE;
		mention_count(&m, ev[i].ns);
		objects_add(b->objects, &m);
		b->nr++;
	}
	return 0;
}

static int take_spans(void *to, const struct span *spans, size_t nr, struct error *err)
{
	(void)to;
	(void)spans;
	(void)nr;
	(void)err;
	return 0;
}

static int read_round(char **dir, struct bench *b, struct error *err)
{
	const struct namers namers = { b, open_namer, close_namer, begin_round, name_event };
	struct source_options o = { .cores = 1, .zone = "UTC", .namers = &namers };
	struct losses losses = { 0 };
	struct sink sink = { b, take_file, take_events, take_spans, NULL, &losses };
	struct source_list list = { 0 };
	int r = source_expand(dir, 1, &list, err);

	for (size_t i = 0; r >= 0 && i < list.nr; i++)
		r = source_read_listed(&list, i, &o, &sink, err);
	source_list_done(&list);
	return r;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t mixed(uint64_t h, uint64_t with)
{
	h = (h ^ with) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

static uint64_t hash_of(const struct object_graph *g)
{
	uint64_t h = mixed(g->nr_types, g->nr_objects);

	for (size_t i = 0; i < g->nr_relations; i++) {
		const struct object_relation *r = &g->relations[i];

		h = mixed(mixed(h, r->from), r->to);
		h = mixed(mixed(h, r->support), r->exceptions);
		h = mixed(h, r->relation * 8 + r->is_in_graph * 4 + r->is_reduced);
	}
	for (size_t i = 0; i < g->nr_objects; i++) {
		const struct object *o = &g->objects[i];

		h = mixed(mixed(h, o->type), str_hash(o->ids[0]));
		h = mixed(mixed(h, (uint64_t)o->first_ns), (uint64_t)o->last_ns);
		h = mixed(mixed(h, o->nr_events), o->nr_parts);
		for (size_t j = 0; j < o->nr_parents; j++)
			h = mixed(h, o->parents[j]);
	}
	return mixed(h, g->nr_links);
}

int main(int argc, char **argv)
{
	struct objects_options options = { .is_kept = !getenv("ANEW"),
					   .memory_bytes =
						   (size_t)(getenv("MB") ? atol(getenv("MB")) : 512)
						   << 20 };
	struct bench b = { .objects = objects_new(&options) };
	struct error err = { 0 };
	double all = 0;
	int r = 0;

	for (int i = 1; i < argc && r >= 0; i++) {
		struct gathered told = { 0 };
		struct object_sink sink = gathered_sink(&told);
		struct losses losses = { 0 };
		double began = now(), read;

		r = read_round(&argv[i], &b, &err);
		read = now();
		if (r >= 0)
			objects_settle(b.objects, &losses);
		if (r >= 0)
			r = objects_tell(b.objects, &sink, &err);
		all += now() - read;
		printf("%8llu lines  %.3f s taken  %.3f s settled  %016llx\n",
		       (unsigned long long)b.nr, read - began, now() - read,
		       (unsigned long long)hash_of(&told.g));
		fflush(stdout);
		gathered_done(&told);
	}
	if (r < 0)
		fprintf(stderr, "bench_settle: %s\n", err.msg);
	printf("%.3f s to settle in all\n", all);
	objects_free(b.objects);
	return r < 0 ? 2 : 0;
}
