/*
 * Puts something into every method of every class, wherever something can be put, and writes the
 * classes to a folder: a JVM that verifies them says whether they are right (tests/rewrite/check).
 *
 * usage: rewrite_all [-w] [-p FILE] FOLDER JAR...
 *
 * -w: something is put in that no JVM may take, to see that it does look.
 * -p: writes there which number stands for which place, one a line.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/jvm/stitch.h"
#include "base/error.h"
#include "base/vec.h"
#include "model/loss.h"
#include "program/class.h"
#include "program/container.h"
#include "program/insn.h"
#include "program/parameters.h"

#define NR_CALLS_MAX 32 /* of one method, so that not all have become too large */
#define NR_LINES_MAX 64
#define NR_WHYS_MAX 64

typedef VEC(struct rewrite_put) put_list;

/* One class at a time. */
struct rewriting {
	struct class class;
	struct rewrite r;
	struct arena *arena;
	put_list puts;
	/* of one method, by where: what can be had there is looked for once */
	struct {
		struct stitch_root v[STITCH_ROOTS_MAX + 1];
		size_t nr;
		bool is_known;
	} roots[REWRITE_AFTER_CALL + 1];
};

static const char wrong_code[] = { OP_POP, OP_POP };
static bool is_wrong;
static FILE *places;
static int32_t nr_places;
static uint64_t nr_classes, nr_puts, nr_methods, nr_fewer, nr_refused, nr_damaged;

/* --- reasons ------------------------------------------------------------------------------- */

static struct {
	char text[96];
	uint64_t nr;
} whys[NR_WHYS_MAX];

/* Counted without the numbers in them. */
static void count_why(const char *what, const char *why)
{
	char text[sizeof(whys[0].text)];
	size_t n = 0;

	snprintf(text, sizeof(text), "%s: %s", what, why);
	for (const char *p = text; *p; p++)
		if (!isdigit((unsigned char)*p))
			text[n++] = *p;
	text[n] = 0;
	for (size_t i = 0; i < NR_WHYS_MAX; i++) {
		if (whys[i].nr && strcmp(whys[i].text, text) != 0)
			continue;
		strcpy(whys[i].text, text);
		whys[i].nr++;
		return;
	}
}

/* --- what is put --------------------------------------------------------------------------- */

static const char *const where_names[] = { "entry", "exit", "throw", "line", "before", "after" };

static void add_code(struct rewriting *w, struct rewrite_put put, struct str code)
{
	put.code = arena_str(w->arena, code);
	vec_push(&w->puts, put);
}

static void add_stitch(struct rewriting *w, struct rewrite_put put, const struct stitch *s)
{
	put.stack = s->stack;
	put.locals = s->locals;
	add_code(w, put, buf_str(&s->code));
}

static void tell_place(const struct rewriting *w, const struct stitch_place *p, const char *what)
{
	if (places)
		fprintf(places, "%d\t" STR_FMT "." STR_FMT STR_FMT " %s%s\n", p->number,
			STR_ARG(w->class.name), STR_ARG(p->method->name), STR_ARG(p->method->type),
			what, where_names[p->where]);
}

/* Those of the roots that can be had there, as many as fit. */
static size_t choose(const struct stitch_place *p, struct stitch_root *roots)
{
	static const struct stitch_root first[] = { { ROOT_THIS, 0 },
						    { ROOT_RETURN, 0 },
						    { ROOT_THROWN, 0 } };
	struct stitch s = { 0 };
	size_t nr = 0;

	for (unsigned i = 0; i < 3 + 12 && nr < STITCH_ROOTS_MAX; i++) {
		roots[nr] =
			i < 3 ? first[i] : (struct stitch_root){ ROOT_ARGUMENT, (uint8_t)(i - 3) };
		if (!stitch_at(&s, p, roots + nr, 1)) {
			if (!strstr(s.refused, "no argument") && !strstr(s.refused, "not known"))
				count_why(where_names[p->where], s.refused);
		} else if (stitch_at(&s, p, roots, nr + 1)) {
			nr++;
		}
	}
	stitch_done(&s);
	return nr;
}

static void add_at(struct rewriting *w, struct rewrite_put put)
{
	struct stitch_place p = { .advice = STR("culprit/Advice"),
				  .r = &w->r,
				  .method = &w->class.methods[put.method],
				  .where = put.where,
				  .number = ++nr_places };
	struct stitch s = { 0 };

	if (!w->roots[p.where].is_known)
		w->roots[p.where].nr = choose(&p, w->roots[p.where].v);
	w->roots[p.where].is_known = true;
	if (stitch_at(&s, &p, w->roots[p.where].v, w->roots[p.where].nr)) {
		tell_place(w, &p, "");
		add_stitch(w, put, &s);
	} else {
		count_why("stitch", s.refused);
	}
	stitch_done(&s);
}

static void add_replaced(struct rewriting *w, uint16_t method, enum rewrite_where where,
			 struct stitch_root root)
{
	struct stitch_place p = { .advice = STR("culprit/Advice"),
				  .r = &w->r,
				  .method = &w->class.methods[method],
				  .where = where,
				  .number = ++nr_places };
	struct stitch s = { 0 };

	if (stitch_replace(&s, &p, root)) {
		tell_place(w, &p, "change at ");
		add_stitch(w, (struct rewrite_put){ .method = method, .where = where }, &s);
	}
	stitch_done(&s);
}

/* Of what a call gives, a copy into a local and back. */
static void add_result(struct rewriting *w, struct rewrite_put put)
{
	static const char one[] = { OP_DUP, OP_POP }, two[] = { OP_DUP2, OP_POP2 };
	struct parameters p;

	if (!parameters_read(&p, put.call.type, put.call.is_static) || p.result.p[0] == 'V')
		return;
	put.stack = 2;
	add_code(w, put,
		 p.result.p[0] == 'J' || p.result.p[0] == 'D' ? (struct str){ two, sizeof(two) }
							      : (struct str){ one, sizeof(one) });
}

static void add_call(struct rewriting *w, uint16_t method, const struct rewrite_call *call)
{
	struct rewrite_put put = { .method = method, .where = REWRITE_BEFORE_CALL, .call = *call };
	struct stitch_place p = { .advice = STR("culprit/Advice"),
				  .r = &w->r,
				  .method = &w->class.methods[method],
				  .where = put.where,
				  .number = ++nr_places };
	struct stitch s = { 0 };

	add_at(w, put);
	if (stitch_receiver(&s, &p, call)) {
		tell_place(w, &p, "receiver ");
		add_stitch(w, put, &s);
	}
	stitch_done(&s);
	put.where = REWRITE_AFTER_CALL;
	add_at(w, put);
	add_result(w, put);
}

static bool is_same(const struct rewrite_call *a, const struct rewrite_call *b)
{
	return str_eq(a->owner, b->owner) && str_eq(a->name, b->name) && str_eq(a->type, b->type) &&
	       a->is_static == b->is_static;
}

/* Each call once: what is put there stands at all that are the same. */
static void add_calls(struct rewriting *w, uint16_t method)
{
	const struct code *code = w->class.methods[method].code;
	struct rewrite_call seen[NR_CALLS_MAX];
	size_t nr = 0;
	struct insn i;

	for (uint32_t pc = 0; pc < code->bytes.n && nr < NR_CALLS_MAX; pc = i.next) {
		struct member_ref m;
		bool is_new = true;

		if (!insn_read(code->bytes, pc, &i))
			return;
		if (i.op < OP_INVOKEVIRTUAL || i.op > OP_INVOKEINTERFACE ||
		    !class_member(&w->class, (uint16_t)i.operand, &m))
			continue;
		seen[nr] =
			(struct rewrite_call){ m.owner, m.name, m.type, i.op == OP_INVOKESTATIC };
		for (size_t k = 0; k < nr; k++)
			is_new = is_new && !is_same(&seen[k], &seen[nr]);
		if (is_new)
			add_call(w, method, &seen[nr++]);
	}
}

static void add_method(struct rewriting *w, uint16_t method)
{
	const struct code *code = w->class.methods[method].code;

	if (!code)
		return;
	nr_methods++;
	memset(w->roots, 0, sizeof(w->roots));
	if (is_wrong)
		add_code(w, (struct rewrite_put){ .method = method },
			 (struct str){ wrong_code, sizeof(wrong_code) });
	for (uint8_t i = 0; i < 4; i++)
		add_replaced(w, method, REWRITE_ENTRY, (struct stitch_root){ ROOT_ARGUMENT, i });
	add_at(w, (struct rewrite_put){ .method = method, .where = REWRITE_ENTRY });
	add_replaced(w, method, REWRITE_EXIT, (struct stitch_root){ ROOT_RETURN, 0 });
	add_at(w, (struct rewrite_put){ .method = method, .where = REWRITE_EXIT });
	if (!str_eq(w->class.methods[method].name, STR("<init>")))
		add_at(w, (struct rewrite_put){ .method = method, .where = REWRITE_THROW });
	for (uint32_t i = 0; i < code->nr_lines && i < NR_LINES_MAX; i += 3)
		add_at(w, (struct rewrite_put){ .method = method,
						.where = REWRITE_LINE,
						.line = code->lines[i].line });
	add_calls(w, method);
}

/* --- classes ------------------------------------------------------------------------------- */

/* What is there already came earlier in the class path. */
static bool write_file(const char *folder, struct str name, struct str bytes)
{
	char path[4096];
	FILE *f;
	int n = snprintf(path, sizeof(path), "%s/" STR_FMT ".class", folder, STR_ARG(name));

	if (n < 0 || (size_t)n >= sizeof(path))
		return false;
	for (char *p = path + strlen(folder) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = 0;
		mkdir(path, 0755);
	}
	if (access(path, F_OK) == 0)
		return true;
	f = fopen(path, "w");
	if (!f)
		return false;
	fwrite(bytes.p, 1, bytes.n, f);
	return fclose(f) == 0;
}

/* Methods that cannot hold all of it get what a query would put in. How many there are. */
static uint64_t leave_fewer(struct rewriting *w)
{
	put_list few = { 0 };
	uint64_t nr = 0;

	vec_each (&w->puts, p) {
		if (!p->refused || p->where <= REWRITE_THROW)
			vec_push(&few, *p);
		if (p->refused && p->where == REWRITE_EXIT)
			count_why("all of it", p->refused);
		nr += p->refused != NULL;
	}
	vec_done(&w->puts);
	w->puts.v = few.v;
	w->puts.nr = few.nr;
	w->puts.room = few.room;
	nr_fewer += nr > 0;
	return nr;
}

static void count_refused(const struct rewriting *w)
{
	uint16_t last = UINT16_MAX;

	vec_each (&w->puts, p) {
		nr_puts += !p->refused;
		if (!p->refused || p->method == last)
			continue;
		last = p->method;
		nr_refused++;
		count_why("left alone", p->refused);
		fprintf(stderr, STR_FMT "." STR_FMT STR_FMT ": %s\n", STR_ARG(w->class.name),
			STR_ARG(w->class.methods[last].name), STR_ARG(w->class.methods[last].type),
			p->refused);
	}
}

static bool rewrite_one(const char *folder, struct str bytes, struct arena *a)
{
	struct error err = { 0 };
	struct rewriting w = { .arena = a };
	struct buf out = { 0 };
	bool is;

	if (class_read(&w.class, bytes, a, &err) < 0) {
		nr_damaged++;
		return true;
	}
	w.r.class = &w.class;
	/* large numbers are constants, of which a class has but so many */
	nr_places = places ? nr_places : 0;
	for (uint16_t i = 0; i < w.class.nr_methods; i++)
		add_method(&w, i);
	is = rewrite_write(&w.r, w.puts.v, w.puts.nr, &out, &err) >= 0;
	if (is && leave_fewer(&w)) {
		buf_clear(&out);
		is = rewrite_write(&w.r, w.puts.v, w.puts.nr, &out, &err) >= 0;
	}
	count_refused(&w);
	is = is && write_file(folder, w.class.name, buf_str(&out));
	if (!is)
		fprintf(stderr, STR_FMT ": %s\n", STR_ARG(w.class.name), err.msg);
	nr_classes++;
	rewrite_done(&w.r);
	vec_done(&w.puts);
	buf_done(&out);
	return is;
}

static bool rewrite_each(const char *folder, struct container *c, struct error *err)
{
	struct packed p;
	bool is = true;

	while (is && container_next(c, &p, err) > 0) {
		struct arena a = { 0 };
		struct str bytes;

		/* what is for another Java stands in another place */
		if (!p.release && packed_unpack(&p, &a, &bytes))
			is = rewrite_one(folder, bytes, &a);
		arena_done(&a);
		packed_done(&p);
	}
	return is;
}

static void tell(void)
{
	for (size_t i = 0; i < NR_WHYS_MAX && whys[i].nr; i++)
		printf("%10llu %s\n", (unsigned long long)whys[i].nr, whys[i].text);
	printf("%llu classes, %llu methods, %llu places, %llu classes with fewer, "
	       "%llu methods left alone, %llu damaged\n",
	       (unsigned long long)nr_classes, (unsigned long long)nr_methods,
	       (unsigned long long)nr_puts, (unsigned long long)nr_fewer,
	       (unsigned long long)nr_refused, (unsigned long long)nr_damaged);
}

int main(int argc, char **argv)
{
	struct losses losses = { 0 };
	struct error err = { 0 };
	struct container *c;
	int option;
	bool is;

	while ((option = getopt(argc, argv, "wp:")) > 0) {
		is_wrong = is_wrong || option == 'w';
		if (option == 'p' && !(places = fopen(optarg, "w")))
			return 2;
	}
	if (argc - optind < 2)
		return 2;
	argv += optind;
	if (container_open(&c, (const char *const *)argv + 1, (size_t)(argc - optind - 1), &losses,
			   &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		return 2;
	}
	is = rewrite_each(argv[0], c, &err);
	container_close(c);
	tell();
	return (!places || fclose(places) == 0) && is ? 0 : 1;
}
