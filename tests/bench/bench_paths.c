/*
 * Reads a message trace, infers its paths with one method and says how long that took; with
 * --instances it prints every request in the form that scores are computed from.
 *
 * usage: bench_paths TRACE [METHOD [--instances]]
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/time.h"
#include "infer/paths/paths.h"
#include "model/attr.h"
#include "source/source.h"
#include "store/store.h"

static int64_t message_of(const struct span *s)
{
	struct attr a;

	return attr_find(s->attrs, STR("message"), &a) ? a.i : 0;
}

static int print_instance(void *ctx, const struct request *r, const struct request_body *b)
{
	(void)ctx;
	printf("{\"instance\":%llu,\"calls\":[", (unsigned long long)r->id);
	for (size_t i = 0; i < b->nr_spans; i++) {
		const struct span *s = &b->spans[i];

		printf("%s{\"message\":%lld,\"parent\":%lld,\"confidence\":%.4f}", i ? "," : "",
		       (long long)message_of(s),
		       s->parent == SPAN_NONE ? 0LL : (long long)message_of(&b->spans[s->parent]),
		       (double)s->confidence);
	}
	puts("]}");
	return 0;
}

static int infer(struct store *s, const char *method, struct error *err)
{
	struct infer_options o = INFER_DEFAULTS;
	struct store_totals t;
	int64_t began = time_tick(), took;
	int r;

	o.method = method;
	r = infer_paths.run(s, &o, err);
	took = time_tick() - began;
	if (r >= 0)
		r = store_totals(s, &t, err);
	if (r >= 0)
		fprintf(stderr, "%llu messages, %llu requests, %.3f s, %.0f messages/s\n",
			(unsigned long long)t.nr_events, (unsigned long long)t.nr_requests,
			(double)took / 1e9, (double)t.nr_events / ((double)took / 1e9));
	return r;
}

int main(int argc, char **argv)
{
	struct source_options so = { 0 };
	struct error err = { 0 };
	struct store *s = NULL;
	struct sink sink;
	int r;

	if (argc < 2) {
		fputs("usage: bench_paths TRACE [METHOD [--instances]]\n", stderr);
		return 2;
	}
	r = store_create(&s, NULL, &err);
	if (r >= 0) {
		sink = store_sink(s);
		r = source_read(argv[1], &so, &sink, &err);
	}
	if (r >= 0)
		r = infer(s, argc > 2 ? argv[2] : NULL, &err);
	if (r >= 0)
		r = store_finish(s, &err);
	if (r >= 0 && argc > 3 && !strcmp(argv[3], "--instances"))
		r = store_each_body(s, NULL, print_instance, NULL, &err);
	if (r < 0)
		fprintf(stderr, "bench_paths: %s\n", err.msg);
	store_close(s);
	return r < 0 ? 2 : 0;
}
