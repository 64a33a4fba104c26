#include "web/api.h"

#include <errno.h>
#include <string.h>

#include "ask/object_level.h"
#include "ask/question.h"
#include "ask/selection.h"
#include "base/error.h"
#include "base/jsonout.h"
#include "report/report.h"
#include "report/writer.h"
#include "store/store.h"
#include "web/apart.h"
#include "web/asked.h"
#include "web/crowd.h"
#include "web/kept.h"
#include "web/reply.h"
#include "web/runs.h"
#include "web/answers.h"

#define OPTIONS_MAX 48
#define BODY_MAX ((size_t)16 << 20) /* of one answer: a page asks for parts of long lists */
#define LARGE 100000                /* requests: what looks into all of them is asked apart */
#define LINES "application/x-ndjson"

/* A question as it was asked: its runs, and its options in the order of the question. */
struct put {
	const struct question *question;
	const struct asked *asked;
	struct option options[OPTIONS_MAX + 2]; /* its own, json, and the end */
	const char *values[OPTIONS_MAX + 2];
	unsigned run[2];
	uint64_t generation[2];
	struct store *stores[2];
	bool is_of_objects;
	bool is_ahead; /* nobody waits for it */
};

static const struct question *find_question(const char *name)
{
	for (size_t i = 0; questions[i]; i++)
		if (!strcmp(questions[i]->name, name))
			return questions[i];
	return NULL;
}

int api_run(const char *text, unsigned *run, struct error *err)
{
	struct str rest = str_of(text);
	uint64_t nr;

	if (!str_take_uint(&rest, &nr) || rest.n || !nr || nr > 1000)
		return error_set(err, EINVAL, "a run is a number of /api/runs, not '%.40s'", text);
	*run = (unsigned)nr;
	return 0;
}

static int take_option(struct put *p, const struct asked_param *param, struct error *err)
{
	size_t i = 0;

	if (!strcmp(param->name, "run"))
		return api_run(param->value, &p->run[0], err);
	if (!strcmp(param->name, "against"))
		return api_run(param->value, &p->run[1], err);
	while (p->options[i].name && strcmp(p->options[i].name, param->name))
		i++;
	if (!p->options[i].name)
		return error_set(err, EINVAL, "%s takes no '%.40s'", p->question->name,
				 param->name);
	p->values[i] = p->options[i].metavar ? param->value : "";
	return 0;
}

/* But for those that are there. How many there are then. */
static size_t add_options(struct option *to, size_t nr, const struct option *more)
{
	for (; more->name && nr < OPTIONS_MAX; more++) {
		size_t i = 0;

		while (i < nr && strcmp(to[i].name, more->name))
			i++;
		if (i == nr)
			to[nr++] = *more;
	}
	return nr;
}

static int prepare(struct put *p, const struct asked *a, struct error *err)
{
	size_t nr = 0;
	int r = 0;

	p->run[0] = 1;
	p->run[1] = 2;
	nr = add_options(p->options, 0, p->question->options);
	if (selection_is_for(p->question))
		nr = add_options(p->options, nr, selection_options);
	p->options[nr] = (struct option){ "json", NULL, "" };
	p->values[nr] = "";
	if (a->has_too_many)
		return error_set(err, EINVAL, "too many parameters");
	for (size_t i = 0; i < a->nr_params && r >= 0; i++) {
		r = take_option(p, &a->params[i], err);
		if (!strcmp(a->params[i].name, "level"))
			p->is_of_objects = object_level_is(a->params[i].value);
	}
	return r;
}

/* What the answer depends on, for the answers that are kept. */
static void key_of(const struct put *p, struct buf *key)
{
	buf_fmt(key, "%s", p->question->name);
	for (unsigned i = 0; i < p->question->nr_runs; i++)
		buf_fmt(key, " %u.%llu", p->run[i], (unsigned long long)p->generation[i]);
	for (size_t i = 0; p->options[i].name; i++)
		if (p->values[i]) {
			buf_fmt(key, " %s=", p->options[i].name);
			buf_bytes(key, str_of(p->values[i]));
		}
}

static int take_runs(struct put *p, struct runs *runs, struct error *err)
{
	int r = 0;

	for (unsigned i = 0; i < p->question->nr_runs && r >= 0; i++) {
		r = runs_take(runs, p->run[i], &p->stores[i], &p->generation[i], err);
		if (r >= 0)
			store_watch(p->stores[i], p->asked->is_over, p->asked->over_to);
	}
	return r;
}

static void give_runs(struct put *p, struct runs *runs)
{
	for (unsigned i = 0; i < 2; i++)
		if (p->stores[i])
			runs_give(runs, p->run[i], p->generation[i], p->stores[i]);
}

/* Long lists are written as they grow; beyond the bound they are only counted. */
static void spill(void *to, const struct report *report)
{
	struct buf *body = to;

	if (body->n <= BODY_MAX)
		report_write_json_piece(report, body);
}

static void add_losses(const struct put *p, struct report *report)
{
	for (unsigned i = 0; i < p->question->nr_runs; i++) {
		const struct losses *losses = store_losses(p->stores[i]);

		for (int l = 0; l < LOSS_NR; l++)
			if (p->question->is_of_objects || p->is_of_objects ||
			    !loss_is_of_objects((enum loss)l))
				report->losses.count[l] += losses->count[l];
	}
}

static int ask(const struct put *p, struct store *const *stores, const char *name, struct buf *body,
	       struct error *err)
{
	struct args args = { p->options, p->values, name };
	struct report report;
	int r;

	report_init(&report);
	report.spill = spill;
	report.spill_to = body;
	r = selection_ask(p->question, stores, &args, &report, err);
	if (r >= 0) {
		add_losses(p, &report);
		report_write_json(&report, body);
	}
	report_done(&report);
	return r;
}

/* Questions about requests are asked of objects by making a run of them. */
static int ask_level(const struct put *p, const char *name, struct buf *body, struct error *err)
{
	struct store *made[2] = { NULL, NULL };
	int r = 0;

	if (!p->is_of_objects)
		return ask(p, p->stores, name, body, err);
	for (unsigned i = 0; i < p->question->nr_runs && r >= 0; i++)
		r = object_level_run(p->stores[i], &made[i], err);
	if (r >= 0)
		r = ask(p, made, name, body, err);
	for (unsigned i = 0; i < 2; i++)
		if (made[i])
			store_close(made[i]);
	return r;
}

unsigned api_status(int failure)
{
	switch (-failure) {
	case EINVAL:
		return 400;
	case ENOENT:
		return 404;
	case EAGAIN:
		return 503;
	default:
		return 500;
	}
}

/* --- of large runs ---------------------------------------------------------------------------- */

static bool has_value(const struct put *p, const char *const *names)
{
	for (; *names; names++)
		for (size_t i = 0; p->options[i].name; i++)
			if (p->values[i] && !strcmp(p->options[i].name, *names))
				return true;
	return false;
}

/* Whether it looks into all requests of a run of many, for which it takes long. */
static bool is_long(const struct put *p)
{
	static const char *const some[] = { "sample", "request", "instance", "instances", NULL };
	static const char *const all[] = { "types", "over-time", "sequences", "critical-path",
					   NULL };
	uint64_t nr = 0;

	for (unsigned i = 0; i < p->question->nr_runs; i++)
		nr += store_nr_requests(p->stores[i]);
	if (nr < LARGE || p->question->is_of_objects || p->is_of_objects || has_value(p, some))
		return false;
	return strcmp(p->question->name, "requests") || has_value(p, all);
}

/* The command that answers the same; its texts stand in *to. */
static void command_of(const struct put *p, struct runs *runs, struct buf *to, char **args)
{
	size_t at[OPTIONS_MAX + 8], nr = 0;

	at[nr++] = to->n;
	buf_fmt(to, "culprit%c", 0);
	at[nr++] = to->n;
	buf_fmt(to, "%s%c", p->question->name, 0);
	for (size_t i = 0; p->options[i].name; i++) {
		if (!p->values[i])
			continue;
		at[nr++] = to->n;
		buf_fmt(to, "--%s%s%s%c", p->options[i].name, p->options[i].metavar ? "=" : "",
			p->options[i].metavar ? p->values[i] : "", 0);
	}
	at[nr++] = to->n;
	buf_fmt(to, "--%c", 0);
	for (unsigned i = 0; i < p->question->nr_runs; i++) {
		at[nr++] = to->n;
		buf_fmt(to, "%s%c", runs_file(runs, p->run[i]), 0);
	}
	for (size_t i = 0; i < nr; i++)
		args[i] = to->p + at[i];
	args[nr] = NULL;
}

static int ask_apart(const struct api *api, const struct put *p, const struct apart_asker *who,
		     struct buf *body, struct error *err)
{
	char *args[OPTIONS_MAX + 9];
	struct buf text = { 0 }, key = { 0 };
	bool is_known = true;
	int r = 0;

	command_of(p, api->runs, &text, args);
	buf_fmt(&key, "%s ", api->version);
	for (unsigned i = 0; i < p->question->nr_runs; i++)
		is_known = is_known && kept_file(runs_file(api->runs, p->run[i]), &key);
	buf_add(&key, buf_str(&text));
	if (!is_known || !kept_find(buf_str(&key), body)) {
		r = apart_ask(api->apart, args, who, body, err);
		if (r >= 0 && is_known)
			kept_put(buf_str(&key), buf_str(body));
	}
	buf_done(&text);
	buf_done(&key);
	return r;
}

static bool can_ask_apart(const struct api *api, const struct put *p)
{
	for (unsigned i = 0; i < p->question->nr_runs; i++)
		if (!runs_file(api->runs, p->run[i]))
			return false;
	return api->apart && is_long(p);
}

static int ask_somehow(const struct api *api, struct put *p, struct str key, struct reply *r,
		       struct error *err)
{
	const char *name = p->question->nr_runs == 1 ? runs_name(api->runs, p->run[0]) : NULL;
	struct apart_asker who = { key, p->is_ahead, p->asked->is_over, p->asked->over_to };
	int got = 0;

	if (!can_ask_apart(api, p))
		return ask_level(p, name, &r->body, err);
	/* others need not wait for what is worked out elsewhere */
	if (!p->is_ahead && api->crowd)
		crowd_done(api->crowd);
	apart_lock(api->apart, &who);
	if (p->asked->is_over && p->asked->is_over(p->asked->over_to))
		got = error_set(err, ECANCELED, "nobody waits for the answer any more");
	else if (!answers_find(api->answers, key, &r->body, &r->status))
		got = ask_apart(api, p, &who, &r->body, err);
	/* before the next one looks whether it is there */
	if (got >= 0 && r->body.n <= BODY_MAX)
		answers_put(api->answers, key, buf_str(&r->body), r->status);
	apart_unlock(api->apart);
	if (!p->is_ahead && api->crowd)
		crowd_resume(api->crowd);
	return got;
}

static int answer(const struct api *api, struct put *p, struct reply *r)
{
	struct error err = { 0 };
	struct buf key = { 0 };
	int got;

	key_of(p, &key);
	if (answers_find(api->answers, buf_str(&key), &r->body, &r->status)) {
		buf_done(&key);
		return 0;
	}
	got = ask_somehow(api, p, buf_str(&key), r, &err);
	if (got < 0)
		reply_error(r, api_status(got), "%s", err.msg);
	else if (r->body.n > BODY_MAX)
		reply_error(r, 413, "the answer is too long for one page: give limit");
	else
		answers_put(api->answers, buf_str(&key), buf_str(&r->body), r->status);
	buf_done(&key);
	return got;
}

bool api_ahead(const struct api *api, const struct asked *a)
{
	struct put p = { .question = find_question(a->path + strlen("/api/")),
			 .asked = a,
			 .is_ahead = true };
	struct reply r = { .status = 200 };
	struct error err = { 0 };
	int got = 0;

	if (p.question && prepare(&p, a, &err) >= 0 && take_runs(&p, api->runs, &err) >= 0 &&
	    can_ask_apart(api, &p))
		got = answer(api, &p, &r);
	give_runs(&p, api->runs);
	reply_done(&r);
	return got != -ECANCELED;
}

void api_question(const struct api *api, const struct asked *a, struct reply *r)
{
	struct put p = { .question = find_question(a->path + strlen("/api/")), .asked = a };
	struct error err = { 0 };
	int got;

	r->status = 200;
	r->type = LINES;
	if (!p.question) {
		reply_error(r, 404, "there is no such question: see /api/questions");
		return;
	}
	got = prepare(&p, a, &err);
	if (got >= 0)
		got = take_runs(&p, api->runs, &err);
	if (got >= 0)
		answer(api, &p, r);
	else
		reply_error(r, api_status(got), "%s", err.msg);
	give_runs(&p, api->runs);
}

static void tell_totals(struct jsonout *j, struct runs *runs, unsigned run)
{
	struct store_totals t = { 0 };
	struct store *s = NULL;
	uint64_t generation = 0;
	struct error err = { 0 };

	if (runs_take(runs, run, &s, &generation, &err) < 0) {
		jsonout_key(j, "error");
		jsonout_str(j, str_of(err.msg));
		return;
	}
	if (store_totals(s, &t, &err) >= 0) {
		jsonout_key(j, "requests");
		jsonout_uint(j, t.nr_requests);
		jsonout_key(j, "spans");
		jsonout_uint(j, t.nr_spans);
		jsonout_key(j, "events");
		jsonout_uint(j, t.nr_events);
		jsonout_key(j, "lines");
		jsonout_uint(j, t.nr_log_lines);
		jsonout_key(j, "files");
		jsonout_uint(j, t.nr_files);
		jsonout_key(j, "bytes");
		jsonout_uint(j, t.bytes);
		jsonout_key(j, "first");
		jsonout_int(j, t.first_ns);
		jsonout_key(j, "last");
		jsonout_int(j, t.last_ns);
	}
	runs_give(runs, run, generation, s);
}

void api_runs(const struct api *api, const struct asked *a, struct reply *r)
{
	struct jsonout j = { .out = &r->body };
	size_t nr = runs_nr(api->runs);

	(void)a;
	r->status = 200;
	r->type = LINES;
	for (unsigned run = 1; run <= nr; run++) {
		jsonout_open(&j, '{');
		runs_tell(api->runs, &j, run);
		tell_totals(&j, api->runs, run);
		jsonout_close(&j, '}');
		buf_char(&r->body, '\n');
	}
}

static void tell_question(struct jsonout *j, const struct question *q)
{
	struct option all[OPTIONS_MAX + 1] = { { 0 } };
	size_t nr = add_options(all, 0, q->options);

	if (selection_is_for(q))
		add_options(all, nr, selection_options);
	jsonout_open(j, '{');
	jsonout_key(j, "question");
	jsonout_str(j, str_of(q->name));
	jsonout_key(j, "summary");
	jsonout_str(j, str_of(q->summary));
	jsonout_key(j, "runs");
	jsonout_uint(j, q->nr_runs);
	jsonout_key(j, "options");
	jsonout_open(j, '[');
	for (const struct option *o = all; o->name; o++) {
		jsonout_open(j, '{');
		jsonout_key(j, "name");
		jsonout_str(j, str_of(o->name));
		jsonout_key(j, "value");
		jsonout_str(j, str_of(o->metavar));
		jsonout_key(j, "help");
		jsonout_str(j, str_of(o->help));
		jsonout_close(j, '}');
	}
	jsonout_close(j, ']');
	jsonout_close(j, '}');
	buf_char(j->out, '\n');
}

void api_questions(const struct api *api, const struct asked *a, struct reply *r)
{
	struct jsonout j = { .out = &r->body };

	(void)a;
	(void)api;
	r->status = 200;
	r->type = LINES;
	for (size_t i = 0; questions[i]; i++)
		tell_question(&j, questions[i]);
}
