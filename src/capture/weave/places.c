#include "capture/weave/places.h"

#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "capture/weave/java.h"

#define SAME_NAME_MAX 64
#define REGISTERS 16
#define NO_ARGUMENT (1u << 6) /* of the six in registers */

int programs_look(struct programs *g, int pid, struct error *err)
{
	int r = functions_of_process(&g->functions, pid, err);

	if (r >= 0 && g->functions.modules.nr != g->nr_modules) {
		usdts_done(&g->usdts);
		g->usdts = (struct usdts){ 0 };
		usdts_read(&g->usdts, &g->functions);
		g->nr_modules = g->functions.modules.nr;
	}
	return r;
}

void programs_done(struct programs *g)
{
	usdts_done(&g->usdts);
	functions_done(&g->functions);
	*g = (struct programs){ 0 };
}

static void function_add(struct programs *g, uint32_t number, enum piece_moment moment,
			 const struct tracepoint *t, struct weave_places *out)
{
	const struct function_of *f = &g->functions.v.v[number];
	struct weave_place p = { .moment = moment,
				 .how = { .module = arena_z(&g->functions.arena,
							    g->functions.modules.v[f->module].path),
					  .address = f->address,
					  .size = f->size,
					  .is_advised = true } };

	p.how.arguments = NO_ARGUMENT;
	for (size_t i = 0; t && i < t->nr_exports; i++) {
		p.takings[i] = t->exports[i].taking;
		if (p.takings[i].from == ADVICE_FROM_ARGUMENT)
			p.how.arguments |= (uint8_t)(1u << (p.takings[i].number & 7));
	}
	vec_push(&out->v, p);
}

/* "binary!name", where the binary may be a path. */
static size_t functions_named(struct programs *g, struct str binary, struct str name, uint32_t *out)
{
	struct buf text = { 0 };
	size_t nr, slash = binary.n;

	while (slash && binary.p[slash - 1] != '/')
		slash--;
	binary = str_skip(binary, slash);
	if (binary.n) {
		buf_add(&text, binary);
		buf_char(&text, '!');
	}
	buf_add(&text, name);
	nr = functions_find(&g->functions, buf_str(&text), out, SAME_NAME_MAX);
	buf_done(&text);
	return nr;
}

size_t places_function(struct programs *g, struct str name, struct weave_places *out)
{
	uint32_t found[SAME_NAME_MAX];
	size_t nr = functions_named(g, (struct str){ 0 }, name, found);

	for (size_t i = 0; i < nr; i++)
		function_add(g, found[i], PIECE_ENTRY, NULL, out);
	return nr;
}

static void functions_add(struct programs *g, const struct tracepoint *t,
			  const struct tracepoint_place *at, struct weave_places *out,
			  struct buf *told)
{
	static const enum piece_moment moments[] = { [MOMENT_ENTRY] = PIECE_ENTRY,
						     [MOMENT_EXIT] = PIECE_EXIT,
						     [MOMENT_EXCEPTION] = PIECE_UNWOUND,
						     [MOMENT_LINE] = PIECE_ENTRY };
	uint32_t found[SAME_NAME_MAX];
	size_t nr = functions_named(g, at->binary, at->name, found);
	struct error why = { 0 };

	if (at->moment == MOMENT_LINE)
		buf_fmt(told, STR_FMT ": lines of native functions cannot be tracepoints\n",
			STR_ARG(t->name));
	else if (!nr) {
		functions_missing(&g->functions, at->name, &why);
		buf_fmt(told, STR_FMT ": %s\n", STR_ARG(t->name), why.msg);
	}
	for (size_t i = 0; i < nr && at->moment != MOMENT_LINE; i++)
		function_add(g, found[i], moments[at->moment], t, out);
}

static uint8_t memory_of(const struct usdt_argument *a)
{
	static const uint8_t by_bytes[2][9] = {
		{ [1] = ADVICE_U8, [2] = ADVICE_U16, [4] = ADVICE_U32, [8] = ADVICE_U64 },
		{ [1] = ADVICE_I8, [2] = ADVICE_I16, [4] = ADVICE_I32, [8] = ADVICE_I64 },
	};

	return by_bytes[a->is_signed][a->bytes <= 8 ? a->bytes : 8];
}

/* Where the program keeps the argument there, and what the tracepoint does with it. False: it
 * cannot be read. */
static bool argument_at(const struct usdt *u, const struct advice_taking *want,
			struct advice_taking *out)
{
	const struct usdt_argument *a = &u->arguments[want->number];

	*out = *want;
	if (want->from != ADVICE_FROM_ARGUMENT)
		return want->from == ADVICE_FROM_CONSTANT;
	if (want->number >= u->nr_arguments || a->is_high)
		return false;
	if (a->where == USDT_CONSTANT) {
		out->from = ADVICE_FROM_CONSTANT;
		out->constant = a->offset;
		return !want->nr_loads && want->memory != ADVICE_CHARS;
	}
	out->from = PROBE_FROM_REGISTER;
	out->number = a->base;
	if (!want->nr_loads && (want->memory == ADVICE_U64 || want->memory == ADVICE_I64))
		out->memory = memory_of(a);
	if (a->where == USDT_REGISTER)
		return a->base < REGISTERS;
	if (a->where != USDT_MEMORY || a->base >= REGISTERS || a->index != USDT_NO_REGISTER ||
	    a->offset != (int32_t)a->offset || want->nr_loads >= ADVICE_LOADS ||
	    ((want->nr_loads || want->memory == ADVICE_CHARS) && a->bytes != 8))
		return false;
	memmove(out->offsets + 1, want->offsets, ADVICE_LOADS * sizeof(*out->offsets));
	out->offsets[0] = (int32_t)a->offset;
	out->nr_loads++;
	return true;
}

static void site_add(struct programs *g, const struct usdt *u, const struct tracepoint *t,
		     struct weave_places *out, struct buf *told)
{
	struct functions *f = &g->functions;
	uint32_t in = functions_at(f, u->module, u->address);
	struct weave_place p = { .moment = PIECE_ENTRY };

	if (in == UINT32_MAX) {
		buf_fmt(told, STR_FMT ": a static probe is in no function that is known\n",
			STR_ARG(t->name));
		return;
	}
	p.how = (struct probe_function){ .module = arena_z(&f->arena, f->modules.v[u->module].path),
					 .address = f->v.v[in].address,
					 .size = f->v.v[in].size,
					 .is_site = true,
					 .site = u->address,
					 .semaphore = u->semaphore,
					 .is_advised = true };
	for (size_t i = 0; i < t->nr_exports; i++)
		if (!argument_at(u, &t->exports[i].taking, &p.takings[i])) {
			p.takings[i] = (struct advice_taking){ .from = ADVICE_FROM_NOTHING };
			buf_fmt(told,
				STR_FMT ": '" STR_FMT "' cannot be read at this static probe "
					"and is null\n",
				STR_ARG(t->name), STR_ARG(t->exports[i].name));
		}
	vec_push(&out->v, p);
}

static void sites_add(struct programs *g, const struct tracepoint *t,
		      const struct tracepoint_place *at, struct weave_places *out, struct buf *told)
{
	uint32_t found[SAME_NAME_MAX];
	size_t nr = usdts_find(&g->usdts, at->binary, at->name, found, SAME_NAME_MAX);
	struct error why = { 0 };

	if (!nr) {
		usdts_missing(&g->usdts, at->binary, at->name, &why);
		buf_fmt(told, STR_FMT ": %s\n", STR_ARG(t->name), why.msg);
	}
	for (size_t i = 0; i < nr; i++)
		site_add(g, &g->usdts.v.v[found[i]], t, out, told);
}

static void method_add(struct programs *g, const struct tracepoint *t,
		       const struct tracepoint_place *at, uint64_t inputs, struct weave_places *out,
		       struct buf *told)
{
	static const enum piece_moment moments[] = { [MOMENT_ENTRY] = PIECE_ENTRY,
						     [MOMENT_EXIT] = PIECE_EXIT,
						     [MOMENT_EXCEPTION] = PIECE_UNWOUND,
						     [MOMENT_LINE] = PIECE_ENTRY };
	struct weave_place p = { .moment = moments[at->moment], .inputs = inputs };
	struct buf text = { 0 };

	if (java_place(t, at, &text, told)) {
		java_takings(t, p.takings);
		p.java = arena_z(&g->functions.arena, buf_str(&text));
		p.begins =
			arena_z(&g->functions.arena,
				str_head(buf_str(&text), str_find_char(buf_str(&text), '\n') + 1));
		vec_push(&out->v, p);
	}
	buf_done(&text);
}

void places_find(struct programs *g, const struct tracepoint *t, uint64_t inputs,
		 struct weave_places *out, struct buf *told)
{
	for (size_t i = 0; i < t->nr_places; i++) {
		const struct tracepoint_place *at = &t->places[i];

		if (at->where == WHERE_FUNCTION)
			functions_add(g, t, at, out, told);
		else if (at->where == WHERE_USDT)
			sites_add(g, t, at, out, told);
		else if (at->where == WHERE_CLASS)
			method_add(g, t, at, inputs, out, told);
		else if (at->where != WHERE_SYSCALL) /* which is in no program: onlooker.h */
			buf_fmt(told, STR_FMT ": a %s is not seen in running native programs\n",
				STR_ARG(t->name), tracepoint_where_name(at->where));
	}
}

void places_inputs(const struct advice_taking *takings, struct probe_advice *a)
{
	if (!(a->program.flags & ADVICE_EMITS) || a->program.inputs >> ADVICE_INPUT_TIME & 1)
		a->flags |= PROBE_ADVICE_TIMES;
	a->nr_inputs = 0;
	for (size_t i = 0; i < TRACEPOINT_EXPORTS && a->nr_inputs < PROBE_INPUTS; i++)
		if (a->program.inputs >> (ADVICE_INPUT_OWN + i) & 1) {
			a->numbers[a->nr_inputs] = (uint8_t)(ADVICE_INPUT_OWN + i);
			if (takings[i].from == ADVICE_FROM_DURATION)
				a->flags |= PROBE_ADVICE_TIMES;
			a->inputs[a->nr_inputs++] = takings[i];
		}
}
