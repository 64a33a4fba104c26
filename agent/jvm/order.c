#include "agent/jvm/order.h"

#include <errno.h>

#include "base/error.h"
#include "program/annotation.h"
#include "program/class.h"

#define FIELDS 10

static const char *const moments[] = { [WANTED_ENTRY] = "entry",
				       [WANTED_EXIT] = "exit",
				       [WANTED_EXCEPTION] = "exception",
				       [WANTED_LINE] = "line",
				       [WANTED_CALL] = "call" };

static const char *const actions[] = {
	[WANTED_ADVISE] = "advise",   [WANTED_KEEP] = "keep",       [WANTED_OWN] = "own",
	[WANTED_TAKE] = "take",       [WANTED_SWAP] = "swap",       [WANTED_BACK] = "back",
	[WANTED_JOIN] = "join",       [WANTED_PUT] = "put",         [WANTED_FROM] = "from",
	[WANTED_ADD] = "add",         [WANTED_PASS] = "pass",       [WANTED_SEND] = "send",
	[WANTED_RECEIVE] = "receive", [WANTED_DROP] = "drop",       [WANTED_ACCEPT] = "accept",
	[WANTED_ANSWER] = "answer",   [WANTED_MORE] = "more",       [WANTED_WITH] = "with",
	[WANTED_EITHER] = "either",   [WANTED_GATHER] = "gather",   [WANTED_FIRST] = "first",
	[WANTED_NOTE] = "note",       [WANTED_NOTED] = "noted",     [WANTED_QUEUE] = "queue",
	[WANTED_NEXT] = "next",       [WANTED_IDLE] = "idle",       [WANTED_LEAVE] = "leave",
	[WANTED_BESIDE] = "beside",   [WANTED_BEAR] = "bear",       [WANTED_MOUNT] = "mount",
	[WANTED_YIELD] = "yield",     [WANTED_UNMOUNT] = "unmount", [WANTED_END] = "end",
	[WANTED_FILL] = "fill",       [WANTED_REPLY] = "reply",     [WANTED_SERVE] = "serve",
	[WANTED_DRAIN] = "drain",
};

#define NR(a) (sizeof(a) / sizeof(*(a)))

const char *wanted_moment_name(enum wanted_moment m)
{
	return moments[m];
}

const char *wanted_action_name(enum wanted_action a)
{
	return a < WANTED_ACTIONS ? actions[a] : "";
}

/* The number of a word, or -1. */
static int number_of(struct str word, const char *const *words, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (str_eq(word, str_of(words[i])))
			return (int)i;
	return -1;
}

static bool uint_of(struct str word, uint64_t max, uint64_t *n)
{
	return str_take_uint(&word, n) && !word.n && *n <= max;
}

static size_t fields_take(struct str line, struct str *f)
{
	size_t nr = 0;

	for (size_t i = 0; i < FIELDS; i++)
		f[i] = (struct str){ 0 };
	while (nr < FIELDS) {
		if (str_take_until(&line, '\t', &f[nr++]))
			continue;
		f[nr - 1] = line;
		break;
	}
	return nr;
}

/* "@Name" is any that has this annotation. */
static void annotation_take(struct str *what, struct str *annotation)
{
	if (!str_starts(*what, STR("@")))
		return;
	*annotation = str_skip(*what, 1);
	*what = STR("*");
}

static bool where_read(struct wanted *w, const struct str *f)
{
	int moment = number_of(f[0], moments, NR(moments));
	uint64_t line = 0;

	if (moment < 0 || !uint_of(f[1], UINT16_MAX, &line) || !f[2].n || !f[3].n)
		return false;
	w->moment = (enum wanted_moment)moment;
	w->line = (uint16_t)line;
	w->class = f[2];
	w->has_subtypes = str_ends(f[2], STR("+"));
	if (w->has_subtypes)
		w->class.n--;
	w->method = f[3];
	w->types = f[4];
	annotation_take(&w->class, &w->class_annotation);
	annotation_take(&w->method, &w->method_annotation);
	return true;
}

/* "place FUNCTION MOMENT LINE CLASS METHOD TYPES" */
static bool place_read(struct wanted *w, const struct str *f)
{
	uint64_t function;

	if (!uint_of(f[1], UINT16_MAX, &function) || !where_read(w, f + 2))
		return false;
	w->function = (uint32_t)function;
	w->action = WANTED_ADVISE;
	return true;
}

/* "carry MOMENT LINE CLASS METHOD TYPES ACTION OPERAND OPERAND CALL" */
static bool carry_read(struct wanted *w, const struct str *f)
{
	int action = number_of(f[6], actions, NR(actions));

	if (action <= WANTED_ADVISE || !where_read(w, f + 1))
		return false;
	w->action = (enum wanted_action)action;
	for (size_t i = 0; i < WANTED_OPERANDS; i++)
		w->operands[i] = f[7 + i];
	w->call = f[9];
	return w->moment != WANTED_CALL || w->call.n;
}

/* "time FUNCTION FLAGS CLASS METHOD TYPES VALUE VALUE": calls are told; values of marks, at the
 * entry and at the exit, may be empty or left out. */
static bool time_read(struct wanted *w, const struct str *f)
{
	const struct str where[] = { STR("exit"), STR("0"), f[3], f[4], f[5] };
	uint64_t function, flags;

	if (!uint_of(f[1], UINT16_MAX, &function) || !uint_of(f[2], WANTED_FLAGS, &flags) ||
	    !where_read(w, where))
		return false;
	w->function = (uint32_t)function;
	w->flags = (uint8_t)flags;
	w->action = WANTED_TIME;
	for (size_t i = 0; i < WANTED_OPERANDS; i++)
		w->operands[i] = f[6 + i];
	return (!f[6].n || flags & WANTED_MARK) && (!f[7].n || flags & WANTED_MARK_EXIT);
}

/* "look NUMBER CLASS METHOD": which classes have it. */
static bool look_read(struct order *o, const struct str *f)
{
	const struct str where[] = { STR("exit"), STR("0"), f[2], f[3], { 0 } };
	struct wanted_look l = { 0 };
	uint64_t number;

	if (!uint_of(f[1], UINT32_MAX, &number) || !where_read(&l.of, where))
		return false;
	l.number = (uint32_t)number;
	vec_push(&o->looks, l);
	return true;
}

/* "stops FUNCTION FUNCTION": pauses of the machine, and waits for monitors. */
static bool stops_read(struct order *o, const struct str *f)
{
	uint64_t pauses, locks;

	if (!uint_of(f[1], UINT16_MAX, &pauses) || !uint_of(f[2], UINT16_MAX, &locks))
		return false;
	o->pauses = (uint32_t)pauses;
	o->locks = (uint32_t)locks;
	return true;
}

static bool export_read(struct order *o, struct wanted *w, const struct str *f)
{
	struct wanted_export *more =
		arena_array(&o->arena, struct wanted_export, w->nr_exports + 1);
	uint64_t number;

	if (!uint_of(f[1], 63, &number) || !f[2].n)
		return false;
	for (size_t i = 0; i < w->nr_exports; i++)
		more[i] = w->exports[i];
	more[w->nr_exports++] = (struct wanted_export){ (uint8_t)number, f[2] };
	w->exports = more;
	return true;
}

/* False: the line says nothing that we know. */
static bool line_read(struct order *o, struct str line)
{
	struct str f[FIELDS], hex;
	struct wanted w = { .hash = str_hash(line) };
	bool is;

	fields_take(line, f);
	if (str_eq(f[0], STR("answer"))) {
		o->answer = f[1];
		return f[1].n > 0;
	}
	if (str_eq(f[0], STR("load"))) {
		vec_push(&o->loads, f[1]);
		return f[1].n > 0;
	}
	if (str_eq(f[0], STR("mute"))) {
		vec_push(&o->mutes, f[1]);
		return f[1].n > 0;
	}
	if (str_eq(f[0], STR("region"))) {
		hex = f[1];
		return str_take_hex(&hex, &o->region) && !hex.n;
	}
	if (str_eq(f[0], STR("export"))) {
		struct wanted *last = o->v.nr ? &o->v.v[o->v.nr - 1] : NULL;

		if (!last || last->action != WANTED_ADVISE || !export_read(o, last, f))
			return false;
		last->hash = last->hash * 31 + w.hash;
		return true;
	}
	if (str_eq(f[0], STR("look")))
		return look_read(o, f);
	if (str_eq(f[0], STR("stops")))
		return stops_read(o, f);
	is = str_eq(f[0], STR("place"))  ? place_read(&w, f)
	     : str_eq(f[0], STR("time")) ? time_read(&w, f)
					 : str_eq(f[0], STR("carry")) && carry_read(&w, f);
	if (is)
		vec_push(&o->v, w);
	return is;
}

int order_read(struct order *o, struct str text, struct error *err)
{
	struct str left, line;
	uint32_t nr = 1;

	*o = (struct order){ .pauses = ORDER_NONE, .locks = ORDER_NONE };
	left = arena_str(&o->arena, text);
	if (!str_take_until(&left, '\n', &line) || !str_eq(line, STR("culprit-jvm\t1")))
		return error_set(err, EPROTO, "not an order of this version");
	while (str_take_until(&left, '\n', &line)) {
		nr++;
		if (str_eq(line, STR("end")))
			return 0;
		if (!line_read(o, line))
			return error_set(err, EPROTO, "line %u of the order makes no sense", nr);
	}
	return error_set(err, EPROTO, "the order is not whole");
}

void order_done(struct order *o)
{
	vec_done(&o->v);
	vec_done(&o->loads);
	vec_done(&o->mutes);
	vec_done(&o->looks);
	arena_done(&o->arena);
}

unsigned wanted_rank(const struct wanted *w)
{
	switch (w->action) {
	case WANTED_TAKE:
	case WANTED_SWAP:
	case WANTED_JOIN:
	case WANTED_FROM:
	case WANTED_SERVE:
	case WANTED_ADD:
	case WANTED_RECEIVE:
	case WANTED_MOUNT:
		return 0;
	case WANTED_DROP:
		return w->moment == WANTED_ENTRY ? 0 : 2;
	case WANTED_ADVISE:
		return 1;
	default:
		return 2;
	}
}

/* --- which are meant ---------------------------------------------------------------------------
 */

/* Both are short. */
bool wanted_matches(struct str pattern, struct str text)
{
	size_t star = str_find_char(pattern, '*');

	if (star == pattern.n)
		return str_eq(pattern, text);
	if (!str_starts(text, str_head(pattern, star)))
		return false;
	pattern = str_skip(pattern, star + 1);
	text = str_skip(text, star);
	if (!pattern.n)
		return true;
	for (size_t i = 0; i <= text.n; i++)
		if (wanted_matches(pattern, str_skip(text, i)))
			return true;
	return false;
}

bool wanted_is_named(const struct wanted *w, struct str name)
{
	return wanted_matches(w->class, name);
}

/* One type of a descriptor, as people write it, with or without its package; *d goes behind it. */
static bool type_is(struct str *d, struct str said)
{
	static const char *const names[][2] = { { "Z", "boolean" }, { "B", "byte" },
						{ "C", "char" },    { "S", "short" },
						{ "I", "int" },     { "J", "long" },
						{ "F", "float" },   { "D", "double" } };
	struct str name;
	size_t dims = 0, dot;

	while (d->n && d->p[0] == '[') {
		dims++;
		*d = str_skip(*d, 1);
	}
	for (; dims; dims--) {
		if (!str_ends(said, STR("[]")))
			return false;
		said = str_trim(str_head(said, said.n - 2));
	}
	if (!d->n)
		return false;
	for (size_t i = 0; i < NR(names); i++)
		if (d->p[0] == names[i][0][0]) {
			*d = str_skip(*d, 1);
			return str_eq(said, str_of(names[i][1]));
		}
	if (d->p[0] != 'L' || !str_take_until(d, ';', &name))
		return false;
	name = str_skip(name, 1);
	if (said.n > name.n)
		return false;
	dot = name.n - said.n;
	for (size_t i = 0; i < said.n; i++)
		if ((name.p[dot + i] == '/' ? '.' : name.p[dot + i]) != said.p[i])
			return false;
	return !dot || name.p[dot - 1] == '/' || name.p[dot - 1] == '$';
}

static bool types_are(struct str types, struct str descriptor)
{
	struct str one;
	bool is_last = false;

	types = str_trim(str_head(str_skip(types, 1), types.n - 2));
	descriptor = str_skip(descriptor, 1);
	if (!types.n)
		return descriptor.n && descriptor.p[0] == ')';
	while (!is_last) {
		if (!str_take_until(&types, ',', &one)) {
			one = types;
			is_last = true;
		}
		if (!type_is(&descriptor, str_trim(one)))
			return false;
	}
	return descriptor.n && descriptor.p[0] == ')';
}

bool wanted_has_method(const struct wanted *w, const struct member *m)
{
	if (!m->code || m->access & ACCESS_BRIDGE || !wanted_matches(w->method, m->name))
		return false;
	/* a star does not mean what runs before the class is */
	if (str_eq(m->name, STR("<clinit>")) && !str_eq(w->method, m->name))
		return false;
	return w->types.n < 2 || types_are(w->types, m->type);
}

bool wanted_has_annotations(const struct wanted *w, const struct class *c, const struct member *m)
{
	return (!w->class_annotation.n ||
		annotation_among(c, c->annotations, w->class_annotation)) &&
	       (!w->method_annotation.n ||
		annotation_among(c, m->annotations, w->method_annotation));
}

bool wanted_has_call(const struct wanted *w, struct str owner, struct str name)
{
	size_t dot = w->call.n;

	while (dot && w->call.p[dot - 1] != '.')
		dot--;
	if (!dot || !str_eq(str_skip(w->call, dot), name) || owner.n != dot - 1)
		return false;
	for (size_t i = 0; i < owner.n; i++)
		if ((owner.p[i] == '/' ? '.' : owner.p[i]) != w->call.p[i])
			return false;
	return true;
}
