/*
 * Logging calls are known by shape, not by a list of libraries: a method with the name of a level,
 * on a type that is called like a logger or has the methods of one, whose first argument is a
 * message. That covers log4j 1 and 2, slf4j, commons-logging, java.util.logging, logback,
 * jboss-logging, the wrappers that systems write around these, the fluent interfaces, and the
 * by-name messages of Scala.
 */
#include "program/logger.h"

#include "program/descriptor.h"
#include "program/fields.h"
#include "program/insn.h"
#include "program/origin.h"

struct level_word {
	struct str name;
	enum level level;
};

static const struct level_word level_words[] = {
	{ STR("trace"), LEVEL_TRACE },       { STR("debug"), LEVEL_DEBUG },
	{ STR("info"), LEVEL_INFO },         { STR("warn"), LEVEL_WARN },
	{ STR("error"), LEVEL_ERROR },       { STR("fatal"), LEVEL_FATAL },
	{ STR("warning"), LEVEL_WARN },      { STR("severe"), LEVEL_ERROR },
	{ STR("config"), LEVEL_INFO },       { STR("fine"), LEVEL_DEBUG },
	{ STR("finer"), LEVEL_TRACE },       { STR("finest"), LEVEL_TRACE },
	{ STR("logTrace"), LEVEL_TRACE },    { STR("logDebug"), LEVEL_DEBUG },
	{ STR("logInfo"), LEVEL_INFO },      { STR("logWarning"), LEVEL_WARN },
	{ STR("logWarn"), LEVEL_WARN },      { STR("logError"), LEVEL_ERROR },
	{ STR("infov"), LEVEL_INFO },        { STR("infof"), LEVEL_INFO },
	{ STR("warnf"), LEVEL_WARN },        { STR("warnv"), LEVEL_WARN },
	{ STR("errorf"), LEVEL_ERROR },      { STR("errorv"), LEVEL_ERROR },
	{ STR("debugf"), LEVEL_DEBUG },      { STR("debugv"), LEVEL_DEBUG },
	{ STR("tracef"), LEVEL_TRACE },      { STR("tracev"), LEVEL_TRACE },
	{ STR("log"), LEVEL_NONE },          { STR("logp"), LEVEL_NONE },
	{ STR("printf"), LEVEL_NONE },       { STR("logMessage"), LEVEL_NONE },
	{ STR("logIfEnabled"), LEVEL_NONE },
};

static const struct level_word *find_level(struct str name)
{
	for (size_t i = 0; i < sizeof(level_words) / sizeof(*level_words); i++)
		if (str_eq(level_words[i].name, name))
			return &level_words[i];
	return NULL;
}

bool logger_may_log(struct str name)
{
	return find_level(name) != NULL;
}

/* The last word of a class name: Logger of org/slf4j/Logger and of AbstractLogger. */
static bool is_called_logger(struct str class)
{
	struct str name = origin_simple(class);

	return str_ends(name, STR("Logger")) || str_ends(name, STR("Log")) ||
	       str_ends(name, STR("Logging")) || str_eq(name, STR("Category")) ||
	       str_ends(name, STR("LoggingEventBuilder")) || str_eq(name, STR("LogBuilder"));
}

static bool takes_message(struct str type)
{
	struct str parameters = descriptor_parameters(type), first = STR("");

	descriptor_take(&parameters, &first);
	return str_eq(first, STR("Ljava/lang/String;")) ||
	       str_eq(first, STR("Ljava/lang/Object;")) ||
	       str_eq(first, STR("Ljava/lang/CharSequence;")) ||
	       str_eq(first, STR("Lscala/Function0;"));
}

/* Has methods named after at least three of the four common levels. */
static bool is_shaped_logger(const struct program *p, uint32_t class)
{
	static const struct str common[] = { STR("info"), STR("warn"), STR("error"), STR("debug") };
	unsigned found = 0;

	for (unsigned up = 0; class != NO_CLASS && up < 8; up++) {
		const struct class *c = &p->classes.v[class].c;

		for (size_t k = 0; k < sizeof(common) / sizeof(*common); k++) {
			for (uint16_t i = 0; i < c->nr_methods; i++) {
				if (!str_eq(c->methods[i].name, common[k]) ||
				    !takes_message(c->methods[i].type))
					continue;
				found |= 1U << k;
				break;
			}
		}
		class = p->classes.v[class].super;
	}
	return __builtin_popcount(found) >= 3;
}

static bool is_logger(struct where call, const struct member_ref *m)
{
	const struct program *p = call.scope->all->program;
	uint32_t class;

	if (str_starts(descriptor_parameters(m->type), STR("Lscala/Function0;")))
		return true;
	if (is_called_logger(m->owner))
		return true;
	class = program_class(p, m->owner);
	return class != NO_CLASS && is_shaped_logger(p, class);
}

static bool is_level_type(struct str type)
{
	struct str name = origin_simple(descriptor_class(type));

	return str_eq(name, STR("Level")) || str_eq(name, STR("Priority")) ||
	       str_ends(name, STR("LogLevel"));
}

static bool is_message_type(struct str type)
{
	struct str class = descriptor_class(type), name = origin_simple(class);

	return str_eq(class, STR("java/lang/String")) || str_eq(class, STR("java/lang/Object")) ||
	       str_eq(class, STR("java/lang/CharSequence")) || str_ends(name, STR("Supplier")) ||
	       str_eq(name, STR("Message")) || str_eq(class, STR("scala/Function0"));
}

/* The level that an argument such as Level.WARN names. */
static enum level level_arg(struct where at)
{
	const struct level_word *l;
	struct member_ref m;
	char lower[16];

	at = where_source(at);
	if (where_value(at)->kind != VALUE_STATIC || !where_member(at, &m) ||
	    m.name.n >= sizeof(lower))
		return LEVEL_NONE;
	for (size_t i = 0; i < m.name.n; i++)
		lower[i] = (char)(m.name.p[i] | 0x20);
	l = find_level((struct str){ lower, m.name.n });
	return l ? l->level : LEVEL_NONE;
}

/* logger.atInfo().…log(): the level is where the chain began. */
static enum level level_of_chain(struct where at)
{
	struct member_ref m;

	for (unsigned i = 0; i < 32; i++) {
		at = where_source(at);
		if (where_value(at)->kind != VALUE_CALL || !where_member(at, &m))
			return LEVEL_NONE;
		if (str_eq(m.name, STR("atInfo")))
			return LEVEL_INFO;
		if (str_eq(m.name, STR("atDebug")))
			return LEVEL_DEBUG;
		if (str_eq(m.name, STR("atTrace")))
			return LEVEL_TRACE;
		if (str_eq(m.name, STR("atWarn")))
			return LEVEL_WARN;
		if (str_eq(m.name, STR("atError")))
			return LEVEL_ERROR;
		if (str_eq(m.name, STR("atLevel")) || str_eq(m.name, STR("atFatal")))
			return str_eq(m.name, STR("atFatal")) ? LEVEL_FATAL
							      : level_arg(where_arg(at, 1));
		at = where_arg(at, 0);
	}
	return LEVEL_NONE;
}

static void add_arg(struct log_call *c, struct where at, struct str type)
{
	struct where elements[16], last = at;
	uint32_t nr = 0;

	if (type.n && type.p[0] == '[')
		nr = wording_elements(at, elements, 16);
	if (nr)
		last = elements[nr - 1];
	if (origin_hole(last) == HOLE_ERROR || str_eq(type, STR("Ljava/lang/Throwable;")))
		c->has_error = true;
	if (!str_eq(type, STR("Ljava/lang/Throwable;")) &&
	    c->nr_args < sizeof(c->args) / sizeof(*c->args))
		c->args[c->nr_args++] = at;
}

/* Sorts the arguments of the call into level, message and what belongs to the message. */
static bool sort_args(struct where call, const struct member_ref *m, struct log_call *c)
{
	struct str rest = descriptor_parameters(m->type), type;
	bool has_level = false, has_message = false;
	uint32_t arg = c->has_receiver ? 1 : 0;
	unsigned places = str_eq(m->name, STR("logp")) ? 2 : 0; /* class and method come first */

	for (struct str look = rest; descriptor_take(&look, &type);)
		has_level |= is_level_type(type);
	for (; descriptor_take(&rest, &type); arg++) {
		struct where at = where_arg(call, arg);

		if (is_level_type(type)) {
			c->level = level_arg(at);
			has_level = false;
		} else if (has_message) {
			add_arg(c, at, type);
		} else if (!has_level && is_message_type(type) && places) {
			places--;
		} else if (!has_level && is_message_type(type)) {
			c->message = at;
			has_message = true;
		}
	}
	return has_message;
}

/* logger.atInfo().setMessage("…").log() */
static bool message_of_chain(struct where call, struct log_call *c)
{
	struct where at = call;
	struct member_ref m;

	for (unsigned i = 0; i < 32 && c->has_receiver; i++) {
		at = where_source(where_arg(at, 0));
		if (where_value(at)->kind != VALUE_CALL || !where_member(at, &m) ||
		    where_value(at)->op == OP_INVOKESTATIC)
			return false;
		if (!str_eq(m.name, STR("setMessage")))
			continue;
		c->message = where_arg(at, 1);
		return true;
	}
	return false;
}

/* In the fluent interface arguments come one by one before the message. */
static void take_chained_args(struct where call, struct log_call *c)
{
	struct where chain[16], at = where_source(where_arg(call, 0));
	uint32_t nr = 0;
	struct member_ref m;

	while (nr < 16 && where_value(at)->kind == VALUE_CALL && where_member(at, &m)) {
		if (str_eq(m.name, STR("addArgument")))
			chain[nr++] = where_arg(at, 1);
		at = where_source(where_arg(at, 0));
	}
	while (nr && c->nr_args < 16)
		c->args[c->nr_args++] = chain[--nr];
}

bool logger_is_call(struct where call, struct log_call *c)
{
	const struct value *v = where_value(call);
	const struct level_word *l;
	struct member_ref m;

	if (v->kind != VALUE_CALL || v->op == OP_INVOKEDYNAMIC || !where_member(call, &m))
		return false;
	l = find_level(m.name);
	if (!l || !is_logger(call, &m))
		return false;
	*c = (struct log_call){ .level = l->level, .has_receiver = v->op != OP_INVOKESTATIC };
	if (!sort_args(call, &m, c) && !message_of_chain(call, c))
		return false;
	c->style = str_starts(m.owner, STR("java/util/logging/")) || str_ends(m.name, STR("v"))
			   ? FORMAT_NUMBERS
		   : str_eq(m.name, STR("printf")) || str_ends(m.name, STR("f")) ? FORMAT_PERCENT
										 : FORMAT_BRACES;
	if (l->level == LEVEL_NONE && c->level == LEVEL_NONE && c->has_receiver) {
		c->level = level_of_chain(where_arg(call, 0));
		if (c->level != LEVEL_NONE)
			take_chained_args(call, c);
	}
	return true;
}

struct text logger_text(struct wording *w, const struct log_call *c)
{
	if (c->nr_args)
		return wording_format(w, c->style, c->message, c->args, c->nr_args, 0);
	return wording_of(w, c->message, 0);
}

static struct str with_dots(struct str class, struct arena *a, const char *after)
{
	struct str s = arena_fmt(a, STR_FMT "%s", STR_ARG(class), after);

	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '/')
			((char *)s.p)[i] = '.';
	return s;
}

/* The argument of getLogger(): a class, its own class, a name. */
static struct str name_of_argument(struct where at, struct arena *a)
{
	struct wording w = { a, 200, 0, 0 };
	struct member_ref m;
	struct text t;

	at = where_source(at);
	if (where_value(at)->kind == VALUE_TYPE)
		return with_dots(class_named(at.scope->v->class, where_value(at)->constant), a, "");
	if (where_value(at)->kind == VALUE_CALL && where_member(at, &m)) {
		if (str_eq(m.name, STR("getClass")))
			return with_dots(at.scope->v->class->name, a, "*");
		if (str_eq(m.name, STR("getName")) || str_eq(m.name, STR("getCanonicalName")))
			return name_of_argument(where_arg(at, 0), a);
	}
	if (!str_eq(where_type(at), STR("Ljava/lang/String;")))
		return STR("");
	t = text_tidy(a, wording_of(&w, at, 0));
	if (t.nr && t.versions[0].nr == 1 && t.versions[0].parts[0].kind == PART_TEXT)
		return t.versions[0].parts[0].text;
	return STR("");
}

static struct str name_of_logger(struct where at, struct arena *a, unsigned depth)
{
	struct where first;
	struct member_ref m;
	struct field f;

	at = where_source(at);
	if (depth > 6)
		return STR("");
	if (field_of(at, &f)) {
		if (field_beginnings(at.scope->all, &f, &first, 1, a))
			return name_of_logger(first, a, depth + 1);
		return STR("");
	}
	if (where_value(at)->kind == VALUE_PARAMETER && !where_value(at)->number &&
	    !(at.scope->v->method->access & ACCESS_STATIC))
		return with_dots(at.scope->v->class->name, a, "*"); /* it is its own logger */
	if (where_value(at)->kind != VALUE_CALL || !where_member(at, &m))
		return STR("");
	if (where_value(at)->op == OP_INVOKESTATIC && where_callee(at) == NO_METHOD)
		return where_value(at)->nr ? name_of_argument(where_arg(at, 0), a)
					   : with_dots(at.scope->v->class->name, a, "");
	if (str_ends(m.name, STR("getLogger")) && !where_value(at)->nr)
		return with_dots(at.scope->v->class->name, a, "");
	if (str_ends(m.name, STR("getLogger")) || str_eq(m.name, STR("getLog")))
		return name_of_argument(
			where_arg(at, where_value(at)->op == OP_INVOKESTATIC ? 0 : 1), a);
	/* a method that hands the logger out, or a chain that began with it */
	const struct scope *inside = NULL;
	uint32_t callee = where_callee(at);

	if (callee != NO_METHOD)
		inside = scope_enter(at.scope, at.value, callee, a);
	for (uint32_t i = 1; inside && i < inside->v->nr; i++)
		if (inside->v->v[i].kind == VALUE_RETURN && inside->v->v[i].nr)
			return name_of_logger(
				(struct where){ inside, inside->v->args[inside->v->v[i].first] }, a,
				depth + 1);
	return where_value(at)->nr ? name_of_logger(where_arg(at, 0), a, depth + 1) : STR("");
}

struct str logger_name(struct where call, struct arena *a)
{
	if (!where_value(call)->nr || where_value(call)->op == OP_INVOKESTATIC)
		return STR("");
	return name_of_logger(where_arg(call, 0), a, 0);
}
