/* How a live variance begins: into the process, and from what the user calls an interval to the
 * functions that tell it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/time.h"
#include "capture/jvm/attach.h"
#include "capture/probe/preset.h"
#include "capture/probe/spec.h"
#include "capture/sched.h"
#include "cli/command.h"
#include "cli/say.h"
#include "cli/variance_session.h"
#include "program/usdt.h"

#define SAME_NAME_MAX 64
#define CALLERS_MAX 16 /* of a mark: what many call tells little of what is done between */

/* Nothing is seen of a process that stands still, and nobody might know why. */
static void say_stopped(int pid)
{
	char path[32], line[512];
	const char *end = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f))
		end = strrchr(line, ')');
	if (f)
		fclose(f);
	if (end && end[1] == ' ' && end[2] == 'T')
		say_error("process %d is stopped: nothing is seen until it goes on (kill -CONT %d)",
			  pid, pid);
}

int session_attach(struct session *s, struct error *err)
{
	const struct probe_options o = {
		.pid = s->pid, .root = s->root, .follows = true, .forgets = true
	};
	int got;

	if (!s->options->command)
		say_stopped(s->pid);
	got = probe_open(&s->probe, &o, err);
	s->list.functions = &s->functions;
	s->list.has_system = call_has(s->options->call, "system");
	return got;
}

static enum interval_role role_of(enum spec_role role)
{
	static const enum interval_role roles[] = {
		[SPEC_WHOLE] = ROLE_WHOLE, [SPEC_BEGIN] = ROLE_BEGIN, [SPEC_END] = ROLE_END,
		[SPEC_CARRY] = ROLE_CARRY, [SPEC_PUT] = ROLE_PUT,     [SPEC_TAKE] = ROLE_TAKE,
		[SPEC_WORK] = ROLE_NONE,
	};

	return roles[role];
}

/* A value that is returned is known when the function ends, and so is that an interval is over. */
static void mark_by(struct probe_function *how, const struct interval_spec *spec)
{
	bool at_exit =
		spec->take.from == TAKE_RETURN || spec->role == SPEC_END || spec->role == SPEC_TAKE;

	if (at_exit) {
		how->is_mark_at_exit = true;
		how->at_exit = spec->take;
	} else {
		how->is_mark_at_entry = true;
		how->at_entry = spec->take;
	}
}

static int resolve(struct session *s, const struct interval_spec *spec, struct error *err)
{
	uint32_t found[SAME_NAME_MAX];
	size_t nr;

	if (spec->is_usdt)
		return session_static(s, spec, role_of(spec->role), err);
	if (java_is_method(s, s->pid, spec->name))
		return java_resolve(s, spec, role_of(spec->role), err);
	nr = functions_find(&s->functions, spec->name, found, SAME_NAME_MAX);
	if (!nr && spec->is_optional)
		return 0;
	if (!nr) {
		functions_missing(&s->functions, spec->name, err);
		return spec_show(spec, err);
	}
	if (spec->path.n && spec->take.from == TAKE_NOTHING) {
		error_set(err, ENOTSUP, "this is a value of a Java method, and it is a function");
		return spec_show(spec, err);
	}
	for (size_t i = 0; i < nr; i++) {
		uint32_t number = watchlist_add(&s->list, found[i], role_of(spec->role), 0);

		if (spec->role == SPEC_WORK) {
			if (session_work(s, number, spec) || spec->is_optional)
				continue;
			error_set(err, EINVAL,
				  "it tells its interval when it is left, and no "
				  "amount besides");
			return spec_show(spec, err);
		}
		mark_by(&s->list.v.v[number].how, spec);
		/* pieces of work, by which it is told what watching costs */
		s->list.v.v[number].how.is_unit =
			spec->role == SPEC_WHOLE || spec->role == SPEC_BEGIN;
	}
	return 0;
}

static int add_option(const struct call *call, const char *name, enum spec_option option,
		      struct interval_specs *specs, struct error *err)
{
	struct str left = str_of(call_get(call, name));
	int got = 0;

	while (left.n && got >= 0)
		got = specs_add(specs, option, specs_next(&left), err);
	return got;
}

/* Programs that a preset is for are known by their names as well. */
static const struct preset *preset_of(const struct session *s)
{
	const char *name = call_get(s->options->call, "preset");
	static const char *const usual[][2] = {
		{ "postgres", "postgresql" }, { "mariadbd", "mariadb" },
		{ "mysqld", "mariadb" },      { "apache2", "apache" },
		{ "httpd", "apache" },        { "nginx", "nginx" },
		{ "redis-server", "redis" },  { "redis-check-rdb", "redis" }
	};
	struct str path;

	if (name)
		return preset_find(str_of(name));
	if (!s->functions.modules.nr)
		return NULL;
	path = s->functions.modules.v[0].path;
	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
		if (str_ends(path, str_of(usual[i][0])))
			return preset_find(str_of(usual[i][1]));
	return NULL;
}

static int read_specs(struct session *s, const struct preset *preset, struct interval_specs *specs,
		      struct error *err)
{
	const struct call *call = s->options->call;
	int got = 0;

	if (call_has(call, "preset") && !preset)
		return preset_missing(str_of(call_get(call, "preset")), err);
	/* who says otherwise what an interval is may still know it by its functions */
	if (preset && !call_has(call, "interval"))
		got = preset_specs(preset, specs, err);
	if (got >= 0)
		got = add_option(call, "interval", SPEC_OF_INTERVAL, specs, err);
	if (got >= 0)
		got = add_option(call, "carry", SPEC_OF_CARRY, specs, err);
	if (got >= 0)
		got = add_option(call, "put", SPEC_OF_PUT, specs, err);
	if (got >= 0)
		got = add_option(call, "take", SPEC_OF_TAKE, specs, err);
	if (got >= 0 && !specs->v.nr)
		got = error_set(err, EINVAL,
				"what is one piece of work in this program? --interval FUNCTION, "
				"or --preset NAME");
	if (got < 0)
		return got;
	/* who names amounts does not want others */
	return preset && !call_has(call, "work")
		       ? preset_works(preset, specs, err)
		       : add_option(call, "work", SPEC_OF_WORK, specs, err);
}

/* Whether the program has it; *err says what it has instead. */
static bool has_spec(struct session *s, int pid, const struct interval_spec *spec,
		     struct error *err)
{
	struct usdts probes = { 0 };
	uint32_t found;
	size_t nr;

	/* which methods there are is known only in the machine */
	if (!spec->is_usdt && java_is_method(s, pid, spec->name))
		return true;
	if (!spec->is_usdt && java_will_be(s, pid, spec->name)) {
		s->java.is_awaited = true;
		return true;
	}
	if (!spec->is_usdt) {
		nr = functions_find(&s->functions, spec->name, &found, 1);
		if (!nr && !spec->is_optional) {
			functions_missing(&s->functions, spec->name, err);
			spec_show(spec, err);
		}
		return nr || spec->is_optional;
	}
	usdts_read(&probes, &s->functions);
	nr = usdts_find(&probes, spec->provider, spec->name, &found, 1);
	if (!nr && !spec->is_optional) {
		usdts_missing(&probes, spec->provider, spec->name, err);
		spec_show(spec, err);
	}
	usdts_done(&probes);
	return nr || spec->is_optional;
}

int session_has(struct session *s, int pid, struct error *err)
{
	struct interval_specs specs = { 0 };
	int got;

	functions_done(&s->functions);
	s->functions = (struct functions){ 0 };
	s->java.is_awaited = false;
	got = functions_of_process(&s->functions, pid, err);
	if (got >= 0)
		got = read_specs(s, preset_of(s), &specs, err);
	if (got >= 0) {
		got = 1;
		for (size_t i = 0; i < specs.v.nr && got; i++)
			got = has_spec(s, pid, &specs.v.v[i], err);
	}
	specs_done(&specs);
	return got;
}

/* Functions by name, where the program has them. */
static void add_names(struct session *s, const char *const *names, bool is_hot)
{
	uint32_t found[SAME_NAME_MAX];

	for (; names && *names; names++) {
		size_t nr = functions_find(&s->functions, str_of(*names), found, SAME_NAME_MAX);

		for (size_t i = 0; i < nr; i++) {
			uint32_t number = watchlist_add(&s->list, found[i], ROLE_NONE, 1);

			if (is_hot && s->list.v.v[number].role == ROLE_NONE)
				s->list.v.v[number].out = WATCH_HOT;
		}
	}
}

/* Functions that the user names to begin with. */
static int add_roots(struct session *s, struct error *err)
{
	struct str left = str_of(call_get(s->options->call, "root"));

	while (left.n) {
		struct str name = specs_next(&left);
		uint32_t found[SAME_NAME_MAX];
		size_t nr = functions_find(&s->functions, name, found, SAME_NAME_MAX);

		if (!nr && java_is_method(s, s->pid, name)) {
			int got = java_root(s, name, err);

			if (got < 0)
				return got;
			continue;
		}
		if (!nr)
			return functions_missing(&s->functions, name, err);
		for (size_t i = 0; i < nr; i++)
			watchlist_add(&s->list, found[i], ROLE_NONE, 1);
	}
	return 0;
}

static void meet_around(struct session *s, uint32_t mark)
{
	uint32_t callers[CALLERS_MAX];
	size_t nr = functions_callers(&s->functions, mark, callers, CALLERS_MAX);
	struct error ignored = { 0 };
	struct callees c;

	for (size_t i = 0; i < nr; i++) {
		if (functions_callees(&s->functions, callers[i], &c, &ignored) < 0)
			continue;
		for (size_t k = 0; k < c.nr; k++)
			watchlist_meet(&s->list, c.v[k], 1);
	}
}

/* What is done between marks is called by those who call the marks. */
static void meet_between(struct session *s)
{
	size_t nr = s->list.v.nr;

	for (uint32_t i = 0; i < nr; i++) {
		const struct watch *w = &s->list.v.v[i];

		if (!w->is_static && !w->java &&
		    (w->role == ROLE_BEGIN || w->role == ROLE_END || w->role == ROLE_PUT ||
		     w->role == ROLE_TAKE))
			meet_around(s, w->function);
	}
}

/* What is in the list so far calls others: the first level below the interval. */
static int expand_roles(struct session *s, struct error *err)
{
	size_t nr = s->list.v.nr;
	/* whom methods call is known when they are woven */
	int got = java_watch(s, err);

	if (got >= 0)
		got = java_check(s, err);
	for (uint32_t i = 0; i < nr && got >= 0; i++) {
		const struct watch *n = &s->list.v.v[i];

		if (n->java && n->role != ROLE_NONE)
			got = java_expand(s, i, err);
		else if (n->role == ROLE_WHOLE || n->role == ROLE_CARRY)
			watchlist_expand(&s->list, i, err);
	}
	return got;
}

static bool wants_body(void *to, const struct interval *v)
{
	return keep_wants(&((struct session *)to)->keep, v);
}

static int open_rest(struct session *s, struct error *err)
{
	const struct intervals_options o = { .functions = s->list.roles.v,
					     .nr_functions = s->list.roles.nr,
					     .type = s->type,
					     .losses = &s->losses,
					     .wants_body = wants_body,
					     .interval = session_interval,
					     .to = s };
	struct error why = { 0 };
	int got = intervals_open(&s->intervals, &o, err);

	if (got >= 0 && s->options->path)
		got = keep_open(&s->keep, s->options->path, s->type, err);
	if (got < 0 || s->options->has_no_states)
		return got;
	if (sched_open(&s->sched, &s->pid, 1, &why) < 0)
		say_error("threads are not watched while they wait: %s", why.msg);
	return 0;
}

/* What its intervals are called. */
static struct str type_of(const struct session *s, const struct preset *preset,
			  const struct interval_specs *specs)
{
	if (preset && !call_has(s->options->call, "interval"))
		return str_of(preset->name);
	return specs->v.v[0].role == SPEC_WHOLE ? specs->v.v[0].name : specs->v.v[0].text;
}

int session_begin(struct session *s, struct error *err)
{
	const struct preset *preset = preset_of(s);
	struct interval_specs specs = { 0 };
	int got = read_specs(s, preset, &specs, err);

	for (size_t i = 0; got >= 0 && i < specs.v.nr; i++)
		got = resolve(s, &specs.v.v[i], err);
	if (got >= 0) {
		s->type = arena_z(&s->functions.arena, type_of(s, preset, &specs));
		if (preset) {
			add_names(s, preset->hot, true);
			add_names(s, preset->roots, false);
		} else if (!call_has(s->options->call, "root")) {
			meet_between(s);
		}
		got = add_roots(s, err);
	}
	if (got >= 0)
		got = expand_roles(s, err);
	if (got >= 0)
		got = open_rest(s, err);
	if (got >= 0)
		got = session_watch(s, err);
	specs_done(&specs);
	if (got < 0)
		return got;
	if (!got && !watchlist_nr_on(&s->list))
		return error_set(err, ENOTSUP, "none of the functions can be watched: %s",
				 s->list.v.nr && s->list.v.v[0].why ? s->list.v.v[0].why : "");
	session_new_round(s);
	return 0;
}
