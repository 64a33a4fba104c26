/* Calls that do not simply stand within each other: passed on, answered early, half seen. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/vec.h"
#include "infer/paths/paths.h"
#include "model/attr.h"
#include "model/loss.h"
#include "store/store.h"

#define MS 1000000LL
#define CALL MESSAGE_CALL
#define RET MESSAGE_RETURN
#define SENT MESSAGE_SENT

/* What became of the call that a message made; parent -1: not seen, 0: a root. */
struct found {
	int64_t parent, start, end;
	float confidence;
	bool follows, half;
	bool has_others; /* other parents were possible */
};

struct trace {
	VEC(struct event) events;
	VEC(char *) texts;
	struct found *found; /* by position of the message, from 1 */
	unsigned nr_requests, nr_incomplete;
	char type[64]; /* of the last request */
	struct losses losses;
};

static struct str keep(struct trace *t, const char *text)
{
	vec_push(&t->texts, strdup(text));
	return str_of(t->texts.v[t->texts.nr - 1]);
}

/* Answers the position of the message. */
static int64_t say(struct trace *t, int64_t ns, enum message_op op, const char *from,
		   const char *to, const char *id)
{
	vec_push(&t->events, (struct event){ .ns = ns,
					     .kind = EVENT_MESSAGE,
					     .op = op,
					     .nr_lines = 1,
					     .duration = -1,
					     .node = keep(t, from),
					     .peer = keep(t, to),
					     .id = keep(t, id) });
	return (int64_t)t->events.nr;
}

static int take_request(void *ctx, const struct request *r, const struct request_body *b)
{
	struct trace *t = ctx;

	t->nr_requests++;
	t->nr_incomplete += r->incomplete;
	snprintf(t->type, sizeof(t->type), STR_FMT, STR_ARG(r->type));
	for (size_t i = 0; i < b->nr_spans; i++) {
		const struct span *s = &b->spans[i];
		struct attr a, up, other;

		assert_true(attr_find(s->attrs, STR("message"), &a));
		assert_true(a.i > 0 && (size_t)a.i <= t->events.nr);
		assert_int_equal(t->found[a.i].parent, -1);
		assert_true(s->start <= s->end);
		up.i = 0;
		if (s->parent != SPAN_NONE)
			assert_true(attr_find(b->spans[s->parent].attrs, STR("message"), &up));
		t->found[a.i] = (struct found){
			.parent = up.i,
			.start = s->start,
			.end = s->end,
			.confidence = s->confidence,
			.follows = s->follows,
			.half = attr_find(s->attrs, STR("not_seen"), &other),
			.has_others = attr_find(s->attrs, STR("alternatives"), &other),
		};
	}
	return 0;
}

static void infer_by(struct trace *t, const char *method)
{
	struct infer_options o = INFER_DEFAULTS;
	struct error err = { 0 };
	struct store *s;
	struct sink sink;
	uint32_t file;

	o.method = method;
	assert_int_equal(store_create(&s, NULL, &err), 0);
	sink = store_sink(s);
	assert_int_equal(sink.file(sink.to, &(struct file_seen){ .path = STR("t") }, &file, &err),
			 0);
	vec_each (&t->events, e)
		e->file = file;
	assert_int_equal(sink.events(sink.to, t->events.v, t->events.nr, &err), 0);
	t->found = calloc(t->events.nr + 1, sizeof(*t->found));
	for (size_t i = 0; i <= t->events.nr; i++)
		t->found[i].parent = -1;
	assert_int_equal(infer_paths.run(s, &o, &err), 0);
	assert_int_equal(store_finish(s, &err), 0);
	assert_int_equal(store_each_body(s, NULL, take_request, t, &err), 0);
	t->losses = *store_losses(s);
	store_close(s);
}

static void done(struct trace *t)
{
	vec_each (&t->texts, text)
		free(*text);
	vec_done(&t->texts);
	vec_done(&t->events);
	free(t->found);
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static void sort(struct trace *t)
{
	qsort(t->events.v, t->events.nr, sizeof(*t->events.v), by_time);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 40;
}

/* --- passed on -------------------------------------------------------------------------------- */

static void an_answer_by_another_ends_the_chain(void **state)
{
	struct trace t = { 0 };
	int64_t first, second, third;

	(void)state;
	first = say(&t, 10, CALL, "a", "b", "1");
	second = say(&t, 20, CALL, "b", "c", "7");
	third = say(&t, 30, SENT, "c", "d", "-");
	say(&t, 50, RET, "d", "a", "1");
	infer_by(&t, NULL);
	/* the hop b -> c has another id, and nothing tells that b ever passes on but this */
	assert_int_equal(t.nr_requests, 1);
	assert_int_equal(t.nr_incomplete, 0);
	assert_int_equal(t.found[first].parent, 0);
	assert_int_equal(t.found[first].end, 50);
	assert_int_equal(t.found[second].parent, first);
	assert_int_equal(t.found[second].end, 50);
	assert_int_equal(t.found[third].parent, second);
	assert_int_equal(t.found[third].start, 30);
	assert_int_equal(t.losses.count[LOSS_RETURNS_OPEN], 0);
	assert_int_equal(t.losses.count[LOSS_CALLS_OPEN], 0);
	done(&t);
}

/* Every second call is passed on, several are under way, nothing has an id. */
static void work_is_passed_on_without_ids(void **state)
{
	struct trace t = { 0 };
	unsigned right = 0, nr = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		int64_t at = i * 10 * MS + i % 3 * MS;

		say(&t, at, CALL, "a", "b", "");
		say(&t, at + 4 * MS, CALL, "b", "c", "");
		say(&t, at + 25 * MS, RET, "c", "a", "");
	}
	sort(&t);
	infer_by(&t, NULL);
	for (size_t i = 0; i < t.events.nr; i++) {
		const struct found *f = &t.found[i + 1];

		if (t.events.v[i].op != CALL || str_eq(t.events.v[i].node, STR("a")))
			continue;
		nr++;
		right += f->parent > 0 && t.events.v[f->parent - 1].ns == t.events.v[i].ns - 4 * MS;
	}
	assert_int_equal(nr, 200);
	assert_true(right >= 196);
	assert_true(t.nr_requests >= 196 && t.nr_requests <= 204);
	done(&t);
}

/* a calls b and c, both answer; now and then a message is lost. Nobody passes anything on. */
static void losses_are_not_taken_for_passing_on(void **state)
{
	struct trace t = { 0 };

	(void)state;
	for (int i = 0; i < 300; i++) {
		int64_t at = i * 10 * MS;

		say(&t, at, CALL, "a", "b", "");
		say(&t, at + 1 * MS, CALL, "b", "c", "");
		if (i % 50 != 47)
			say(&t, at + 2 * MS, RET, "c", "b", "");
		if (i % 50 != 47)
			say(&t, at + 3 * MS, RET, "b", "a", "");
		if (i % 50 != 47)
			say(&t, at + 4 * MS, CALL, "a", "c", "");
		say(&t, at + 6 * MS, RET, "c", "a", "");
	}
	infer_by(&t, NULL);
	for (size_t i = 0; i < t.events.nr; i++) {
		int64_t took = t.found[i + 1].end - t.found[i + 1].start;

		if (t.events.v[i].op == CALL && str_eq(t.events.v[i].node, STR("b")) &&
		    t.found[i + 1].parent > 0)
			assert_true(took <= 3 * MS);
	}
	assert_int_equal(t.losses.count[LOSS_RETURNS_OPEN], 6);
	assert_int_equal(t.losses.count[LOSS_CALLS_OPEN], 12);
	done(&t);
}

/* --- after the reply -------------------------------------------------------------------------- */

/* b answers after 2 ms, calls c about 5 ms later, and d when that has returned. */
static void late_work(struct trace *t, int nr, int64_t apart)
{
	uint64_t seed = 3;

	for (int i = 0; i < nr; i++) {
		int64_t at = i * apart + (int64_t)(next_random(&seed) % (uint64_t)(apart / 2)),
			late;
		char name[16];

		snprintf(name, sizeof(name), "%d", i);
		say(t, at, CALL, "a", "b", name);
		say(t, at + 2 * MS, RET, "b", "a", name);
		late = at + 7 * MS + (int64_t)(next_random(&seed) % MS);
		say(t, late, CALL, "b", "c", name);
		say(t, late + 3 * MS, RET, "c", "b", name);
		late += 4 * MS;
		say(t, late, CALL, "b", "d", name);
		say(t, late + MS, RET, "d", "b", name);
	}
	sort(t);
}

static double share_late_right(const struct trace *t)
{
	unsigned right = 0, nr = 0;

	for (size_t i = 0; i < t->events.nr; i++) {
		const struct event *e = &t->events.v[i];
		int64_t up = t->found[i + 1].parent;

		if (e->op != CALL || str_eq(e->node, STR("a")))
			continue;
		nr++;
		right += up > 0 && str_eq(t->events.v[up - 1].id, e->id);
	}
	return (double)right / nr;
}

static void work_after_the_reply_finds_its_request(void **state)
{
	struct trace t = { 0 };

	(void)state;
	late_work(&t, 100, 40 * MS);
	infer_by(&t, NULL);
	assert_int_equal(t.nr_requests, 100);
	assert_true(share_late_right(&t) > 0.99);
	for (size_t i = 0; i < t.events.nr; i++)
		if (t.found[i + 1].parent > 0)
			assert_true(t.found[i + 1].follows);
	done(&t);
}

/* The next request is served before the work of the last one begins, as often as not. */
static void work_after_the_reply_is_not_given_to_who_is_served_then(void **state)
{
	struct trace t = { 0 };

	(void)state;
	late_work(&t, 400, 6 * MS);
	infer_by(&t, NULL);
	assert_true(share_late_right(&t) > 0.7);
	done(&t);
}

static void calls_that_follow_nothing_stay_roots(void **state)
{
	struct trace t = { 0 };
	uint64_t seed = 11;
	unsigned nr_roots = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		int64_t at = (int64_t)(next_random(&seed) % 10000) * MS;
		char name[16];

		snprintf(name, sizeof(name), "r%d", i);
		say(&t, at, CALL, "a", "b", name);
		say(&t, at + 2 * MS, RET, "b", "a", name);
		at = (int64_t)(next_random(&seed) % 10000) * MS + MS / 2;
		snprintf(name, sizeof(name), "t%d", i);
		say(&t, at, CALL, "b", "c", name);
		say(&t, at + 1 * MS, RET, "c", "b", name);
	}
	sort(&t);
	infer_by(&t, NULL);
	for (size_t i = 0; i < t.events.nr; i++)
		nr_roots += t.events.v[i].op == CALL && str_eq(t.events.v[i].node, STR("b")) &&
			    t.found[i + 1].parent == 0;
	assert_true(nr_roots > 150);
	done(&t);
}

/* --- half seen -------------------------------------------------------------------------------- */

static void an_open_call_ends_with_what_it_caused(void **state)
{
	struct trace t = { 0 };
	int64_t root, kid, open;

	(void)state;
	for (int i = 0; i < 30; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%d", i);
		say(&t, i * 100 * MS, CALL, "a", "b", name);
		say(&t, i * 100 * MS + MS, CALL, "b", "c", name);
		say(&t, i * 100 * MS + 5 * MS, RET, "c", "b", name);
		say(&t, i * 100 * MS + 9 * MS, RET, "b", "a", name);
	}
	root = say(&t, 5000 * MS, CALL, "a", "b", "x"); /* its return is lost */
	kid = say(&t, 5001 * MS, CALL, "b", "c", "x");
	say(&t, 5005 * MS, RET, "c", "b", "x");
	say(&t, 6000 * MS, CALL, "a", "b", "y");
	open = say(&t, 6001 * MS, CALL, "b", "c", "y"); /* likewise */
	say(&t, 6009 * MS, RET, "b", "a", "y");
	say(&t, 7000 * MS, CALL, "a", "b", "z"); /* nothing else is known of it */
	infer_by(&t, NULL);
	assert_int_equal(t.nr_requests, 32);
	assert_int_equal(t.nr_incomplete, 1);
	assert_int_equal(t.found[kid].parent, root);
	assert_int_equal(t.found[root].end, 5005 * MS);
	assert_true(t.found[root].half);
	assert_int_equal(t.found[open].parent, open - 1);
	assert_true(t.found[open].half);
	assert_true(t.found[open].end > 6001 * MS && t.found[open].end <= 6009 * MS);
	assert_int_equal(t.losses.count[LOSS_CALLS_OPEN], 3);
	done(&t);
}

static void a_return_without_its_call_still_holds_what_was_called(void **state)
{
	struct trace t = { 0 };
	int64_t kid, ret;

	(void)state;
	kid = say(&t, 2 * MS, CALL, "b", "c", "x"); /* the capture began within a call */
	say(&t, 3 * MS, RET, "c", "b", "x");
	ret = say(&t, 8 * MS, RET, "b", "a", "w");
	for (int i = 1; i < 30; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%d", i);
		say(&t, i * 100 * MS, CALL, "a", "b", name);
		say(&t, i * 100 * MS + MS, CALL, "b", "c", name);
		say(&t, i * 100 * MS + 5 * MS, RET, "c", "b", name);
		say(&t, i * 100 * MS + 9 * MS, RET, "b", "a", name);
	}
	infer_by(&t, NULL);
	assert_int_equal(t.nr_requests, 30);
	assert_int_equal(t.nr_incomplete, 1);
	assert_int_equal(t.found[kid].parent, ret);
	assert_int_equal(t.found[ret].start, 2 * MS);
	assert_int_equal(t.found[ret].end, 8 * MS);
	assert_int_equal(t.losses.count[LOSS_RETURNS_OPEN], 1);
	done(&t);
}

/* Without ids, one lost return must not shift all that follow; nor a lost call. */
static void pairs_find_back_after_a_loss(void **state)
{
	struct trace t = { 0 };
	unsigned right = 0;
	uint64_t seed = 5;

	(void)state;
	for (int i = 0; i < 400; i++) {
		int64_t at = i * 10 * MS + (int64_t)(next_random(&seed) % (5 * MS)),
			takes = 2 * MS + (int64_t)(next_random(&seed) % (3 * MS));

		if (i != 200)
			say(&t, at, CALL, "a", "b", "");
		if (i != 10 && i != 13 && i != 150)
			say(&t, at + takes, RET, "b", "a", "");
	}
	infer_by(&t, NULL);
	/* at first nothing is known of what is usual, and two returns are lost */
	for (size_t i = 0; i + 1 < t.events.nr; i++)
		right += t.events.v[i].op == CALL && t.events.v[i].ns >= 2500 * MS &&
			 t.found[i + 1].end == t.events.v[i + 1].ns;
	assert_true(right >= 149);
	done(&t);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static void a_host_with_one_service_is_that_service(void **state)
{
	struct trace t = { 0 };
	int64_t first, second, third;

	(void)state;
	first = say(&t, 10, CALL, "10.0.0.1", "10.0.0.2:80", "1");
	second = say(&t, 20, CALL, "10.0.0.2", "[fe80::3]:5432", "2");
	third = say(&t, 22, CALL, "fe80::3", "10.0.0.4:11211", "3");
	say(&t, 25, RET, "10.0.0.4:11211", "fe80::3", "3");
	say(&t, 30, RET, "[fe80::3]:5432", "10.0.0.2", "2");
	say(&t, 40, RET, "10.0.0.2:80", "10.0.0.1", "1");
	infer_by(&t, NULL);
	assert_int_equal(t.nr_requests, 1);
	assert_int_equal(t.found[first].parent, 0);
	assert_int_equal(t.found[second].parent, first);
	assert_int_equal(t.found[third].parent, second);
	assert_int_equal(t.losses.count[LOSS_CALLERS_GUESSED], 0);
	done(&t);
}

/* Everything runs on one machine: a client, a web server, an application, a store. */
static void among_several_services_the_one_that_was_asked_calls(void **state)
{
	static const char *const web = "127.0.0.1:80", *const app = "127.0.0.1:8080",
				 *const db = "127.0.0.1:6379", *const host = "127.0.0.1";
	struct trace t = { 0 };
	unsigned right = 0;

	(void)state;
	for (int i = 0; i < 60; i++) {
		int64_t at = i * 37 * MS + i % 7 * MS;
		char name[16];

		snprintf(name, sizeof(name), "%d", i);
		say(&t, at, CALL, host, web, name);
		say(&t, at + 1 * MS, CALL, host, app, name);
		say(&t, at + 3 * MS, CALL, host, db, name);
		say(&t, at + 4 * MS, RET, db, host, name);
		say(&t, at + 9 * MS, RET, app, host, name);
		say(&t, at + 12 * MS, RET, web, host, name);
	}
	infer_by(&t, NULL);
	assert_int_equal(t.nr_requests, 60);
	for (int64_t i = 1; i <= 360; i += 6)
		right += t.found[i].parent == 0 && t.found[i + 1].parent == i &&
			 t.found[i + 2].parent == i + 1;
	assert_int_equal(right, 60);
	assert_int_equal(t.losses.count[LOSS_CALLERS_GUESSED], 2);
	done(&t);
}

static void what_is_asked_for_names_the_type(void **state)
{
	struct trace t = { 0 };

	(void)state;
	say(&t, 10, CALL, "a", "b", "1");
	say(&t, 20, RET, "b", "a", "1");
	t.events.v[0].title = STR("GET /cart");
	infer_by(&t, NULL);
	assert_string_equal(t.type, "b: GET /cart");
	done(&t);
}

static void messages_to_oneself_and_times_that_go_back_do_no_harm(void **state)
{
	static const char *const names[] = { "a", "b", "c" };
	static const enum message_op ops[] = { CALL, RET, SENT };
	struct trace t = { 0 };
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		uint64_t r = next_random(&seed);

		say(&t, (int64_t)(i + r % 50) * (r & 64 ? 1 : MS), ops[r / 7 % 3],
		    names[r / 31 % 3], names[r / 101 % 3],
		    r & 128   ? ""
		    : r & 256 ? "1"
			      : "2");
	}
	infer_by(&t, NULL);
	assert_true(t.nr_requests > 0);
	done(&t);
}

/* Two requests at a time, whose calls come at any moment of them. */
static void who_is_in_doubt_has_alternatives(void **state)
{
	struct trace t = { 0 };
	uint64_t seed = 9;
	unsigned nr_unsure = 0;

	(void)state;
	for (int i = 0; i < 60; i++) {
		int64_t at = i * 10 * MS,
			kid = at + 3 * MS + (int64_t)(next_random(&seed) % (12 * MS));
		char name[16];

		snprintf(name, sizeof(name), "%d", i);
		say(&t, at, CALL, "a", "b", name);
		say(&t, kid, CALL, "b", "c", name);
		say(&t, kid + MS, RET, "c", "b", name);
		say(&t, at + 19 * MS, RET, "b", "a", name);
	}
	sort(&t);
	infer_by(&t, "joint");
	for (size_t i = 1; i <= t.events.nr; i++) {
		const struct found *f = &t.found[i];

		if (f->parent < 0)
			continue;
		nr_unsure += f->has_others;
		assert_true(!f->has_others || f->confidence < 0.99f);
	}
	assert_true(nr_unsure > 5);
	done(&t);
}

static bool stop_at_once(void)
{
	return true;
}

static void who_stops_is_obeyed(void **state)
{
	struct infer_options o = INFER_DEFAULTS;
	struct error err = { 0 };
	struct store *s;
	struct sink sink;
	struct event e = { .kind = EVENT_MESSAGE, .op = CALL, .nr_lines = 1, .duration = -1 };

	(void)state;
	o.is_stopped = stop_at_once;
	assert_int_equal(store_create(&s, NULL, &err), 0);
	sink = store_sink(s);
	assert_int_equal(sink.file(sink.to, &(struct file_seen){ .path = STR("t") }, &e.file, &err),
			 0);
	assert_int_equal(sink.events(sink.to, &e, 1, &err), 0);
	assert_int_equal(infer_paths.run(s, &o, &err), -EINTR);
	store_close(s);
}

/* b answers after 5 ms; what it asked c for, 3 ms before, takes 30 ms. Requests come every 12 ms or
 * so. */
static void work_that_outlasts_the_reply_stays_with_its_request(void **state)
{
	enum { NR = 600 };
	struct trace t = { 0 };
	int64_t at = 0, right = 0, served[NR], made[NR];
	uint64_t seed = 5;

	(void)state;
	for (int i = 0; i < NR; i++) {
		char id[2][16];

		/* now and then a second one comes while the first is served, and is served longer
		 */
		at += (i % 8 == 7 ? 1 : 12) * MS + (int64_t)(next_random(&seed) % 1000) * 1000;
		snprintf(id[0], sizeof(id[0]), "s%d", i);
		snprintf(id[1], sizeof(id[1]), "m%d", i);
		say(&t, at, CALL, "a", "b", id[0]);
		say(&t, at + 2 * MS + (int64_t)(next_random(&seed) % 200) * 1000, CALL, "b", "c",
		    id[1]);
		say(&t, at + (i % 8 == 7 ? 60 : 5) * MS, RET, "b", "a", id[0]);
		say(&t, at + 32 * MS, RET, "c", "b", id[1]);
	}
	sort(&t);
	for (size_t i = 0; i < t.events.nr; i++) {
		const struct event *e = &t.events.v[i];

		if (e->op == CALL)
			(e->id.p[0] == 's' ? served : made)[atoi(e->id.p + 1)] = (int64_t)i + 1;
	}
	infer_by(&t, "joint");
	/* those that another span would hold whole */
	for (int i = 6; i < NR; i += 8)
		right += t.found[made[i]].parent == served[i];
	assert_true(right >= NR / 8 * 9 / 10);
	done(&t);
}

/* --- named ------------------------------------------------------------------------------------ */

static int64_t say_named(struct trace *t, int64_t ns, enum message_op op, const char *from,
			 const char *to, const char *id, const char *request)
{
	int64_t position = say(t, ns, op, from, to, id);
	struct event *e = &t->events.v[position - 1];

	e->key_kind = *request ? KEY_TRACE : KEY_CALL;
	e->key = keep(t, *request ? request : id);
	return position;
}

/* Two requests at b at once; times tell nothing of which call to c is whose, names do. */
static void check_named_by(const char *method)
{
	enum { NR = 40 };
	struct trace t = { 0 };
	int64_t served[NR][2], made[NR][2];

	for (int i = 0; i < NR; i++) {
		int64_t at = (i + 1) * 100 * MS;
		char id[4][16], name[2][40];

		for (int k = 0; k < 4; k++)
			snprintf(id[k], sizeof(id[k]), "%d.%d", i, k);
		for (int k = 0; k < 2; k++)
			snprintf(name[k], sizeof(name[k]), "%032d", 2 * i + k + 7);
		served[i][0] = say_named(&t, at, CALL, "a", "b", id[0], name[0]);
		served[i][1] = say_named(&t, at + 1 * MS, CALL, "a", "b", id[1], name[1]);
		/* the later one is quicker in every second pair */
		made[i][i % 2] = say_named(&t, at + 10 * MS, CALL, "b", "c", id[2], name[i % 2]);
		made[i][!(i % 2)] =
			say_named(&t, at + 11 * MS, CALL, "b", "c", id[3], name[!(i % 2)]);
		say_named(&t, at + 20 * MS, RET, "c", "b", id[2], "");
		say_named(&t, at + 21 * MS, RET, "c", "b", id[3], "");
		say_named(&t, at + 30 * MS, RET, "b", "a", id[0], "");
		say_named(&t, at + 31 * MS, RET, "b", "a", id[1], "");
	}
	infer_by(&t, method);
	for (int i = 0; i < NR; i++)
		for (int k = 0; k < 2; k++) {
			assert_int_equal(t.found[served[i][k]].parent, 0);
			assert_int_equal(t.found[made[i][k]].parent, served[i][k]);
			assert_true(t.found[made[i][k]].confidence > 0.99f);
		}
	done(&t);
}

static void a_request_that_names_itself_gets_what_names_it(void **state)
{
	(void)state;
	check_named_by("joint");
	check_named_by("nesting");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_by_another_ends_the_chain),
		cmocka_unit_test(work_is_passed_on_without_ids),
		cmocka_unit_test(losses_are_not_taken_for_passing_on),
		cmocka_unit_test(work_after_the_reply_finds_its_request),
		cmocka_unit_test(work_after_the_reply_is_not_given_to_who_is_served_then),
		cmocka_unit_test(work_that_outlasts_the_reply_stays_with_its_request),
		cmocka_unit_test(calls_that_follow_nothing_stay_roots),
		cmocka_unit_test(an_open_call_ends_with_what_it_caused),
		cmocka_unit_test(a_return_without_its_call_still_holds_what_was_called),
		cmocka_unit_test(pairs_find_back_after_a_loss),
		cmocka_unit_test(a_host_with_one_service_is_that_service),
		cmocka_unit_test(among_several_services_the_one_that_was_asked_calls),
		cmocka_unit_test(what_is_asked_for_names_the_type),
		cmocka_unit_test(messages_to_oneself_and_times_that_go_back_do_no_harm),
		cmocka_unit_test(who_is_in_doubt_has_alternatives),
		cmocka_unit_test(a_request_that_names_itself_gets_what_names_it),
		cmocka_unit_test(who_stops_is_obeyed),
	};

	return RUN(tests);
}
