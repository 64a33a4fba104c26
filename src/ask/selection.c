#include "ask/selection.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "ask/when.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "report/report.h"
#include "store/store.h"

enum facet { TYPE, NODE, FROM, UNTIL, MIN, MAX, PARTS };

static const char *const names[PARTS] = { "type", "node", "from", "until", "min", "max" };

const struct option selection_options[] = {
	{ "type", "TYPE", "only this type, or the one type that has this in its name" },
	{ "node", "NODE", "only requests that cross this node" },
	{ "from", "TIME", "only requests that start at this time or later" },
	{ "until", "TIME", "only requests that start before this time" },
	{ "min", "TIME", "only requests that take so long at least: 10ms, or nanoseconds" },
	{ "max", "TIME", "only requests that take so long at most" },
	{ "sample", "N",
	  "look into the spans of about N requests only, where there are more; the same each "
	  "time" },
	{ 0 },
};

/* What was given of each part, as it was written; NULL: nothing. */
struct selection {
	const char *text[PARTS];
	bool is_named[PARTS];   /* by --then, if only to take it away */
	struct buf kept[PARTS]; /* of those that were cut out of a longer text */
};

bool selection_is_for(const struct question *q)
{
	return !q->is_of_objects;
}

/* --- reading --------------------------------------------------------------------------------- */

/* Whether a comma stands here with another part behind it. */
static bool is_seam(struct str text)
{
	if (!str_take_char(&text, ','))
		return false;
	for (int i = 0; i < PARTS; i++) {
		struct str rest = text;

		if (str_take(&rest, str_of(names[i])) && str_take_char(&rest, '='))
			return true;
	}
	return false;
}

/* "from=09:30,until=09:40": a comma ends a value only where another part follows it, and no
 * backslash is in front of it. Backslashes in front of such a comma are doubled, others are not. */
static size_t take_value(struct str text, struct buf *value)
{
	size_t at = 0, slashes = 0;

	for (; at < text.n; at++) {
		if (is_seam(str_skip(text, at))) {
			value->n -= (slashes + 1) / 2;
			if (slashes % 2 == 0)
				break;
		}
		slashes = text.p[at] == '\\' ? slashes + 1 : 0;
		buf_char(value, text.p[at]);
	}
	return at;
}

static int take_part(struct str *text, struct selection *to, struct error *err)
{
	for (int i = 0; i < PARTS; i++) {
		struct str rest = *text;
		size_t n;

		if (!str_take(&rest, str_of(names[i])) || !str_take_char(&rest, '='))
			continue;
		buf_clear(&to->kept[i]);
		n = take_value(rest, &to->kept[i]);
		buf_char(&to->kept[i], 0);
		to->text[i] = n ? to->kept[i].p : NULL;
		to->is_named[i] = true;
		*text = str_skip(rest, n + 1);
		return 0;
	}
	return error_set(
		err, EINVAL,
		"--then takes type=, node=, from=, until=, min=, max= with commas between, "
		"not '" STR_FMT "'",
		STR_ARG(str_head(*text, 60)));
}

/* What --then does not name is as for the first; a time or a duration is named as a whole. */
static int read_then(const char *text, struct selection *to, struct error *err)
{
	struct str left = str_of(text);
	int r = 0;

	while (left.n && !r)
		r = take_part(&left, to, err);
	for (int i = FROM; i < PARTS && !r; i += 2) {
		if (to->is_named[i] && !to->is_named[i + 1])
			to->text[i + 1] = NULL;
		if (to->is_named[i + 1] && !to->is_named[i])
			to->text[i] = NULL;
	}
	return r;
}

static void selection_done(struct selection *s)
{
	for (int i = 0; i < PARTS; i++)
		buf_done(&s->kept[i]);
}

bool selection_then(const struct args *args, const char *part, struct buf *value)
{
	const char *text = args_get(args, "then");
	struct selection then = { 0 };
	struct error err;
	bool found = false;

	if (text && read_then(text, &then, &err) >= 0)
		for (int i = 0; i < PARTS; i++)
			if (!strcmp(names[i], part) && then.is_named[i]) {
				buf_add(value, str_of(then.text[i]));
				found = true;
			}
	selection_done(&then);
	return found;
}

/* --- what it means in a run ------------------------------------------------------------------ */

static int read_moment(const struct selection *sel, enum facet part, const struct store *s,
		       int64_t *ns, struct error *err)
{
	int64_t day = store_first_ns(s);

	if (sel->text[part] && when_parse(sel->text[part], day == NS_NONE ? 0 : day, ns, err) < 0)
		return error_prefix(err, "--%s", names[part]);
	return 0;
}

static int read_length(const struct selection *sel, enum facet part, int64_t *ns, struct error *err)
{
	const char *text = sel->text[part];
	struct str rest = str_of(text);
	uint64_t whole;

	if (!text)
		return 0;
	if (str_take_uint(&rest, &whole) && !rest.n && whole <= INT64_MAX) {
		*ns = (int64_t)whole;
		return 0;
	}
	if (time_parse_span(str_of(text), ns) && *ns >= 0)
		return 0;
	return error_set(err, EINVAL, "--%s takes a duration such as 10ms or 1.5s, not '%.60s'",
			 names[part], text);
}

/* What of two runs is compared: one of them need not have the node, which is told. */
struct lacking {
	struct report *report;
	unsigned run, nr_runs, nr; /* nr: runs without it */
};

static int find_node(const struct selection *sel, struct store *s, struct lacking *l,
		     struct request_filter *f, struct error *err)
{
	struct str wanted = str_of(sel->text[NODE]);
	int r = store_find_node(s, wanted, &f->node, err);

	if (r || l->nr_runs < 2 || ++l->nr == l->nr_runs)
		return r;
	f->node = wanted;
	section_say(report_section(l->report, SECTION_PROSE, "selection", ""), NULL,
		    "The %s run has nothing of this node, so only the other is told of: %s.",
		    l->run ? "second" : "first", err->msg);
	return 1;
}

static int read_filter(const struct selection *sel, struct store *s, struct lacking *l,
		       struct request_filter *f, struct error *err)
{
	int r = 1;

	if (sel->text[FROM] || sel->text[UNTIL]) {
		f->from_ns = INT64_MIN;
		f->until_ns = INT64_MAX;
	}
	if (sel->text[MIN] || sel->text[MAX])
		f->max_ns = INT64_MAX;
	if (sel->text[TYPE])
		r = store_find_type(s, str_of(sel->text[TYPE]), &f->type, err);
	if (r > 0 && sel->text[NODE])
		r = find_node(sel, s, l, f, err);
	if (r <= 0)
		return r < 0 ? r : -EINVAL;
	r = read_moment(sel, FROM, s, &f->from_ns, err);
	if (r >= 0)
		r = read_moment(sel, UNTIL, s, &f->until_ns, err);
	if (r >= 0)
		r = read_length(sel, MIN, &f->min_ns, err);
	if (r >= 0)
		r = read_length(sel, MAX, &f->max_ns, err);
	/* zero would mean that none is given */
	if (r >= 0 && sel->text[MAX] && !f->max_ns)
		f->max_ns = 1;
	if (r >= 0 && sel->text[UNTIL] && f->until_ns <= 0)
		f->until_ns = 1;
	return r;
}

static bool is_empty(const struct selection *sel)
{
	for (int i = 0; i < PARTS; i++)
		if (sel->text[i])
			return false;
	return true;
}

/* --- asking ---------------------------------------------------------------------------------- */

/* Two runs need not both have the type: the question that compares them sees to it. */
static void read_args(const struct question *q, const struct args *args, struct selection *sel)
{
	for (int i = 0; i < PARTS; i++)
		sel->text[i] = args_get(args, names[i]);
	if (q->nr_runs > 1)
		sel->text[TYPE] = NULL;
}

static void say_selected(struct report *report, uint64_t nr, uint64_t all)
{
	struct section *s = report_section(report, SECTION_PROSE, "selection", "");

	if (nr) {
		s->text_only = true;
		section_say(s, NULL, "Of %" PRIu64 " requests, %" PRIu64 " %s selected.", all, nr,
			    nr == 1 ? "is" : "are");
	} else {
		section_say(s, NULL,
			    "Nothing is selected: none of the %" PRIu64
			    " requests is of this type, node, time and duration.",
			    all);
	}
}

/* How many are left: 0 for none. */
static int narrow(struct store *s, const struct selection *sel, struct lacking *l,
		  struct error *err)
{
	struct request_filter f = { 0 };
	uint64_t all = store_nr_requests(s);
	unsigned lacked = l->nr;
	int r;

	if (is_empty(sel))
		return 1;
	r = read_filter(sel, s, l, &f, err);
	if (r >= 0)
		r = store_narrow(s, &f, err);
	if (r < 0)
		return r;
	if (l->nr == lacked)
		say_selected(l->report, store_nr_requests(s), all);
	return store_nr_requests(s) > 0;
}

static int narrow_all(const struct question *q, struct store *const *runs, const struct args *args,
		      struct report *report, struct error *err)
{
	struct selection sel = { 0 };
	const char *then = args_get(args, "then");
	struct lacking l = { .report = report, .nr_runs = q->nr_runs };
	uint64_t sample = 0;
	int r = args_uint(args, "sample", &sample, err);
	bool is_any = false;

	read_args(q, args, &sel);
	for (unsigned i = 0; i < q->nr_runs && r >= 0; i++) {
		l.run = i;
		if (i && then)
			r = read_then(then, &sel, err);
		sel.text[TYPE] = q->nr_runs > 1 ? NULL : sel.text[TYPE];
		if (r >= 0)
			r = narrow(runs[i], &sel, &l, err);
		is_any |= r > 0;
		if (r >= 0)
			store_sample(runs[i], sample);
	}
	selection_done(&sel);
	return r < 0 ? r : is_any;
}

/* One request is found by its number, whatever is selected. */
static bool is_of_one(const struct args *args)
{
	return args_has(args, "request") || args_has(args, "instance");
}

int selection_ask(const struct question *q, struct store *const *runs, const struct args *args,
		  struct report *report, struct error *err)
{
	int r = 1;

	if (!selection_is_for(q) || is_of_one(args))
		return q->run(runs, args, report, err);
	r = narrow_all(q, runs, args, report, err);
	if (r > 0)
		r = q->run(runs, args, report, err);
	else if (!r)
		r = 1;
	for (unsigned i = 0; i < q->nr_runs; i++) {
		if (r >= 0)
			report->losses.count[LOSS_REQUESTS_SAMPLED] += store_nr_unread(runs[i]);
		store_narrow(runs[i], NULL, NULL);
	}
	return r;
}
