#include "export/prometheus.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/jsonout.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "model/live.h"

/* All samples of one name must stand together, whatever query they are of: they are gathered, then
 * sorted by name. */
struct sample {
	struct str name, labels, value, help;
	const char *type;
	const char *part; /* of a histogram: what its name ends with, or "" */
	uint32_t number;  /* the order in which they came */
};

struct exposition {
	struct arena arena;
	VEC(struct sample) samples;
	struct buf scratch;
};

static bool is_word(char c, bool is_first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (!is_first && c >= '0' && c <= '9');
}

/* Letters, digits and underscores, of which never two: those that begin with two are reserved. */
static void add_name(struct buf *b, struct str name)
{
	size_t from = b->n;

	for (size_t i = 0; i < name.n; i++) {
		char c = is_word(name.p[i], b->n == from) ? name.p[i] : '_';

		if (c != '_' || (b->n > from && b->p[b->n - 1] != '_'))
			buf_char(b, c);
	}
	while (b->n > from && b->p[b->n - 1] == '_')
		b->n--;
	if (b->n == from)
		buf_add(b, STR("value"));
}

static void add_escaped(struct buf *b, struct str text)
{
	while (text.n) {
		size_t n = utf8_length(text);

		if (!n)
			buf_add(b, STR("\xef\xbf\xbd"));
		else if (*text.p == '\n')
			buf_add(b, STR("\\n"));
		else if (*text.p == '"' || *text.p == '\\')
			buf_fmt(b, "\\%c", *text.p);
		else
			buf_add(b, str_head(text, n));
		text = str_skip(text, n ? n : 1);
	}
}

static void add_label(struct buf *b, struct str name, struct str value)
{
	buf_char(b, b->n ? ',' : '{');
	add_name(b, name);
	buf_add(b, STR("=\""));
	add_escaped(b, value);
	buf_char(b, '"');
}

static void add_number(struct buf *b, double v)
{
	if (isnan(v))
		buf_add(b, STR("NaN"));
	else if (isinf(v))
		buf_add(b, v > 0 ? STR("+Inf") : STR("-Inf"));
	else
		jsonout_double(&(struct jsonout){ .out = b }, v);
}

/* The labels stand in scratch, without their end. */
static void add_part(struct exposition *x, struct str name, const char *part, const char *type,
		     struct str help, double value)
{
	struct sample s = { .name = name, .type = type, .part = part, .help = help };
	struct buf number = { 0 };

	if (x->scratch.n)
		buf_char(&x->scratch, '}');
	s.labels = arena_str(&x->arena, buf_str(&x->scratch));
	if (x->scratch.n)
		x->scratch.n--;
	add_number(&number, value);
	s.value = arena_str(&x->arena, buf_str(&number));
	s.number = (uint32_t)x->samples.nr;
	vec_push(&x->samples, s);
	buf_done(&number);
}

static void add_sample(struct exposition *x, struct str name, const char *type, struct str help,
		       double value)
{
	add_part(x, name, "", type, help, value);
}

/* --- answers ---------------------------------------------------------------------------------- */

static bool is_number(const struct live_value *v, double *n)
{
	*n = v->type == LIVE_INT ? (double)v->i : v->type == LIVE_DOUBLE ? v->d : NAN;
	return v->type == LIVE_INT || v->type == LIVE_DOUBLE;
}

/* What once was below zero does not only grow. */
static bool is_counter(const struct live_answer *a, size_t column)
{
	double n;

	if (!a->columns[column].adds_up)
		return false;
	for (size_t i = 0; i < a->nr_rows; i++)
		if (is_number(&a->rows[i].values[column], &n) && n < 0)
			return false;
	return true;
}

/* Names that are the same when they are written spoil the whole page: later ones get a number. */
static bool is_again(const struct live_answer *a, size_t column)
{
	struct buf mine = { 0 }, other = { 0 };
	bool is_same = false;

	add_name(&mine, a->columns[column].name);
	for (size_t i = 0; i < column && !is_same; i++) {
		buf_clear(&other);
		add_name(&other, a->columns[i].name);
		is_same = a->columns[i].is_key == a->columns[column].is_key &&
			  str_eq(buf_str(&mine), buf_str(&other));
	}
	buf_done(&mine);
	buf_done(&other);
	return is_same;
}

/* What a column is told as. */
enum kind { GAUGE, COUNTER, HISTOGRAM };

static const struct {
	const char *type, *end;
} kinds[] = {
	[GAUGE] = { "gauge", "_now" },
	[COUNTER] = { "counter", "_total" },
	[HISTOGRAM] = { "histogram", "_histogram" },
};

static enum kind kind_of(const struct live_answer *a, size_t column)
{
	for (size_t i = 0; i < a->nr_rows; i++)
		if (a->rows[i].values[column].type == LIVE_BUCKETS)
			return HISTOGRAM;
	return is_counter(a, column) ? COUNTER : GAUGE;
}

/* A counter's name ends with _total, a histogram's with _histogram, and no other does: so a name
 * has one type in all queries. */
static struct str metric_name(struct exposition *x, const struct live_answer *a, size_t column,
			      enum kind kind)
{
	struct buf b = { 0 };
	struct str name;
	bool is_taken;

	buf_add(&b, STR("culprit_query_"));
	add_name(&b, a->columns[column].name);
	if (is_again(a, column))
		buf_fmt(&b, "_%zu", column + 1);
	is_taken = str_ends(buf_str(&b), str_of(kinds[COUNTER].end)) ||
		   str_ends(buf_str(&b), str_of(kinds[HISTOGRAM].end));
	if (kind == GAUGE ? is_taken : !str_ends(buf_str(&b), str_of(kinds[kind].end)))
		buf_add(&b, str_of(kinds[kind].end));
	name = arena_str(&x->arena, buf_str(&b));
	buf_done(&b);
	return name;
}

static void value_text(struct buf *b, const struct live_value *v)
{
	if (v->type == LIVE_TEXT)
		buf_add(b, v->text);
	else if (v->type == LIVE_BOOL)
		buf_add(b, v->i ? STR("true") : STR("false"));
	else if (v->type == LIVE_INT)
		buf_fmt(b, "%lld", (long long)v->i);
	else if (v->type == LIVE_DOUBLE)
		buf_fmt(b, "%.17g", v->d);
}

static struct str label_name(struct exposition *x, const struct live_answer *a, size_t column)
{
	struct buf b = { 0 };
	struct str name;

	add_name(&b, a->columns[column].name);
	if (is_again(a, column) || str_eq(buf_str(&b), STR("query")) ||
	    str_eq(buf_str(&b), STR("le")))
		buf_fmt(&b, "_%zu", column + 1);
	name = arena_str(&x->arena, buf_str(&b));
	buf_done(&b);
	return name;
}

static void row_labels(struct exposition *x, const struct live_answer *a, const struct str *labels,
		       const struct live_row *row)
{
	struct buf text = { 0 };

	buf_clear(&x->scratch);
	add_label(&x->scratch, STR("query"), a->id);
	for (size_t i = 0; i < a->nr_columns; i++) {
		if (!a->columns[i].is_key)
			continue;
		buf_clear(&text);
		value_text(&text, &row->values[i]);
		add_label(&x->scratch, labels[i], buf_str(&text));
	}
	buf_done(&text);
}

/* The upper bounds of a column's buckets, ascending, each once: all rows have the same ones. */
struct bounds {
	VEC(double) v;
};

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void take_bounds(struct bounds *to, const struct live_answer *a, size_t column)
{
	size_t nr = 0;

	for (size_t k = 0; k < a->nr_rows; k++) {
		const struct live_value *v = &a->rows[k].values[column];

		for (size_t i = 0; v->type == LIVE_BUCKETS && i < v->buckets.nr; i++)
			vec_push(&to->v, v->buckets.v[i].to);
	}
	if (to->v.nr)
		qsort(to->v.v, to->v.nr, sizeof(*to->v.v), by_size);
	for (size_t i = 0; i < to->v.nr; i++)
		if (!nr || to->v.v[i] != to->v.v[nr - 1])
			to->v.v[nr++] = to->v.v[i];
	to->v.nr = nr;
}

static void add_bucket(struct exposition *x, struct str name, struct str help, double le,
		       uint64_t count)
{
	struct buf bound = { 0 };
	size_t n = x->scratch.n;

	add_number(&bound, le);
	add_label(&x->scratch, STR("le"), buf_str(&bound));
	add_part(x, name, "_bucket", kinds[HISTOGRAM].type, help, (double)count);
	x->scratch.n = n;
	buf_done(&bound);
}

/* Its labels stand in scratch. */
static void add_histogram(struct exposition *x, struct str name, struct str help,
			  const struct live_value *v, const struct bounds *bounds)
{
	uint64_t count = 0;
	size_t at = 0;

	vec_each (&bounds->v, le) {
		for (; at < v->buckets.nr && v->buckets.v[at].to <= *le; at++)
			count += v->buckets.v[at].nr;
		add_bucket(x, name, help, *le, count);
	}
	add_bucket(x, name, help, INFINITY, count);
	add_part(x, name, "_sum", kinds[HISTOGRAM].type, help, v->buckets.sum);
	add_part(x, name, "_count", kinds[HISTOGRAM].type, help, (double)count);
}

/* What a column is told by. */
struct told {
	struct str name;
	enum kind kind;
	struct bounds bounds; /* of a histogram */
};

static void add_measured(struct exposition *x, const struct live_answer *a, size_t column,
			 const struct live_row *row, const struct told *t)
{
	const struct live_value *v = &row->values[column];
	double n = NAN;

	if (t->kind == HISTOGRAM && v->type == LIVE_BUCKETS)
		add_histogram(x, t->name, a->columns[column].name, v, &t->bounds);
	else if (t->kind == COUNTER)
		is_number(v, &n);
	else if (t->kind == GAUGE)
		n = live_latest(a, row, column);
	if (!isnan(n))
		add_sample(x, t->name, kinds[t->kind].type, a->columns[column].name, n);
}

static void add_rows(struct exposition *x, const struct live_answer *a)
{
	struct str *labels = arena_array(&x->arena, struct str, a->nr_columns + 1);
	struct told *told = arena_array(&x->arena, struct told, a->nr_columns + 1);
	size_t nr = a->nr_rows < PROMETHEUS_ROWS_MAX ? a->nr_rows : PROMETHEUS_ROWS_MAX;

	for (size_t i = 0; i < a->nr_columns; i++) {
		labels[i] = label_name(x, a, i);
		told[i] = (struct told){ .kind = kind_of(a, i) };
		told[i].name = metric_name(x, a, i, told[i].kind);
		take_bounds(&told[i].bounds, a, i);
	}
	for (size_t k = 0; k < nr; k++) {
		row_labels(x, a, labels, &a->rows[k]);
		for (size_t i = 0; i < a->nr_columns && a->rows[k].series; i++)
			if (!a->columns[i].is_key)
				add_measured(x, a, i, &a->rows[k], &told[i]);
	}
	for (size_t i = 0; i < a->nr_columns; i++)
		vec_done(&told[i].bounds.v);
}

static void add_answer(struct exposition *x, const struct live_answer *a)
{
	uint64_t left = a->nr_left_out;

	add_rows(x, a);
	if (a->nr_rows > PROMETHEUS_ROWS_MAX)
		left += a->nr_rows - PROMETHEUS_ROWS_MAX;
	buf_clear(&x->scratch);
	add_label(&x->scratch, STR("query"), a->id);
	add_sample(x, STR("culprit_rows_left_out"), "gauge", STR("rows of a query not told here"),
		   (double)left);
	for (int i = 0; i < LOSS_NR; i++) {
		if (!a->losses.count[i])
			continue;
		buf_clear(&x->scratch);
		add_label(&x->scratch, STR("query"), a->id);
		add_label(&x->scratch, STR("kind"), str_of(loss_name((enum loss)i)));
		add_sample(x, STR("culprit_losses_total"), "counter",
			   STR("what a query's answer may lack"), (double)a->losses.count[i]);
	}
}

/* --- who works for them ----------------------------------------------------------------------- */

static void add_peer(struct exposition *x, const struct live_peer *p)
{
	const struct {
		const char *name, *type, *help;
		double value;
	} all[] = {
		{ "culprit_peer_up", "gauge", "whether a hub or an agent was heard of lately",
		  p->is_silent ? 0 : 1 },
		{ "culprit_peer_agents_below", "gauge", "agents of a hub",
		  p->is_hub ? (double)p->nr_below : NAN },
		{ "culprit_peer_agents_silent_below", "gauge", "agents of a hub that are silent",
		  p->is_hub ? (double)p->nr_silent_below : NAN },
		{ "culprit_peer_processes", "gauge", "processes that advice runs in",
		  (double)p->nr_processes },
		{ "culprit_peer_reports_total", "counter", "reports that came from there",
		  (double)p->nr_reports },
		{ "culprit_peer_dropped_rows_total", "counter", "rows that were dropped there",
		  (double)p->nr_dropped },
		{ "culprit_peer_late_reports_total", "counter", "reports that came late",
		  (double)p->nr_late },
		{ "culprit_peer_repeated_reports_total", "counter",
		  "reports that came twice, counted once", (double)p->nr_twice },
		{ "culprit_peer_overhead_ratio", "gauge",
		  "of the processor, spent on queries there", p->overhead < 0 ? NAN : p->overhead },
	};

	buf_clear(&x->scratch);
	add_label(&x->scratch, STR("kind"), p->is_hub ? STR("hub") : STR("agent"));
	add_label(&x->scratch, STR("name"), p->name);
	add_label(&x->scratch, STR("host"), p->host);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!isnan(all[i].value))
			add_sample(x, str_of(all[i].name), all[i].type, str_of(all[i].help),
				   all[i].value);
}

/* --- the page --------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;
	int cmp = str_cmp(x->name, y->name);

	return cmp ? cmp : x->number < y->number ? -1 : x->number > y->number;
}

static void write_all(struct exposition *x, struct buf *out)
{
	struct str name = { 0 };

	if (x->samples.nr)
		qsort(x->samples.v, x->samples.nr, sizeof(*x->samples.v), by_name);
	vec_each (&x->samples, s) {
		if (!str_eq(s->name, name)) {
			name = s->name;
			buf_fmt(out, "# HELP " STR_FMT " ", STR_ARG(name));
			add_escaped(out, s->help);
			buf_fmt(out, "\n# TYPE " STR_FMT " %s\n", STR_ARG(name), s->type);
		}
		buf_fmt(out, STR_FMT "%s" STR_FMT " " STR_FMT "\n", STR_ARG(s->name), s->part,
			STR_ARG(s->labels), STR_ARG(s->value));
	}
}

void prometheus_write(const struct live_answer *const *answers, size_t nr_answers,
		      const struct live_peer *peers, size_t nr_peers, struct buf *out)
{
	struct exposition x = { 0 };

	for (size_t i = 0; i < nr_answers; i++)
		add_answer(&x, answers[i]);
	for (size_t i = 0; i < nr_peers; i++)
		add_peer(&x, &peers[i]);
	write_all(&x, out);
	vec_done(&x.samples);
	buf_done(&x.scratch);
	arena_done(&x.arena);
}
