#include "java_truth.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "program/program.h"

struct comment {
	uint32_t line;
	struct str text; /* behind the mark */
	char mark;       /* = > @ */
	bool is_seen;
};

struct truth {
	struct java *java;
	const char *file;
	VEC(struct comment) comments;
	char *source;
	unsigned lies;
};

void java_open(struct java *j, const char *jar, const char *beside, unsigned threads)
{
	const char *dir = getenv("CULPRIT_JAVA");
	char paths[2][512];
	const char *all[2] = { paths[0], paths[1] };
	struct error err = { 0 };

	*j = (struct java){ 0 };
	if (!dir || !*dir) {
		print_message("skipped: javac is not installed\n");
		skip();
	}
	snprintf(paths[0], sizeof(paths[0]), "%s/%s.jar", dir, jar);
	snprintf(paths[1], sizeof(paths[1]), "%s/%s.jar", dir, beside ? beside : jar);
	if (program_load(&j->program, all, beside ? 2 : 1, threads, &j->losses, &err) < 0)
		fail_msg("%s", err.msg);
	log_points_find(&j->points, j->program, &j->losses);
	callgraph_init(&j->graph, j->program, &j->losses);
	identifiers_find(&j->ids, &j->graph, &j->points);
	orders_find(&j->orders, &j->graph, &j->points, &j->ids);
}

void java_close(struct java *j)
{
	orders_done(&j->orders);
	identifiers_done(&j->ids);
	callgraph_done(&j->graph);
	log_points_done(&j->points);
	program_free(j->program);
}

static struct str after_slash(struct str name)
{
	for (size_t i = name.n; i--;)
		if (name.p[i] == '/')
			return str_skip(name, i + 1);
	return name;
}

static bool is_method(const struct java *j, uint32_t method, struct str name)
{
	struct str class = after_slash(program_class_of(j->program, method)->name);
	struct str own = j->program->methods.v[method].member->name;
	bool is_open = str_ends(name, STR("*"));

	if (!str_starts(name, class) || name.n <= class.n || name.p[class.n] != '.')
		return false;
	name = str_skip(name, class.n + 1);
	return is_open ? str_starts(own, str_head(name, name.n - 1)) : str_eq(own, name);
}

uint32_t java_method(struct java *j, struct str name)
{
	for (uint32_t i = 0; i < j->program->methods.nr; i++)
		if (is_method(j, i, name))
			return i;
	return NO_METHOD;
}

static void lie(struct truth *t, uint32_t line, const char *what, struct str detail)
{
	print_error("%s:%u: %s: " STR_FMT "\n", t->file, line, what, STR_ARG(detail));
	t->lies++;
}

static void read_comments(struct truth *t, const char *folder)
{
	const char *root = getenv("CULPRIT_JAVA_SOURCES");
	char path[512];
	FILE *f;
	size_t n;
	uint32_t line = 0;
	struct str rest, one;

	snprintf(path, sizeof(path), "%s/%s/%s", root ? root : ".", folder, t->file);
	f = fopen(path, "re");
	if (!f)
		fail_msg("cannot open %s", path);
	t->source = calloc(1, 1 << 20);
	n = fread(t->source, 1, (1 << 20) - 1, f);
	fclose(f);
	for (rest = (struct str){ t->source, n }; rest.n;) {
		size_t end = str_find_char(rest, '\n');
		size_t at;

		line++;
		one = str_head(rest, end);
		rest = str_skip(rest, end + 1);
		while ((at = str_find(one, STR("//"))) < one.n) {
			struct str text;

			one = str_skip(one, at + 2);
			text = str_head(one, str_find(one, STR(" //")));
			if (text.n && strchr("=>@", text.p[0]))
				vec_push(&t->comments,
					 ((struct comment){ line, str_trim(str_skip(text, 1)),
							    text.p[0], false }));
		}
	}
}

/* The next letter of a truth, escapes undone; false at its end or at a hole. */
static bool take_letter(struct str *s, char *c)
{
	if (!s->n || s->p[0] == '{')
		return false;
	*c = s->p[0];
	*s = str_skip(*s, 1);
	if (*c == '\\' && s->n) {
		*c = s->p[0] == 'n' ? '\n' : s->p[0];
		*s = str_skip(*s, 1);
	}
	return true;
}

static bool is_hole(struct str *s, const struct part *p)
{
	static const char *const types[] = { "text", "integer", "decimal", "boolean",
					     "char", "object",  "error" };
	size_t end = str_find_char(*s, '}'), colon;
	struct str inside;

	if (!s->n || s->p[0] != '{' || end == s->n)
		return false;
	inside = str_skip(str_head(*s, end), 1);
	*s = str_skip(*s, end + 1);
	if (p->kind == PART_ANY)
		return str_eq(inside, STR("*"));
	colon = str_find_char(inside, ':');
	if (colon && !str_eq(str_head(inside, colon), p->text))
		return false;
	return colon == inside.n || str_eq(str_skip(inside, colon + 1), str_of(types[p->type]));
}

static bool is_version(struct str truth, const struct version *v)
{
	for (uint32_t i = 0; i < v->nr; i++) {
		char c;

		if (v->parts[i].kind != PART_TEXT) {
			if (!is_hole(&truth, &v->parts[i]))
				return false;
			continue;
		}
		for (size_t k = 0; k < v->parts[i].text.n; k++)
			if (!take_letter(&truth, &c) || c != v->parts[i].text.p[k])
				return false;
	}
	return !truth.n;
}

/* What stands in front of the separator; the rest stays. */
static struct str take_until(struct str *s, struct str separator)
{
	size_t n = str_find(*s, separator);
	struct str head = str_head(*s, n);

	*s = str_skip(*s, n + separator.n);
	return str_trim(head);
}

/* Every text listed is a version, and the first version is one of those listed. */
static bool is_group(struct str group, const struct text *t)
{
	bool is_first_listed = false;

	if (str_eq(group, STR("*")))
		return true;
	while (group.n) {
		struct str truth = take_until(&group, STR(" | "));
		bool is_found = false;

		for (uint32_t i = 0; i < t->nr && !is_found; i++) {
			is_found = is_version(truth, &t->versions[i]);
			is_first_listed |= is_found && !i;
		}
		if (!is_found)
			return false;
	}
	return is_first_listed;
}

static bool is_text(struct str truth, const struct text *t)
{
	while (truth.n)
		if (is_group(take_until(&truth, STR(" || ")), t))
			return true;
	return false;
}

static void write_text(struct buf *b, const struct text *t)
{
	for (uint32_t i = 0; i < t->nr; i++) {
		if (i)
			buf_add(b, STR(" | "));
		for (uint32_t k = 0; k < t->versions[i].nr; k++) {
			const struct part *p = &t->versions[i].parts[k];

			if (p->kind == PART_TEXT)
				buf_add(b, p->text);
			else
				buf_fmt(b, p->kind == PART_ANY ? "{*}" : "{" STR_FMT ":%d}",
					STR_ARG(p->text), p->type);
		}
	}
}

/* LEVEL[!][@-N] [LOGGER]: … */
static void check_point(struct truth *t, struct comment *c, const struct log_point *p)
{
	struct str rest = c->text, head = take_until(&rest, STR(":"));
	size_t n = str_find_char(head, ' ');
	struct str level = str_head(head, n), logger = str_skip(head, n + 1);
	bool has_error = str_find_char(level, '!') < level.n;
	size_t end = 0;
	struct buf b = { 0 };

	while (end < level.n && level.p[end] >= 'a' && level.p[end] <= 'z')
		end++;
	level = str_head(level, end);
	c->is_seen = true;
	write_text(&b, &p->text);
	if (!is_text(str_trim(rest), &p->text))
		lie(t, c->line, "logs", buf_str(&b));
	if (!str_eq(level, str_of(p->level == LEVEL_NONE ? "any" : level_name(p->level))))
		lie(t, c->line, "its level is", str_of(level_name(p->level)));
	if (logger.n && !str_eq(logger, p->logger))
		lie(t, c->line, "its logger is", p->logger);
	if (has_error && !p->has_error)
		lie(t, c->line, "no exception is seen by", buf_str(&b));
	buf_done(&b);
}

/* Where a comment means: "info@-2: …" is about two lines above. */
static uint32_t line_meant(const struct comment *c)
{
	size_t at = str_find(str_head(c->text, str_find_char(c->text, ':')), STR("@-"));
	struct str digits = str_skip(c->text, at + 2);
	uint64_t up;

	return at < str_find_char(c->text, ':') && str_take_uint(&digits, &up)
		       ? c->line - (uint32_t)up
		       : c->line;
}

static bool is_of_file(struct truth *t, uint32_t method)
{
	return str_eq(program_class_of(t->java->program, method)->source, str_of(t->file));
}

static void check_points(struct truth *t)
{
	vec_each (&t->java->points.v, p) {
		bool is_told = false;
		struct buf b = { 0 };

		if (!is_of_file(t, p->method))
			continue;
		vec_each (&t->comments, c) {
			if (c->mark != '=' || line_meant(c) != p->line)
				continue;
			check_point(t, c, p);
			is_told = true;
		}
		write_text(&b, &p->text);
		if (!is_told)
			lie(t, p->line, "should not log", buf_str(&b));
		buf_done(&b);
	}
	vec_each (&t->comments, c)
		if (c->mark == '=' && !c->is_seen)
			lie(t, c->line, "not found", c->text);
}

/* Whether a call of that kind leads from the line to the method. */
static bool is_edge(struct truth *t, uint32_t line, uint8_t kind, struct str name)
{
	struct java *j = t->java;

	for (uint32_t m = 0; m < j->program->methods.nr; m++) {
		if (!j->program->methods.v[m].member->code || !is_of_file(t, m))
			continue;
		callgraph_each(&j->graph, m, e) if (e->kind == kind &&
						    code_line(j->program->methods.v[m].member->code,
							      e->pc) == line &&
						    is_method(j, e->to, name)) return true;
	}
	return false;
}

static void check_edges(struct truth *t)
{
	struct java *j = t->java;

	vec_each (&t->comments, c) {
		struct str rest = c->text;
		bool is_denied = str_take(&rest, STR("no "));
		bool is_start = str_take(&rest, STR("start "));

		if (c->mark != '>')
			continue;
		if (!is_start)
			str_take(&rest, STR("call "));
		if (is_edge(t, c->line, is_start ? EDGE_START : EDGE_CALL, rest) == is_denied)
			lie(t, c->line, "edge", c->text);
	}
	for (uint32_t m = 0; m < j->program->methods.nr; m++) {
		if (!j->program->methods.v[m].member->code || !is_of_file(t, m))
			continue;
		callgraph_each(&j->graph, m, e)
		{
			uint32_t line = code_line(j->program->methods.v[m].member->code, e->pc);
			bool is_told = e->kind == EDGE_CALL;

			vec_each (&t->comments, c)
				is_told |= c->mark == '>' && c->line == line &&
					   str_starts(c->text, STR("start ")) &&
					   is_method(j, e->to, str_skip(c->text, 6));
			if (!is_told)
				lie(t, line, "should not start",
				    j->program->methods.v[e->to].member->name);
		}
	}
}

static bool has_id(const struct java *j, uint32_t method, struct str field)
{
	const struct summary *s = &j->ids.of[method];

	for (uint32_t i = 0; i < s->nr; i++)
		if (s->ids[i].path.nr &&
		    str_eq(s->ids[i].path.fields[s->ids[i].path.nr - 1], field))
			return true;
	return false;
}

static void write_node(struct java *j, const struct order_node *n, struct buf *b)
{
	for (uint32_t i = 0; i < n->nr_points; i++) {
		const struct text *t = &j->points.v.v[n->points[i]].text;

		if (i)
			buf_char(b, '+');
		if (t->nr)
			version_write(&t->versions[0], b);
	}
	buf_add(b, n->is_repeated ? STR("*") : STR(""));
	buf_add(b, n->is_exceptional ? STR("!") : STR(""));
}

static void write_marked(struct java *j, const struct order *o, bool is_first, struct buf *b)
{
	bool is_begun = false;

	for (uint32_t i = 0; i < o->nr; i++) {
		if (is_first ? !o->nodes[i].is_first : !o->nodes[i].is_last)
			continue;
		buf_add(b, is_begun ? STR(", ") : is_first ? STR("first: ") : STR("last: "));
		write_node(j, &o->nodes[i], b);
		is_begun = true;
	}
}

void java_order(struct java *j, uint32_t method, struct buf *b)
{
	const struct order *o = &j->orders.of[method];

	write_marked(j, o, true, b);
	for (uint32_t i = 0; i < o->nr; i++) {
		for (uint32_t k = 0; k < o->nodes[i].nr_next; k++) {
			if (!k) {
				buf_add(b, STR("; "));
				write_node(j, &o->nodes[i], b);
			}
			buf_add(b, k ? STR(", ") : STR(" -> "));
			write_node(j, &o->nodes[o->nodes[i].next[k]], b);
		}
	}
	buf_add(b, STR("; "));
	write_marked(j, o, false, b);
}

static void check_order(struct truth *t, const struct comment *c, struct str rest)
{
	uint32_t method = java_method(t->java, take_until(&rest, STR(":")));
	struct buf b = { 0 };

	if (method == NO_METHOD) {
		lie(t, c->line, "no such method", c->text);
		return;
	}
	java_order(t->java, method, &b);
	if (!str_eq(buf_str(&b), str_trim(rest)))
		lie(t, c->line, "the order is", buf_str(&b));
	buf_done(&b);
}

static void check_requests(struct truth *t)
{
	struct java *j = t->java;

	vec_each (&t->comments, c) {
		struct str rest = c->text, word, name;
		bool is_denied = str_take(&rest, STR("no ")), is_so;
		uint32_t method;

		if (c->mark != '@')
			continue;
		word = take_until(&rest, STR(" "));
		if (str_eq(word, STR("order"))) {
			check_order(t, c, rest);
			continue;
		}
		name = take_until(&rest, STR(" "));
		method = java_method(j, name);
		is_so = method != NO_METHOD &&
			(str_eq(word, STR("top")) ? j->ids.top[method] != TOP_NOT
						  : has_id(j, method, rest));
		if (method == NO_METHOD || is_so == is_denied)
			lie(t, c->line, "not so", c->text);
	}
}

unsigned java_lies(struct java *j, const char *folder, const char *file)
{
	struct truth t = { .java = j, .file = file };

	read_comments(&t, folder);
	if (!t.comments.nr)
		lie(&t, 0, "nothing is told by", str_of(file));
	check_points(&t);
	check_edges(&t);
	check_requests(&t);
	vec_done(&t.comments);
	free(t.source);
	return t.lies;
}

void java_holds(const char *file)
{
	static const char *const jars[] = { "rules", "rules8" };
	unsigned lies = 0;

	for (size_t i = 0; i < 2; i++) {
		struct java j;

		java_open(&j, jars[i], NULL, 1);
		lies += java_lies(&j, "rules", file);
		java_close(&j);
	}
	assert_int_equal(lies, 0);
}
