#include "cli/tracepoints_look.h"

#include <sys/stat.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "capture/spot.h"
#include "cli/command.h"
#include "cli/option.h"
#include "model/loss.h"
#include "program/program.h"
#include "query/near.h"

#define FOUND_MAX 64

/* --- programs --------------------------------------------------------------------------------- */

static bool is_java(const char *path)
{
	struct str s = str_of(path);
	struct stat st;

	if (str_ends(s, STR(".jar")) || str_ends(s, STR(".war")) || str_ends(s, STR(".class")))
		return true;
	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static int look_into_files(struct looked *l, struct str names, struct error *err)
{
	VEC(const char *) java = { 0 };
	struct losses losses = { 0 };
	struct arena arena = { 0 };
	int got = 0;

	while (names.n && got >= 0) {
		size_t n = str_find_char(names, ',');
		const char *path = arena_z(&arena, str_head(names, n));

		if (is_java(path))
			vec_push(&java, path);
		else
			got = functions_of_file(&l->functions, path, err);
		names = str_skip(names, n + 1);
	}
	if (got >= 0 && java.nr)
		got = program_load(&l->java, java.v, java.nr, 0, &losses, err);
	vec_done(&java);
	arena_done(&arena);
	return got;
}

int looked_into(struct looked *l, const struct call *call, struct error *err)
{
	const char *programs = call_get(call, "program");
	uint64_t pid = 0;
	int got = option_number(call, "pid", INT32_MAX, &pid, err);

	if (got >= 0 && pid)
		got = functions_of_process(&l->functions, (int)pid, err);
	if (got >= 0 && programs)
		got = look_into_files(l, str_of(programs), err);
	l->is_asked = pid || programs;
	if (l->is_asked && got >= 0)
		usdts_read(&l->usdts, &l->functions);
	return got < 0 ? got : 0;
}

void looked_done(struct looked *l)
{
	usdts_done(&l->usdts);
	functions_done(&l->functions);
	program_free(l->java);
}

/* --- places ----------------------------------------------------------------------------------- */

static bool module_is(const struct looked *l, uint32_t module, struct str binary)
{
	struct str path = l->functions.modules.v[module].path, name = path;

	for (size_t i = path.n; i-- > 0;)
		if (path.p[i] == '/') {
			name = str_skip(path, i + 1);
			break;
		}
	return str_eq(path, binary) || str_eq(name, binary) ||
	       (str_starts(name, binary) && str_starts(str_skip(name, binary.n), STR(".so")));
}

static bool has_module(const struct looked *l, struct str binary)
{
	for (uint32_t i = 0; i < l->functions.modules.nr; i++)
		if (module_is(l, i, binary))
			return true;
	return false;
}

static bool say(struct looked *l, struct buf *said, size_t nr, struct str near)
{
	l->nr_missing += !nr;
	if (nr > 1)
		buf_fmt(said, "%zu times", nr);
	else if (nr)
		buf_add(said, STR("yes"));
	else if (near.n)
		buf_fmt(said, "no; near: " STR_FMT, STR_ARG(near));
	else
		buf_add(said, STR("no"));
	return true;
}

static bool is_patchable(const struct looked *l, uint32_t function)
{
	const struct function_of *f = &l->functions.v.v[function];
	struct arena arena = { 0 };
	bool is = spot_is_patchable(arena_z(&arena, l->functions.modules.v[f->module].path),
				    f->address, f->size);

	arena_done(&arena);
	return is;
}

static bool look_for_function(struct looked *l, const struct tracepoint_place *p, struct buf *said)
{
	uint32_t found[FOUND_MAX];
	size_t nr = functions_find(&l->functions, p->name, found, FOUND_MAX), kept = 0,
	       nr_outside = 0;
	struct str near = { 0 };

	if (!has_module(l, p->binary))
		return false;
	for (size_t i = 0; i < nr; i++)
		if (module_is(l, l->functions.v.v[found[i]].module, p->binary)) {
			kept++;
			nr_outside += !is_patchable(l, found[i]);
		}
	if (!kept)
		functions_near(&l->functions, p->name, &near, 1);
	say(l, said, kept, near);
	if (nr_outside && nr_outside == kept)
		buf_add(said, STR(", from outside"));
	else if (nr_outside)
		buf_fmt(said, ", %zu from outside", nr_outside);
	return true;
}

static bool look_for_probe(struct looked *l, const struct tracepoint_place *p, struct buf *said)
{
	uint32_t found[FOUND_MAX];

	return l->functions.modules.nr &&
	       say(l, said, usdts_find(&l->usdts, p->binary, p->name, found, FOUND_MAX), STR(""));
}

/* "a.b.C.method(types)" into a/b/C and method. */
static bool split_class(struct str pattern, struct buf *class, struct str *method)
{
	struct str name = str_head(pattern, str_find_char(pattern, '('));
	size_t dot = name.n;

	while (dot && name.p[dot - 1] != '.')
		dot--;
	if (dot < 2 || str_find_char(name, '*') < name.n || str_find_char(name, '@') < name.n)
		return false;
	*method = str_skip(name, dot);
	for (size_t i = 0; i + 1 < dot; i++)
		buf_char(class, name.p[i] == '.' ? '/' : name.p[i]);
	return true;
}

static bool look_for_method(struct looked *l, const struct tracepoint_place *p, struct buf *said)
{
	struct buf name = { 0 };
	struct str method = { 0 };
	struct near near;
	uint32_t class = NO_CLASS;
	size_t nr = 0;

	if (l->java && split_class(p->name, &name, &method))
		class = program_class(l->java, buf_str(&name));
	buf_done(&name);
	if (class == NO_CLASS)
		return false;
	near_begin(&near, method);
	vec_each (&l->java->methods, m) {
		struct str one = names_str(&l->java->names, m->name);

		if (m->class != class)
			continue;
		nr += str_eq(one, method);
		near_offer(&near, one);
	}
	return say(l, said, nr, near.best);
}

bool looked_for(struct looked *l, const struct tracepoint_place *p, struct buf *said)
{
	switch (p->where) {
	case WHERE_FUNCTION:
		return look_for_function(l, p, said);
	case WHERE_USDT:
		return look_for_probe(l, p, said);
	case WHERE_SYSCALL: /* of any program */
		buf_add(said, STR("from outside"));
		return true;
	case WHERE_CLASS:
		return look_for_method(l, p, said);
	default:
		return false;
	}
}
