/*
 * What the model holds survives a way out and in again: each input is read and inferred, exported,
 * read again, and both runs are written down in one canonical text that must be the same.
 */
#include "unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/vec.h"
#include "export/export.h"
#include "infer/inference.h"
#include "infer/named/named.h"
#include "model/attr.h"
#include "model/link.h"
#include "source/formats.h"
#include "source/input.h"
#include "store/store.h"

#define MUST(call) \
	do { \
		struct error err = { 0 }; \
		if ((call) < 0) \
			fail_msg("%s: %s", #call, err.msg); \
	} while (0)

static struct store *run_of(struct str bytes)
{
	static const struct source *const readers[] = { &source_otlp_json, &source_jaeger };
	const struct source_options options = { .cores = 1 };
	const struct infer_options infer = { .max_skew_ns = 0, .idle_ns = 60000000000LL };
	const struct source *reader = NULL;
	struct input *in = NULL;
	struct store *s = NULL;
	struct sink sink;
	bool whole;

	MUST(store_create(&s, NULL, &err));
	MUST(input_of_bytes(&in, "test.json", bytes, &err));
	for (size_t i = 0; i < 2; i++)
		if (readers[i]->sniff(input_head(in, &whole), true) > 50 && !reader)
			reader = readers[i];
	assert_non_null(reader);
	sink = store_sink(s);
	MUST(reader->read(in, &options, &sink, &err));
	MUST(infer_named.run(s, &infer, &err));
	MUST(store_finish(s, &err));
	input_close(in);
	return s;
}

static int line_cmp(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Adds lines to out in order of their text. */
static void add_sorted(struct buf *out, struct buf *lines)
{
	VEC(struct str) v = { 0 };
	struct str rest = buf_str(lines), line;

	while (str_take_until(&rest, '\n', &line))
		vec_push(&v, line);
	if (v.nr)
		qsort(v.v, v.nr, sizeof(*v.v), line_cmp);
	vec_each (&v, l) {
		buf_add(out, *l);
		buf_char(out, '\n');
	}
	vec_done(&v);
	buf_clear(lines);
}

/* Line ends would break the sorting. */
static void add_flat(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		buf_char(out, s.p[i] == '\n' ? ' ' : s.p[i]);
}

/* Exporters say these where the source said them otherwise; the fields are compared anyhow. */
static bool is_said_twice(struct str key)
{
	return str_eq(key, STR("service.name")) || str_eq(key, STR("host.name")) ||
	       str_eq(key, STR("thread.name"));
}

static void add_attrs(struct buf *out, struct str packed, const char *indent, bool own_only)
{
	struct buf lines = { 0 };
	struct attr a;

	while (attr_take(&packed, &a)) {
		if (is_said_twice(a.key) || (own_only && a.scope != ATTR_SPAN))
			continue;
		buf_fmt(&lines, "%s%d %d ", indent, a.scope, a.type);
		add_flat(&lines, a.key);
		buf_char(&lines, '=');
		if (a.type == ATTR_DOUBLE)
			buf_fmt(&lines, "%.17g", a.d);
		else if (a.type == ATTR_STRING || a.type == ATTR_JSON)
			add_flat(&lines, a.text);
		else
			attr_text(&lines, &a);
		buf_char(&lines, '\n');
	}
	add_sorted(out, &lines);
	buf_done(&lines);
}

static void add_span(struct buf *out, const struct request_body *b, size_t i)
{
	const struct span *s = &b->spans[i];
	struct str links = s->links;
	struct link l;

	buf_fmt(out, "span %.*s/%.*s parent %.*s kind %d status %d follows %d %lld..%lld\n",
		STR_ARG(s->key), STR_ARG(s->id), STR_ARG(s->parent_id), s->kind, s->status,
		s->follows, (long long)s->start, (long long)s->end);
	buf_fmt(out, " name '");
	add_flat(out, s->name);
	buf_fmt(out, "' node '%.*s' host '%.*s' thread '%.*s'\n", STR_ARG(s->node),
		STR_ARG(s->host), STR_ARG(s->thread));
	add_attrs(out, s->attrs, "  ", false);
	while (link_take(&links, &l)) {
		buf_fmt(out, "  link %d %.*s/%.*s\n", l.kind, STR_ARG(l.trace), STR_ARG(l.span));
		add_attrs(out, l.attrs, "   ", false);
	}
}

struct dump {
	struct store *s;
	struct buf out;
	const char *label;
};

static int add_event(void *ctx, uint64_t number, const struct event *ev)
{
	struct buf *out = ctx;

	(void)number;
	buf_fmt(out, "  event %lld level %d '", (long long)ev->ns, ev->level);
	add_flat(out, ev->text);
	buf_fmt(out, "' on '%.*s'\n", STR_ARG(ev->node));
	add_attrs(out, ev->attrs, "   ", true);
	return 0;
}

struct span_text {
	struct str id;
	struct buf text;
};

static int span_cmp(const void *a, const void *b)
{
	const struct span_text *l = a, *r = b;
	int c = str_cmp(l->id, r->id);

	return c ? c : str_cmp(buf_str(&l->text), buf_str(&r->text));
}

static int add_request(void *ctx, const struct request *r, const struct request_body *b)
{
	struct span_text *v = calloc(b->nr_spans + 1, sizeof(*v));
	struct dump *d = ctx;

	for (size_t i = 0; i < b->nr_spans; i++) {
		v[i].id = b->spans[i].id;
		add_span(&v[i].text, b, i);
	}
	for (size_t i = 0; i < b->nr_events; i++) {
		size_t in = b->event_span[i] < b->nr_spans ? b->event_span[i] : 0;

		MUST(store_each_event(d->s, b->events[i], 1, add_event, &v[in].text, &err));
	}
	qsort(v, b->nr_spans, sizeof(*v), span_cmp);
	buf_fmt(&d->out, "request %.*s type '%.*s' %lld..%lld events %zu\n", STR_ARG(r->key),
		STR_ARG(r->type), (long long)r->start, (long long)r->end, b->nr_events);
	for (size_t i = 0; i < b->nr_spans; i++) {
		buf_add(&d->out, buf_str(&v[i].text));
		buf_done(&v[i].text);
	}
	free(v);
	return 0;
}

/* Requests in order of id, which is that of their start. */
static int add_by_id(void *ctx, const struct request *r)
{
	struct dump *d = ctx;
	struct request_body body;
	struct arena arena = { 0 };
	struct request again;

	MUST(store_request(d->s, r->id, &arena, &again, &body, &err));
	add_request(d, &again, &body);
	arena_done(&arena);
	return 0;
}

static struct buf dump_of(struct store *s)
{
	struct request_filter all = { 0 };
	struct dump d = { .s = s };

	MUST(store_each_request(s, &all, add_by_id, &d, &err));
	return d.out;
}

static struct buf exported(struct store *s, const struct exporter *e)
{
	struct buf out = { 0 };
	char *p = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&p, &n);

	assert_non_null(f);
	MUST(e->write(s, f, &err));
	fclose(f);
	buf_add(&out, (struct str){ p, n });
	free(p);
	return out;
}

static void assert_same_dump(struct str want, struct str got, const char *what)
{
	struct str a, b;

	for (int line = 1; want.n || got.n; line++) {
		if (!str_take_line(&want, &a))
			a = STR("(nothing)");
		if (!str_take_line(&got, &b))
			b = STR("(nothing)");
		if (!str_eq(a, b))
			fail_msg("%s, line %d:\n  was '%.*s'\n  now '%.*s'", what, line, STR_ARG(a),
				 STR_ARG(b));
	}
}

static void assert_survives(struct str input, const char *what)
{
	const struct exporter *const ways[] = { &export_otlp, &export_jaeger, &export_otlp };
	struct store *s = run_of(input);
	struct buf want = dump_of(s);

	/* out and in, three times over: OTLP, then Jaeger of that, then OTLP again */
	for (size_t i = 0; i < 3 && want.n; i++) {
		struct buf file = exported(s, ways[i]), got;
		char label[256];

		store_close(s);
		s = run_of(buf_str(&file));
		got = dump_of(s);
		snprintf(label, sizeof(label), "%s by %s (way %zu)", what, ways[i]->name, i + 1);
		assert_same_dump(buf_str(&want), buf_str(&got), label);
		buf_done(&file);
		buf_done(&got);
	}
	store_close(s);
	buf_done(&want);
}

static void jaeger_survives(void **state)
{
	(void)state;
	assert_survives(
		STR("{\"data\":[{\"traceID\":\"5af7183fb1d4cf5f\",\"spans\":["
		    "{\"traceID\":\"5af7183fb1d4cf5f\",\"spanID\":\"a\",\"operationName\":\"GET "
		    "/\",\"references\":[],\"startTime\":1544712660300000,\"duration\":2500,"
		    "\"tags\":[{\"key\":\"span.kind\",\"type\":\"string\",\"value\":\"server\"},"
		    "{\"key\":\"i\",\"type\":\"int64\",\"value\":-9007199254740993},"
		    "{\"key\":\"f\",\"type\":\"float64\",\"value\":2},"
		    "{\"key\":\"b\",\"type\":\"bool\",\"value\":false},"
		    "{\"key\":\"raw\",\"type\":\"binary\",\"value\":\"AAECAw==\"},"
		    "{\"key\":\"s\",\"type\":\"string\",\"value\":\"[1] \\u00e9 \\\"x\\\"\"},"
		    "{\"key\":\"error\",\"type\":\"bool\",\"value\":true}],"
		    "\"logs\":[{\"timestamp\":1544712660300100,\"fields\":[{\"key\":\"event\","
		    "\"type\":\"string\",\"value\":\"retry\"},{\"key\":\"n\",\"type\":\"int64\","
		    "\"value\":3}]},{\"timestamp\":1544712660300200,\"fields\":[{\"key\":"
		    "\"message\",\"type\":\"string\",\"value\":\"slow\"},{\"key\":\"level\","
		    "\"type\":"
		    "\"string\",\"value\":\"warn\"}]}],\"processID\":\"p1\",\"warnings\":[\"skew\"]"
		    "},"
		    "{\"traceID\":\"5af7183fb1d4cf5f\",\"spanID\":\"b\",\"operationName\":"
		    "\"later\","
		    "\"references\":[{\"refType\":\"FOLLOWS_FROM\",\"traceID\":"
		    "\"5af7183fb1d4cf5f\","
		    "\"spanID\":\"a\"},{\"refType\":\"CHILD_OF\",\"traceID\":\"77\",\"spanID\":"
		    "\"zz\"}],\"startTime\":1544712660301000,\"duration\":100,\"tags\":[],"
		    "\"logs\":[],\"processID\":\"p2\"},"
		    "{\"traceID\":\"5af7183fb1d4cf5f\",\"spanID\":\"c\",\"operationName\":"
		    "\"orphan\","
		    "\"references\":[{\"refType\":\"CHILD_OF\",\"traceID\":\"5af7183fb1d4cf5f\","
		    "\"spanID\":\"gone\"}],\"startTime\":1544712660301500,\"duration\":10,"
		    "\"tags\":[{\"key\":\"thread.id\",\"type\":\"int64\",\"value\":7}],"
		    "\"processID\":\"p2\"}],"
		    "\"processes\":{\"p1\":{\"serviceName\":\"front\",\"tags\":[{\"key\":"
		    "\"hostname\","
		    "\"type\":\"string\",\"value\":\"h1\"}]},\"p2\":{\"serviceName\":\"back\","
		    "\"tags\":[{\"key\":\"ip\",\"type\":\"string\",\"value\":\"10.0.0.2\"}]}}}]}"),
		"jaeger");
}

static void otlp_survives(void **state)
{
	(void)state;
	assert_survives(
		STR("{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\","
		    "\"value\":{\"stringValue\":\"shop\"}},{\"key\":\"host.name\",\"value\":"
		    "{\"stringValue\":\"h9\"}},{\"key\":\"cpus\",\"value\":{\"intValue\":\"8\"}}]},"
		    "\"scopeSpans\":[{\"scope\":{\"name\":\"lib\",\"version\":\"1.2\","
		    "\"attributes\":[{\"key\":\"scope.x\",\"value\":{\"boolValue\":true}}]},"
		    "\"spans\":[{\"traceId\":\"5B8EFFF798038103D269B633813FC60C\",\"spanId\":"
		    "\"EEE19B7EC3C1B174\",\"name\":\"buy\",\"kind\":2,"
		    "\"startTimeUnixNano\":\"1544712660300000123\","
		    "\"endTimeUnixNano\":\"1544712660300900457\",\"traceState\":\"a=1\","
		    "\"flags\":257,\"droppedAttributesCount\":4,\"attributes\":["
		    "{\"key\":\"list\",\"value\":{\"arrayValue\":{\"values\":[{\"intValue\":\"1\"},"
		    "{\"stringValue\":\"two\"},{\"doubleValue\":2.5},{\"boolValue\":false},"
		    "{\"arrayValue\":{\"values\":[]}}]}}},"
		    "{\"key\":\"map\",\"value\":{\"kvlistValue\":{\"values\":[{\"key\":\"k\","
		    "\"value\":{\"stringValue\":\"v\"}}]}}},"
		    "{\"key\":\"bytes\",\"value\":{\"bytesValue\":\"/wAB\"}},"
		    "{\"key\":\"whole\",\"value\":{\"doubleValue\":3}},"
		    "{\"key\":\"tiny\",\"value\":{\"doubleValue\":1e-300}},"
		    "{\"key\":\"big\",\"value\":{\"intValue\":\"9223372036854775807\"}},"
		    "{\"key\":\"looks like json\",\"value\":{\"stringValue\":\"{\\\"a\\\":1}\"}},"
		    "{\"key\":\"empty\",\"value\":{\"stringValue\":\"\"}},"
		    "{\"key\":\"thread.name\",\"value\":{\"stringValue\":\"main\"}}],"
		    "\"events\":[{\"timeUnixNano\":\"1544712660300000777\",\"name\":\"exception\","
		    "\"attributes\":[{\"key\":\"exception.type\",\"value\":{\"stringValue\":"
		    "\"E\"}},{\"key\":\"tags\",\"value\":{\"arrayValue\":{\"values\":["
		    "{\"stringValue\":\"x\"}]}}}]}],"
		    "\"links\":[{\"traceId\":\"00000000000000000000000000000abc\",\"spanId\":"
		    "\"00000000000000ff\",\"attributes\":[{\"key\":\"why\",\"value\":{"
		    "\"stringValue\":"
		    "\"batch\"}}]},{\"traceId\":\"5b8efff798038103d269b633813fc60c\",\"spanId\":"
		    "\"eee19b7ec3c1b175\"}],\"status\":{\"code\":2,\"message\":\"no stock\"}},"
		    "{\"traceId\":\"5b8efff798038103d269b633813fc60c\",\"spanId\":"
		    "\"eee19b7ec3c1b175\",\"parentSpanId\":\"eee19b7ec3c1b174\",\"name\":\"pay\","
		    "\"kind\":3,\"startTimeUnixNano\":\"1544712660300000500\","
		    "\"endTimeUnixNano\":\"1544712660300000900\",\"status\":{\"code\":1}}]}]}]}"),
		"otlp");
}

/* Inference calls the nodes "db@h1" and "db@h2"; tools that read the export know the service. */
static void replicas_keep_the_name_of_their_service(void **state)
{
	struct str input =
		STR("{\"data\":[{\"traceID\":\"1\",\"spans\":[{\"traceID\":\"1\",\"spanID\":\"a\","
		    "\"operationName\":\"q\",\"startTime\":1544712660300000,\"duration\":9,"
		    "\"logs\":[{\"timestamp\":1544712660300001,\"fields\":[{\"key\":\"event\","
		    "\"type\":\"string\",\"value\":\"x\"}]}],\"processID\":\"p1\"},{\"traceID\":"
		    "\"1\",\"spanID\":\"b\",\"operationName\":\"q\",\"startTime\":"
		    "1544712660300001,\"duration\":5,\"processID\":\"p2\"}],\"processes\":{\"p1\":"
		    "{\"serviceName\":\"db\",\"tags\":[{\"key\":\"hostname\",\"type\":\"string\","
		    "\"value\":\"h1\"}]},\"p2\":{\"serviceName\":\"db\",\"tags\":[{\"key\":"
		    "\"hostname\",\"type\":\"string\",\"value\":\"h2\"}]}}}]}");
	struct store *s = run_of(input);
	struct buf otlp = exported(s, &export_otlp), jaeger = exported(s, &export_jaeger);

	(void)state;
	assert_true(str_find(buf_str(&otlp), STR("{\"stringValue\":\"db\"}")) < otlp.n);
	assert_true(str_find(buf_str(&jaeger), STR("\"serviceName\":\"db\"")) < jaeger.n);
	assert_int_equal(str_find(buf_str(&jaeger), STR("db@")), jaeger.n);
	assert_survives(input, "replicas");
	store_close(s);
	buf_done(&otlp);
	buf_done(&jaeger);
}

static const char *data_folder(char *path, size_t n, const char *name)
{
	const char *root = getenv("CULPRIT_DATA");

	snprintf(path, n, "%s/%s", root ? root : "../../shared/data", name);
	return path;
}

static void each_file(const char *folder)
{
	char path[4096], file[8192];
	struct dirent **names;
	int nr = scandir(data_folder(path, sizeof(path), folder), &names, NULL, alphasort);

	if (nr < 0) {
		print_message("skipped: no folder '%s' (set CULPRIT_DATA)\n", path);
		skip();
	}
	for (int i = 0; i < nr; i++) {
		struct str name = str_of(names[i]->d_name);
		struct buf bytes = { 0 };
		FILE *f;

		snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
		f = str_ends(name, STR(".json")) || str_ends(name, STR(".jsonl")) ? fopen(file, "r")
										  : NULL;
		if (f) {
			size_t n;

			while ((n = fread(buf_room(&bytes, 65536), 1, 65536, f)) > 0)
				bytes.n += n;
			fclose(f);
			if ((str_find(buf_str(&bytes), STR("resourceSpans")) < bytes.n ||
			     source_jaeger.sniff(buf_str(&bytes), true) > 50) &&
			    bytes.n < (4U << 20))
				assert_survives(buf_str(&bytes), names[i]->d_name);
		}
		buf_done(&bytes);
		free(names[i]);
	}
	free(names);
}

static void files_of_jaeger_survive(void **state)
{
	(void)state;
	each_file("jaeger");
}

static void files_of_otlp_survive(void **state)
{
	(void)state;
	each_file("otlp");
}

static void files_of_critical_paths_survive(void **state)
{
	(void)state;
	each_file("critical-path");
	each_file("critical-path/crisp");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jaeger_survives),
		cmocka_unit_test(otlp_survives),
		cmocka_unit_test(replicas_keep_the_name_of_their_service),
		cmocka_unit_test(files_of_jaeger_survive),
		cmocka_unit_test(files_of_otlp_survive),
		cmocka_unit_test(files_of_critical_paths_survive),
	};

	return RUN(tests);
}
