/* Whole programs of damaged classes: analysed to the end, whatever they say of each other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "model/loss.h"
#include "program/callgraph.h"
#include "program/identifiers.h"
#include "program/logpoints.h"
#include "program/order.h"
#include "program/pairs.h"
#include "program/thread_names.h"

enum { CLASSES_MAX = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[64];

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void remove_all(void)
{
	char path[96];

	for (unsigned i = 0; i < CLASSES_MAX; i++) {
		snprintf(path, sizeof(path), "%s/%u.class", dir, i);
		unlink(path);
	}
	rmdir(dir);
}

static void make_dir(void)
{
	strcpy(dir, "/tmp/culprit-fuzz-XXXXXX");
	must(mkdtemp(dir));
	atexit(remove_all);
}

/* Where the next class file begins: its magic number. */
static size_t next_class(const uint8_t *data, size_t size, size_t from)
{
	for (size_t i = from; i + 4 <= size; i++)
		if (!memcmp(data + i, "\xca\xfe\xba\xbe", 4))
			return i;
	return size;
}

static void write_classes(const uint8_t *data, size_t size)
{
	size_t at = next_class(data, size, 0);

	for (unsigned i = 0; i < CLASSES_MAX; i++) {
		size_t end = at < size ? next_class(data, size, at + 4) : size;
		char path[96];
		FILE *f;

		snprintf(path, sizeof(path), "%s/%u.class", dir, i);
		f = fopen(path, "wb");
		must(f && fwrite(data + at, 1, end - at, f) == end - at && !fclose(f));
		at = end;
	}
}

static void analyse(struct program *p, struct losses *losses)
{
	struct log_points points;
	struct callgraph g;
	struct identifiers ids;
	struct orders orders;
	struct pairs pairs;
	struct thread_names names;

	log_points_find(&points, p, losses);
	callgraph_init(&g, p, losses);
	identifiers_find(&ids, &g, &points);
	orders_find(&orders, &g, &points, &ids);
	pairs_find(&pairs, &g, &ids, losses);
	thread_names_find(&names, p);
	vec_each (&points.v, point)
		must(point->method < p->methods.nr && point->text.nr <= VERSIONS_MAX);
	for (uint32_t m = 0; m < p->methods.nr; m++)
		for (uint32_t i = 0; i < orders.of[m].nr; i++)
			for (uint32_t k = 0; k < orders.of[m].nodes[i].nr_next; k++)
				must(orders.of[m].nodes[i].next[k] > i &&
				     orders.of[m].nodes[i].next[k] < orders.of[m].nr);
	vec_each (&pairs.v, pair)
		must(pair->from < p->methods.nr && pair->to < p->methods.nr &&
		     pair->kind < PAIR_KINDS);
	thread_names_done(&names);
	pairs_done(&pairs);
	orders_done(&orders);
	identifiers_done(&ids);
	callgraph_done(&g);
	log_points_done(&points);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *paths[] = { dir };
	struct losses losses = { 0 };
	struct error err = { 0 };
	struct program *p;

	if (!dir[0])
		make_dir();
	write_classes(data, size);
	if (program_load(&p, paths, 1, 1, &losses, &err) < 0) {
		must(err.msg[0]);
		return 0;
	}
	analyse(p, &losses);
	program_free(p);
	return 0;
}
