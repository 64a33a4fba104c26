#include "cli/variance_java.h"

#include <errno.h>

#include "base/error.h"
#include "capture/jvm/attach.h"
#include "capture/probe/spec.h"
#include "cli/say.h"
#include "cli/variance_session.h"

#define LOOKS_MAX 256 /* that one method brings */

static struct str simple_name(struct str class)
{
	for (size_t i = class.n; i > 0; i--)
		if (class.p[i - 1] == '.')
			return str_skip(class, i);
	return class;
}

/* What every program stands on: time there is told of who called it. */
static bool is_of_system(struct str class)
{
	static const char *const packages[] = { "java.", "javax.",   "jdk.",
						"sun.",  "com.sun.", "culprit." };

	for (size_t i = 0; i < sizeof(packages) / sizeof(*packages); i++)
		if (str_starts(class, str_of(packages[i])))
			return true;
	return false;
}

static bool is_left_alone(const struct session *s, struct str class)
{
	return !s->list.has_system && is_of_system(class);
}

/* --- the machine -------------------------------------------------------------------------------
 */

bool java_is_name(struct str name)
{
	return str_find_char(name, '.') < name.n && str_find_char(name, '!') == name.n;
}

bool java_is_method(const struct session *s, int pid, struct str name)
{
	uint32_t found;

	/* one that was started may be gone by now, which is another mistake */
	return java_is_name(name) && (s->java.is_awaited || jvm_is(pid) > 0) &&
	       !functions_find(&s->functions, name, &found, 1);
}

static const struct probe_region *region_of(const struct session *s)
{
	for (size_t i = 0; i < probe_nr_regions(s->probe); i++)
		if (probe_region(s->probe, i).pid == s->pid)
			return probe_region(s->probe, i).region;
	return NULL;
}

static int machine_open(struct session *s, struct error *err)
{
	const struct probe_region *region = region_of(s);
	int got;

	if (s->java.methods)
		return 0;
	if (!region)
		return error_set(err, ESRCH, "our code is not in process %d", s->pid);
	got = jvm_methods_open(&s->java.methods, s->pid, region, err);
	if (got < 0)
		return got;
	s->java.stopper = jvm_methods_stopper(s->java.methods);
	s->java.stops.pauses =
		watchlist_add_static(&s->list, STR("(collection of garbage)"), ROLE_NONE);
	s->java.stops.locks = watchlist_add_static(&s->list, STR("(lock)"), ROLE_NONE);
	return 0;
}

void java_done(struct session *s)
{
	jvm_methods_close(s->java.methods);
	s->java.methods = NULL;
	map_done(&s->java.waits);
	vec_each (&s->list.v, n)
		if (n->java) {
			vec_done(&n->java->calls);
			n->java = NULL;
		}
}

/* --- which methods -----------------------------------------------------------------------------
 */

static uint32_t method_find(const struct session *s, struct str class, struct str method)
{
	for (uint32_t i = 0; i < s->list.v.nr; i++) {
		const struct java_method *j = s->list.v.v[i].java;

		if (j && str_eq(j->class, class) && str_eq(j->method, method))
			return i;
	}
	return UINT32_MAX;
}

/* Without its package, unless another one is called so already. */
static struct str name_of(struct session *s, const struct java_method *j)
{
	struct arena *a = &s->functions.arena;
	struct str name = arena_fmt(a, STR_FMT "." STR_FMT, STR_ARG(simple_name(j->class)),
				    STR_ARG(j->method));

	vec_each (&s->list.roles, r)
		if (str_eq(r->name, name))
			return arena_fmt(a, STR_FMT "." STR_FMT, STR_ARG(j->class),
					 STR_ARG(j->method));
	return name;
}

static uint32_t method_add(struct session *s, const struct jvm_found *f, enum interval_role role,
			   uint32_t depth)
{
	struct arena *a = &s->functions.arena;
	uint32_t number = method_find(s, f->class, f->method);
	struct java_method *j;

	if (number != UINT32_MAX)
		return number;
	j = arena_new(a, struct java_method);
	*j = (struct java_method){ .class = arena_str(a, f->class),
				   .method = arena_str(a, f->method) };
	s->java.is_due = true;
	return watchlist_add_java(&s->list, j, name_of(s, j), role, depth);
}

static int missing(struct error *err)
{
	return error_set(
		err, ENOENT,
		"no class that is loaded has a method of this name with code: CLASS.METHOD");
}

int java_look(struct session *s, struct str name, struct jvm_heard *heard, struct error *err)
{
	struct str class = name, method = simple_name(name);
	struct jvm_look looks[2];
	int got = machine_open(s, err);

	class.n -= method.n + 1;
	looks[0] = (struct jvm_look){ class, method };
	looks[1] = (struct jvm_look){ arena_fmt(&s->functions.arena, "*." STR_FMT, STR_ARG(class)),
				      method };
	return got < 0 ? got : jvm_methods_look(s->java.methods, looks, 2, heard, err);
}

static int look_for(struct session *s, struct str name, struct jvm_heard *heard, struct error *err)
{
	return s->java.is_awaited ? java_look_again(s, name, heard, err)
				  : java_look(s, name, heard, err);
}

int java_root(struct session *s, struct str name, struct error *err)
{
	struct jvm_heard heard = { 0 };
	int got = look_for(s, name, &heard, err);

	if (got >= 0 && !heard.found.nr) {
		missing(err);
		got = error_prefix(err, STR_FMT, STR_ARG(name));
	}
	if (got >= 0)
		vec_each (&heard.found, f)
			method_add(s, f, ROLE_NONE, 1);
	jvm_heard_done(&heard);
	return got < 0 ? got : 0;
}

static bool is_returned(const struct interval_spec *spec)
{
	return str_starts(spec->path, STR("ret"));
}

/* As the agent knows it. */
static struct str value_of(struct session *s, const struct interval_spec *spec)
{
	struct str rest = spec->path;

	if (!str_take(&rest, STR("ret")) || str_starts(rest, STR("urn")))
		return arena_str(&s->functions.arena, spec->path);
	return arena_fmt(&s->functions.arena, "return" STR_FMT, STR_ARG(rest));
}

/* An amount is taken when the method is left, beside what else is told of it. */
static int work_by(struct session *s, uint32_t number, const struct interval_spec *spec,
		   struct error *err)
{
	if (session_work(s, number, spec)) {
		s->list.v.v[number].java->value_at_exit = value_of(s, spec);
		return 0;
	}
	if (spec->is_optional)
		return 0;
	error_set(err, EINVAL, "it tells its interval when it is left, and no amount besides");
	return spec_show(spec, err);
}

/* As of functions: what is returned is known when the method ends, and so is that an interval is
 * over. */
static int mark_by(struct session *s, uint32_t number, const struct interval_spec *spec,
		   enum interval_role role, struct error *err)
{
	struct watch *n = &s->list.v.v[number];

	n->java->asked = arena_str(&s->functions.arena, spec->text);
	n->java->asked_at = spec->at;
	if (spec->role == SPEC_WORK)
		return work_by(s, number, spec, err);
	n->role = s->list.roles.v[number].role = role;
	if (role == ROLE_END || role == ROLE_TAKE || is_returned(spec)) {
		n->how.is_mark_at_exit = true;
		n->java->value_at_exit = value_of(s, spec);
	} else {
		n->how.is_mark_at_entry = true;
		n->java->value = value_of(s, spec);
	}
	return 0;
}

int java_resolve(struct session *s, const struct interval_spec *spec, enum interval_role role,
		 struct error *err)
{
	struct jvm_heard heard = { 0 };
	int got;

	if (spec_has_value(spec) && !spec->path.n) {
		error_set(err, ENOTSUP,
			  "a value of a Java method is arg0, ret, this, or what is in them: "
			  "arg0.id, this.getId()");
		return spec_show(spec, err);
	}
	if (spec->role == SPEC_WHOLE && is_returned(spec)) {
		error_set(err, EINVAL, "what is returned is not known when the call begins");
		return spec_show(spec, err);
	}
	got = look_for(s, spec->name, &heard, err);
	if (got >= 0 && !heard.found.nr && !spec->is_optional) {
		missing(err);
		got = spec_show(spec, err);
	}
	vec_each (&heard.found, f) {
		uint32_t number = method_add(s, f, role, 0);

		if (got >= 0)
			got = mark_by(s, number, spec, role, err);
	}
	jvm_heard_done(&heard);
	return got < 0 ? got : 0;
}

static bool is_same_wish(const struct java_method *a, const struct java_method *b)
{
	return a->asked_at == b->asked_at && str_eq(a->asked, b->asked);
}

int java_check(struct session *s, struct error *err)
{
	vec_each (&s->list.v, n) {
		bool is_on = n->is_on;

		if (!n->java || !n->java->asked.n || n->out != WATCH_REFUSED)
			continue;
		vec_each (&s->list.v, other)
			is_on |= other->java && other->is_on && is_same_wish(n->java, other->java);
		if (!is_on) {
			const struct interval_spec spec = { .text = n->java->asked,
							    .at = n->java->asked_at };

			error_set(err, ENOTSUP, "this cannot be told of it: %s", n->why);
			return spec_show(&spec, err);
		}
	}
	return 0;
}

static void call_note(struct session *s, const struct jvm_calls *c)
{
	struct arena *a = &s->functions.arena;
	struct java_method *j = c->number < s->list.v.nr ? s->list.v.v[c->number].java : NULL;

	if (!j)
		return;
	vec_each (&j->calls, known)
		if (str_eq(known->class, c->whom.class) && str_eq(known->method, c->whom.method))
			return;
	vec_push(&j->calls,
		 (struct jvm_look){ arena_str(a, c->whom.class), arena_str(a, c->whom.method) });
}

/* What was refused in one of several methods may be woven in another. */
static void verdicts_take(struct session *s, const struct jvm_heard *heard)
{
	vec_each (&heard->calls, c)
		call_note(s, c);
	vec_each (&heard->verdicts, v) {
		struct watch *n = v->number < s->list.v.nr ? &s->list.v.v[v->number] : NULL;

		if (!n || !n->java)
			continue;
		if (!v->why.n) {
			n->out = WATCH_IN;
			n->is_on = true;
		} else if (!n->is_on) {
			n->out = WATCH_REFUSED;
			n->why = arena_z(&s->functions.arena, v->why);
		}
	}
}

/* What became of classes that were loaded since. */
static void hear(struct session *s)
{
	struct jvm_heard heard = { 0 };

	jvm_methods_hear(s->java.methods, &heard);
	verdicts_take(s, &heard);
	jvm_heard_done(&heard);
}

int java_expand(struct session *s, uint32_t number, struct error *err)
{
	struct watch *n = &s->list.v.v[number];
	struct jvm_look looks[LOOKS_MAX];
	struct jvm_heard heard = { 0 };
	uint32_t depth = n->depth + 1;
	size_t nr = 0;
	int got = 0;

	if (n->is_expanded)
		return 0;
	n->is_expanded = true;
	hear(s);
	vec_each (&n->java->calls, c)
		if (nr < LOOKS_MAX && !is_left_alone(s, c->class))
			looks[nr++] = *c;
	if (nr)
		got = jvm_methods_look(s->java.methods, looks, nr, &heard, err);
	vec_each (&heard.found, f)
		if (!is_left_alone(s, f->class) && s->list.v.nr < PROBE_FUNCTIONS_MAX)
			method_add(s, f, ROLE_NONE, depth);
	jvm_heard_done(&heard);
	return got;
}

/* --- watching ----------------------------------------------------------------------------------
 */

static int order(struct session *s, struct jvm_heard *heard, struct error *err)
{
	VEC(struct jvm_method) v = { 0 };
	int got;

	for (uint32_t i = 0; i < s->list.v.nr; i++) {
		const struct watch *n = &s->list.v.v[i];
		enum interval_role role = n->role;

		if (n->java && n->out == WATCH_IN)
			vec_push(&v, (struct jvm_method){ .number = i,
							  .class = n->java->class,
							  .method = n->java->method,
							  .is_mark = n->how.is_mark_at_entry,
							  .is_mark_at_exit = n->how.is_mark_at_exit,
							  .is_unit = role == ROLE_WHOLE ||
								     role == ROLE_BEGIN,
							  .value = n->java->value,
							  .value_at_exit = n->java->value_at_exit,
							  .is_amount = n->is_work_told });
	}
	got = jvm_methods_watch(s->java.methods, v.v, v.nr, &s->java.stops, heard, err);
	vec_done(&v);
	return got;
}

int java_watch(struct session *s, struct error *err)
{
	struct jvm_heard heard = { 0 };
	int got, nr = 0;

	if (!s->java.is_due)
		return 0;
	s->java.is_due = false;
	vec_each (&s->list.v, n)
		nr += n->java && n->out == WATCH_IN && !n->is_on;
	got = order(s, &heard, err);
	if (got >= 0)
		verdicts_take(s, &heard);
	if (got >= 0 && heard.error.n)
		say_error("process %d: %.*s", s->pid, STR_ARG(heard.error));
	/* what is not loaded yet is woven when it is */
	vec_each (&s->list.v, n)
		if (n->java && n->out == WATCH_IN)
			n->is_on = true;
	jvm_heard_done(&heard);
	return got < 0 ? got : nr;
}

/* --- waiting -----------------------------------------------------------------------------------
 */

bool java_stop(struct session *s, const struct function_call *c)
{
	if (c->function == s->java.stops.pauses)
		intervals_stop(s->intervals, c->process, c->start, c->end);
	else if (c->function == s->java.stops.locks)
		intervals_lock(s->intervals, c->process, c->thread, c->start, c->end);
	else
		return false;
	return true;
}

/* Who is woken by the thread that stops all others was stopped; whom nobody woke, waited for time
 * to pass. */
void java_change(struct session *s, struct thread_change *c)
{
	uint64_t *waits;

	if (!s->java.methods || c->process != (uint32_t)s->pid)
		return;
	waits = map_at(&s->java.waits, c->thread);
	if (c->kind == THREAD_OFF)
		*waits = 1u + (unsigned)c->why;
	if (c->kind != THREAD_WOKEN)
		return;
	if (s->java.stopper && c->other == s->java.stopper)
		c->why = WAIT_GC;
	else if (!c->other && *waits == 1u + WAIT_QUEUE)
		c->why = WAIT_SLEEP;
}
